//! How a directory is claimed, shared out and left as it was found.

use crate::support::local::Bench;
use crate::support::scratch::Scratch;
use filestone_engine::protocols::local::replay::{
    LocalOptions, LocalSite, remove_left_over, remove_left_over_beside,
};
use filestone_engine::replay::{BlockingWorkDir, Layer, TreeCleanup, WorkDir};
use filestone_host::error::{ErrorCategory, RunError};
use filestone_plan::plan::LeftoverPolicy;
use filestone_setup::workspace::test_directory::OnExisting;
use filestone_workload::load::action::Disposition;
use filestone_workload::load::{ActionStatus, LoadAction};
use rustix::fs::{Mode, OFlags};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

fn claim(directory: &Scratch) -> Result<LocalSite, RunError> {
    LocalSite::claim(directory.path(), LocalOptions::default())
}

/// Leaves a tree behind, as an interrupted run does.
fn leave_a_tree(directory: &Scratch) {
    let site = claim(directory).unwrap();
    fs::create_dir_all(directory.path().join("clients/client0/d")).unwrap();
    fs::write(directory.path().join("clients/client0/d/f"), b"x").unwrap();
    site.release(TreeCleanup::Keep).unwrap();
}

/// The message and the help of a usage error.
fn complaint<T>(result: Result<T, RunError>) -> String {
    let error = result.err().expect("an error");
    assert_eq!(error.category(), ErrorCategory::Usage, "{error}");
    format!("{error} / {}", error.help().expect("help"))
}

#[test]
fn a_claim_makes_clients_and_releasing_takes_it_away() {
    let directory = Scratch::new();
    fs::write(directory.path().join("mine"), b"mine").unwrap();
    let site = claim(&directory).unwrap();
    let marker = fs::read_to_string(directory.path().join("clients/made-by-filestone")).unwrap();
    assert!(marker.starts_with("made by filestone "), "{marker}");
    assert!(marker.contains(&format!("process: {}\n", std::process::id())));
    let target = site.target();
    assert!(target.local);
    assert_eq!(
        (target.address.as_str(), target.object.as_str()),
        ("local", "directory")
    );
    assert!(
        target
            .export
            .ends_with(directory.path().file_name().unwrap().to_str().unwrap())
    );
    fs::create_dir_all(directory.path().join("clients/client3/d")).unwrap();
    site.release(TreeCleanup::Remove).unwrap();
    assert!(!directory.path().join("clients").exists());
    assert_eq!(fs::read(directory.path().join("mine")).unwrap(), b"mine");
}

#[test]
fn a_directory_in_use_is_refused() {
    let directory = Scratch::new();
    let site = claim(&directory).unwrap();
    let process = format!(
        "another run is using it (process {} on ",
        std::process::id()
    );
    assert!(complaint(claim(&directory)).contains(&process));
    assert!(complaint(remove_left_over(directory.path())).contains(&process));
    site.release(TreeCleanup::Remove).unwrap();
    claim(&directory)
        .unwrap()
        .release(TreeCleanup::Remove)
        .unwrap();
    assert!(directory.is_empty());
}

#[test]
fn a_tree_left_over_is_recognised_and_removed_on_request() {
    let directory = Scratch::new();
    assert_eq!(remove_left_over(directory.path()).unwrap(), None);
    leave_a_tree(&directory);
    let said = complaint(claim(&directory));
    let process = format!("was left over by process {} on ", std::process::id());
    assert!(
        said.contains(&process) && said.contains(", whose run began 20"),
        "{said}"
    );
    assert!(said.contains("--remove-leftover"), "{said}");
    assert!(directory.path().join("clients/client0/d/f").exists());
    let left_over = remove_left_over(directory.path()).unwrap().unwrap();
    assert_eq!(left_over.process, Some(std::process::id()));
    assert!(directory.is_empty());
}

#[test]
fn what_filestone_did_not_make_is_not_touched() {
    let target = Scratch::new();
    fs::write(target.path().join("f"), b"mine").unwrap();
    let text = "was not made by filestone: nothing has been touched";
    let cases: [&dyn Fn(&Path); 5] = [
        &|clients| fs::create_dir_all(clients.join("client0")).unwrap(),
        &|clients| fs::write(clients, b"a file").unwrap(),
        &|clients| symlink(target.path(), clients).unwrap(),
        &|clients| {
            fs::create_dir(clients).unwrap();
            fs::write(clients.join("made-by-filestone"), b"somebody else's").unwrap();
        },
        &|clients| {
            fs::create_dir(clients).unwrap();
            fs::create_dir(clients.join("made-by-filestone")).unwrap();
        },
    ];
    for make in cases {
        let directory = Scratch::new();
        make(&directory.path().join("clients"));
        assert!(complaint(claim(&directory)).contains(text));
        assert!(complaint(remove_left_over(directory.path())).contains(text));
        assert!(directory.path().join("clients").exists());
    }
    assert_eq!(fs::read(target.path().join("f")).unwrap(), b"mine");
}

/// What dbench leaves behind.
#[test]
fn beside_an_empty_clients_there_is_a_place_of_our_own() {
    let directory = Scratch::new();
    let clients = directory.path().join("clients");
    fs::create_dir(&clients).unwrap();
    let site = claim(&directory).unwrap();
    let place = directory.path().join("filestone");
    assert!(site.directory().ends_with(place.file_name().unwrap()));
    let remark = site.note().unwrap();
    assert!(remark.contains("was not made by filestone"), "{remark}");
    assert!(remark.ends_with("/filestone"), "{remark}");
    // The load's names are the same there.
    let mut layer = site.layer(0).unwrap();
    let path = b"clients/client0".as_slice();
    let status = layer.execute(&LoadAction::Mkdir { path }, b"0");
    assert_eq!(status.unwrap().status, ActionStatus::Ok);
    assert!(place.join("clients/client0").exists());
    assert!(fs::read_dir(&clients).unwrap().next().is_none());
    // Another run finds the place taken, as it finds `clients` taken.
    assert!(complaint(claim(&directory)).contains("filestone/clients: another run is using it"));
    site.release(TreeCleanup::Remove).unwrap();
    assert!(!place.exists() && clients.exists());
    assert_eq!(remove_left_over(directory.path()).unwrap(), None);
    assert!(clients.exists());
}

#[test]
fn who_asks_for_it_works_beside_whatever_is_called_clients() {
    let makes: [&dyn Fn(&Path); 3] = [
        &|clients| fs::create_dir_all(clients.join("client0/theirs")).unwrap(),
        &|clients| fs::write(clients, b"a file").unwrap(),
        &|clients| symlink("/", clients).unwrap(),
    ];
    for make in makes {
        let directory = Scratch::new();
        make(&directory.path().join("clients"));
        // A place that is there already stays; what is in it, too.
        let place = directory.path().join("filestone");
        fs::create_dir(&place).unwrap();
        fs::write(place.join("mine"), b"mine").unwrap();
        let options = LocalOptions {
            occupied: OnExisting::Beside,
            ..LocalOptions::default()
        };
        let claim = || LocalSite::claim(directory.path(), options.clone()).unwrap();
        let site = claim();
        fs::create_dir_all(place.join("clients/client0/ours")).unwrap();
        site.release(TreeCleanup::Remove).unwrap();
        assert!(!place.join("clients").exists());
        // What is left over there is known again.
        claim().release(TreeCleanup::Keep).unwrap();
        assert!(place.join("clients").exists());
        let policy = LeftoverPolicy::RemoveIfOver;
        let left_over = remove_left_over_beside(directory.path(), policy, &options).unwrap();
        assert_eq!(left_over.unwrap().process, Some(std::process::id()));
        assert!(!place.join("clients").exists());
        assert_eq!(fs::read(place.join("mine")).unwrap(), b"mine");
        assert!(directory.path().join("clients").symlink_metadata().is_ok());
    }
}

#[test]
fn a_marker_that_is_a_pipe_keeps_nobody_waiting() {
    let directory = Scratch::new();
    let clients = directory.path().join("clients");
    fs::create_dir(&clients).unwrap();
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        clients.join("made-by-filestone"),
        Mode::from_raw_mode(0o600),
    )
    .unwrap();
    complaint(claim(&directory));
}

#[test]
fn a_directory_that_cannot_be_used_is_named() {
    let directory = Scratch::new();
    let missing = directory.path().join("missing");
    let claim = |path: &Path| LocalSite::claim(path, LocalOptions::default());
    let said = complaint(claim(&missing));
    assert!(
        said.contains("missing: there is no such directory"),
        "{said}"
    );
    let file = directory.path().join("file");
    fs::write(&file, b"").unwrap();
    let said = complaint(claim(&file));
    assert!(said.contains("file: is not a directory"), "{said}");
    let closed = directory.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
    // Root may do everything.
    if !rustix::process::geteuid().is_root() {
        let said = complaint(claim(&closed));
        assert!(
            said.contains("closed: making a directory in it is not allowed"),
            "{said}"
        );
    }
    // No directory can be made there, whoever asks.
    complaint(claim(Path::new("/proc/self")));
}

#[test]
fn a_temporary_directory_is_ours_alone_and_goes() {
    let site = LocalSite::temporary(LocalOptions::default()).unwrap();
    let directory = site.directory().to_owned();
    let mode = fs::metadata(&directory).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    site.release(TreeCleanup::Remove).unwrap();
    assert!(!directory.exists());
}

#[test]
fn a_site_that_nobody_releases_takes_away_what_it_made() {
    let directory = Scratch::new();
    fs::write(directory.path().join("mine"), b"mine").unwrap();
    let site = claim(&directory).unwrap();
    fs::create_dir_all(directory.path().join("clients/client0/d")).unwrap();
    drop(site);
    assert!(!directory.path().join("clients").exists());
    assert!(directory.path().join("mine").exists());
    let site = LocalSite::temporary(LocalOptions::default()).unwrap();
    let temporary = site.directory().to_owned();
    drop(site);
    assert!(!temporary.exists());
}

#[test]
fn where_links_are_expected_none_is_followed_on_the_way() {
    let directory = Scratch::new();
    let site = claim(&directory).unwrap();
    site.expect_links();
    fs::create_dir(directory.path().join("clients/client0")).unwrap();
    symlink("/", directory.path().join("clients/client0/link")).unwrap();
    let mut layer = site.layer(0).unwrap();
    let path = b"clients/client0/link/proc".as_slice();
    let status = layer.execute(&LoadAction::GetAttr { path }, b"0");
    assert!(!status.unwrap().status.is_ok());
    site.release(TreeCleanup::Remove).unwrap();
}

#[test]
fn kept_trees_stay_where_they_are() {
    let site = LocalSite::temporary(LocalOptions::default()).unwrap();
    let directory = site.directory().to_owned();
    fs::create_dir(directory.join("clients/client0")).unwrap();
    site.release(TreeCleanup::Keep).unwrap();
    assert!(directory.join("clients/client0").exists());
    remove_left_over(&directory).unwrap().unwrap();
    fs::remove_dir(&directory).unwrap();
}

#[test]
fn a_tree_of_ten_thousand_levels_is_removed() {
    let mut bench = Bench::new(LocalOptions::default());
    bench.make_tree();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut here = rustix::fs::open(bench.path("clients/client0"), flags, Mode::empty()).unwrap();
    for level in 0..10_000 {
        let mode = Mode::from_raw_mode(0o700);
        rustix::fs::mkdirat(&here, "d", mode).unwrap();
        // A neighbour with something in it, now and then.
        if level % 1000 == 0 {
            rustix::fs::mkdirat(&here, "e", mode).unwrap();
            rustix::fs::mkdirat(&here, "e/f", mode).unwrap();
        }
        here = rustix::fs::openat(&here, "d", flags, Mode::empty()).unwrap();
    }
    drop(here);
    bench.site.clean_up(0, &mut bench.layer).unwrap();
    assert!(!bench.path("clients/client0").exists());
    bench.release();
}

#[test]
fn a_wide_tree_is_removed_and_names_in_the_way_do_no_harm() {
    let mut bench = Bench::new(LocalOptions::default());
    bench.make_tree();
    for number in 0..3000 {
        fs::write(
            bench.path(&format!("clients/client0/a file of some length {number}")),
            b"",
        )
        .unwrap();
    }
    // What the deletion itself would call directories that it moves up.
    fs::create_dir_all(bench.path("clients/client0/.filestone-removing-1/x")).unwrap();
    fs::write(bench.path("clients/client0/.filestone-removing-2"), b"").unwrap();
    for number in 0..50 {
        fs::create_dir_all(bench.path(&format!("clients/client0/d/{number}/e"))).unwrap();
    }
    assert_eq!(bench.deltree("clients/client0"), ActionStatus::Ok);
    assert!(!bench.path("clients/client0").exists());
    bench.release();
}

#[test]
fn direct_transfers_work_or_are_refused_at_once() {
    let directory = Scratch::new();
    let options = LocalOptions {
        direct: true,
        ..LocalOptions::default()
    };
    let site = match LocalSite::claim(directory.path(), options) {
        Ok(site) => site,
        Err(error) => {
            // tmpfs before Linux 6.6, for one.
            assert!(error.to_string().contains("O_DIRECT"), "{error}");
            assert!(directory.is_empty());
            return;
        }
    };
    let mut layer = site.layer(0).unwrap();
    let data: Vec<u8> = (0..=250).cycle().take(300_000).collect();
    let mut run = |action: LoadAction<'_>| layer.execute(&action, &data).unwrap().status;
    let open = LoadAction::NtCreateX {
        path: b"clients/f",
        options: 0x40,
        disposition: Disposition::Create,
        handle: 1,
    };
    assert_eq!(run(open), ActionStatus::Ok);
    for (offset, len) in [(0, 65_536), (65_536, 1), (65_537, 10_000), (200_000, 4096)] {
        let expected_len = len;
        let write = LoadAction::WriteX {
            handle: 1,
            offset,
            len,
            expected_len,
        };
        assert_eq!(run(write), ActionStatus::Ok, "{offset} {len}");
        let read = LoadAction::ReadX {
            handle: 1,
            offset,
            len,
            expected_len,
        };
        assert_eq!(run(read), ActionStatus::Ok, "{offset} {len}");
    }
    let end = LoadAction::ReadX {
        handle: 1,
        offset: 204_000,
        len: 8192,
        expected_len: 96,
    };
    assert_eq!(run(end), ActionStatus::Ok);
    assert!((1..=3).contains(&layer.buffered_writes()));
    let content = fs::read(directory.path().join("clients/f")).unwrap();
    assert_eq!(content.get(65_537..75_537), data.get(..10_000));
    drop(layer);
    site.release(TreeCleanup::Remove).unwrap();
}

#[test]
fn attributes_are_kept_beside_files_or_refused_at_once() {
    let directory = Scratch::new();
    let options = LocalOptions {
        xattr: true,
        ..LocalOptions::default()
    };
    let site = match LocalSite::claim(directory.path(), options) {
        Ok(site) => site,
        Err(error) => {
            assert!(error.to_string().contains("user.DosAttrib"), "{error}");
            assert!(directory.is_empty());
            return;
        }
    };
    let mut layer = site.layer(0).unwrap();
    let mut run = |action: LoadAction<'_>| layer.execute(&action, b"0").unwrap().status;
    let path = b"clients/f".as_slice();
    let open = LoadAction::NtCreateX {
        path,
        options: 0x40,
        disposition: Disposition::Create,
        handle: 1,
    };
    assert_eq!(run(open), ActionStatus::Ok);
    let mut value = [0_u8; 100];
    let name = directory.path().join("clients/f");
    assert_eq!(
        rustix::fs::getxattr(&name, "user.DosAttrib", &mut value),
        Ok(44)
    );
    for action in [
        LoadAction::QueryFileInformation {
            handle: 1,
            level: 258,
        },
        LoadAction::SetFileInformation {
            handle: 1,
            level: 1004,
        },
        LoadAction::QueryPathInformation { path, level: 1004 },
        LoadAction::QueryPathInformation {
            path: b"clients/F",
            level: 1004,
        },
    ] {
        assert_eq!(run(action), ActionStatus::Ok, "{action:?}");
    }
    drop(layer);
    site.release(TreeCleanup::Remove).unwrap();
}
