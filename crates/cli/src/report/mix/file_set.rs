//! What a mix leaves behind: its file set, where it is, and how it is removed.

use crate::protocols;
use crate::shell::{quoted, shell_line};
use filestone_model::measure::RunRecord;
use filestone_model::plan::{FileSetPlan, MixPlan, TargetPlan};

/// One line, to be said when the run is over; nothing if nothing stays, or if what cannot be
/// removed has a caveat of its own.
pub fn what_stays(record: &RunRecord) -> Option<String> {
    let (plan, mix) = (record.plan.mix()?, record.mix.as_ref()?);
    if mix.file_set.removed || plan.remove_set || record.plan.target.is_built_in() {
        return None;
    }
    let targets: Vec<TargetPlan> = record
        .plan
        .targets()
        // A set is made by TCP, whatever the mix itself travels by.
        .map(|target| target.clone().over_tcp())
        .collect();
    let name = &plan.file_set.name;
    let sets: Vec<String> = targets
        .iter()
        .map(|target| format!("{}/{name}", target.to_string().trim_end_matches('/')))
        .collect();
    Some(format!(
        "the file set stays for the next run, in {}; this removes it: {}",
        sets.join(", "),
        removal(plan, &targets, &sets),
    ))
}

/// Of a mount, rm does it. Of a server, a run of one operation, which takes over a set of other
/// sizes, too.
fn removal(plan: &MixPlan, targets: &[TargetPlan], sets: &[String]) -> String {
    let mut words: Vec<String> = vec!["mix".into()];
    if targets.iter().any(TargetPlan::is_directory) {
        let paths = sets.iter().map(|set| set.trim_start_matches("local:"));
        let paths: Vec<String> = paths.map(quoted).collect();
        return format!("rm -r {}", paths.join(" "));
    }
    words.extend(targets.iter().map(ToString::to_string));
    if let Some(target) = targets.first() {
        words.extend(protocols::options_besides(target));
    }
    let name = &plan.file_set.name;
    if name != FileSetPlan::NAME_DEFAULT {
        words.extend(["--set".into(), name.clone()]);
    }
    let clients = targets.len().to_string();
    let rest = [
        "-c",
        &clients,
        "--files",
        "1",
        "--count",
        "1",
        "--remove-set",
    ];
    words.extend(rest.map(String::from));
    shell_line(&words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::canned;

    #[test]
    fn a_set_that_stays_is_said_with_the_command_that_removes_it() {
        let mut record = canned::mix();
        let said = what_stays(&record).expect("it stays");
        assert_eq!(
            said,
            "the file set stays for the next run, in nfs://server:2049/export/filestone-mix; this \
             removes it: filestone mix nfs://server:2049/export --set filestone-mix -c 1 --files 1 \
             --count 1 --remove-set"
        );
        let line = said.rsplit(": filestone ").next().expect("a command line");
        let words = ["filestone"].into_iter().chain(line.split_whitespace());
        assert!(
            crate::command().try_get_matches_from(words).is_ok(),
            "{line}"
        );
        record.plan.mix_mut().expect("a mix").remove_set = true;
        assert_eq!(what_stays(&record), None);
        assert_eq!(what_stays(&canned::plain()), None);
    }

    #[test]
    fn a_set_on_a_mount_is_removed_by_rm() {
        let said = what_stays(&canned::mix_through_mount()).expect("it stays");
        assert!(
            said.ends_with("this removes it: rm -r /mnt/test/filestone-mix"),
            "{said}"
        );
    }
}
