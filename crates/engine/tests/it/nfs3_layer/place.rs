//! The place on the server: claimed once, marked, and left as it was found.

use super::bench::{Bench, Client, claim, options, target};
use crate::support::live::serve;
use crate::support::replays::nfs;
use filestone_engine::protocols::nfs3::replay::Nfs3Site;
use filestone_engine::protocols::nfs3::replay::{Nfs3Options, remove_left_over};
use filestone_engine::replay::{TreeCleanup, WorkDir};
use filestone_host::error::{ErrorCategory, RunError};
use filestone_plan::plan::LeftoverPolicy;
use filestone_plan::plan::NfsTarget;
use filestone_setup::workspace::test_directory::OnExisting;
use filestone_workload::load::{ActionStatus, Generation, LoadAction};
use filestone_workload::operation::Stability;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(20);

fn refusal(error: &RunError) -> (String, String) {
    assert_eq!(error.category(), ErrorCategory::Usage, "{error:?}");
    (error.to_string(), error.help().unwrap_or_default())
}

fn claim_at(target: &NfsTarget) -> Result<Nfs3Site, RunError> {
    let stop = AtomicBool::new(false);
    Nfs3Site::claim(target, None, options(Generation::Nfs), &stop)
}

#[test]
fn a_directory_is_claimed_once_at_a_time() {
    let bench = Bench::new(Generation::Nfs);
    let error = claim(&bench.server, options(Generation::Nfs)).expect_err("it is claimed");
    let (what, help) = refusal(&error);
    assert!(
        what.starts_with("/export/clients: another run is using it (process "),
        "{what}"
    );
    assert!(help.contains("another directory"), "{help}");
    let error = remove_left_over(
        &target(&bench.server),
        None,
        TIMEOUT,
        LeftoverPolicy::Remove,
    )
    .expect_err("in use");
    refusal(&error);
    let Bench { server, site, .. } = bench;
    site.release(TreeCleanup::Remove)
        .expect("it can be removed");
    let again = claim(&server, options(Generation::Nfs)).expect("it is free");
    again
        .release(TreeCleanup::Remove)
        .expect("it can be removed");
}

#[test]
fn trees_that_were_kept_are_left_over_and_can_be_removed() {
    let bench = Bench::new(Generation::Nfs);
    bench.client(0).create("clients/client0/file");
    let Bench { server, site, .. } = bench;
    site.release(TreeCleanup::Keep).expect("it can be given up");
    let error = claim(&server, options(Generation::Nfs)).expect_err("it is there");
    let (what, help) = refusal(&error);
    assert!(what.contains("was left over by process "), "{what}");
    assert!(help.contains("--remove-leftover"), "{help}");
    let target = target(&server);
    let removed = remove_left_over(&target, None, TIMEOUT, LeftoverPolicy::Remove)
        .expect("it can be removed");
    assert_eq!(
        removed.expect("there was one").process,
        Some(std::process::id())
    );
    let nothing =
        remove_left_over(&target, None, TIMEOUT, LeftoverPolicy::Remove).expect("nothing is there");
    assert_eq!(nothing, None);
    claim(&server, options(Generation::Nfs))
        .expect("it is free")
        .release(TreeCleanup::Remove)
        .expect("it can be removed");
}

#[test]
fn what_was_claimed_goes_however_many_names_are_in_it() {
    let bench = Bench::new(Generation::Nfs);
    let mut client = bench.client(0);
    for number in 0..1500 {
        client.create(&format!("clients/{number}"));
    }
    let Bench { server, site, .. } = bench;
    site.release(TreeCleanup::Remove)
        .expect("it can be removed");
    let nothing = remove_left_over(&target(&server), None, TIMEOUT, LeftoverPolicy::Remove)
        .expect("nothing is there");
    assert_eq!(nothing, None);
}

/// A directory in the tree of a client, in which there is another `clients`.
fn nested(bench: &Bench, marker: Option<&[u8]>) -> NfsTarget {
    let mut client = bench.client(0);
    assert_eq!(client.mkdir("clients/client0/clients"), ActionStatus::Ok);
    if let Some(text) = marker {
        let path = b"clients/client0/clients/made-by-filestone";
        assert_eq!(client.status(LoadAction::Create { path }), ActionStatus::Ok);
        let write = LoadAction::Write {
            path,
            offset: 0,
            len: text.len() as u64,
            stability: Stability::FileSync,
        };
        let reply = client.execute(write, text);
        assert_eq!(reply.expect("the server is there").status, ActionStatus::Ok);
    }
    NfsTarget {
        path: "/export/clients/client0".into(),
        ..target(&bench.server)
    }
}

#[test]
fn a_symbolic_link_on_the_way_is_named_with_its_text() {
    let server = serve(|options| options.strict_mount = true);
    for path in ["/export/link", "/export/link/below"] {
        let target = NfsTarget {
            path: path.into(),
            ..target(&server)
        };
        let (what, help) = refusal(&claim_at(&target).expect_err("it is a link"));
        assert_eq!(
            what,
            "/export/link: is a symbolic link to file, which an NFS server does not follow"
        );
        assert!(help.contains("leads to"), "{help}");
    }
}

#[test]
fn a_path_longer_than_mount_takes_is_looked_up_from_a_parent() {
    let bench = Bench::new(Generation::Nfs);
    let mut client = bench.client(0);
    let mut path = String::from("clients/client0");
    for _ in 0..6 {
        path = format!("{path}/{}", "d".repeat(200));
        assert_eq!(client.mkdir(&path), ActionStatus::Ok);
    }
    let at = |path: String| NfsTarget {
        path,
        ..target(&bench.server)
    };
    let site = claim_at(&at(format!("/export/{path}"))).expect("1,200 bytes are no obstacle");
    site.release(TreeCleanup::Remove)
        .expect("it can be removed");
    let error = claim_at(&at(format!("/nowhere{}", "/d".repeat(600)))).expect_err("no directory");
    assert_eq!(error.category(), ErrorCategory::Target, "{error:?}");
    assert!(error.to_string().starts_with("/nowhere: "), "{error}");
}

#[test]
fn a_clients_without_our_marker_is_somebody_elses() {
    for marker in [&b"made by somebody else"[..], b""] {
        let bench = Bench::new(Generation::Nfs);
        let target = nested(&bench, Some(marker));
        if marker.is_empty() {
            // Alone it would be that of a run which ended between two calls.
            let path = b"clients/client0/clients/theirs";
            let made = bench.client(1).status(LoadAction::Create { path });
            assert_eq!(made, ActionStatus::Ok);
        }
        for error in [
            claim_at(&target).expect_err("it is there"),
            remove_left_over(&target, None, TIMEOUT, LeftoverPolicy::Remove)
                .expect_err("it is foreign"),
        ] {
            let (what, _) = refusal(&error);
            let expected = "/export/clients/client0/clients: was not made by filestone";
            assert!(what.starts_with(expected), "{what}");
        }
        bench.end();
    }
}

#[test]
fn beside_an_empty_clients_there_is_a_place_of_our_own() {
    let bench = Bench::new(Generation::Nfs);
    let target = nested(&bench, None);
    let site = claim_at(&target).expect("it is empty");
    let remark = site.note().expect("a remark");
    assert!(remark.ends_with("/clients/client0/filestone"), "{remark}");
    let mut beside = Client::connect(&site, 0, Duration::ZERO);
    assert_eq!(beside.mkdir("clients/client0"), ActionStatus::Ok);
    let mut client = bench.client(1);
    let mut status = |path: &str| {
        let path = format!("clients/client0/{path}");
        client.status(LoadAction::GetAttr {
            path: path.as_bytes(),
        })
    };
    assert_eq!(status("filestone/clients/client0"), ActionStatus::Ok);
    let error = claim_at(&target).expect_err("it is taken");
    let (what, _) = refusal(&error);
    let expected = "/export/clients/client0/filestone/clients: another run is using it";
    assert!(what.starts_with(expected), "{what}");
    drop(beside);
    site.release(TreeCleanup::Remove)
        .expect("it can be removed");
    assert!(!status("filestone").is_ok());
    assert_eq!(status("clients"), ActionStatus::Ok);
    // What is left over there is known again.
    let site = claim_at(&target).expect("it is empty");
    site.release(TreeCleanup::Keep).expect("it can be given up");
    let removed = remove_left_over(&target, None, TIMEOUT, LeftoverPolicy::Remove);
    let removed = removed.expect("it is ours").expect("there was one");
    assert_eq!(removed.process, Some(std::process::id()));
    assert!(!status("filestone").is_ok());
    bench.end();
}

#[test]
fn who_asks_for_it_works_beside_what_another_program_has_in_clients() {
    let bench = Bench::new(Generation::Nfs);
    let target = nested(&bench, Some(b"made by somebody else"));
    let stop = AtomicBool::new(false);
    let options = Nfs3Options {
        occupied: OnExisting::Beside,
        ..options(Generation::Nfs)
    };
    let site = Nfs3Site::claim(&target, None, options, &stop).expect("there is room beside it");
    site.release(TreeCleanup::Remove)
        .expect("it can be removed");
    let mut client = bench.client(1);
    let path = b"clients/client0/clients/made-by-filestone".as_slice();
    assert_eq!(
        client.status(LoadAction::GetAttr { path }),
        ActionStatus::Ok
    );
    let path = b"clients/client0/filestone".as_slice();
    assert!(!client.status(LoadAction::GetAttr { path }).is_ok());
    bench.end();
}

#[test]
fn of_a_run_on_another_host_it_is_not_known_whether_it_goes_on() {
    let marker = b"made by filestone 0\nhost: elsewhere.invalid\nprocess: 7\nstarted: then\n";
    let bench = Bench::new(Generation::Nfs);
    let target = nested(&bench, Some(marker));
    let (what, help) = refusal(&claim_at(&target).expect_err("it is there"));
    let expected = "left over, or in use, by process 7 on elsewhere.invalid, whose run began then";
    assert!(what.ends_with(expected), "{what}");
    assert!(help.contains("--remove-leftover"), "{help}");
    let removed = remove_left_over(&target, None, TIMEOUT, LeftoverPolicy::Remove)
        .expect("asked to, it is removed");
    assert_eq!(removed.expect("there was one").process, Some(7));
    bench.end();
}

#[test]
fn a_tree_goes_with_its_links_and_nothing_that_they_point_to() {
    let bench = Bench::new(Generation::Nfs);
    let (mut client, mut other) = (bench.client(0), bench.client(1));
    other.create("clients/client1/file");
    let mut path = String::from("clients/client0");
    for depth in 0..40 {
        path.push_str("/d");
        assert_eq!(client.mkdir(&path), ActionStatus::Ok);
        client.create(&format!("{path}/file{depth}"));
        for (number, text) in ["/export/files", "../../../files", "../../client1"]
            .iter()
            .enumerate()
        {
            let link = format!("{path}/link{number}");
            let link = LoadAction::Symlink {
                path: link.as_bytes(),
                target: text.as_bytes(),
            };
            assert_eq!(client.status(link), ActionStatus::Ok);
        }
    }
    for number in 0..3000 {
        client.create(&format!("clients/client0/{number}"));
    }
    client.clean_up();
    assert_eq!(other.look_up("clients/client0"), nfs(2));
    for kept in ["clients/client1/file", "files", "files/file0000", "file"] {
        assert_eq!(other.look_up(kept), ActionStatus::Ok, "{kept}");
    }
    client.clean_up();
    bench.end();
}

#[test]
fn a_client_cleans_up_after_itself_whatever_case_its_load_has() {
    let bench = Bench::new(Generation::Nfs);
    let mut client = bench.client(0);
    client.mkdir("clients/CLIENT0");
    client.mkdir("clients/client01");
    client.clean_up();
    assert_eq!(client.look_up("clients/CLIENT0"), nfs(2));
    assert_eq!(client.look_up("clients/client01"), ActionStatus::Ok);
    bench.end();
}

#[test]
fn what_is_no_directory_is_unsuitable() {
    let server = serve(|_| {});
    let mut file = target(&server);
    file.path = "/export/file".into();
    let (what, _) = refusal(&claim_at(&file).expect_err("a file"));
    assert_eq!(what, "/export/file: is not a directory");
}

#[test]
fn a_stopped_run_claims_nothing() {
    let server = serve(|_| {});
    let stop = AtomicBool::new(true);
    let claimed = Nfs3Site::claim(&target(&server), None, options(Generation::Nfs), &stop);
    assert!(matches!(claimed, Err(RunError::Interrupted)), "{claimed:?}");
    assert_eq!(server.counters().calls_total(), 0);
}

#[test]
fn the_record_says_where_it_was() {
    let bench = Bench::new(Generation::Nfs);
    let target = bench.site.target();
    assert_eq!(target.address, bench.server.address().to_string());
    assert_eq!(target.export, "/export");
    assert!(target.local && !target.built_in);
    assert_eq!(target.read_max_bytes, 1 << 20);
    bench.end();
}
