//! Gates from outside: what they say, and the exit codes that scripts rely on.

use crate::support::{Scratch, filestone, record_of, serve, text};
use filestone_measure::measure::GateOutcome;
use filestone_plan::gate::RunTotal;
use filestone_workload::figure::Quantity;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};

const PAGE: &str = include_str!("../../../../docs/reference/gates.md");
const PROBE: [&str; 5] = ["probe", "null", "--count", "200", "--no-calibrate"];

fn probe(more: &[&str]) -> Output {
    filestone(&[&PROBE, more].concat())
}

#[test]
fn a_gate_decides_the_exit_code() {
    for (more, code, said) in [
        (
            ["--fail-if", "errors"].as_slice(),
            0,
            "gate passes       errors: 0, limit 0\n",
        ),
        (
            &["--fail-if", "scheduled > 199"],
            1,
            "gate fails        scheduled > 199: 200, limit 199\n",
        ),
        (
            &[
                "--fail-if",
                "errors",
                "--fail-if",
                "null.response_time.max > 1ns",
            ],
            1,
            "gate fails        null",
        ),
        // Nothing moves data: that cannot be judged.
        (
            &["--fail-if", "goodput < 1MB/s"],
            0,
            "gate cannot tell  goodput < 1MB/s: ",
        ),
        (
            &["--fail-if", "goodput < 1MB/s", "--strict"],
            1,
            "gate fails        goodput < 1MB/s: ",
        ),
    ] {
        let output = probe(more);
        let shown = text(&output.stdout);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{shown}{}",
            text(&output.stderr)
        );
        assert!(shown.contains(said), "{more:?}: {shown}");
    }
}

#[test]
fn what_no_run_can_be_held_to_is_refused_before_it() {
    for (gate, said) in [
        (
            "null.respnse_time.p99 > 2ms",
            "error: --fail-if: column 1: there is no figure \"null.respnse_time.p99\"\n    \
             null.respnse_time.p99 > 2ms\n    ^^^^^^^^^^^^^^^^^^^^^\n\
             help: did you mean null.response_time.p99?\n",
        ),
        (
            "response_time.p99 > 20/s",
            "error: --fail-if: column 21: response_time.p99 is a time and 20/s is operations per \
             second: they cannot be compared\n",
        ),
        (
            "errors > 0 && write.errors",
            "error: --fail-if: column 12: a gate has one comparison\n",
        ),
        (
            "1 < write.errors",
            "error: --fail-if: column 5: write.errors: this run has no such operation\n    \
             1 < write.errors\n        ^^^^^^^^^^^^\nhelp: this run has null\n",
        ),
        (
            "1 > 0",
            "error: --fail-if: column 1: it says the same of every run: there is no figure in it\n    \
             1 > 0\n    ^^^^^\n",
        ),
        (
            "errors / (1 - 1) > 5%",
            "error: --fail-if: column 1: it divides by 0\n",
        ),
        (
            "achieved < offered",
            "error: --fail-if: column 12: offered: this run has a closed loop",
        ),
    ] {
        let output = probe(&["--fail-if", gate]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{gate}: {told}");
        assert!(told.starts_with(said), "{told}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_plan_keeps_its_gates_and_a_record_what_came_of_them() {
    let scratch = Scratch::new();
    let gates = ["--fail-if", "goodput < 1MB/s", "--strict"];
    let dry = probe(&[&gates[..], &["--dry-run"]].concat());
    let plan = scratch.file("plan.json", &text(&dry.stdout));
    let again = ["run", &plan, "--no-calibrate", "--format", "json"];
    let output = filestone(&[&again[..], &["--fail-if", "scheduled != 200"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let record = record_of(&output);
    let outcomes: Vec<GateOutcome> = record.gates.iter().map(|gate| gate.outcome).collect();
    assert_eq!(outcomes, [GateOutcome::Inconclusive, GateOutcome::Passes]);
    let told = text(&output.stderr);
    assert!(told.contains("gate fails: goodput < 1MB/s: "), "{told}");
    assert!(!told.contains("scheduled"), "{told}");
    let stored = scratch.file("run.json", &text(&output.stdout));
    for (gates, code) in [
        (&[][..], 0),
        (&["--fail-if", "errors"], 0),
        (&["--fail-if", "scheduled == 200"], 1),
        (&["--fail-if", "write.errors"], 2),
    ] {
        let output = filestone(&[&["report", &stored][..], gates].concat());
        assert_eq!(output.status.code(), Some(code), "{gates:?}");
    }
    let wrong = text(&dry.stdout).replace("goodput < 1MB/s", "goodpot < 1MB/s");
    let wrong = scratch.file("wrong.json", &wrong);
    let output = filestone(&["run", &wrong]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("gate \"goodpot < 1MB/s\": column 1: there is no figure"),
        "{told}"
    );
}

#[test]
fn a_server_that_gives_nothing_is_worse_than_a_gate_that_fails() {
    let (_server, address, _out) = serve(&["--fault", "error=NFS3ERR_IO,proc=fsstat"]);
    let target = format!("nfs://{address}/export");
    let output = filestone(&[
        "probe",
        "fsstat",
        &target,
        "--count",
        "5",
        "--no-calibrate",
        "--fail-if",
        "fsstat.errors",
    ]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    assert!(
        shown.contains("gate fails        fsstat.errors: 5, limit 0\n"),
        "{shown}"
    );
}

#[test]
fn the_page_names_every_figure() {
    for quantity in Quantity::all() {
        let name = quantity.to_string();
        let short = name
            .rsplit_once('.')
            .map_or(name.as_str(), |(_, short)| short);
        assert!(
            PAGE.contains(&format!("`{name}`")) || PAGE.contains(&format!("`.{short}`")),
            "{name}"
        );
    }
    for total in RunTotal::ALL {
        assert!(
            PAGE.contains(&format!("| `{}` |", total.name())),
            "{}",
            total.name()
        );
    }
}

/// The lines that the page's workflow gives to a shell, without what needs a network.
fn commands_of_the_page() -> String {
    let (_, workflow) = PAGE.split_once("```yaml\n").expect("a workflow");
    let (workflow, _) = workflow.split_once("```").expect("an end of it");
    let of_shell = |line: &&str| line.starts_with("filestone ") || line.starts_with("until ");
    let lines = workflow.lines().map(str::trim).filter(of_shell);
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_workflow_of_the_page_runs() {
    let scratch = Scratch::new();
    let binary = Path::new(env!("CARGO_BIN_EXE_filestone"));
    let folder = binary.parent().expect("a folder").display();
    let free = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    let port = free.expect("a port").port().to_string();
    let commands = commands_of_the_page();
    assert_eq!(commands.matches("--fail-if").count(), 4, "{commands}");
    let commands = commands.replace("20490", &port).replace("-d 5s", "-d 2s");
    let script = format!("trap 'kill $!' EXIT\n{commands}\n");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(scratch.path())
        .env("PATH", format!("{folder}:{path}"))
        .output()
        .expect("a shell");
    let shown = text(&output.stdout) + &text(&output.stderr);
    assert!(!shown.contains("error: "), "{shown}");
    // It is the host's doing whether it sends in time, so that the run counts, and whether so short a
    // run can tell of its 99th percentile.
    let told = |word: &str| shown.matches(&format!("gate {word}")).count();
    assert!(told("passes") >= 3 && told("fails") == 0, "{shown}");
}
