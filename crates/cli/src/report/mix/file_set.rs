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
    use crate::report::fixtures;
    use filestone_measure::measure::job_record::LostHostRecord;

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
        let line = said.rsplit(": filestone ").next().expect("a command line");
        let words = ["filestone"].into_iter().chain(line.split_whitespace());
        assert!(
            crate::command().try_get_matches_from(words).is_ok(),
            "{line}"
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

    /// Creates the sets of a job whose second host was lost, on an existing server.
    fn of_a_job(address: std::net::SocketAddr) -> RunRecord {
        let mut record = fixtures::mix();
        let target = record.plan.target.nfs3_mut().expect("NFS");
        target.host = Some(address.ip().to_string());
        target.port = Some(address.port());
        target.path = "/export".into();
        let name = "bench";
        record.plan.mix_mut().expect("a mix").file_set.name = name.into();
        let paths = [format!("/export/{name}-1of2")];
        record.mix.as_mut().expect("a mix").file_set.paths = paths.into();
        let mut job = fixtures::job(2).job.expect("a job");
        job.hosts.truncate(1);
        job.lost = vec![LostHostRecord {
            name: "c".into(),
            part: 1,
            phase: "measuring".into(),
            reason: "it was silent".into(),
            remains: None,
        }];
        record.job = Some(job);
        record
    }

    /// Returns the words that a shell passes to `filestone`, run by run.
    fn as_a_shell_reads_it(line: &str) -> Vec<Vec<String>> {
        let script = format!("filestone() {{ printf '%s\\n' \"$@\" END; }}\n{line}\n");
        let output = std::process::Command::new("sh")
            .args(["-c", &script])
            .output();
        let output = String::from_utf8(output.expect("a shell").stdout).expect("text");
        let words: Vec<&str> = output.lines().collect();
        let runs = words
            .split(|word| *word == "END")
            .filter(|run| !run.is_empty());
        runs.map(|run| run.iter().map(ToString::to_string).collect())
            .collect()
    }

    /// Runs a mix of one operation on a set, and returns how many files of the set existed.
    fn found(target: &str, set: &str, more: &[&str]) -> u64 {
        let directory = std::env::temp_dir().join(format!("filestone-sets-{}", std::process::id()));
        let output = directory.display().to_string();
        let set = ["--file-set", set, "-c", "1", "--files", "4", "--count", "1"];
        let brief = ["--warm-up", "0", "--no-calibrate", "--output", &output];
        let words = [&["mix", target], &set[..], &brief[..], more].concat();
        run_line(&words.iter().map(ToString::to_string).collect::<Vec<_>>());
        let records = crate::inputs::record_file::read_records(&directory).expect("a record");
        let _ = std::fs::remove_dir_all(&directory);
        records[0].mix.as_ref().expect("a mix").file_set.found
    }

    fn run_line(words: &[String]) {
        let words = ["filestone".to_owned()]
            .into_iter()
            .chain(words.iter().cloned());
        // A single operation is not a mix: such a run does not count.
        assert!(matches!(crate::run(words.map(Into::into)), 0 | 3));
    }

    #[test]
    fn the_sets_of_a_job_are_removed_by_the_command_that_is_said() {
        let options = filestone_server::Options {
            threads: 1,
            ..Default::default()
        };
        let server = filestone_server::Server::start(options).expect("a free port on loopback");
        let target = format!("nfs://{}/export", server.address());
        let sets = ["1of2", "2of2"].map(|part| format!("bench-{part}"));
        for set in &sets {
            found(&target, set, &[]);
            assert!(found(&target, set, &[]) >= 4, "{set} stays");
        }
        let said = what_stays(&of_a_job(server.address())).expect("they stay");
        let (_, line) = said
            .rsplit_once("this removes them: ")
            .expect("a command line");
        let runs = as_a_shell_reads_it(line);
        assert_eq!(runs.len(), 2, "{line}");
        runs.iter().for_each(|words| run_line(words));
        for set in &sets {
            assert_eq!(
                found(&target, set, &["--remove-file-set"]),
                0,
                "{set} is gone"
            );
        }
    }
}
