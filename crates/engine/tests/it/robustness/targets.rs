//! Paths that are not there, may not be used, or are not what the operation needs.

use super::error_at;
use crate::support::live::{probe, serve};
use filestone_host::error::{ErrorCategory, RunError};
use filestone_plan::plan::TransportKind;
use filestone_server::Options;
use filestone_workload::operation::OpKind;

fn error_for(operation: OpKind, path: &str, change: impl FnOnce(&mut Options)) -> RunError {
    let server = serve(change);
    let mut plan = probe(operation, TransportKind::Tcp, 10);
    plan.target.nfs3_mut().expect("an NFS target").path = path.into();
    error_at(&plan, server.address())
}

#[test]
fn a_path_that_is_not_there_is_named_with_the_servers_answer() {
    for path in ["/export/nowhere", "/export/files/none/deeper"] {
        let error = error_for(OpKind::GetAttr, path, |_| {});
        let text = error.to_string();
        assert_eq!(error.category(), ErrorCategory::Target);
        assert!(text.contains("NFS3ERR_NOENT"), "{text}");
        assert!(text.contains("/export/"), "{text}");
        assert!(error.help().is_some());
    }
}

#[test]
fn an_export_that_is_not_there_is_named_with_what_there_is() {
    let error = error_for(OpKind::GetAttr, "/nowhere", |options| {
        options.strict_mount = true;
    });
    let text = error.to_string();
    assert!(text.contains("/nowhere"), "{text}");
    assert!(
        text.contains("MNT3ERR_NOENT") || text.contains("NFS3ERR_NOENT"),
        "{text}"
    );
    assert_eq!(error.category(), ErrorCategory::Target);
}

#[test]
fn what_may_not_be_done_is_said_with_a_way_out() {
    let error = error_for(OpKind::Create, "/export", |options| {
        options.faults = vec!["error=NFS3ERR_ACCES,proc=mkdir".parse().expect("a rule")];
    });
    let text = error.to_string();
    assert!(text.starts_with("/export/filestone-"), "{text}");
    assert!(
        text.contains("MKDIR was answered with NFS3ERR_ACCES (13)"),
        "{text}"
    );
    assert!(error.help().expect("help").contains("--uid"));
    let error = error_for(OpKind::Create, "/export", |options| {
        options.faults = vec!["error=NFS3ERR_ROFS,proc=mkdir".parse().expect("a rule")];
    });
    assert!(error.help().expect("help").contains("read-only"));
}

#[test]
fn an_operation_needs_the_right_kind_of_object() {
    const IS_A_LINK: &str = "is a symbolic link to file";
    for (operation, path, needs) in [
        (OpKind::Lookup, "/export/file", "needs a directory"),
        (OpKind::ReadDir, "/export/file", "needs a directory"),
        (OpKind::ReadDirPlus, "/export/link", IS_A_LINK),
        (
            OpKind::Write,
            "/export/file",
            "needs a directory to work in",
        ),
        (
            OpKind::Create,
            "/export/file",
            "needs a directory to work in",
        ),
        (OpKind::Commit, "/export/link", IS_A_LINK),
        (OpKind::Read, "/export/link", IS_A_LINK),
        (OpKind::ReadLink, "/export/file", "needs a symbolic link"),
        (
            OpKind::ReadLink,
            "/export/files",
            "needs a symbolic link, or a directory with some",
        ),
    ] {
        // Looked up, a link is a link; MNT would give what it leads to.
        let error = error_for(operation, path, |options| {
            options.strict_mount = path.ends_with("link");
        });
        let text = error.to_string();
        assert_eq!(error.category(), ErrorCategory::Usage, "{text}");
        assert!(text.starts_with(path) && text.contains(needs), "{text}");
        assert!(error.help().is_some(), "{text}");
    }
}

#[test]
fn an_empty_file_cannot_be_read_and_an_empty_directory_not_looked_up_in() {
    let empty = |options: &mut Options| {
        options.initial_tree.file_size = 0;
        options.initial_tree.small_file_count = 0;
    };
    let error = error_for(OpKind::Read, "/export/file", empty);
    assert!(
        error.to_string().contains("needs a file that is not empty"),
        "{error}"
    );
    let error = error_for(OpKind::Lookup, "/export/files", empty);
    assert!(
        error
            .to_string()
            .contains("needs a directory with something in it"),
        "{error}"
    );
    let error = error_for(OpKind::Read, "/export/files", empty);
    assert!(
        error.to_string().contains("needs files that are not empty"),
        "{error}"
    );
    let error = error_for(OpKind::Read, "/export", empty);
    assert_eq!(error.category(), ErrorCategory::Usage, "{error}");
}

#[test]
fn a_plan_that_makes_no_sense_is_refused_before_anything_is_sent() {
    let server = serve(|_| {});
    type Change = fn(&mut filestone_plan::plan::Plan);
    let changes: [(Change, &str); 7] = [
        (|plan| plan.clients = 0, "\"clients\" 0"),
        (|plan| plan.in_flight = 0, "\"in_flight\" 0"),
        (|plan| plan.workers = 2, "\"workers\" 2"),
        (|plan| plan.count = None, "never end"),
        (
            |plan| plan.probe_mut().expect("a probe").size_bytes = 0,
            "\"size_bytes\" 0",
        ),
        (
            |plan| plan.probe_mut().expect("a probe").size_bytes = (1 << 20) + 1,
            "\"size_bytes\" 1048577",
        ),
        (
            |plan| {
                plan.target.nfs3_mut().expect("an NFS target").transport = TransportKind::Udp;
                plan.probe_mut().expect("a probe").size_bytes = 65_536;
            },
            "a datagram holds at most 64512 bytes",
        ),
    ];
    for (change, expected) in changes {
        let mut plan = probe(OpKind::Read, TransportKind::Tcp, 10);
        change(&mut plan);
        let error = error_at(&plan, server.address());
        assert_eq!(error.category(), ErrorCategory::Usage);
        assert!(error.to_string().contains(expected), "{error}");
    }
}
