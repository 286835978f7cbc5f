//! CIFS verbs, lowered.

use super::bench::{Bench, Client, NOENT, NOTEMPTY, find_first, nt_create_x};
use crate::support::replays::nfs;
use filestone_wire::nfs3::Procedure;
use filestone_workload::load::action::{Disposition, OPTION_DIRECTORY};
use filestone_workload::load::{ActionStatus, Cause, Generation, LoadAction};

const FILE: &str = "clients/client0/file";

fn commits(bench: &Bench) -> u64 {
    bench.server.counters().calls(Procedure::Commit)
}

#[test]
fn dispositions_make_open_and_empty_files() {
    use Disposition::{Create, Open, OpenIf, Overwrite, OverwriteIf, Supersede};
    let bench = Bench::new(Generation::Cifs);
    let mut client = bench.client(0);
    // What becomes of a file that is not there, and how long one of 5 bytes is then.
    let cases = [
        (Supersede, ActionStatus::Ok, 0),
        (Open, NOENT, 5),
        (Create, ActionStatus::Ok, 5),
        (OpenIf, ActionStatus::Ok, 5),
        (Overwrite, NOENT, 0),
        (OverwriteIf, ActionStatus::Ok, 0),
    ];
    for (number, (disposition, missing, len)) in (1..).zip(cases) {
        let path = format!("clients/client0/file{number}");
        assert_eq!(
            client.open(&path, disposition, 7),
            missing,
            "{disposition:?}"
        );
        assert_eq!(client.open(&path, Create, 8), ActionStatus::Ok);
        assert_eq!(client.write_x(8, 0, 5), ActionStatus::Ok);
        assert_eq!(client.close(8), ActionStatus::Ok);
        assert_eq!(client.open(&path, disposition, 9), ActionStatus::Ok);
        assert_eq!(client.read_x(9, 0, len), ActionStatus::Ok);
        let short = ActionStatus::WrongLength {
            expected: len + 1,
            got: len,
        };
        assert_eq!(client.read_x(9, 0, len + 1), short, "{disposition:?}");
        client.close(9);
    }
    bench.end();
}

#[test]
fn a_directory_is_made_or_opened() {
    let bench = Bench::new(Generation::Cifs);
    let mut client = bench.client(0);
    let path = "clients/client0/directory";
    let open = |disposition| nt_create_x(path, OPTION_DIRECTORY, disposition, 1);
    assert_eq!(client.status(open(Disposition::Open)), NOENT);
    assert_eq!(client.status(open(Disposition::Create)), ActionStatus::Ok);
    assert_eq!(
        client.status(open(Disposition::Create)),
        ActionStatus::Ok,
        "again"
    );
    let status = client.status(LoadAction::QueryFileInformation {
        handle: 1,
        level: 0,
    });
    assert_eq!(status, ActionStatus::Ok);
    assert_eq!(client.close(1), ActionStatus::Ok);
    assert_eq!(client.open(FILE, Disposition::Create, 2), ActionStatus::Ok);
    let as_directory = nt_create_x(FILE, OPTION_DIRECTORY, Disposition::Open, 3);
    assert_eq!(client.status(as_directory), nfs(20));
    assert_eq!(client.open(path, Disposition::Open, 4), ActionStatus::Ok);
    bench.end();
}

#[test]
fn open_x_gives_a_file_its_length() {
    let bench = Bench::new(Generation::Dbench1);
    let mut client = bench.client(0);
    let path = FILE.as_bytes();
    for (len, written) in [(100_000, 100_000), (7, 0), (9, 2), (0, 0), (20, 20)] {
        let open = LoadAction::OpenX {
            path,
            len,
            handle: 3,
        };
        let reply = client.reply(open);
        assert_eq!(
            (reply.status, reply.data_bytes),
            (ActionStatus::Ok, written)
        );
        assert_eq!(client.read_x(3, 0, len), ActionStatus::Ok, "{len}");
        let short = ActionStatus::WrongLength {
            expected: len + 1,
            got: len,
        };
        assert_eq!(client.read_x(3, 0, len + 1), short);
        assert_eq!(client.close(3), ActionStatus::Ok);
    }
    bench.end();
}

#[test]
fn a_stop_breaks_off_what_takes_several_calls_and_leaves_the_connection_in_step() {
    let bench = Bench::new(Generation::Cifs);
    let mut client = bench.client(0);
    client.open(FILE, Disposition::Create, 1);
    assert_eq!(client.write_x(1, 0, 1000), ActionStatus::Ok);
    let (handle, offset, len) = (1, 0, 1 << 30);
    let write = LoadAction::WriteX {
        handle,
        offset,
        len,
        expected_len: len,
    };
    client.stop_after(2, write);
    assert_eq!(client.close(1), ActionStatus::Ok);
    client.clean_up();
    assert_eq!(client.query(FILE), NOENT, "taking away goes on");
    bench.end();
}

#[test]
fn data_become_stable_with_flush_and_close_and_only_if_need_be() {
    let bench = Bench::new(Generation::Cifs);
    let mut client = bench.client(0);
    client.open(FILE, Disposition::Create, 1);
    assert_eq!(client.close(1), ActionStatus::Ok);
    assert_eq!(commits(&bench), 0, "nothing was written");
    client.open(FILE, Disposition::Open, 1);
    assert_eq!(client.write_x(1, 0, 100_000), ActionStatus::Ok);
    assert_eq!(
        client.status(LoadAction::Flush { handle: 1 }),
        ActionStatus::Ok
    );
    assert_eq!(commits(&bench), 1);
    assert_eq!(client.close(1), ActionStatus::Ok);
    assert_eq!(commits(&bench), 1, "all is stable already");
    client.open(FILE, Disposition::Open, 1);
    client.write_x(1, 5, 1);
    assert_eq!(client.close(1), ActionStatus::Ok);
    assert_eq!(commits(&bench), 2);
    bench.end();
}

#[test]
fn with_stable_writes_nothing_is_committed() {
    let bench = Bench::with(Generation::Cifs, |_| {}, |options| options.stable = true);
    let mut client = bench.client(0);
    client.open(FILE, Disposition::Create, 1);
    assert_eq!(client.write_x(1, 0, 10), ActionStatus::Ok);
    assert_eq!(client.close(1), ActionStatus::Ok);
    assert_eq!(commits(&bench), 0);
    bench.end();
}

#[test]
fn large_transfers_go_in_pieces_of_the_servers_size() {
    let bench = Bench::new(Generation::Cifs);
    let mut client = bench.client(0);
    client.open(FILE, Disposition::Create, 1);
    let len = 5 << 20;
    let write = LoadAction::WriteX {
        handle: 1,
        offset: 3,
        len,
        expected_len: len,
    };
    let reply = client.reply(write);
    assert_eq!((reply.status, reply.calls), (ActionStatus::Ok, 5));
    assert_eq!(reply.data_bytes, len);
    assert_eq!(client.read_x(1, 3, len), ActionStatus::Ok);
    bench.end();
}

#[test]
fn a_read_that_comes_short_counts_what_came() {
    let bench = Bench::new(Generation::Cifs);
    let mut client = bench.client(0);
    client.open(FILE, Disposition::Create, 1);
    assert_eq!(client.write_x(1, 0, 1000), ActionStatus::Ok);
    for (expected_len, status) in [
        (1000, ActionStatus::Ok),
        (
            4096,
            ActionStatus::WrongLength {
                expected: 4096,
                got: 1000,
            },
        ),
    ] {
        let reply = client.reply(LoadAction::ReadX {
            handle: 1,
            offset: 0,
            len: 4096,
            expected_len,
        });
        assert_eq!((reply.status, reply.data_bytes), (status, 1000));
    }
    bench.end();
}

#[test]
fn names_are_found_in_another_case_and_otherwise_not() {
    let bench = Bench::new(Generation::Cifs);
    let mut client = bench.client(0);
    client.mkdir("clients/client0/Dir");
    client.open("clients/client0/Dir/File.TXT", Disposition::Create, 1);
    client.close(1);
    let other = "clients/client0/DIR/file.txt";
    assert_eq!(client.query(other), ActionStatus::Ok);
    assert_eq!(client.open(other, Disposition::Create, 1), ActionStatus::Ok);
    client.close(1);
    assert_eq!(
        client.rename(other, "clients/client0/dir/NEW"),
        ActionStatus::Ok
    );
    assert_eq!(client.query("clients/client0/dir/file.txt"), NOENT);
    let path = b"clients/client0/dir/new";
    assert_eq!(client.status(LoadAction::Unlink { path }), ActionStatus::Ok);
    let path = b"clients/client0/dir";
    assert_eq!(client.status(LoadAction::Rmdir { path }), ActionStatus::Ok);
    assert_eq!(client.query("clients/client0/Dir"), NOENT);
    bench.end();
}

#[test]
fn a_name_can_be_changed_in_its_case_only() {
    let bench = Bench::new(Generation::Cifs);
    let mut client = bench.client(0);
    client.open(FILE, Disposition::Create, 1);
    client.close(1);
    assert_eq!(
        client.rename(FILE, "clients/client0/FILE"),
        ActionStatus::Ok
    );
    assert_eq!(client.look_up("clients/client0/FILE"), ActionStatus::Ok);
    assert_eq!(client.look_up(FILE), NOENT);
    bench.end();
}

#[test]
fn without_resolve_names_mean_what_they_say() {
    let bench = Bench::with(Generation::Cifs, |_| {}, |options| options.resolve = false);
    let mut client = bench.client(0);
    client.open(FILE, Disposition::Create, 1);
    let reply = client.reply(LoadAction::QueryPathInformation {
        path: b"clients/client0/FILE",
        level: 1004,
    });
    assert_eq!((reply.status, reply.calls), (NOENT, 1));
    bench.end();
}

#[test]
fn a_directory_is_looked_up_once_and_its_files_every_time() {
    let bench = Bench::new(Generation::Cifs);
    let mut client = bench.client(0);
    client.open(FILE, Disposition::Create, 1);
    client.close(1);
    let path = FILE.as_bytes();
    let query = LoadAction::QueryPathInformation { path, level: 1004 };
    assert_eq!(client.reply(query).calls, 1);
    assert_eq!(client.reply(query).calls, 1);
    let missing = LoadAction::QueryPathInformation {
        path: b"clients/client0/missing",
        level: 1004,
    };
    let reply = client.reply(missing);
    assert_eq!(
        (reply.status, reply.calls),
        (NOENT, 2),
        "LOOKUP and READDIR"
    );
    bench.end();
}

#[test]
fn rename_replaces_and_unlink_and_rmdir_take_away() {
    let bench = Bench::new(Generation::Cifs);
    let mut client = bench.client(0);
    client.open(FILE, Disposition::Create, 1);
    client.close(1);
    let other = "clients/client0/other";
    client.open(other, Disposition::Create, 1);
    client.close(1);
    assert_eq!(client.rename(FILE, other), ActionStatus::Ok);
    assert_eq!(client.rename(FILE, other), NOENT);
    assert_eq!(
        client.status(LoadAction::Rmdir {
            path: b"clients/client0"
        }),
        NOTEMPTY
    );
    let path = other.as_bytes();
    assert_eq!(client.status(LoadAction::Unlink { path }), ActionStatus::Ok);
    assert_eq!(client.status(LoadAction::Unlink { path }), NOENT);
    let path = b"clients/client0";
    assert_eq!(client.status(LoadAction::Rmdir { path }), ActionStatus::Ok);
    bench.end();
}

#[test]
fn find_first_matches_as_windows_does() {
    let bench = Bench::new(Generation::Cifs);
    let mut client = bench.client(0);
    client.open("clients/client0/Report.DOC", Disposition::Create, 1);
    client.close(1);
    let nothing = ActionStatus::Refused(Cause::NotFound);
    for (pattern, expected) in [
        ("*", ActionStatus::Ok),
        ("report.*", ActionStatus::Ok),
        ("<.doc", ActionStatus::Ok),
        ("<.JNK", nothing),
        ("FILLER.*", nothing),
        ("report.doc", ActionStatus::Ok),
        ("letter.doc", NOENT),
    ] {
        let pattern = format!("clients/client0/{pattern}");
        assert_eq!(client.find(&pattern), expected, "{pattern}");
    }
    assert_eq!(client.find("clients/client0/missing/*"), NOENT);
    let long = client.reply(find_first("files/<.nothing"));
    assert_eq!(long.status, nothing);
    bench.end();
}

#[test]
fn queries_of_open_files_and_of_the_file_system_are_one_call() {
    let bench = Bench::new(Generation::Cifs);
    let mut client = bench.client(0);
    client.open(FILE, Disposition::Create, 1);
    let (handle, level) = (1, 258);
    for action in [
        LoadAction::QueryFileInformation { handle, level },
        LoadAction::SetFileInformation { handle, level },
        LoadAction::QueryFsInformation { level },
    ] {
        let reply = client.reply(action);
        assert_eq!(
            (reply.status, reply.calls),
            (ActionStatus::Ok, 1),
            "{action:?}"
        );
    }
    let (offset, len) = (0, 1);
    for action in [
        LoadAction::LockX {
            handle,
            offset,
            len,
        },
        LoadAction::UnlockX {
            handle,
            offset,
            len,
        },
    ] {
        let reply = client.reply(action);
        assert_eq!(
            (reply.status, reply.calls),
            (ActionStatus::Ok, 0),
            "{action:?}"
        );
    }
    bench.end();
}

#[test]
fn handles_that_are_not_open_are_named_so() {
    let bench = Bench::new(Generation::Cifs);
    let mut client = bench.client(0);
    let unknown = ActionStatus::Refused(Cause::UnknownHandle);
    assert_eq!(client.close(5), unknown);
    assert_eq!(client.read_x(5, 0, 1), unknown);
    assert_eq!(client.write_x(5, 0, 1), unknown);
    assert_eq!(client.status(LoadAction::Flush { handle: 5 }), unknown);
    client.open(FILE, Disposition::Create, 5);
    client.end_pass();
    assert_eq!(client.close(5), unknown, "a new pass begins without");
    bench.end();
}

#[test]
fn ranges_beyond_all_files_are_refused() {
    let bench = Bench::new(Generation::Cifs);
    let mut client = bench.client(0);
    client.open(FILE, Disposition::Create, 1);
    let refused = ActionStatus::Refused(Cause::Other);
    assert_eq!(client.write_x(1, u64::MAX, 2), refused);
    assert_eq!(client.read_x(1, u64::MAX, 2), refused);
    bench.end();
}

#[test]
fn what_is_not_the_runs_own_is_opened_to_be_read_only() {
    let bench = Bench::new(Generation::Cifs);
    let mut client = bench.client(0);
    let denied = ActionStatus::Refused(Cause::Denied);
    assert_eq!(client.open("file", Disposition::Open, 1), ActionStatus::Ok);
    assert_eq!(client.read_x(1, 0, 10), ActionStatus::Ok);
    assert_eq!(client.write_x(1, 0, 10), denied);
    let (handle, level) = (1, 1004);
    assert_eq!(
        client.status(LoadAction::SetFileInformation { handle, level }),
        denied
    );
    assert_eq!(client.open("file", Disposition::OverwriteIf, 2), denied);
    assert_eq!(client.open("new", Disposition::Create, 2), denied);
    bench.end();
}

#[test]
fn names_of_dbench_1_in_capitals_find_the_clients_directory() {
    let bench = Bench::new(Generation::Dbench1);
    let mut client: Client = bench.client(0);
    assert_eq!(client.mkdir("CLIENTS"), ActionStatus::Ok);
    assert_eq!(
        client.open("CLIENTS/CLIENT0/A", Disposition::Create, 1),
        ActionStatus::Ok
    );
    assert_eq!(client.query("clients/client0/A"), ActionStatus::Ok);
    let path = b"CLIENTS";
    assert_eq!(
        client.status(LoadAction::Deltree { path }),
        ActionStatus::Ok
    );
    assert_eq!(client.query("clients/client0"), NOENT);
    bench.end();
}
