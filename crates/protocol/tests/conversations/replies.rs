//! Every reply against its call: what is right, and each way of being wrong.

use crate::discarding::ATTRIBUTES;
use crate::list::{Kind, messages};
use crate::talk::{
    DIRECTORY, PATTERNED, Setup, Talk, UNKNOWN, at, pattern_at, record, success_record,
};
use filestone_protocol::client::nfs3::procedures::kind_of;
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{
    FileHandle, Procedure, Status, WccData, access, lookup, read, readdir, readdirplus, write,
};
use filestone_wire::rpc::{AcceptStatus, AuthStatus, OpaqueAuth, RejectStatus, ReplyHeader};
use filestone_wire::xdr::Encode;
use filestone_workload::failure::{Failure, ReplyFault, StatusSpace};
use filestone_workload::operation::{
    AttributeChange, DirectoryCursor, ObjectName, OpKind, Operation, Outcome, ReplyInfo, Stability,
};

const NAME: ObjectName = ObjectName::Listed(0);
const LEN: u32 = 4096;

/// An operation of each kind, for which the replies of the wire's list are right.
fn operation(kind: OpKind) -> Operation {
    let (directory, file, name) = (DIRECTORY, UNKNOWN, NAME);
    let cursor = DirectoryCursor::default();
    match kind {
        OpKind::Null => Operation::Null,
        OpKind::GetAttr => Operation::GetAttr { file },
        OpKind::SetAttr => Operation::SetAttr {
            file,
            change: AttributeChange::Touch,
        },
        OpKind::Lookup => Operation::Lookup { directory, name },
        OpKind::Access => Operation::Access { file, wanted: 0x3f },
        OpKind::ReadLink => Operation::ReadLink { link: file },
        // Beyond the end of any file, where less than asked for is enough.
        OpKind::Read => Operation::Read {
            file,
            offset: 1 << 60,
            len: LEN,
        },
        OpKind::Write => Operation::Write {
            file,
            offset: 0,
            len: 5,
            stability: Stability::Unstable,
        },
        OpKind::Create => Operation::Create { directory, name },
        OpKind::MkDir => Operation::MakeDirectory { directory, name },
        OpKind::SymLink => Operation::MakeSymlink {
            directory,
            name,
            target: name,
        },
        OpKind::MkNod => Operation::MakeNode { directory, name },
        OpKind::Remove => Operation::Remove { directory, name },
        OpKind::RmDir => Operation::RemoveDirectory { directory, name },
        OpKind::Rename => Operation::Rename {
            from_directory: directory,
            from: name,
            to_directory: directory,
            to: name,
        },
        OpKind::Link => Operation::Link {
            file,
            directory,
            name,
        },
        OpKind::ReadDir => Operation::ReadDirectory {
            directory,
            cursor,
            len: LEN,
        },
        OpKind::ReadDirPlus => Operation::ReadDirectoryPlus {
            directory,
            cursor,
            len: LEN,
        },
        OpKind::FsStat => Operation::FileSystemStatus { file },
        OpKind::FsInfo => Operation::FileSystemInfo { file },
        OpKind::PathConf => Operation::PathConfiguration { file },
        OpKind::Commit => Operation::Commit {
            file,
            offset: 0,
            len: LEN,
        },
        filestone_workload::only_in_loads!() | filestone_workload::only_in_probes!() => {
            unreachable!("only procedures are asked for")
        }
    }
}

fn read(len: u32) -> Operation {
    Operation::Read {
        file: UNKNOWN,
        offset: 0,
        len,
    }
}

fn write_as(stability: Stability) -> Operation {
    Operation::Write {
        file: PATTERNED,
        offset: 0,
        len: LEN,
        stability,
    }
}

/// What a fresh client makes of these results.
fn evaluate(operation: Operation, results: &[u8]) -> (Outcome, ReplyInfo, u32) {
    let mut talk = Talk::new(&Setup::slots(2));
    let xid = talk.ask_xid(1, operation, at(1));
    let done = talk.hear_one(&success_record(xid, results), at(2));
    assert_eq!(done.ticket.slot, 1);
    assert_eq!(done.bytes_received as usize, 4 + 24 + results.len());
    (done.outcome, done.answer, done.data_bytes)
}

fn outcome(operation: Operation, results: &[u8]) -> Outcome {
    evaluate(operation, results).0
}

const fn bad(fault: ReplyFault) -> Outcome {
    Outcome::Failed(Failure::BadReply(fault))
}

/// The wire's replies of all procedures: kind, whether it is a success, bytes.
fn listed_replies() -> Vec<(OpKind, bool, Vec<u8>)> {
    messages()
        .into_iter()
        .filter_map(|message| match message.kind {
            Kind::Nfs3Reply(procedure) => {
                let kind = kind_of(procedure);
                let is_ok = procedure == Procedure::Null || message.bytes[..4] == [0; 4];
                Some((kind, is_ok, message.bytes))
            }
            _ => None,
        })
        .collect()
}

#[test]
fn good_replies_and_failures_of_all_procedures_are_told_apart() {
    let replies = listed_replies();
    for kind in OpKind::STATELESS {
        assert!(
            replies
                .iter()
                .any(|(listed, is_ok, _)| listed == kind && *is_ok)
        );
    }
    for (kind, is_ok, bytes) in replies {
        let expected = if is_ok {
            Outcome::Ok
        } else {
            Outcome::Failed(StatusSpace::Nfs3.failure(Status::STALE.0))
        };
        assert_eq!(
            outcome(operation(kind), &bytes),
            expected,
            "{}",
            kind.name()
        );
    }
}

#[test]
fn results_cut_at_any_byte_or_followed_by_more_cannot_be_decoded() {
    for (kind, _, bytes) in listed_replies() {
        for cut in 0..bytes.len() {
            assert_eq!(
                outcome(operation(kind), &bytes[..cut]),
                bad(ReplyFault::Undecodable),
                "{} cut at {cut}",
                kind.name()
            );
        }
        for more in [1, 4, 100] {
            let longer = [bytes.as_slice(), &vec![0; more]].concat();
            assert_eq!(
                outcome(operation(kind), &longer),
                bad(ReplyFault::Undecodable),
                "{} and {more} bytes",
                kind.name()
            );
        }
    }
}

fn read_results(count: u32, eof: bool, data: &[u8]) -> Vec<u8> {
    let file_attributes = Some(ATTRIBUTES);
    let ok = read::ReplyOk {
        file_attributes,
        count,
        eof,
        data,
    };
    read::Reply::Ok(ok).to_bytes()
}

#[test]
fn read_brings_what_was_asked_for_or_what_there_is() {
    let short = bad(ReplyFault::Short);
    let contradiction = bad(ReplyFault::Inconsistent);
    let end = ATTRIBUTES.size;
    let far = |left: u64| Operation::Read {
        file: UNKNOWN,
        offset: end - left,
        len: LEN,
    };
    for (operation, len, eof, expected) in [
        (read(LEN), LEN, false, Outcome::Ok),
        (read(LEN), LEN, true, Outcome::Ok),
        (far(7), 7, true, Outcome::Ok),
        (far(7), 7, false, Outcome::Ok),
        (far(0), 0, true, Outcome::Ok),
        (far(0), 0, false, contradiction),
        (read(LEN), 1, false, short),
        (far(8), 7, false, short),
        // The reply's own attributes say that there is more.
        (read(LEN), 7, true, contradiction),
        (read(LEN), 0, true, contradiction),
        (far(8), 7, true, contradiction),
    ] {
        let data = vec![3; len as usize];
        let (outcome, _, bytes) = evaluate(operation, &read_results(len, eof, &data));
        let moved = if expected == Outcome::Ok { len } else { 0 };
        assert_eq!(
            (outcome, bytes),
            (expected, moved),
            "{operation:?}: {len}, {eof}"
        );
    }
    let more = vec![3; LEN as usize + 1];
    assert_eq!(
        outcome(read(LEN), &read_results(LEN + 1, true, &more)),
        bad(ReplyFault::TooMuchData)
    );
    // Even if the count says otherwise.
    assert_eq!(
        outcome(read(LEN), &read_results(LEN, true, &more)),
        bad(ReplyFault::TooMuchData)
    );
    for (count, len) in [(10, 11), (11, 10), (0, 4), (u32::MAX, 4)] {
        let data = vec![3; len];
        assert_eq!(
            outcome(read(LEN), &read_results(count, true, &data)),
            bad(ReplyFault::Inconsistent),
            "count {count}, {len} bytes"
        );
    }
    // Nothing, and not the end of the file: a client would ask for ever.
    assert_eq!(
        outcome(read(LEN), &read_results(0, false, &[])),
        bad(ReplyFault::Inconsistent)
    );
}

#[test]
fn data_are_verified_against_the_pattern_and_against_themselves() {
    let mut talk = Talk::new(&Setup {
        verify: true,
        ..Setup::slots(1)
    });
    let mut read = |file, offset, data: &[u8]| {
        let xid = talk.ask_xid(
            0,
            Operation::Read {
                file,
                offset,
                len: LEN,
            },
            at(1),
        );
        let results = read_results(data.len() as u32, false, data);
        talk.hear_one(&success_record(xid, &results), at(2)).outcome
    };
    let right = pattern_at(1 << 35, LEN as usize);
    assert_eq!(read(PATTERNED, 1 << 35, &right), Outcome::Ok);
    assert_eq!(
        read(PATTERNED, 1 << 35, &right[..100]),
        Outcome::Ok,
        "beyond the end of the file"
    );
    assert_eq!(read(PATTERNED, 4096, &right), bad(ReplyFault::WrongData));
    let mut wrong = right.clone();
    wrong[4095] ^= 1;
    assert_eq!(read(PATTERNED, 1 << 35, &wrong), bad(ReplyFault::WrongData));
    // Of another file only this is known: it must stay what it was.
    assert_eq!(read(UNKNOWN, 0, &right), Outcome::Ok);
    assert_eq!(read(UNKNOWN, 0, &right), Outcome::Ok);
    assert_eq!(read(UNKNOWN, 4096, &wrong), Outcome::Ok);
    assert_eq!(read(UNKNOWN, 0, &wrong), bad(ReplyFault::WrongData));
    assert_eq!(read(UNKNOWN, 4096, &right), bad(ReplyFault::WrongData));
}

#[test]
fn access_grants_no_more_than_was_asked_for() {
    let results = |access| {
        access::Reply::Ok(access::ReplyOk {
            obj_attributes: None,
            access,
        })
        .to_bytes()
    };
    let asked = |wanted| Operation::Access {
        file: UNKNOWN,
        wanted,
    };
    assert_eq!(outcome(asked(0x3f), &results(0x1f)), Outcome::Ok);
    assert_eq!(outcome(asked(0x3f), &results(0)), Outcome::Ok);
    for (wanted, granted) in [(0x3f, 0x40), (0x01, 0x03), (0, 1), (0x3f, u32::MAX)] {
        assert_eq!(
            outcome(asked(wanted), &results(granted)),
            bad(ReplyFault::Inconsistent)
        );
    }
}

#[test]
fn lookup_without_a_handle_is_no_lookup() {
    let object = FileHandle::new(b"").unwrap();
    let ok = lookup::ReplyOk {
        object,
        obj_attributes: None,
        dir_attributes: None,
    };
    assert_eq!(
        outcome(operation(OpKind::Lookup), &lookup::Reply::Ok(ok).to_bytes()),
        bad(ReplyFault::Inconsistent)
    );
}

#[test]
fn write_stores_no_more_than_asked_and_no_less_safely() {
    use StableHow::{DataSync, FileSync, Unstable};
    let results = |count, committed| {
        let file_wcc = WccData {
            before: None,
            after: None,
        };
        write::Reply::Ok(write::ReplyOk {
            file_wcc,
            count,
            committed,
            verf: [1; 8],
        })
        .to_bytes()
    };
    for (asked, committed, is_enough) in [
        (Stability::Unstable, Unstable, true),
        (Stability::Unstable, FileSync, true),
        (Stability::DataSync, Unstable, false),
        (Stability::DataSync, DataSync, true),
        (Stability::DataSync, FileSync, true),
        (Stability::FileSync, Unstable, false),
        (Stability::FileSync, DataSync, false),
        (Stability::FileSync, FileSync, true),
    ] {
        let expected = match is_enough {
            true => Outcome::Ok,
            false => bad(ReplyFault::Inconsistent),
        };
        assert_eq!(outcome(write_as(asked), &results(LEN, committed)), expected);
    }
    for (count, fault) in [
        (100, ReplyFault::Short),
        (LEN - 1, ReplyFault::Short),
        (0, ReplyFault::Inconsistent),
        (LEN + 1, ReplyFault::Inconsistent),
        (u32::MAX, ReplyFault::Inconsistent),
    ] {
        let (outcome, _, bytes) =
            evaluate(write_as(Stability::Unstable), &results(count, FileSync));
        assert_eq!((outcome, bytes), (bad(fault), 0), "{count} of {LEN}");
    }
}

fn page(cookies: std::ops::Range<u64>, eof: bool) -> Vec<u8> {
    let entries = cookies
        .map(|cookie| readdir::Entry {
            fileid: cookie,
            name: b"name",
            cookie,
        })
        .collect();
    let ok = readdir::ReplyOk {
        dir_attributes: None,
        cookieverf: [9; 8],
        entries,
        eof,
    };
    readdir::Reply::Ok(ok).to_bytes()
}

fn page_plus(cookies: std::ops::Range<u64>, eof: bool) -> Vec<u8> {
    let entries = cookies
        .map(|cookie| readdirplus::EntryPlus {
            fileid: cookie,
            name: b"name",
            cookie,
            name_attributes: Some(ATTRIBUTES),
            name_handle: FileHandle::new(&[4; 64]),
        })
        .collect();
    let ok = readdirplus::ReplyOk {
        dir_attributes: Some(ATTRIBUTES),
        cookieverf: [9; 8],
        entries,
        eof,
    };
    readdirplus::Reply::Ok(ok).to_bytes()
}

#[test]
fn a_page_of_a_listing_says_where_the_next_one_starts() {
    type Page = fn(std::ops::Range<u64>, bool) -> Vec<u8>;
    for (kind, page) in [
        (OpKind::ReadDir, page as Page),
        (OpKind::ReadDirPlus, page_plus),
    ] {
        for (cookies, end, cookie, verifier) in [
            (1..5, false, 4, [9; 8]),
            (7..8, true, 7, [9; 8]),
            (0..0, true, 0, [0; 8]),
        ] {
            assert_eq!(
                evaluate(operation(kind), &page(cookies, end)),
                (Outcome::Ok, directory((cookie, verifier), end, 0), 0)
            );
        }
        assert_eq!(
            outcome(operation(kind), &page(0..0, false)),
            bad(ReplyFault::Inconsistent)
        );
    }
}

#[test]
fn a_page_that_comes_again_fails() {
    for len in [1, 2, 5] {
        let mut cursor = DirectoryCursor::default();
        let mut ended = Outcome::Ok;
        // The cookies of the last entries of pages go round.
        for page_number in (0..len).cycle().take(40) {
            let ask = Operation::ReadDirectory {
                directory: DIRECTORY,
                cursor,
                len: 4096,
            };
            let cookie = 10 * page_number + 10;
            let (outcome, answer, _) = evaluate(ask, &page(cookie..cookie + 1, false));
            ended = outcome;
            match answer {
                ReplyInfo::Directory { cursor: next, .. } => cursor = next,
                _ => break,
            }
        }
        assert_eq!(ended, bad(ReplyFault::Inconsistent), "{len}");
    }
}

fn directory((cookie, verifier): (u64, [u8; 8]), end: bool, excess_bytes: u32) -> ReplyInfo {
    let next = DirectoryCursor::default().after(cookie, verifier);
    ReplyInfo::Directory {
        cursor: next.filter(|_| cookie > 0).unwrap_or_default(),
        end,
        excess_bytes,
    }
}

/// As Linux's server does, and more than that.
#[test]
fn a_page_that_is_longer_than_asked_for_is_taken_and_the_listing_goes_on() {
    type Ask = fn(u32) -> Operation;
    let plain: Ask = |len| Operation::ReadDirectory {
        directory: DIRECTORY,
        cursor: DirectoryCursor::default(),
        len,
    };
    let plus: Ask = |len| Operation::ReadDirectoryPlus {
        directory: DIRECTORY,
        cursor: DirectoryCursor::default(),
        len,
    };
    // What lies before the list: status, dir_attributes (absent, or not), cookieverf.
    for (ask, results, head_len) in [
        (plain, page(1..30, false), 4 + 4 + 8),
        (plus, page_plus(1..30, false), 4 + 88 + 8),
    ] {
        // The bound is of the READDIR3resok, which begins behind the status.
        let whole = results.len() as u32 - 4;
        let list = results.len() as u32 - head_len;
        for (asked, excess) in [(whole, 0), (list, 0), (list - 1, 1), (16, list - 16)] {
            assert_eq!(
                evaluate(ask(asked), &results),
                (Outcome::Ok, directory((29, [9; 8]), false, excess), 0),
                "{asked} bytes asked for"
            );
        }
    }
}

#[test]
fn calls_that_were_not_executed_are_told_apart() {
    use AcceptStatus::{GarbageArgs, ProcUnavail, ProgMismatch, ProgUnavail, SystemErr};
    let (low, high) = (2, 4);
    let accepted = |status| ReplyHeader::accepted(0, status);
    let auth = |status| ReplyHeader::denied(0, RejectStatus::AuthError(status));
    let mismatch = ReplyHeader::denied(0, RejectStatus::RpcMismatch { low, high });
    for (header, expected, name) in [
        (
            accepted(ProgUnavail),
            StatusSpace::RpcAccept.failure(1),
            "PROG_UNAVAIL (1)",
        ),
        (
            accepted(ProgMismatch { low, high }),
            StatusSpace::RpcAccept.failure(2),
            "PROG_MISMATCH (2)",
        ),
        (
            accepted(ProcUnavail),
            StatusSpace::RpcAccept.failure(3),
            "PROC_UNAVAIL (3)",
        ),
        (
            accepted(GarbageArgs),
            StatusSpace::RpcAccept.failure(4),
            "GARBAGE_ARGS (4)",
        ),
        (
            accepted(SystemErr),
            StatusSpace::RpcAccept.failure(5),
            "SYSTEM_ERR (5)",
        ),
        (
            auth(AuthStatus::BADCRED),
            StatusSpace::RpcDenied.failure(1),
            "AUTH_BADCRED (1)",
        ),
        (
            auth(AuthStatus::TOOWEAK),
            StatusSpace::RpcDenied.failure(5),
            "AUTH_TOOWEAK (5)",
        ),
        (
            auth(AuthStatus(77)),
            StatusSpace::RpcDenied.failure(77),
            "auth_stat 77",
        ),
        (
            mismatch,
            StatusSpace::RpcDenied.failure(0),
            "RPC_MISMATCH (0)",
        ),
    ] {
        let mut talk = Talk::new(&Setup::slots(2));
        let xid = talk.ask_xid(0, read(LEN), at(1));
        let reply = ReplyHeader { xid, ..header }.to_bytes();
        let done = talk.hear_one(&record(&reply), at(2));
        assert_eq!(done.outcome, Outcome::Failed(expected));
        assert_eq!(expected.to_string(), name);
    }
}

#[test]
fn a_reply_with_a_verifier_is_as_good_as_one_without() {
    let mut talk = Talk::new(&Setup::slots(2));
    let xid = talk.ask_xid(0, read(4), at(1));
    let verifier = OpaqueAuth {
        flavor: 2,
        body: b"short hand",
    };
    let header = ReplyHeader {
        verifier,
        ..ReplyHeader::success(xid)
    };
    let reply = [header.to_bytes(), read_results(4, true, b"data")].concat();
    let done = talk.hear_one(&record(&reply), at(2));
    assert_eq!((done.outcome, done.data_bytes), (Outcome::Ok, 4));
}

#[test]
fn a_status_of_no_standard_is_kept_as_it_is() {
    let results = [0, 1, 0, 0, 0, 0, 0, 0];
    assert_eq!(
        outcome(read(LEN), &results),
        Outcome::Failed(StatusSpace::Nfs3.failure(0x1_0000))
    );
}
