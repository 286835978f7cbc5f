//! The commands that a report names are those of this program.

use crate::inputs::record_file::read_records;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::job_record::LostHostRecord;
use filestone_report::fixtures;
use filestone_report::mix::file_set::what_stays;

#[test]
fn the_command_that_removes_a_set_is_one_of_this_program() {
    let said = what_stays(&fixtures::mix()).expect("it stays");
    let line = said.rsplit(": filestone ").next().expect("a command line");
    let words = ["filestone"].into_iter().chain(line.split_whitespace());
    assert!(
        crate::command().try_get_matches_from(words).is_ok(),
        "{line}"
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
    let records = read_records(&directory).expect("a record");
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
