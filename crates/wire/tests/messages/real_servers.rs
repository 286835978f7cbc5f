//! Bytes from real servers and clients: every message decodes, and encodes to
//! the same bytes. The first line of each file says where they come from.

use crate::again;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use filestone_wire::portmap::rpcbind;
use filestone_wire::rpc::{AcceptStatus, CallHeader, ReplyBody, ReplyHeader};
use filestone_wire::xdr::{Decode, DecodeError, Reader};
use filestone_wire::{mount, nfs3, nlm, portmap};

/// A call and its reply.
struct Exchange {
    call: Vec<u8>,
    reply: Vec<u8>,
}

fn bytes(hex: &str) -> Vec<u8> {
    assert_eq!(hex.len() % 2, 0);
    let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digits).collect()
}

fn exchanges(file: &str) -> Vec<Exchange> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/vectors")
        .join(file);
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    assert!(
        lines.next().unwrap().starts_with("# server: "),
        "{file} says where it comes from"
    );
    let mut exchanges = Vec::new();
    while let Some(line) = lines.next() {
        let call = bytes(line.strip_prefix("call ").unwrap());
        let reply = bytes(lines.next().unwrap().strip_prefix("reply ").unwrap());
        exchanges.push(Exchange { call, reply });
    }
    exchanges
}

fn args_again(call: &CallHeader<'_>, bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let number = call.procedure;
    match (call.program, call.version) {
        (nfs3::PROGRAM, nfs3::VERSION) => {
            again::nfs3_args(nfs3::Procedure::from_number(number).unwrap(), bytes)
        }
        (mount::PROGRAM, mount::VERSION) => {
            again::mount_args(mount::Procedure::from_number(number).unwrap(), bytes)
        }
        (nlm::PROGRAM, nlm::VERSION) => {
            again::nlm_args(nlm::Procedure::from_number(number).unwrap(), bytes)
        }
        (portmap::PROGRAM, portmap::VERSION) => {
            again::portmap_args(portmap::Procedure::from_number(number).unwrap(), bytes)
        }
        (portmap::PROGRAM, version) => again::rpcbind_args(
            rpcbind::Procedure::of_version(number, version).unwrap(),
            bytes,
        ),
        other => panic!("unexpected program and version {other:?}"),
    }
}

fn reply_again(call: &CallHeader<'_>, bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let number = call.procedure;
    match (call.program, call.version) {
        (nfs3::PROGRAM, nfs3::VERSION) => {
            again::nfs3_reply(nfs3::Procedure::from_number(number).unwrap(), bytes)
        }
        (mount::PROGRAM, mount::VERSION) => {
            again::mount_reply(mount::Procedure::from_number(number).unwrap(), bytes)
        }
        (nlm::PROGRAM, nlm::VERSION) => {
            again::nlm_reply(nlm::Procedure::from_number(number).unwrap(), bytes)
        }
        (portmap::PROGRAM, portmap::VERSION) => {
            again::portmap_reply(portmap::Procedure::from_number(number).unwrap(), bytes)
        }
        (portmap::PROGRAM, version) => again::rpcbind_reply(
            rpcbind::Procedure::of_version(number, version).unwrap(),
            bytes,
        ),
        other => panic!("unexpected program and version {other:?}"),
    }
}

/// Checks every exchange of the file; the procedures that succeeded.
fn check(file: &str) -> BTreeSet<(u32, u32, u32)> {
    let mut succeeded = BTreeSet::new();
    for Exchange { call, reply } in exchanges(file) {
        let mut args = Reader::new(&call);
        let header = CallHeader::decode(&mut args).unwrap();
        let head = &call[..args.position()];
        assert_eq!(again::call_header(head).as_deref(), Ok(head));

        let mut results = Reader::new(&reply);
        let answer = ReplyHeader::decode(&mut results).unwrap();
        let head = &reply[..results.position()];
        assert_eq!(again::reply_header(head).as_deref(), Ok(head));
        assert_eq!(answer.xid, header.xid);

        if answer.body == ReplyBody::SUCCESS {
            assert_eq!(
                args_again(&header, args.rest()).as_deref(),
                Ok(args.rest()),
                "{header:?}"
            );
            let again = reply_again(&header, results.rest());
            assert_eq!(again.as_deref(), Ok(results.rest()), "reply to {header:?}");
            succeeded.insert((header.program, header.version, header.procedure));
        } else {
            assert_eq!(results.remaining(), 0, "nothing follows {}", answer.body);
        }
    }
    succeeded
}

fn check_nfs3(file: &str) {
    let succeeded = check(file);
    for procedure in nfs3::Procedure::ALL {
        let key = (nfs3::PROGRAM, nfs3::VERSION, procedure.number());
        assert!(succeeded.contains(&key), "{procedure} is in {file}");
    }
}

#[test]
fn nfs_ganesha_with_files_on_disk_is_understood_to_the_byte() {
    check_nfs3("ganesha-nfs3-vfs.hex");
}

#[test]
fn nfs_ganesha_with_files_in_memory_is_understood_to_the_byte() {
    check_nfs3("ganesha-nfs3-mem.hex");
}

#[test]
fn mount_of_nfs_ganesha_is_understood_to_the_byte() {
    assert_eq!(
        check("ganesha-mount.hex").len(),
        mount::Procedure::ALL.len()
    );
}

#[test]
fn rpcbind_is_understood_to_the_byte() {
    let succeeded = check("rpcbind.hex");
    assert!(succeeded.contains(&(portmap::PROGRAM, 2, portmap::Procedure::Getport.number())));
    assert!(succeeded.contains(&(portmap::PROGRAM, 4, rpcbind::Procedure::Getaddr.number())));
}

#[test]
fn locks_of_nfs_ganesha_are_understood_to_the_byte() {
    use nlm::test::{Reply, TestOutcome};
    let file = "ganesha-nlm4.hex";
    let succeeded = check(file);
    let answered = [
        nlm::Procedure::Test,
        nlm::Procedure::Lock,
        nlm::Procedure::Unlock,
    ];
    let answered = answered.map(|procedure| (nlm::PROGRAM, nlm::VERSION, procedure.number()));
    assert!(succeeded.into_iter().eq(answered));
    let replies = exchanges(file).into_iter().map(|exchange| exchange.reply);
    let names_the_holder = replies.into_iter().any(|reply| {
        let mut results = Reader::new(&reply);
        ReplyHeader::decode(&mut results).unwrap();
        Reply::from_bytes(results.rest()).is_ok_and(
            |reply| matches!(reply.outcome, TestOutcome::Denied(holder) if holder.len == 15),
        )
    });
    assert!(names_the_holder, "somebody's lock was in the way");
}

#[test]
fn refusals_of_nfs_ganesha_are_named() {
    let mut seen = BTreeSet::new();
    for Exchange { reply, .. } in exchanges("ganesha-nfs3-vfs.hex") {
        let header = ReplyHeader::decode(&mut Reader::new(&reply)).unwrap();
        if let ReplyBody::Accepted(status) = header.body
            && status != AcceptStatus::Success
        {
            seen.insert(status.to_string());
        }
    }
    let expected = [
        "GARBAGE_ARGS (4)",
        "PROC_UNAVAIL (3)",
        "PROG_MISMATCH (2), it has versions 3 to 4",
        "PROG_UNAVAIL (1)",
    ];
    assert!(seen.iter().eq(expected), "{seen:?}");
}

/// Asked for at most ten bytes, where NFS3ERR_TOOSMALL is the answer, this
/// server sends one entry and a word too many. A finding worth seeing, so the
/// decoder does not look away.
#[test]
fn a_reply_with_a_word_too_many_is_an_error() {
    for Exchange { call, reply } in exchanges("ganesha-readdir-count-10.hex") {
        let header = CallHeader::decode(&mut Reader::new(&call)).unwrap();
        let mut results = Reader::new(&reply);
        ReplyHeader::decode(&mut results).unwrap();
        let again = reply_again(&header, results.rest());
        assert_eq!(again, Err(DecodeError::TrailingBytes { count: 4 }));
    }
}
