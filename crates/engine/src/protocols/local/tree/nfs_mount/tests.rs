//! Replays on a simulated NFS mount leave the directory unchanged.

use super::double::NfsMount;
use super::{is_still_open, lock, unlink};
use crate::protocols::local::replay::{LocalOptions, LocalSite, remove_left_over};
use crate::protocols::local::tree::deletion;
use crate::protocols::{Job, Protocols};
use crate::replay::{BlockingWorkDir, Layer, TreeCleanup, WorkDir};
use filestone_host::control::{NoObserver, RunContext};
use filestone_host::load_file::read_text;
use filestone_measure::measure::{Caveat, RunRecord};
use filestone_plan::made::MadeNames;
use filestone_plan::plan::{
    LoadName, LocalTarget, OnMismatch, Plan, ReplayPlan, TargetPlan, WorkloadPlan,
};
use filestone_workload::load::action::Disposition;
use filestone_workload::load::{ActionStatus, LoadAction};
use rustix::fd::AsFd;
use rustix::fs::AtFlags;
use rustix::io::Errno;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// At its last line, every client has two removed files open: one in its own tree and one in the
/// tree of client 0.
const LOAD: &str = r#"
Mkdir "\clients\client1" *
NTCreateX "\clients\client1\own" 0x40 0x2 10 NT_STATUS_OK
WriteX 10 0 100 100 NT_STATUS_OK
Unlink "\clients\client1\own" 0x6 NT_STATUS_OK
Mkdir "\clients\client0" *
NTCreateX "\clients\client0\common" 0x40 0x2 11 *
QUERY_PATH_INFORMATION "\clients\client1" 1004 NT_STATUS_OBJECT_NAME_NOT_FOUND
"#;

fn run(mount: &NfsMount, clients: u32, clients_per_thread: u32) -> RunRecord {
    let load = read_text("test.load", LOAD).expect("the load is right");
    let name = LoadName {
        name: load.name().into(),
        operations: load.operations(),
        generation: load.generation(),
    };
    let replay = ReplayPlan {
        clients_per_thread,
        run_once: true,
        on_mismatch: OnMismatch::Stop,
        ..ReplayPlan::new(vec![name], load.kinds())
    };
    let target = TargetPlan::Local(LocalTarget {
        directory: Some(mount.path().to_string_lossy().into_owned()),
    });
    let plan = Plan {
        clients,
        timeout_ns: 10_000_000_000,
        reconnect_ns: 1_000_000_000,
        ..Plan::new("replay", target, WorkloadPlan::LoadFile(replay), 1)
    };
    let stop = AtomicBool::new(false);
    let loads = [Arc::new(load)];
    let job = Job {
        loads: &loads,
        ..Job::new(&plan)
    };
    let mut observer = NoObserver;
    let context = &mut RunContext::new(&stop, &mut observer);
    crate::run(&job, &Protocols::default(), context).expect("a record")
}

fn assert_clean(mount: &NfsMount, record: &RunRecord) {
    let is_left = |caveat: &&Caveat| matches!(caveat, Caveat::Leftover { .. });
    assert_eq!(record.caveats.iter().find(is_left), None);
    assert_eq!(mount.names(), Vec::<PathBuf>::new());
}

#[test]
fn a_run_leaves_nothing_and_the_next_one_begins_as_it_did() {
    let mount = NfsMount::new();
    for (clients, clients_per_thread) in [(1, 1), (3, 3), (3, 1)] {
        assert_clean(&mount, &run(&mount, clients, clients_per_thread));
    }
}

#[test]
fn what_a_run_left_that_was_killed_is_removed_on_request() {
    let mount = NfsMount::new();
    let site = LocalSite::claim(mount.path(), LocalOptions::default()).expect("a site");
    let mut layer = site.layer(0).expect("a layer");
    let path = b"clients/client0";
    let made = layer.execute(&LoadAction::Mkdir { path }, b"x");
    assert_eq!(made.map(|reply| reply.status).ok(), Some(ActionStatus::Ok));
    let open = LoadAction::NtCreateX {
        path: b"clients/client0/f",
        options: 0x40,
        disposition: Disposition::OverwriteIf,
        handle: 1,
    };
    let opened = layer.execute(&open, b"x");
    assert_eq!(
        opened.map(|reply| reply.status).ok(),
        Some(ActionStatus::Ok)
    );
    // The descriptors and the lock end with the process, but the names remain.
    drop(layer);
    site.release(TreeCleanup::Keep).expect("nothing is removed");
    let removed = remove_left_over(mount.path()).expect("it is ours");
    assert_eq!(
        removed.expect("there was one").process,
        Some(std::process::id())
    );
    assert_eq!(mount.names(), Vec::<PathBuf>::new());
}

#[test]
fn a_server_that_lists_what_it_has_removed_keeps_nobody_busy_for_ever() {
    let mount = NfsMount::of_a_liar();
    let directory = mount.path().join("d");
    std::fs::create_dir(&directory).expect("a directory");
    std::fs::write(directory.join("f"), b"x").expect("a file");
    let parent = File::open(mount.path()).expect("a directory");
    let device = rustix::fs::fstat(&parent).expect("it is open").st_dev;
    let removal = deletion::RemovalScope {
        device,
        made: &MadeNames::any(),
    };
    let removed = removal.remove_tree(parent.as_fd(), b"d", b"d");
    let error = removed.expect_err("it never goes");
    assert_eq!(error.errno(), Errno::IO);
    let said = "cannot remove d/f: it is listed again each time it was removed";
    assert_eq!(error.to_string(), said);
}

#[test]
fn the_stand_in_keeps_what_is_open_as_a_client_of_nfs_does() {
    let mount = NfsMount::new();
    let directory = File::open(mount.path()).expect("a directory");
    let file = File::create(mount.path().join("f")).expect("a file");
    let (parent, none) = (directory.as_fd(), AtFlags::empty());
    assert_eq!(unlink(parent, b"f", none), Ok(()));
    let names = mount.names();
    let [kept] = names.as_slice() else {
        panic!("{names:?}")
    };
    let kept = kept.file_name().expect("a name").as_bytes();
    assert!(is_still_open(kept));
    assert_eq!(unlink(parent, kept, none), Err(Errno::BUSY));
    drop(file);
    assert_eq!(mount.names(), Vec::<PathBuf>::new());
    let to_read = File::open(mount.path()).expect("a directory");
    assert_eq!(lock(&to_read.into()), Err(Errno::BADF));
}
