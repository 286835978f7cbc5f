//! File set that a mix leaves in the target: its location and its removal.

use crate::shell::shell_line;
use filestone_control::job::dealt_set;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::mix_record::MixRecord;
use filestone_plan::plan::{FileSetPlan, MixPlan, TargetPlan};
use filestone_workload::text::quoted;

/// Returns one line that is printed after the run; `None` if no file set remains, or if a caveat
/// already reports one that cannot be removed.
pub fn what_stays(record: &RunRecord) -> Option<String> {
    let (plan, mix) = (record.plan.mix()?, record.mix.as_ref()?);
    if mix.file_set.removed || plan.remove_set || record.plan.target.is_built_in() {
        return None;
    }
    let targets: Vec<TargetPlan> = record
        .plan
        .targets()
        // A file set is created over TCP, whatever transport the mix uses.
        .map(|target| target.clone().over_tcp())
        .collect();
    let names = set_names(record, plan, mix);
    let in_target = |target: &TargetPlan, name: &String| {
        format!("{}/{name}", target.to_string().trim_end_matches('/'))
    };
    let sets: Vec<String> = names
        .iter()
        .flat_map(|name| targets.iter().map(move |target| in_target(target, name)))
        .collect();
    let (stay, these) = match sets.as_slice() {
        [_] => ("file set stays", "this removes it"),
        _ => ("file sets stay", "this removes them"),
    };
    Some(format!(
        "the {stay} for the next run, in {}; {these}: {}",
        sets.join(", "),
        removal(&names, &targets, &sets),
    ))
}

/// Returns the names of the file sets: a job of several hosts has one on each, also on a host that
/// was lost.
fn set_names(record: &RunRecord, plan: &MixPlan, mix: &MixRecord) -> Vec<String> {
    let Some(job) = &record.job else {
        return vec![plan.file_set.name.clone()];
    };
    let paths = mix.file_set.paths.iter();
    let found = paths.filter_map(|path| path.rsplit(['/', '\\']).next().map(str::to_owned));
    let parts = job.hosts.len().saturating_add(job.lost.len()) as u32;
    let of_lost = job.lost.iter();
    let of_lost = of_lost.map(|lost| dealt_set(&plan.file_set.name, lost.part, parts));
    let mut names: Vec<String> = found.chain(of_lost).collect();
    names.sort();
    names.dedup();
    names
}

/// Returns the command that removes the sets: rm on a mount; on a server, a run of one operation
/// for each set, which also accepts a set of other sizes.
fn removal(names: &[String], targets: &[TargetPlan], sets: &[String]) -> String {
    if targets.iter().any(TargetPlan::is_directory) {
        let paths = sets.iter().map(|set| set.trim_start_matches("local:"));
        let paths: Vec<String> = paths.map(quoted).collect();
        return format!("rm -r {}", paths.join(" "));
    }
    let mut words: Vec<String> = vec!["mix".into()];
    words.extend(targets.iter().map(ToString::to_string));
    if let Some(target) = targets.first() {
        words.extend(target.options());
    }
    let clients = targets.len();
    let rest = format!("-c {clients} --files 1 --count 1 --remove-file-set");
    let line = shell_line(&words);
    match names {
        [name] if name == FileSetPlan::NAME_DEFAULT => format!("{line} {rest}"),
        [name] => format!("{line} --file-set {} {rest}", quoted(name)),
        names => {
            let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
            let names = names.join(" ");
            format!("for set in {names}; do {line} --file-set \"$set\" {rest}; done")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn a_set_that_stays_is_said_with_the_command_that_removes_it() {
        let mut record = fixtures::mix();
        let said = what_stays(&record).expect("it stays");
        assert_eq!(
            said,
            "the file set stays for the next run, in nfs://server:2049/export/filestone-mix; this \
             removes it: filestone mix nfs://server:2049/export --file-set filestone-mix -c 1 --files 1 \
             --count 1 --remove-file-set"
        );
        record.plan.mix_mut().expect("a mix").remove_set = true;
        assert_eq!(what_stays(&record), None);
        assert_eq!(what_stays(&fixtures::plain()), None);
    }

    #[test]
    fn a_set_on_a_mount_is_removed_by_rm() {
        let said = what_stays(&fixtures::mix_through_mount()).expect("it stays");
        assert!(
            said.ends_with("this removes it: rm -r /mnt/test/filestone-mix"),
            "{said}"
        );
    }
}
