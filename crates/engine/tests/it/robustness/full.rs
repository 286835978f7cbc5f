//! Mixes whose file set does not fit on the server.

use super::error_at;
use crate::support::live::{checked, serve, status_of};
use crate::support::mixes::mix;
use filestone_host::error::RunError;
use filestone_plan::plan::{ArrivalsPlan, Plan, WorkloadPlan};
use filestone_server::Running;
use filestone_wire::nfs3::Status;
use filestone_workload::operation::OpKind;

/// A mix over so many files of 128 KiB.
fn plan(files: u32, remove_set: bool) -> Plan {
    let mut plan = mix(&[(OpKind::Read, 1)], ArrivalsPlan::Closed, 100);
    if let WorkloadPlan::Mix(mix) = &mut plan.workload {
        mix.file_set.files_per_client = files;
        mix.file_set.sizes = "128K".parse().expect("file sizes");
        mix.remove_set = remove_set;
    }
    plan
}

fn small_server() -> Running {
    serve(|options| options.memory_limit = 4 << 20)
}

/// What is said of a set of 100 files of 128 KiB.
fn refusal(server: &Running, remove_set: bool) -> String {
    let error = error_at(&plan(100, remove_set), server.address());
    let RunError::Unfinished { source, .. } = &error else {
        return error.help().unwrap_or_default();
    };
    let is_full = status_of(source) == Some(Status::NOSPC);
    assert!(is_full, "{error}");
    error.help().unwrap_or_default()
}

/// How many files of a set of this size a run finds.
fn found(server: &Running, files: u32) -> u64 {
    let record = checked(&plan(files, true), server);
    record.mix.expect("a mix").file_set.found
}

#[test]
fn what_did_not_fit_stays_for_the_next_run_and_that_is_said() {
    let server = small_server();
    let help = refusal(&server, false);
    let kept = "what has been made stays in /export/set, and is used by the next run";
    assert!(help.contains("full") && help.ends_with(kept), "{help}");
    // The next run removes it, although it cannot complete it either.
    let help = refusal(&server, true);
    assert!(
        help.contains("full") && !help.contains("next run"),
        "{help}"
    );
    assert_eq!(found(&server, 10), 0, "there is nothing of it");
}

#[test]
fn what_did_not_fit_is_removed_if_that_was_asked() {
    let server = small_server();
    let help = refusal(&server, true);
    assert!(
        help.contains("full") && !help.contains("next run"),
        "{help}"
    );
    assert_eq!(found(&server, 10), 0);
    let memory = serve(|_| {});
    assert_eq!(found(&memory, 100), 0, "elsewhere it fits");
}
