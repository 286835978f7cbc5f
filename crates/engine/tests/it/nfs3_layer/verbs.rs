//! NFS verbs as they are written.

use super::bench::{Bench, EXIST, NOENT, NOTEMPTY};
use crate::support::replays::nfs;
use filestone_workload::load::{ActionStatus, Cause, Generation, LoadAction};
use filestone_workload::operation::Stability;

fn read(path: &str, offset: u64, len: u64) -> LoadAction<'_> {
    let path = path.as_bytes();
    LoadAction::Read { path, offset, len }
}

fn write(path: &str, offset: u64, len: u64) -> LoadAction<'_> {
    LoadAction::Write {
        path: path.as_bytes(),
        offset,
        len,
        stability: Stability::FileSync,
    }
}

const FILE: &str = "clients/client0/file";

#[test]
fn every_verb_does_what_it_says() {
    let bench = Bench::new(Generation::Nfs);
    let mut client = bench.client(0);
    let path = FILE.as_bytes();
    assert_eq!(client.create(FILE), ActionStatus::Ok);
    assert_eq!(client.create(FILE), ActionStatus::Ok, "UNCHECKED");
    let link = b"clients/client0/link";
    let other = b"clients/client0/other";
    let actions = [
        LoadAction::GetAttr { path },
        LoadAction::SetAttr { path },
        LoadAction::Lookup { path },
        write(FILE, 10, 100_000),
        read(FILE, 0, 100_010),
        LoadAction::Commit { path },
        LoadAction::PathConfiguration { path },
        LoadAction::Symlink {
            path: link,
            target: b"anywhere",
        },
        LoadAction::ReadLink { path: link },
        LoadAction::Link {
            path: other,
            existing: path,
        },
        LoadAction::GetAttr { path: other },
        LoadAction::ReadDirectoryPlus {
            path: b"clients/client0",
        },
        LoadAction::FileSystemStatus,
        LoadAction::FileSystemInfo,
        LoadAction::Rename {
            from: other,
            to: b"clients/client0/renamed",
        },
        LoadAction::Remove {
            path: b"clients/client0/renamed",
        },
        LoadAction::Remove { path: link },
        LoadAction::Remove { path },
        LoadAction::Rmdir {
            path: b"clients/client0",
        },
        LoadAction::Deltree {
            path: b"clients/client0",
        },
    ];
    for action in actions {
        assert_eq!(client.status(action), ActionStatus::Ok, "{action:?}");
    }
    bench.end();
}

#[test]
fn failures_have_the_number_of_the_standard() {
    let bench = Bench::new(Generation::Nfs);
    let mut client = bench.client(0);
    assert_eq!(client.look_up(FILE), NOENT);
    assert_eq!(client.attributes(FILE), NOENT);
    assert_eq!(client.mkdir("clients/client0"), EXIST);
    assert_eq!(client.create(FILE), ActionStatus::Ok);
    let path = FILE.as_bytes();
    assert_eq!(client.status(LoadAction::ReadLink { path }), nfs(22));
    assert_eq!(client.status(LoadAction::Rmdir { path }), nfs(20));
    let path = b"clients/client0";
    assert_eq!(client.status(LoadAction::Rmdir { path }), NOTEMPTY);
    assert_eq!(client.attributes("clients/client0/file/x"), nfs(20));
    bench.end();
}

#[test]
fn a_read_of_fewer_bytes_than_asked_for_is_well() {
    let bench = Bench::new(Generation::Nfs);
    let mut client = bench.client(0);
    client.create(FILE);
    let reply = client.reply(write(FILE, 0, 5));
    assert_eq!(reply.data_bytes, 5);
    let reply = client.reply(read(FILE, 3, 4096));
    assert_eq!((reply.status, reply.calls), (ActionStatus::Ok, 1));
    assert_eq!(reply.data_bytes, 2, "what came");
    assert_eq!(client.status(read(FILE, 99, 1)), ActionStatus::Ok);
    bench.end();
}

#[test]
fn access_is_compared_where_the_load_gives_a_mask() {
    let bench = Bench::new(Generation::Nfs);
    let mut client = bench.client(0);
    client.create(FILE);
    let path = FILE.as_bytes();
    let access = |wanted, granted| LoadAction::Access {
        path,
        wanted,
        granted,
    };
    assert_eq!(client.status(access(0, 0)), ActionStatus::Ok, "no mask");
    assert_eq!(client.status(access(1, 1)), ActionStatus::Ok);
    assert_eq!(
        client.status(access(1, 0)),
        ActionStatus::WrongAccess {
            expected: 0,
            got: 1
        }
    );
    bench.end();
}

/// Calls that GETATTR of a path takes: one, and a LOOKUP per unknown component.
#[test]
fn a_path_that_is_known_is_not_looked_up_again() {
    let bench = Bench::new(Generation::Nfs);
    bench.client(0).mkdir("clients/client0/a");
    let mut client = bench.client(1);
    let path = b"clients/client0/a";
    assert_eq!(client.reply(LoadAction::GetAttr { path }).calls, 3);
    assert_eq!(client.reply(LoadAction::GetAttr { path }).calls, 1);
    assert_eq!(
        client.reply(LoadAction::Lookup { path }).calls,
        1,
        "it is asked"
    );
    bench.end();
}

#[test]
fn what_is_removed_or_renamed_is_looked_up_again() {
    let bench = Bench::new(Generation::Nfs);
    let mut client = bench.client(0);
    let (a, b) = ("clients/client0/a", "clients/client0/b");
    client.mkdir(a);
    client.create("clients/client0/a/file");
    assert_eq!(
        client.attributes("clients/client0/a/file"),
        ActionStatus::Ok
    );
    assert_eq!(client.rename(a, b), ActionStatus::Ok);
    assert_eq!(client.attributes("clients/client0/a/file"), NOENT);
    assert_eq!(
        client.attributes("clients/client0/b/file"),
        ActionStatus::Ok
    );
    let path = b"clients/client0/b/file";
    assert_eq!(client.status(LoadAction::Remove { path }), ActionStatus::Ok);
    assert_eq!(client.attributes("clients/client0/b/file"), NOENT);
    let path = b.as_bytes();
    assert_eq!(
        client.status(LoadAction::Deltree { path }),
        ActionStatus::Ok
    );
    assert_eq!(client.mkdir(b), ActionStatus::Ok);
    assert_eq!(client.attributes(b), ActionStatus::Ok, "the new one");
    bench.end();
}

#[test]
fn a_handle_that_somebody_else_made_stale_is_forgotten() {
    let bench = Bench::new(Generation::Nfs);
    let (mut client, mut other) = (bench.client(0), bench.client(1));
    client.create(FILE);
    let path = FILE.as_bytes();
    assert_eq!(other.attributes(FILE), ActionStatus::Ok);
    assert_eq!(client.status(LoadAction::Remove { path }), ActionStatus::Ok);
    assert_eq!(client.create(FILE), ActionStatus::Ok);
    assert_eq!(other.attributes(FILE), nfs(70));
    assert_eq!(
        other.attributes(FILE),
        ActionStatus::Ok,
        "it is looked up again"
    );
    bench.end();
}

#[test]
fn what_is_not_the_runs_own_is_looked_at_and_never_changed() {
    let bench = Bench::new(Generation::Nfs);
    let mut client = bench.client(0);
    let denied = ActionStatus::Refused(Cause::Denied);
    assert_eq!(client.attributes("file"), ActionStatus::Ok);
    assert_eq!(client.status(read("file", 0, 10)), ActionStatus::Ok);
    let changes = [
        write("file", 0, 10),
        LoadAction::SetAttr { path: b"file" },
        LoadAction::Create { path: b"new" },
        LoadAction::Mkdir { path: b"new" },
        LoadAction::Remove { path: b"file" },
        LoadAction::Unlink { path: b"file" },
        LoadAction::Rmdir { path: b"files" },
        LoadAction::Deltree { path: b"files" },
        LoadAction::Deltree { path: b"" },
        LoadAction::Remove {
            path: b"clients/made-by-filestone",
        },
        LoadAction::Rename {
            from: b"file",
            to: b"clients/client0/mine",
        },
        LoadAction::Rename {
            from: b"clients/client0",
            to: b"elsewhere",
        },
        LoadAction::Link {
            path: b"clients/client0/mine",
            existing: b"file",
        },
        LoadAction::Symlink {
            path: b"new",
            target: b"file",
        },
    ];
    for change in changes {
        let reply = client.reply(change);
        assert_eq!((reply.status, reply.calls), (denied, 0), "{change:?}");
    }
    assert_eq!(client.attributes("files"), ActionStatus::Ok);
    bench.end();
}

#[test]
fn clients_is_everybodys() {
    let bench = Bench::new(Generation::Nfs);
    let (mut client, mut other) = (bench.client(0), bench.client(1));
    assert_eq!(client.mkdir("clients"), ActionStatus::Ok);
    client.create(FILE);
    assert_eq!(
        client.status(LoadAction::Rmdir { path: b"clients" }),
        NOTEMPTY
    );
    let path = b"clients";
    assert_eq!(
        client.status(LoadAction::Deltree { path }),
        ActionStatus::Ok
    );
    assert_eq!(client.look_up("clients/client0"), NOENT);
    assert_eq!(other.look_up("clients/client1"), ActionStatus::Ok);
    let path = b"clients/client1";
    assert_eq!(other.status(LoadAction::Deltree { path }), ActionStatus::Ok);
    assert_eq!(
        client.status(LoadAction::Rmdir { path: b"clients" }),
        ActionStatus::Ok,
        "to a load it is empty"
    );
    assert_eq!(client.look_up("clients"), ActionStatus::Ok);
    bench.end();
}

#[test]
fn a_long_directory_is_read_to_its_end() {
    let bench = Bench::with(
        Generation::Nfs,
        |options| options.initial_tree.small_file_count = 500,
        |_| {},
    );
    let mut client = bench.client(0);
    let reply = client.reply(LoadAction::ReadDirectoryPlus { path: b"files" });
    assert_eq!(reply.status, ActionStatus::Ok);
    assert!(reply.calls > 5, "{} pages", reply.calls);
    bench.end();
}

#[test]
fn traffic_is_counted_with_its_record_marks() {
    let bench = Bench::new(Generation::Nfs);
    let mut client = bench.client(0);
    let reply = client.reply(LoadAction::GetAttr {
        path: b"clients/client0",
    });
    // A reply to GETATTR is 4 bytes of mark, 24 of RPC, the status, 84 of attributes.
    assert_eq!((reply.calls, reply.bytes_received), (1, 4 + 24 + 4 + 84));
    // The call: mark, 24 of RPC, the credential with the name filestone-0, no
    // verifier, and a handle of 28 bytes.
    let credential = 8 + 4 + (4 + 12) + 8 + 4;
    assert_eq!(reply.bytes_sent, 4 + 24 + credential + 8 + 4 + 28);
    client.create(FILE);
    let reply = client.reply(write(FILE, 0, 4096));
    assert!(reply.bytes_sent > 4096 && reply.bytes_received < 4096);
    bench.end();
}
