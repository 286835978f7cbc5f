//! Every message of the list: round trip, cut at every byte, every word that
//! could be a length replaced; known sizes of messages; any values; bytes of real servers.

mod again;
mod any_values;
mod list;
mod real_servers;

use filestone_wire::nfs3::{
    Fattr3, FileHandle, FileType, Nfstime3, PROGRAM, Procedure, Specdata3, VERSION, getattr, read,
};
use filestone_wire::record::RecordMark;
use filestone_wire::rpc::{AuthSys, CallHeader, Credential, Gids, OpaqueAuth, ReplyHeader};
use filestone_wire::xdr::{DecodeError, Encode, Writer};
use list::{Kind, messages};
use proptest::collection::vec;
use proptest::prelude::*;

#[test]
fn every_procedure_of_nfs3_is_in_the_list() {
    let kinds: Vec<Kind> = messages().iter().map(|message| message.kind).collect();
    for procedure in Procedure::ALL {
        assert!(
            kinds.contains(&Kind::Nfs3Args(procedure)),
            "args of {procedure}"
        );
        assert!(
            kinds.contains(&Kind::Nfs3Reply(procedure)),
            "reply of {procedure}"
        );
    }
}

#[test]
fn every_procedure_of_nlm_is_in_the_list() {
    let kinds: Vec<Kind> = messages().iter().map(|message| message.kind).collect();
    for procedure in filestone_wire::nlm::Procedure::ALL {
        assert!(kinds.contains(&Kind::NlmArgs(procedure)), "{procedure:?}");
        assert!(kinds.contains(&Kind::NlmReply(procedure)), "{procedure:?}");
    }
}

#[test]
fn every_message_survives_the_round_trip() {
    for message in messages() {
        assert_eq!(
            message.kind.again(&message.bytes).as_ref(),
            Ok(&message.bytes),
            "{message:?}"
        );
    }
}

#[test]
fn every_message_is_a_multiple_of_four_bytes() {
    for message in messages() {
        assert_eq!(message.bytes.len() % 4, 0, "{message:?}");
    }
}

#[test]
fn every_message_cut_short_anywhere_is_an_error() {
    for message in messages() {
        for len in 0..message.bytes.len() {
            let result = message.kind.again(&message.bytes[..len]);
            assert!(
                matches!(result, Err(DecodeError::Short { .. })),
                "{message:?} cut at {len}"
            );
        }
    }
}

#[test]
fn every_message_with_bytes_after_it_is_an_error() {
    for mut message in messages() {
        message.bytes.extend([0; 4]);
        let result = message.kind.again(&message.bytes);
        assert_eq!(
            result,
            Err(DecodeError::TrailingBytes { count: 4 }),
            "{message:?}"
        );
    }
}

/// Every length is a word of its message, so replacing every word replaces
/// every length, and every discriminant too.
#[test]
fn no_word_of_a_message_can_do_harm() {
    const WORDS: [u32; 7] = [0, 1, 64, 65, i32::MAX as u32, u32::MAX - 3, u32::MAX];
    for message in messages() {
        for at in (0..message.bytes.len()).step_by(4) {
            for word in WORDS {
                let mut bytes = message.bytes.clone();
                bytes[at..at + 4].copy_from_slice(&word.to_be_bytes());
                // Either outcome will do; a panic or an hour will not.
                let _ = message.kind.again(&bytes);
            }
        }
    }
}

proptest! {
    /// What the fuzz targets look for at length, briefly and everywhere.
    #[test]
    fn no_bytes_of_a_message_can_do_harm(
        which in any::<proptest::sample::Index>(),
        changes in vec((any::<proptest::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let messages = messages();
        let message = which.get(&messages);
        let mut bytes = message.bytes.clone();
        for (at, value) in changes {
            if let Some(place) = bytes.get_mut(at.index(message.bytes.len().max(1))) {
                *place = value;
            }
        }
        let _ = message.kind.again(&bytes);
    }
}

fn record(parts: &[&dyn Fn(&mut Writer<'_>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let start = RecordMark::open(&mut bytes);
    for part in parts {
        part(&mut Writer::new(&mut bytes));
    }
    RecordMark::close(&mut bytes, start, 0);
    bytes
}

fn call(procedure: Procedure, credential: Credential<'_>) -> CallHeader<'_> {
    let procedure = procedure.number();
    let verifier = OpaqueAuth::NONE;
    CallHeader {
        xid: 11,
        program: PROGRAM,
        version: VERSION,
        procedure,
        credential,
        verifier,
    }
}

const ATTRIBUTES: Fattr3 = Fattr3 {
    file_type: FileType::Directory,
    mode: 0o755,
    nlink: 2,
    uid: 0,
    gid: 0,
    size: 4096,
    used: 4096,
    rdev: Specdata3 { major: 0, minor: 0 },
    fsid: 1,
    fileid: 2,
    atime: Nfstime3 {
        seconds: 1,
        nseconds: 0,
    },
    mtime: Nfstime3 {
        seconds: 2,
        nseconds: 0,
    },
    ctime: Nfstime3 {
        seconds: 3,
        nseconds: 0,
    },
};

/// The sizes nct counts on the wire: calls with their record mark, replies
/// without.
#[test]
fn sizes_are_those_nct_has_always_counted() {
    assert_eq!(
        record(&[&|out| call(Procedure::Null, Credential::None).encode(out)]).len(),
        44
    );
    assert_eq!(ReplyHeader::success(11).to_bytes().len(), 24);

    let machine_name = &[b'h'; 22];
    let gids = Gids::EMPTY;
    let sys = Credential::Sys(AuthSys {
        stamp: 0,
        machine_name,
        uid: 0,
        gid: 0,
        gids,
    });
    let file = FileHandle::new(&[7; 28]).unwrap();
    let getattr_call = record(&[&|out| call(Procedure::Getattr, sys).encode(out), &|out| {
        file.encode(out);
    }]);
    assert_eq!(getattr_call.len(), 120);
    let read_call = record(&[&|out| call(Procedure::Read, sys).encode(out), &|out| {
        read::Args {
            file,
            offset: 0,
            count: 4096,
        }
        .encode(out);
    }]);
    assert_eq!(read_call.len(), 132);

    let getattr_ok = getattr::Reply::Ok(ATTRIBUTES);
    assert_eq!(24 + getattr_ok.to_bytes().len(), 112);
    let data = &[1; 4096];
    let read_ok = read::ReplyOk {
        file_attributes: Some(ATTRIBUTES),
        count: 4096,
        eof: false,
        data,
    };
    assert_eq!(24 + read::Reply::Ok(read_ok).to_bytes().len(), 128 + 4096);
}
