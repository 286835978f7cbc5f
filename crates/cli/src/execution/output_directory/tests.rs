use super::*;
use filestone_report::fixtures;

/// A path below the target directory that no other test uses.
fn scratch(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("filestone-output-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    path
}

#[test]
fn a_directory_gets_the_record_and_everything_made_of_it() {
    let path = scratch("whole").join("deep");
    let directory =
        OutputDirectory::claim(&path, OnExistingDirectory::Refuse).expect("a new directory");
    directory
        .keep(&fixtures::plain(), RECORD_FILE)
        .expect("there is space");
    directory
        .write_rest(&fixtures::plain(), "png")
        .expect("there is space");
    let mut names: Vec<String> = fs::read_dir(&path)
        .expect("it was made")
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "intervals.dat",
            "intervals.hlog",
            "latency.gnuplot",
            "over-time.svg",
            "percentiles.svg",
            "raw",
            "recv.gnuplot",
            "report.html",
            "requests.gnuplot",
            "run.json",
            "send.gnuplot"
        ]
    );
    assert!(names.iter().all(|name| is_ours(name)));
    let again =
        OutputDirectory::claim(&path, OnExistingDirectory::Refuse).expect_err("it holds a record");
    assert!(
        again
            .message
            .ends_with("it already holds a record (run.json)"),
        "{}",
        again.message
    );
    OutputDirectory::claim(&path, OnExistingDirectory::Merge).expect("nct overwrites its own");
    let _ = fs::remove_dir_all(scratch("whole"));
}

#[test]
fn other_things_are_never_overwritten() {
    let path = scratch("foreign");
    fs::create_dir_all(&path).expect("a new directory");
    fs::write(path.join("thesis.tex"), "x").expect("a new file");
    let error = OutputDirectory::claim(&path, OnExistingDirectory::Refuse)
        .expect_err("a foreign directory");
    assert!(
        error.message.ends_with("such as thesis.tex"),
        "{}",
        error.message
    );
    assert_eq!(error.exit_code(), 2);
    let file = path.join("thesis.tex");
    let error = OutputDirectory::claim(&file, OnExistingDirectory::Refuse).expect_err("a file");
    assert!(
        error.message.ends_with("this is not a directory"),
        "{}",
        error.message
    );
    let _ = fs::remove_dir_all(&path);
}

#[test]
fn nct_writes_beside_what_is_there_and_touches_nothing_else() {
    let path = scratch("beside");
    fs::create_dir_all(&path).expect("a new directory");
    fs::write(path.join("thesis.tex"), "x").expect("a new file");
    fs::write(path.join("raw"), "of nct's earlier run").expect("a new file");
    let directory =
        OutputDirectory::claim(&path, OnExistingDirectory::Merge).expect("a second directory");
    directory
        .keep(&fixtures::plain(), RECORD_FILE)
        .expect("there is space");
    directory
        .write_rest(&fixtures::plain(), "png")
        .expect("there is space");
    let read = |name| fs::read_to_string(path.join(name)).expect("it is there");
    assert_eq!(read("thesis.tex"), "x");
    assert!(read("raw").starts_with("# Created on"));
    // A file that only has the name of a filestone file is foreign.
    fs::write(path.join("run.json"), "{}").expect("a file");
    let error =
        OutputDirectory::claim(&path, OnExistingDirectory::Merge).expect_err("a foreign directory");
    let expected = format!("-o {}: intervals.dat in it would be", path.display());
    assert!(error.message.starts_with(&expected), "{}", error.message);
    let file = path.join("thesis.tex");
    let error = OutputDirectory::claim(&file, OnExistingDirectory::Merge).expect_err("a file");
    assert!(error.message.starts_with("-o "), "{}", error.message);
    let _ = fs::remove_dir_all(&path);
}

#[test]
fn a_record_that_cannot_be_written_is_not_lost_silently() {
    let path = scratch("gone");
    let directory =
        OutputDirectory::claim(&path, OnExistingDirectory::Refuse).expect("a new directory");
    fs::remove_dir_all(&path).expect("it was made");
    let error = directory
        .write(&fixtures::plain(), "png")
        .expect_err("no directory");
    assert!(error.is_record_lost);
    assert!(
        error
            .error
            .message
            .ends_with("run.json: no such file or directory (2)")
    );
    assert_eq!(error.error.exit_code(), 4);
}

#[test]
fn a_run_that_fails_leaves_nothing_behind() {
    let path = scratch("abandoned");
    let directory =
        OutputDirectory::claim(&path, OnExistingDirectory::Refuse).expect("a new directory");
    directory.abort();
    assert!(!path.exists());
    // An error before the run drops it.
    drop(OutputDirectory::claim(&path, OnExistingDirectory::Refuse).expect("a new directory"));
    assert!(!path.exists());
}

#[test]
fn a_file_system_that_takes_no_file_is_no_fault_of_the_command_line() {
    let proc = Path::new("/proc/self");
    let error =
        OutputDirectory::claim(proc, OnExistingDirectory::Earlier).expect_err("it takes none");
    assert_eq!(error.exit_code(), 4, "{}", error.message);
}

#[test]
fn a_second_run_with_the_same_directory_is_refused_before_it_begins() {
    let path = scratch("twice");
    let first =
        OutputDirectory::claim(&path, OnExistingDirectory::Refuse).expect("a new directory");
    for existing in [
        OnExistingDirectory::Refuse,
        OnExistingDirectory::Resume,
        OnExistingDirectory::Earlier,
    ] {
        let error = OutputDirectory::claim(&path, existing).expect_err("it is in use");
        assert_eq!(error.exit_code(), 2);
        let process = format!(
            "another run is using it (process {} on ",
            std::process::id()
        );
        assert!(error.message.contains(&process), "{}", error.message);
    }
    first
        .keep(&fixtures::plain(), RECORD_FILE)
        .expect("it is still the first one's");
    drop(first);
    let error =
        OutputDirectory::claim(&path, OnExistingDirectory::Refuse).expect_err("it holds a record");
    assert!(error.message.contains("record"), "{}", error.message);
    assert!(!path.join(PART_FILE).exists(), "nothing was left there");
    let _ = fs::remove_dir_all(&path);
}

#[test]
fn the_claim_of_a_run_that_was_killed_is_taken_over() {
    let path = scratch("killed");
    fs::create_dir_all(&path).expect("a new directory");
    fs::write(path.join(PART_FILE), "{\"format\": 1, \"half\":").expect("a new file");
    let held = OutputDirectory::claim(&path, OnExistingDirectory::Refuse).expect("nobody has it");
    OutputDirectory::claim(&path.join("001"), OnExistingDirectory::Refuse).expect("a run in it");
    drop(held);
    assert!(!path.join(PART_FILE).exists());
    let _ = fs::remove_dir_all(&path);
}
