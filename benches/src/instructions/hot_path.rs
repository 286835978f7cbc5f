//! The program whose instructions `cargo xtask instructions` counts: `hot_path CASE` runs one case.

mod cases;

use cases::OPERATIONS;
use filestone_workload::operation::OpKind;
use std::process::ExitCode;

/// Callgrind counts what is called from here: `--toggle-collect` has this name.
#[inline(never)]
fn counted<T>(operations: impl FnOnce() -> T) -> T {
    operations()
}

fn probe(kind: OpKind, in_flight: u32) {
    let worker = cases::probe(kind, in_flight);
    counted(|| worker.run());
}

fn share_probe(kind: OpKind, in_flight: u32) {
    let worker = cases::share_probe(kind, in_flight);
    counted(|| worker.run());
}

fn lines() {
    let mut lines = cases::lines();
    counted(|| lines.execute(OPERATIONS));
    lines.clean_up();
}

fn recorded() {
    let recorder = cases::recorder();
    counted(|| cases::record(recorder));
}

fn main() -> ExitCode {
    match std::env::args().nth(1).unwrap_or_default().as_str() {
        "null_1" => probe(OpKind::Null, 1),
        "null_128" => probe(OpKind::Null, 128),
        "getattr_32" => probe(OpKind::GetAttr, 32),
        "read_128k_8" => probe(OpKind::Read, 8),
        "echo_1" => share_probe(OpKind::Null, 1),
        "echo_32" => share_probe(OpKind::Null, 32),
        "smb_read_64k_8" => share_probe(OpKind::Read, 8),
        "read_x" => lines(),
        "recorded" => recorded(),
        _ => return ExitCode::FAILURE,
    }
    ExitCode::SUCCESS
}
