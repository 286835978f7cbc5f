//! What the local layer does with each verb and option, on a real directory.

use crate::support::local::{Bench, EAGAIN, EEXIST, EINVAL, EISDIR, ELOOP, ENOENT, ENOTEMPTY};
use crate::support::replays::{errno, nlm};
use filestone_engine::protocols::local::replay::LocalOptions;
use filestone_engine::replay::{BlockingWorkDir, Cancellation, Layer};
use filestone_workload::load::action::{Disposition, OPTION_DIRECTORY};
use filestone_workload::load::{ActionStatus, Cause, LoadAction};
use filestone_workload::operation::Stability;
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};

fn bench() -> Bench {
    Bench::new(LocalOptions::default())
}

fn with(change: impl FnOnce(&mut LocalOptions)) -> Bench {
    let mut options = LocalOptions::default();
    change(&mut options);
    Bench::new(options)
}

#[test]
fn a_file_is_created_written_read_and_closed() {
    let mut bench = bench();
    bench.make_tree();
    assert_eq!(
        bench.open("clients/client0/a", Disposition::Create, 7),
        ActionStatus::Ok
    );
    assert_eq!(bench.write(7, 65_534, 1), ActionStatus::Ok);
    assert_eq!(bench.write(7, 0, 65_536), ActionStatus::Ok);
    assert_eq!(bench.read(7, 0, 65_536, 65_536), ActionStatus::Ok);
    assert_eq!(
        bench.read(7, 65_000, 1000, 1000),
        ActionStatus::WrongLength {
            expected: 1000,
            got: 536
        }
    );
    assert_eq!(bench.read(7, 1 << 40, 10, 0), ActionStatus::Ok);
    assert_eq!(
        bench.run(LoadAction::QueryFileInformation {
            handle: 7,
            level: 258
        }),
        ActionStatus::Ok
    );
    assert_eq!(
        bench.run(LoadAction::SetFileInformation {
            handle: 7,
            level: 1004
        }),
        ActionStatus::Ok
    );
    assert_eq!(bench.run(LoadAction::Flush { handle: 7 }), ActionStatus::Ok);
    assert_eq!(
        bench.run(LoadAction::QueryFsInformation { level: 1 }),
        ActionStatus::Ok
    );
    assert_eq!(bench.run(LoadAction::Close { handle: 7 }), ActionStatus::Ok);
    assert_eq!(bench.content("clients/client0/a").len(), 65_536);
    bench.release();
}

#[test]
fn data_are_taken_over_and_over_and_offsets_have_64_bits() {
    let mut bench = bench();
    bench.make_tree();
    bench.data = b"abc".to_vec();
    bench.open("clients/client0/a", Disposition::Create, 1);
    assert_eq!(bench.write(1, 0, 8), ActionStatus::Ok);
    assert_eq!(bench.content("clients/client0/a"), b"abcabcab");
    // More than one system call's worth, and beyond 4 GiB.
    assert_eq!(bench.write(1, 5_000_000_000, 17 << 20), ActionStatus::Ok);
    let file = fs::File::open(bench.path("clients/client0/a")).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 5_000_000_000 + (17 << 20));
    let mut last = [0; 2];
    file.read_exact_at(&mut last, 5_000_000_000 + (17 << 20) - 2)
        .unwrap();
    assert!(last.iter().all(|byte| b"abc".contains(byte)));
    assert_eq!(
        bench.read(1, 5_000_000_000, 17 << 20, 17 << 20),
        ActionStatus::Ok
    );
    assert!(!bench.write(1, u64::MAX - 3, 10).is_ok());
    assert!(!bench.read(1, u64::MAX - 3, 10, 0).is_ok());
    bench.release();
}

#[test]
fn a_stop_breaks_off_what_takes_several_pieces_and_nothing_else() {
    let mut bench = bench();
    bench.make_tree();
    bench.open("clients/client0/a", Disposition::Create, 1);
    let cancellation = Cancellation::default();
    bench.layer.cancel_with(&cancellation);
    cancellation.cancel();
    assert_eq!(bench.write(1, 0, 1000), ActionStatus::Ok);
    let (handle, offset, len) = (1, 0, 1 << 30);
    for action in [
        LoadAction::WriteX {
            handle,
            offset,
            len,
            expected_len: len,
        },
        LoadAction::ReadX {
            handle,
            offset,
            len,
            expected_len: len,
        },
    ] {
        let broken_off = bench.layer.execute(&action, &bench.data);
        assert!(
            broken_off
                .is_err_and(|lost| matches!(lost, filestone_engine::replay::LayerLost::Stopped)),
            "{action:?}"
        );
    }
    let written = fs::metadata(bench.path("clients/client0/a")).unwrap().len();
    assert!(written < len, "{written}");
    assert_eq!(bench.run(LoadAction::Close { handle }), ActionStatus::Ok);
    assert_eq!(bench.deltree("clients"), ActionStatus::Ok);
    bench.release();
}

#[test]
fn dispositions_create_and_cut_as_the_standard_says() {
    let mut bench = bench();
    bench.make_tree();
    let name = "clients/client0/a";
    use Disposition::{Create, Open, OpenIf, Overwrite, OverwriteIf, Supersede};
    // disposition, whether it makes a missing file, whether it cuts one that is there
    for (disposition, creates, cuts) in [
        (Open, false, false),
        (Create, true, false),
        (OpenIf, true, false),
        (Overwrite, false, true),
        (OverwriteIf, true, true),
        (Supersede, true, true),
    ] {
        fs::remove_file(bench.path(name)).ok();
        let missing = bench.open(name, disposition, 1);
        assert_eq!(missing.is_ok(), creates, "{disposition:?}");
        fs::write(bench.path(name), b"content").unwrap();
        assert_eq!(
            bench.open(name, disposition, 1),
            ActionStatus::Ok,
            "{disposition:?}"
        );
        assert_eq!(bench.content(name).is_empty(), cuts, "{disposition:?}");
    }
    bench.release();
}

#[test]
fn a_directory_can_be_opened_but_not_written() {
    let mut bench = bench();
    bench.make_tree();
    let name = "clients/client0/d";
    assert_eq!(bench.open_directory(name, 3), ActionStatus::Ok);
    assert_eq!(bench.open_directory(name, 4), ActionStatus::Ok);
    assert!(bench.path(name).is_dir());
    assert_eq!(bench.open(name, Disposition::Open, 5), ActionStatus::Ok);
    assert_eq!(bench.read(5, 0, 10, 10), errno(EISDIR));
    assert_eq!(bench.write(5, 0, 10), errno(EISDIR));
    assert_eq!(bench.run(LoadAction::Flush { handle: 5 }), ActionStatus::Ok);
    let missing = LoadAction::NtCreateX {
        path: b"clients/client0/none",
        options: OPTION_DIRECTORY,
        disposition: Disposition::Open,
        handle: 6,
    };
    assert_eq!(bench.run(missing), errno(ENOENT));
    bench.release();
}

#[test]
fn handles_that_nobody_opened_are_refused() {
    let mut bench = bench();
    bench.make_tree();
    assert_eq!(
        bench.open("clients/client0/none", Disposition::Open, 9),
        errno(ENOENT)
    );
    let refused = ActionStatus::Refused(Cause::UnknownHandle);
    for action in [
        LoadAction::Close { handle: 9 },
        LoadAction::ReadX {
            handle: 9,
            offset: 0,
            len: 1,
            expected_len: 1,
        },
        LoadAction::WriteX {
            handle: 9,
            offset: 0,
            len: 1,
            expected_len: 1,
        },
        LoadAction::Flush { handle: 9 },
        LoadAction::LockX {
            handle: 9,
            offset: 0,
            len: 1,
        },
        LoadAction::UnlockX {
            handle: 9,
            offset: 0,
            len: 1,
        },
        LoadAction::QueryFileInformation {
            handle: 9,
            level: 0,
        },
        LoadAction::SetFileInformation {
            handle: 9,
            level: 0,
        },
    ] {
        assert_eq!(bench.run(action), refused, "{action:?}");
    }
    bench.open("clients/client0/a", Disposition::Create, 0);
    assert_eq!(bench.read(0, 0, 0, 0), ActionStatus::Ok);
    bench.layer.end_pass().unwrap();
    assert_eq!(bench.read(0, 0, 0, 0), refused);
    bench.release();
}

#[test]
fn thousands_of_handles_can_be_open() {
    let mut bench = bench();
    bench.make_tree();
    for handle in 0..3000 {
        let name = format!("clients/client0/{handle}");
        assert_eq!(
            bench.open(&name, Disposition::Create, handle << 32),
            ActionStatus::Ok
        );
    }
    for handle in 0..3000 {
        assert_eq!(
            bench.run(LoadAction::Close {
                handle: handle << 32
            }),
            ActionStatus::Ok
        );
    }
    bench.release();
}

#[test]
fn names_are_found_in_another_case_and_then_used() {
    let mut bench = bench();
    bench.make_tree();
    fs::create_dir(bench.path("clients/client0/Dir")).unwrap();
    fs::write(bench.path("clients/client0/Dir/Name.TXT"), b"x").unwrap();
    for name in [
        "clients/client0/Dir/nAME.txt",
        "CLIENTS/CLIENT0/DIR/NAME.TXT",
    ] {
        assert_eq!(bench.query(name), ActionStatus::Ok, "{name}");
        assert_eq!(
            bench.open(name, Disposition::Open, 1),
            ActionStatus::Ok,
            "{name}"
        );
    }
    assert_eq!(bench.query("clients/client0/dir/other"), errno(ENOENT));
    assert_eq!(bench.query("clients/none/dir/other"), errno(ENOENT));
    // A new file goes where its parent really is.
    assert_eq!(
        bench.open("clients/client0/dIR/New", Disposition::Create, 2),
        ActionStatus::Ok
    );
    assert!(bench.path("clients/client0/Dir/New").is_file());
    assert_eq!(
        bench.rename("clients/client0/DIR/NEW", "clients/client0/Dir/new"),
        ActionStatus::Ok
    );
    assert!(bench.path("clients/client0/Dir/new").is_file());
    assert_eq!(bench.mkdir("clients/client0/DIR"), errno(EEXIST));
    assert_eq!(
        bench.unlink("clients/client0/DIR/NAME.TXT"),
        ActionStatus::Ok
    );
    assert!(!bench.path("clients/client0/Dir/Name.TXT").exists());
    bench.release();
}

#[test]
fn without_resolving_only_the_exact_name_is_found() {
    let mut bench = with(|options| options.resolve = false);
    bench.make_tree();
    bench.open("clients/client0/Name", Disposition::Create, 1);
    assert_eq!(bench.query("clients/client0/Name"), ActionStatus::Ok);
    assert_eq!(bench.query("clients/client0/NAME"), errno(ENOENT));
    assert_eq!(bench.find("CLIENTS/client0/*"), errno(ENOENT));
    assert_eq!(
        bench.open("clients/client0/NAME", Disposition::Create, 1),
        ActionStatus::Ok
    );
    assert!(bench.path("clients/client0/NAME").exists());
    bench.release();
}

#[test]
fn a_search_succeeds_when_a_name_matches() {
    let mut bench = bench();
    bench.make_tree();
    let nothing = ActionStatus::Refused(Cause::NotFound);
    assert_eq!(bench.find("clients/client0/FILLER.*"), nothing);
    assert_eq!(bench.find("clients/client0/*"), ActionStatus::Ok);
    bench.open("clients/client0/filler.000", Disposition::Create, 1);
    assert_eq!(bench.find("clients/client0/FILLER.*"), ActionStatus::Ok);
    assert_eq!(bench.find("CLIENTS/client0/<.00?"), ActionStatus::Ok);
    assert_eq!(bench.find("clients/client0/<.JNK"), nothing);
    assert_eq!(bench.find("clients/client0/FILLER.000"), ActionStatus::Ok);
    assert_eq!(bench.find("clients/client0/FILLER.001"), errno(ENOENT));
    assert_eq!(bench.find("clients/none/*"), errno(ENOENT));
    bench.release();
}

#[test]
fn directories_are_made_and_taken_away() {
    let mut bench = bench();
    assert_eq!(bench.mkdir("clients"), ActionStatus::Ok);
    assert_eq!(bench.rmdir("clients"), ActionStatus::Ok);
    bench.make_tree();
    assert_eq!(bench.rmdir("clients"), errno(ENOTEMPTY));
    assert_eq!(bench.mkdir("clients/client0"), errno(EEXIST));
    assert_eq!(bench.mkdir("clients/client0/d"), ActionStatus::Ok);
    assert_eq!(bench.rmdir("clients/client0"), errno(ENOTEMPTY));
    assert_eq!(bench.rmdir("clients/client0/d"), ActionStatus::Ok);
    assert_eq!(bench.rmdir("clients/client0/d"), errno(ENOENT));
    bench.release();
}

#[test]
fn renaming_replaces_what_has_the_new_name() {
    let mut bench = bench();
    bench.make_tree();
    fs::write(bench.path("clients/client0/a"), b"new").unwrap();
    fs::write(bench.path("clients/client0/b"), b"old").unwrap();
    assert_eq!(
        bench.rename("clients/client0/a", "clients/client0/b"),
        ActionStatus::Ok
    );
    assert_eq!(bench.content("clients/client0/b"), b"new");
    assert_eq!(
        bench.rename("clients/client0/a", "clients/client0/b"),
        errno(ENOENT)
    );
    bench.release();
}

#[test]
fn what_is_not_below_clients_is_never_changed() {
    let mut bench = bench();
    bench.make_tree();
    let mine = bench.path("mine");
    fs::write(&mine, b"mine").unwrap();
    fs::create_dir(bench.path("dir")).unwrap();
    fs::write(bench.path("clients/client0/a"), b"a").unwrap();
    let denied = ActionStatus::Refused(Cause::Denied);
    for action in [
        LoadAction::Unlink { path: b"mine" },
        LoadAction::Remove { path: b"mine" },
        LoadAction::Rmdir { path: b"dir" },
        LoadAction::Mkdir { path: b"new" },
        LoadAction::Create { path: b"new" },
        LoadAction::Deltree { path: b"dir" },
        LoadAction::Deltree { path: b"" },
        LoadAction::Rename {
            from: b"mine",
            to: b"clients/client0/b",
        },
        LoadAction::Rename {
            from: b"clients/client0/a",
            to: b"mine",
        },
        LoadAction::Rename {
            from: b"clients",
            to: b"clients/client0/b",
        },
        LoadAction::Link {
            path: b"clients/client0/b",
            existing: b"mine",
        },
        LoadAction::Symlink {
            path: b"new",
            target: b"mine",
        },
        LoadAction::SetAttr { path: b"mine" },
        LoadAction::OpenX {
            path: b"mine",
            len: 0,
            handle: 1,
        },
        LoadAction::Unlink {
            path: b"clients/made-by-filestone",
        },
        LoadAction::Unlink {
            path: b"clients/MADE-BY-FILESTONE",
        },
        LoadAction::Write {
            path: b"mine",
            offset: 0,
            len: 1,
            stability: Stability::Unstable,
        },
    ] {
        assert_eq!(bench.run(action), denied, "{action:?}");
    }
    assert_eq!(bench.open("mine", Disposition::OverwriteIf, 1), denied);
    assert_eq!(bench.open("mine", Disposition::Open, 1), ActionStatus::Ok);
    assert_eq!(bench.read(1, 0, 4, 4), ActionStatus::Ok);
    assert!(!bench.write(1, 0, 4).is_ok());
    assert_eq!(bench.content("mine"), b"mine");
    let modified = || fs::metadata(&mine).unwrap().modified().unwrap();
    let before = modified();
    let set = LoadAction::SetFileInformation {
        handle: 1,
        level: 1004,
    };
    assert_eq!(bench.run(set), denied);
    assert_eq!(modified(), before);
    bench.release();
}

#[test]
fn a_pipe_of_somebody_elses_keeps_nobody_waiting() {
    let mut bench = bench();
    let pipe = bench.path("pipe");
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::Mode::from_raw_mode(0o600),
    )
    .unwrap();
    let (path, offset, len) = (b"pipe".as_slice(), 0, 1);
    for action in [
        LoadAction::Read { path, offset, len },
        LoadAction::Commit { path },
    ] {
        // Nobody writes into it, and nobody is waited for.
        bench.run(action);
    }
    let no_file = errno(EINVAL);
    assert_eq!(bench.run(LoadAction::Lock4 { path, offset, len }), no_file);
    assert_eq!(bench.run(LoadAction::Test4 { path, offset, len }), no_file);
    assert_eq!(bench.open("pipe", Disposition::Open, 1), ActionStatus::Ok);
    bench.release();
}

#[test]
fn locks_of_two_handles_conflict_and_are_refused_at_once() {
    let mut bench = bench();
    bench.make_tree();
    bench.open("clients/client0/a", Disposition::Create, 1);
    bench.open("clients/client0/a", Disposition::Open, 2);
    let lock = |handle, offset| LoadAction::LockX {
        handle,
        offset,
        len: 1,
    };
    assert_eq!(bench.run(lock(1, 5_000_000_000)), ActionStatus::Ok);
    assert_eq!(bench.run(lock(2, 5_000_000_000)), errno(EAGAIN));
    assert_eq!(bench.run(lock(2, 705_032_704)), ActionStatus::Ok);
    // Beyond what a file can have nothing conflicts.
    assert_eq!(bench.run(lock(1, u64::MAX - 1)), ActionStatus::Ok);
    assert_eq!(bench.run(lock(2, u64::MAX - 1)), ActionStatus::Ok);
    let unlock = LoadAction::UnlockX {
        handle: 1,
        offset: 5_000_000_000,
        len: 1,
    };
    assert_eq!(bench.run(unlock), ActionStatus::Ok);
    assert_eq!(bench.run(lock(2, 5_000_000_000)), ActionStatus::Ok);
    bench.release();
}

#[test]
fn locks_by_name_conflict_between_clients() {
    let mut bench = bench();
    bench.make_tree();
    fs::write(bench.path("clients/client0/a"), b"").unwrap();
    let mut other = bench.site.layer(1).unwrap();
    let path = b"clients/client0/a".as_slice();
    let (offset, len) = (10, 1);
    let data = b"0".as_slice();
    let mut ask = |action: LoadAction<'_>| other.execute(&action, data).unwrap().status;
    assert_eq!(
        bench.run(LoadAction::Lock4 { path, offset, len }),
        ActionStatus::Ok
    );
    assert_eq!(ask(LoadAction::Test4 { path, offset, len }), nlm(1));
    assert_eq!(
        ask(LoadAction::Lock4 {
            path,
            offset,
            len: 0
        }),
        nlm(1)
    );
    assert_eq!(
        ask(LoadAction::Lock4 {
            path,
            offset: 11,
            len
        }),
        ActionStatus::Ok
    );
    assert_eq!(
        bench.run(LoadAction::Test4 { path, offset, len }),
        ActionStatus::Ok
    );
    assert_eq!(
        bench.run(LoadAction::Unlock4 {
            path,
            offset: 0,
            len: 0
        }),
        ActionStatus::Ok
    );
    assert_eq!(
        ask(LoadAction::Test4 { path, offset, len }),
        ActionStatus::Ok
    );
    let none = b"clients/client0/none".as_slice();
    assert_eq!(
        ask(LoadAction::Lock4 {
            path: none,
            offset,
            len
        }),
        errno(ENOENT)
    );
    assert_eq!(
        ask(LoadAction::Unlock4 {
            path: none,
            offset,
            len
        }),
        errno(ENOENT)
    );
    bench.release();
}

#[test]
fn locks_by_name_are_for_regular_files_wherever_they_are() {
    let mut bench = bench();
    fs::write(bench.path("theirs"), b"as it was").unwrap();
    fs::create_dir(bench.path("dir")).unwrap();
    symlink("theirs", bench.path("link")).unwrap();
    let mut other = bench.site.layer(1).unwrap();
    let (offset, len) = (0, 0);
    let lock = |path| LoadAction::Lock4 { path, offset, len };
    assert_eq!(bench.run(lock(b"theirs")), ActionStatus::Ok);
    let test = LoadAction::Test4 {
        path: b"theirs",
        offset,
        len,
    };
    assert_eq!(other.execute(&test, b"0").unwrap().status, nlm(1));
    assert_eq!(bench.content("theirs"), b"as it was");
    assert_eq!(bench.run(lock(b"dir")), errno(EISDIR));
    assert_eq!(bench.run(lock(b"link")), errno(ELOOP));
    bench.release();
}

#[test]
fn files_of_dbench_1_get_the_length_of_the_trace() {
    let mut bench = bench();
    bench.make_tree();
    let path = b"clients/client0/a".as_slice();
    for (len, written) in [(1000, 1000), (10, 0), (200_000, 199_990), (0, 0)] {
        let handle = 1;
        let open = LoadAction::OpenX { path, len, handle };
        let reply = bench.layer.execute(&open, &bench.data).unwrap();
        assert_eq!(
            (reply.status, reply.data_bytes),
            (ActionStatus::Ok, written)
        );
        assert_eq!(bench.content("clients/client0/a").len() as u64, len);
    }
    bench.release();
}

#[test]
fn the_verbs_of_nfs_work_by_path() {
    let mut bench = bench();
    bench.make_tree();
    let (file, link) = (
        b"clients/client0/f".as_slice(),
        b"clients/client0/l".as_slice(),
    );
    let data = |stability| LoadAction::Write {
        path: file,
        offset: 10,
        len: 100,
        stability,
    };
    for action in [
        LoadAction::Create { path: file },
        LoadAction::Create { path: file },
        data(Stability::Unstable),
        data(Stability::DataSync),
        data(Stability::FileSync),
        LoadAction::Read {
            path: file,
            offset: 0,
            len: 1000,
        },
        LoadAction::Commit { path: file },
        LoadAction::GetAttr { path: file },
        LoadAction::SetAttr { path: file },
        LoadAction::SetAttr {
            path: b"clients/client0",
        },
        LoadAction::Lookup { path: file },
        LoadAction::Access {
            path: b"clients/client0",
            wanted: 0x1f,
            granted: 0x1f,
        },
        LoadAction::Access {
            path: file,
            wanted: 0x0d,
            granted: 0x0d,
        },
        LoadAction::Link {
            path: b"clients/client0/h",
            existing: file,
        },
        LoadAction::Symlink {
            path: link,
            target: b"f",
        },
        LoadAction::ReadLink { path: link },
        LoadAction::ReadDirectoryPlus {
            path: b"clients/client0",
        },
        LoadAction::FileSystemStatus,
        LoadAction::FileSystemInfo,
        LoadAction::PathConfiguration { path: file },
        LoadAction::Remove { path: link },
        LoadAction::Remove {
            path: b"clients/client0/h",
        },
        LoadAction::Remove { path: file },
    ] {
        assert_eq!(bench.run(action), ActionStatus::Ok, "{action:?}");
    }
    assert_eq!(bench.run(data(Stability::Unstable)), errno(ENOENT));
    assert_eq!(bench.run(LoadAction::GetAttr { path: file }), errno(ENOENT));
    assert!(
        !bench
            .run(LoadAction::ReadLink {
                path: b"clients/client0"
            })
            .is_ok()
    );
    bench.release();
}

#[test]
fn access_that_is_not_as_expected_is_a_mismatch() {
    let mut bench = bench();
    bench.make_tree();
    bench.open("clients/client0/a", Disposition::Create, 1);
    // Nobody may execute it, not even root, and nobody searches a file.
    let answer = bench.run(LoadAction::Access {
        path: b"clients/client0/a",
        wanted: 0x3f,
        granted: 0x3f,
    });
    assert_eq!(
        answer,
        ActionStatus::WrongAccess {
            expected: 0x3f,
            got: 0x0d
        }
    );
    bench.release();
}

#[test]
fn links_that_a_load_makes_lead_nowhere() {
    let mut bench = bench();
    bench.make_tree();
    fs::create_dir(bench.path("outside")).unwrap();
    fs::write(bench.path("outside/file"), b"mine").unwrap();
    let link = LoadAction::Symlink {
        path: b"clients/client0/l",
        target: b"../../outside",
    };
    assert_eq!(bench.run(link), ActionStatus::Ok);
    assert!(!bench.unlink("clients/client0/l/file").is_ok());
    assert!(
        !bench
            .open("clients/client0/l/file", Disposition::OverwriteIf, 1)
            .is_ok()
    );
    assert!(
        !bench
            .open("clients/client0/l/new", Disposition::Create, 1)
            .is_ok()
    );
    assert!(!bench.deltree("clients/client0/l/file").is_ok());
    // Names that lead over no link are as good as before.
    assert_eq!(
        bench.open("clients/client0/a", Disposition::Create, 1),
        ActionStatus::Ok
    );
    assert_eq!(bench.deltree("clients/client0"), ActionStatus::Ok);
    assert_eq!(bench.content("outside/file"), b"mine");
    bench.release();
}

#[test]
fn deleting_a_tree_follows_no_link() {
    let mut bench = bench();
    bench.make_tree();
    fs::create_dir(bench.path("outside")).unwrap();
    fs::write(bench.path("outside/file"), b"mine").unwrap();
    fs::create_dir_all(bench.path("clients/client0/d/e/f")).unwrap();
    fs::write(bench.path("clients/client0/d/e/f/x"), b"x").unwrap();
    for link in [
        "clients/client0/l",
        "clients/client0/d/e/l",
        "clients/client9",
    ] {
        symlink(bench.path("outside"), bench.path(link)).unwrap();
    }
    symlink(
        bench.path("outside/file"),
        bench.path("clients/client0/d/file"),
    )
    .unwrap();
    assert_eq!(bench.deltree("clients/client0"), ActionStatus::Ok);
    assert!(!bench.path("clients/client0").exists());
    assert_eq!(bench.deltree("clients/client9"), ActionStatus::Ok);
    assert_eq!(bench.deltree("clients/client0"), ActionStatus::Ok);
    assert_eq!(bench.deltree("clients/none/deeper"), ActionStatus::Ok);
    assert_eq!(bench.content("outside/file"), b"mine");
    bench.release();
}

#[test]
fn deleting_clients_leaves_the_neighbours_alone() {
    let mut bench = bench();
    bench.make_tree();
    fs::create_dir_all(bench.path("clients/client1/d")).unwrap();
    assert_eq!(bench.deltree("clients"), ActionStatus::Ok);
    assert!(!bench.path("clients/client0").exists());
    assert!(bench.path("clients/client1/d").exists());
    bench.release();
}

#[test]
fn a_byte_that_is_there_already_is_not_written() {
    let mut bench = with(|options| options.one_byte_write_fix = true);
    bench.make_tree();
    bench.data = vec![0];
    bench.open("clients/client0/a", Disposition::Create, 1);
    assert_eq!(bench.write(1, 65_534, 1), ActionStatus::Ok);
    let path = bench.path("clients/client0/a");
    // Extended, but nothing is written.
    let found = fs::metadata(&path).unwrap();
    assert_eq!((found.len(), found.blocks()), (65_535, 0));
    assert_eq!(bench.write(1, 100, 1), ActionStatus::Ok);
    assert_eq!(fs::metadata(&path).unwrap().blocks(), 0);
    let extend = LoadAction::WriteX {
        handle: 1,
        offset: 100,
        len: 1,
        expected_len: 1,
    };
    let reply = bench.layer.execute(&extend, &bench.data).unwrap();
    assert_eq!(reply.data_bytes, 0, "it is there already");
    bench.data = b"x".to_vec();
    assert_eq!(bench.write(1, 100, 1), ActionStatus::Ok);
    assert_eq!(bench.write(1, 70_000, 1), ActionStatus::Ok);
    let content = bench.content("clients/client0/a");
    assert_eq!(
        (content.len(), content[100], content[70_000]),
        (70_001, b'x', b'x')
    );
    bench.release();
}

#[test]
fn what_came_is_counted_and_not_what_was_asked_for() {
    let mut bench = bench();
    bench.make_tree();
    bench.open("clients/client0/a", Disposition::Create, 1);
    assert_eq!(bench.write(1, 0, 5000), ActionStatus::Ok);
    for (offset, len, got) in [(4000, 4096, 1000), (0, 5000, 5000), (9000, 1, 0)] {
        let read_x = LoadAction::ReadX {
            handle: 1,
            offset,
            len,
            expected_len: got,
        };
        let path = b"clients/client0/a".as_slice();
        for read in [read_x, LoadAction::Read { path, offset, len }] {
            let reply = bench.layer.execute(&read, &bench.data).unwrap();
            assert_eq!((reply.status, reply.data_bytes), (ActionStatus::Ok, got));
        }
    }
    let unwanted = LoadAction::ReadX {
        handle: 1,
        offset: 4000,
        len: 4096,
        expected_len: 4096,
    };
    let reply = bench.layer.execute(&unwanted, &bench.data).unwrap();
    assert!(matches!(
        reply.status,
        ActionStatus::WrongLength { got: 1000, .. }
    ));
    assert_eq!(reply.data_bytes, 1000);
    bench.release();
}

#[test]
fn fake_transfers_only_count() {
    let mut bench = with(|options| options.fake_io = true);
    bench.make_tree();
    bench.open("clients/client0/a", Disposition::Create, 1);
    let write = LoadAction::WriteX {
        handle: 1,
        offset: 0,
        len: 4096,
        expected_len: 4096,
    };
    let reply = bench.layer.execute(&write, &bench.data).unwrap();
    assert_eq!((reply.status, reply.data_bytes), (ActionStatus::Ok, 4096));
    assert_eq!(bench.read(1, 0, 4096, 4096), ActionStatus::Ok);
    assert!(bench.content("clients/client0/a").is_empty());
    bench.release();
}

#[test]
fn every_verb_works_with_the_options_that_synchronise_or_check() {
    let mut bench = with(|options| {
        options.sync = true;
        options.sync_directories = true;
        options.fsync = true;
        options.stat_check = true;
    });
    bench.make_tree();
    assert_eq!(
        bench.open("clients/client0/a", Disposition::Create, 1),
        ActionStatus::Ok
    );
    assert_eq!(
        bench.open("clients/client0/a", Disposition::Create, 2),
        ActionStatus::Ok
    );
    assert_eq!(bench.write(1, 0, 5000), ActionStatus::Ok);
    assert_eq!(bench.read(2, 0, 5000, 5000), ActionStatus::Ok);
    assert_eq!(bench.open_directory("clients/client0", 3), ActionStatus::Ok);
    assert_eq!(bench.mkdir("clients/client0/d"), ActionStatus::Ok);
    assert_eq!(bench.mkdir("clients/client0/d"), errno(EEXIST));
    assert!(!bench.rmdir("clients/client0/a").is_ok());
    assert_eq!(
        bench.rename("clients/client0/a", "clients/client0/d/b"),
        ActionStatus::Ok
    );
    assert_eq!(bench.unlink("clients/client0/d/b"), ActionStatus::Ok);
    assert_eq!(bench.rmdir("clients/client0/d"), ActionStatus::Ok);
    bench.release();
}

#[test]
fn a_clients_tree_is_cleaned_up_on_its_own() {
    let mut bench = bench();
    bench.make_tree();
    fs::create_dir_all(bench.path("clients/client1")).unwrap();
    bench.open("clients/client0/a", Disposition::Create, 1);
    fs::set_permissions(
        bench.path("clients/client0/a"),
        fs::Permissions::from_mode(0o000),
    )
    .unwrap();
    bench.site.clean_up(0, &mut bench.layer).unwrap();
    assert!(!bench.path("clients/client0").exists());
    assert!(bench.path("clients/client1").exists());
    bench.site.clean_up(0, &mut bench.layer).unwrap();
    bench.release();
}
