//! Instructions of the hot path, counted by callgrind: `cargo xtask instructions`.

#![allow(missing_docs)] // the macros make public items

#[path = "../src/instructions/cases.rs"]
mod cases;

use cases::{Lines, OPERATIONS, ProbeWorker, ShareProbe};
use filestone_engine::worker::WorkerEnd;
use filestone_workload::operation::OpKind;
use filestone_workload::recording::Recorder;
use gungraun::{
    Callgrind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};

#[library_benchmark(setup = cases::probe)]
#[bench::null_1(OpKind::Null, 1)]
#[bench::null_128(OpKind::Null, 128)]
#[bench::getattr_32(OpKind::GetAttr, 32)]
#[bench::read_128k_8(OpKind::Read, 8)]
fn probe(worker: ProbeWorker) -> WorkerEnd {
    worker.run()
}

#[library_benchmark(setup = cases::share_probe)]
#[bench::echo_1(OpKind::Null, 1)]
#[bench::echo_32(OpKind::Null, 32)]
#[bench::smb_read_64k_8(OpKind::Read, 8)]
fn share(worker: ShareProbe) -> WorkerEnd {
    worker.run()
}

#[library_benchmark(setup = cases::lines, teardown = Lines::clean_up)]
#[bench::read_x()]
fn line(mut lines: Lines) -> Lines {
    lines.execute(OPERATIONS);
    lines
}

#[library_benchmark(setup = cases::recorder)]
#[bench::recorded()]
fn sample(recorder: Recorder) -> Recorder {
    cases::record(recorder)
}

library_benchmark_group!(name = hot_path; benchmarks = probe, share, line, sample);

main!(
    config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--cache-sim=no"]));
    library_benchmark_groups = hot_path
);
