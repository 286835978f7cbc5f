//! Trees on servers with scripted answers.

use super::*;
use crate::nfs3::scripted::{self, reply};
use filestone_wire::nfs3::{FileHandle, Procedure, WccData, getattr, lookup, readdirplus, remove};
use filestone_wire::xdr::Encode;
use std::io::Write;

#[test]
fn a_file_system_mounted_in_a_file_set_is_left_alone() {
    let (mut nfs, _) = scripted::nfs(|call, out| {
        let obj_attributes = scripted::attributes(FileType::Directory, 1);
        let results = getattr::Reply::Ok(obj_attributes);
        out.write_all(&reply(call.xid, &results.to_bytes()))
    });
    let handle = Handle::from(FileHandle::new(&[1]).expect("a handle"));
    let set = NfsDirectory {
        handle,
        path: "/export/set".into(),
        purpose: Purpose::FileSet,
    };
    let mut enter = |fsid| {
        let attributes = scripted::attributes(FileType::Directory, fsid);
        let entered =
            NfsTree::new(&mut nfs).record(&set, b"client0", Object { handle, attributes });
        entered.map(|entered| entered.is_some())
    };
    assert!(enter(1).expect("it is the set's"));
    let refused = enter(2).expect_err("it is mounted").error.to_string();
    assert_eq!(
        refused,
        "/export/set/client0: LOOKUP was answered with NFS3ERR_XDEV (18)"
    );
}

#[test]
fn a_file_system_mounted_at_the_top_of_a_tree_is_left_alone() {
    let (mut nfs, seen) = scripted::nfs(|call, out| {
        let directory = |fsid| scripted::attributes(FileType::Directory, fsid);
        let results = match Procedure::from_number(call.procedure) {
            Some(Procedure::Lookup) => lookup::Reply::Ok(lookup::ReplyOk {
                object: FileHandle::new(&[2]).expect("a handle"),
                obj_attributes: Some(directory(2)),
                dir_attributes: None,
            })
            .to_bytes(),
            Some(Procedure::Getattr) => getattr::Reply::Ok(directory(1)).to_bytes(),
            _ => Status::ACCES.0.to_be_bytes().to_vec(),
        };
        out.write_all(&reply(call.xid, &results))
    });
    let parent = Handle::from(FileHandle::new(&[1]).expect("a handle"));
    let any = MadeNames::any();
    let failure = nfs
        .call(|link| link.remove_tree(&parent, b"client0", &any))
        .expect_err("it is mounted");
    assert!(failure.is(Status::XDEV), "{failure:?}");
    drop(nfs);
    let seen = seen.join().expect("the server ended");
    let [lookup, getattr] = [Procedure::Lookup, Procedure::Getattr].map(Procedure::number);
    assert_eq!(seen, [lookup, getattr]);
}

/// Encodes a READDIRPLUS page with these names.
fn listing(names: &[&[u8]]) -> Vec<u8> {
    let entries = names.iter().zip(1..).map(|(name, cookie)| {
        let (name_attributes, name_handle) = (None, None);
        readdirplus::EntryPlus {
            fileid: cookie,
            name,
            cookie,
            name_attributes,
            name_handle,
        }
    });
    let page = readdirplus::ReplyOk {
        dir_attributes: None,
        cookieverf: [0; 8],
        entries: entries.collect(),
        eof: true,
    };
    readdirplus::Reply::Ok(page).to_bytes()
}

#[test]
fn a_server_that_lists_what_it_has_removed_is_given_up() {
    let (mut nfs, seen) = scripted::nfs(|call, out| {
        let results = match Procedure::from_number(call.procedure) {
            Some(Procedure::Readdirplus) => listing(&[b".", b"kept", b"file"]),
            Some(Procedure::Lookup) => lookup::Reply::Ok(lookup::ReplyOk {
                object: FileHandle::new(&[2]).expect("a handle"),
                obj_attributes: Some(scripted::attributes(FileType::Regular, 1)),
                dir_attributes: None,
            })
            .to_bytes(),
            Some(Procedure::Remove) => {
                let dir_wcc = WccData::default();
                remove::Reply::Ok(dir_wcc).to_bytes()
            }
            _ => Status::ACCES.0.to_be_bytes().to_vec(),
        };
        out.write_all(&reply(call.xid, &results))
    });
    let directory = Handle::from(FileHandle::new(&[1]).expect("a handle"));
    let any = MadeNames::any();
    let failure = nfs
        .call(|link| link.empty_but(&directory, b"kept", &any))
        .expect_err("it stays");
    assert!(failure.is(Status::NOTEMPTY), "{failure:?}");
    drop(nfs);
    let seen = seen.join().expect("the server ended");
    let count = |procedure: Procedure| {
        let number = procedure.number();
        seen.iter().filter(|seen| **seen == number).count()
    };
    assert_eq!(count(Procedure::Readdirplus), 5);
    assert_eq!(count(Procedure::Remove), 4, "what is kept is left alone");
}
