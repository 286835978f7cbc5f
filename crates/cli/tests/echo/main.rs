//! A protocol that filestone does not know goes through its commands, its runs and its reports.
//!
//! Echo is an invented protocol that differs from RPC as much as a file protocol of a few lines
//! can: its frame format, a session that a client must open before its first request, and a token
//! in every request that the server changes at any time with an unsolicited message that requires
//! an acknowledgement. Its modules are the parts of a protocol:
//!
//! | file | content |
//! |---|---|
//! | `wire` | bytes ↔ messages |
//! | `client` | one simulated client without I/O |
//! | `target` | finding the server, connecting clients, its description in the record |
//! | `server` | a server to measure |
//!
//! There is no test harness, because this is also the program that it tests: filestone's command
//! line with one protocol more. Called with `AS_FILESTONE`, it is that.

mod client;
mod server;
mod target;
mod wire;

use filestone_engine::{Job, Protocols, run};
use filestone_host::control::{NoObserver, RunContext};
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::{Plan, TargetPlan};
use filestone_workload::operation::OpKind;
use filestone_workload::recording::ledger::Ledger;
use server::{EchoServer, WRONG_TOKEN};
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use target::Echo;

const AS_FILESTONE: &str = "--as-filestone-with-echo";
const FILES: u32 = 1000;
const FILE_LEN: u64 = 256 << 10;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|word| word == AS_FILESTONE) {
        let words = arguments.into_iter().skip(2);
        let words = std::iter::once("filestone".into()).chain(words);
        return ExitCode::from(filestone_cli::run_with(
            Protocols::default().with(Echo),
            words,
        ));
    }
    client::tests::requests_wait_for_a_session_and_carry_its_token();
    client::tests::a_new_token_comes_unasked_is_answered_and_holds_from_then_on();
    client::tests::what_is_lost_or_late_is_accounted_for();
    client::tests::what_is_no_message_ends_the_connection();
    wire::tests::a_message_is_read_as_it_was_put_and_not_before_it_is_whole();
    wire::tests::what_is_no_message_is_refused();
    let bench = Bench::new();
    probes_ask_each_verb(&bench);
    a_probe_has_its_report(&bench);
    a_mix_goes_by_its_shares(&bench);
    what_echo_has_not_is_refused(&bench);
    doctor_knows_whether_it_is_there(&bench);
    a_plan_can_be_stored_and_run_again(&bench);
    a_program_without_echo_says_so(&bench);
    a_server_that_goes_away_ends_the_run(bench);
    ExitCode::SUCCESS
}

/// A server, and a directory for what commands read and write.
struct Bench {
    server: EchoServer,
    scratch: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let name = format!("filestone-echo-{}", std::process::id());
        let scratch = std::env::temp_dir().join(name);
        fs::create_dir(&scratch).expect("a new directory");
        let server = EchoServer::start(FILES, FILE_LEN).expect("a free port on loopback");
        Self { server, scratch }
    }

    fn target(&self) -> String {
        format!("echo://{}/files", self.server.address())
    }

    fn filestone(&self, words: &[&str]) -> Output {
        let target = self.target();
        let program = std::env::current_exe().expect("this program");
        let words = words.iter().map(|word| match *word {
            "TARGET" => target.as_str(),
            word => word,
        });
        Command::new(program)
            .arg(AS_FILESTONE)
            .args(words)
            .current_dir(&self.scratch)
            .output()
            .expect("it runs")
    }

    fn text(&self, words: &[&str]) -> String {
        let output = self.filestone(words);
        let said = String::from_utf8_lossy(&output.stderr);
        // A busy host makes a short run one that does not count; it has all its operations.
        let is_held_up = output.status.code() == Some(3) && said.contains("had no processor for");
        assert!(output.status.success() || is_held_up, "{words:?}: {said}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// The record that a command prints, which agrees with itself.
    fn record(&self, words: &[&str]) -> RunRecord {
        let words: Vec<&str> = words.iter().copied().chain(["--format", "json"]).collect();
        let record: RunRecord = serde_json::from_str(&self.text(&words)).expect("a record");
        record.check().expect("the record agrees with itself");
        record
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // What a failed test leaves in the temporary directory does no harm.
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

/// All operations succeeded, so many of them.
fn all_ok(count: u64) -> Ledger {
    Ledger {
        scheduled: count,
        ok: count,
        ..Ledger::default()
    }
}

fn probes_ask_each_verb(bench: &Bench) {
    let of_data = &["--io-size", "4K"][..];
    let written = &["--io-size", "4K", "--file-size", "256K"][..];
    for (operation, data_bytes, more) in [
        ("null", 0, &[][..]),
        ("read", 4096, of_data),
        ("write", 4096, written),
    ] {
        let words = ["probe", operation, "TARGET", "--count", "2000", "-c", "3"];
        let many = ["--in-flight", "8", "--no-calibrate"];
        let record = bench.record(&[&words[..], &many, more].concat());
        assert_eq!(record.totals.ledger, all_ok(2000), "{operation}");
        assert_eq!(record.target.address, bench.server.address().to_string());
        let row = &record.totals.kinds[0];
        assert_eq!(row.operation.name(), operation);
        assert_eq!(row.data_bytes, 2000 * data_bytes);
        assert_eq!(row.failures, []);
        assert!(row.bytes_sent > 0 && row.bytes_received > 0);
    }
    // The server changed tokens meanwhile, unasked, and every change but the last ones was
    // answered; no request came with a wrong one, or it would be among the failures.
    let counts = bench.server.counts();
    let changed = counts.tokens_changed.load(Ordering::SeqCst);
    let known = counts.tokens_known.load(Ordering::SeqCst);
    assert!(changed > 30 && known > 30 && known <= changed);
    assert_ne!(WRONG_TOKEN, 0);
}

fn a_probe_has_its_report(bench: &Bench) {
    let printed = bench.text(&[
        "probe",
        "read",
        "TARGET",
        "-d",
        "200ms",
        "--no-calibrate",
        "-o",
        "out",
    ]);
    assert!(
        printed.contains("read") && printed.contains("echo://"),
        "{printed}"
    );
    let stored = fs::read_to_string(bench.scratch.join("out/run.json")).expect("a record");
    let record: RunRecord = serde_json::from_str(&stored).expect("a record");
    assert!(record.totals.ledger.ok > 0);
    let again = bench.text(&["report", "out/run.json"]);
    assert!(again.contains("echo://"), "{again}");
}

fn a_mix_goes_by_its_shares(bench: &Bench) {
    let mix = "null 20\nread 50\nwrite 30\n";
    fs::write(bench.scratch.join("echo.mix"), mix).expect("a new file");
    let words = [
        "mix",
        "TARGET",
        "--mix",
        "echo.mix",
        "--count",
        "3000",
        "--warm-up",
        "0",
    ];
    let more = [
        "-c",
        "4",
        "--arrivals",
        "closed",
        "--files",
        "50",
        "--no-calibrate",
    ];
    let record = bench.record(&[words.as_slice(), &more].concat());
    assert_eq!(record.totals.ledger, all_ok(3000));
    let mix = record.mix.as_ref().expect("a mix");
    let counts: Vec<(OpKind, u64)> = mix
        .operations
        .iter()
        .map(|row| (row.operation, row.count))
        .collect();
    let wanted = [
        (OpKind::Null, 600),
        (OpKind::Read, 1500),
        (OpKind::Write, 900),
    ];
    for ((kind, count), wanted) in counts.iter().zip(wanted) {
        assert_eq!(*kind, wanted.0);
        assert!(count.abs_diff(wanted.1) <= 20, "{counts:?}");
    }
    assert_eq!((mix.file_set.files, mix.file_set.found), (200, 200));
    let printed = bench.text(&[words.as_slice(), &more].concat());
    assert!(
        printed.contains("write") && printed.contains("echo://"),
        "{printed}"
    );
}

fn what_echo_has_not_is_refused(bench: &Bench) {
    let before = bench.server.counts().requests.load(Ordering::SeqCst);
    let output = bench.filestone(&["probe", "getattr", "TARGET", "-d", "1s", "--no-calibrate"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(said.contains("echo has no getattr"), "{said}");
    let output = bench.filestone(&["probe", "null", "tcho://127.0.0.1:1/x", "-d", "1s"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("expected nfs://"));
    let after = bench.server.counts().requests.load(Ordering::SeqCst);
    assert_eq!(before, after, "nothing was asked");
}

/// The plan of a probe of echo.
fn doctor_knows_whether_it_is_there(bench: &Bench) {
    let output = bench.filestone(&["doctor", &bench.target()]);
    let shown = String::from_utf8_lossy(&output.stdout);
    // What it says of this host is another matter.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{shown}");
    let is_told = |id: &str| {
        let mut lines = shown.lines();
        lines.any(|line| line.split_whitespace().take(2).eq(["ok", id]))
    };
    assert!(is_told("target") && is_told("connect-time"), "{shown}");
}

fn plan(bench: &Bench) -> Plan {
    let printed = bench.text(&[
        "probe",
        "null",
        "TARGET",
        "--count",
        "100",
        "--dry-run",
        "--no-calibrate",
    ]);
    serde_json::from_str(&printed).expect("a plan")
}

fn a_plan_can_be_stored_and_run_again(bench: &Bench) {
    let plan = plan(bench);
    let TargetPlan::Other(target) = &plan.target else {
        panic!("{:?}", plan.target);
    };
    assert_eq!(
        (target.name.as_str(), target.path.as_str()),
        ("echo", "/files")
    );
    let stored = serde_json::to_string(&plan).expect("JSON");
    assert!(
        stored.contains(r#""protocol":"other","name":"echo""#),
        "{stored}"
    );
    fs::write(bench.scratch.join("plan.json"), stored).expect("a new file");
    let record = bench.record(&["run", "plan.json", "--no-calibrate"]);
    assert_eq!(record.totals.ledger, all_ok(100));
    assert_eq!(record.plan, plan);
}

fn a_program_without_echo_says_so(bench: &Bench) {
    let (plan, stop) = (plan(bench), AtomicBool::new(false));
    let mut observer = NoObserver;
    let context = &mut RunContext::new(&stop, &mut observer);
    let refused = run(&Job::new(&plan), &Protocols::default(), context);
    let refused = refused.expect_err("it has no such protocol").to_string();
    assert_eq!(refused, "this program knows no protocol \"echo\"");
}

fn a_server_that_goes_away_ends_the_run(bench: Bench) {
    let plan = plan(&bench);
    drop(bench);
    let stop = AtomicBool::new(false);
    let mut observer = NoObserver;
    let context = &mut RunContext::new(&stop, &mut observer);
    let refused = run(&Job::new(&plan), &Protocols::default().with(Echo), context);
    let refused = refused.expect_err("no server is there").to_string();
    assert!(refused.contains("cannot connect"), "{refused}");
}
