//! Every call, byte for byte, against the wire's own encoding of what it should be.

use crate::talk::{
    DIRECTORY, PATTERNED, SECOND, Setup, Talk, UNKNOWN, at, credentials, handle, pattern_at,
    record, success, success_record, xid_of,
};
use filestone_plan::plan::TransportKind;
use filestone_protocol::client::Client;
use filestone_protocol::client::nfs3::procedures::procedure_of;
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{
    DirOpArgs, FileHandle, PROGRAM, Procedure, Sattr3, SetTime, VERSION, access, commit, create,
    link, mkdir, mknod, read, readdir, readdirplus, rename, setattr, symlink, write,
};
use filestone_wire::rpc::{AcceptStatus, CallHeader, Credential, OpaqueAuth, ReplyHeader};
use filestone_wire::xdr::{Decode, Encode, Reader};
use filestone_workload::completions::CompletionBatch;
use filestone_workload::operation::{
    AttributeChange, DirectoryCursor, FileId, ObjectName, Operation, Outcome, Stability,
};

/// Handles that live as long as the test.
struct Handles {
    directory: filestone_wire::nfs3::Handle,
    patterned: filestone_wire::nfs3::Handle,
    unknown: filestone_wire::nfs3::Handle,
}

impl Handles {
    fn new() -> Self {
        Self {
            directory: handle(DIRECTORY),
            patterned: handle(PATTERNED),
            unknown: handle(UNKNOWN),
        }
    }

    fn of(&self, file: FileId) -> FileHandle<'_> {
        match file {
            DIRECTORY => self.directory.borrow(),
            PATTERNED => self.patterned.borrow(),
            _ => self.unknown.borrow(),
        }
    }

    fn named<'n>(&'n self, name: &'n [u8]) -> DirOpArgs<'n> {
        DirOpArgs {
            dir: self.of(DIRECTORY),
            name,
        }
    }
}

const NUMBERED: ObjectName = ObjectName::Numbered {
    letter: b'f',
    number: 0x0123_4567_89ab_cdef,
};
const NUMBERED_BYTES: &[u8] = b"f0123456789abcdef";
const CURSOR: DirectoryCursor = DirectoryCursor {
    cookie: 0x1122_3344_5566_7788,
    verifier: *b"verifier",
    pages: 0,
    remembered: 0,
};

const UNCHANGED: Sattr3 = Sattr3 {
    mode: None,
    uid: None,
    gid: None,
    size: None,
    atime: SetTime::DontChange,
    mtime: SetTime::DontChange,
};

fn mode(mode: u32) -> Sattr3 {
    Sattr3 {
        mode: Some(mode),
        ..UNCHANGED
    }
}

/// Every procedure and every variant of its arguments, with the arguments on the wire.
fn operations() -> Vec<(Operation, Vec<u8>)> {
    let handles = Handles::new();
    let mut all = vec![(Operation::Null, vec![])];
    all.extend(reads_of_attributes(&handles));
    all.extend(changes(&handles));
    all.extend(listings_and_file_systems(&handles));
    for (offset, len, stability, stable) in [
        (0, 1, Stability::Unstable, StableHow::Unstable),
        (77, 1023, Stability::DataSync, StableHow::DataSync),
        (1 << 40, 1024, Stability::FileSync, StableHow::FileSync),
        (
            (1 << 40) + 5,
            4095,
            Stability::Unstable,
            StableHow::Unstable,
        ),
        (
            (1 << 20) - 1,
            60_001,
            Stability::Unstable,
            StableHow::Unstable,
        ),
    ] {
        let data = pattern_at(offset, len as usize);
        let args = write::Args {
            file: handles.of(PATTERNED),
            offset,
            count: len,
            stable,
            data: &data,
        };
        let operation = Operation::Write {
            file: PATTERNED,
            offset,
            len,
            stability,
        };
        all.push((operation, args.to_bytes()));
    }
    all
}

fn reads_of_attributes(handles: &Handles) -> Vec<(Operation, Vec<u8>)> {
    let object = handles.of(UNKNOWN);
    let file = UNKNOWN;
    let touch = Sattr3 {
        mtime: SetTime::ServerTime,
        ..UNCHANGED
    };
    let resize = Sattr3 {
        size: Some(1 << 33),
        ..UNCHANGED
    };
    let mut all = vec![
        (Operation::GetAttr { file }, object.to_bytes()),
        (
            Operation::Lookup {
                directory: DIRECTORY,
                name: ObjectName::Listed(1),
            },
            handles.named(b"beta.tx").to_bytes(),
        ),
        (
            Operation::Access { file, wanted: 0x3f },
            access::Args {
                object,
                access: 0x3f,
            }
            .to_bytes(),
        ),
        (Operation::ReadLink { link: file }, object.to_bytes()),
        (
            Operation::Read {
                file,
                offset: 1 << 35,
                len: 131_072,
            },
            read::Args {
                file: object,
                offset: 1 << 35,
                count: 131_072,
            }
            .to_bytes(),
        ),
    ];
    for (change, new_attributes) in [
        (AttributeChange::Touch, touch),
        (AttributeChange::Mode(0o751), mode(0o751)),
        (AttributeChange::Size(1 << 33), resize),
    ] {
        let args = setattr::Args {
            object,
            new_attributes,
            guard: None,
        };
        all.push((Operation::SetAttr { file, change }, args.to_bytes()));
    }
    all
}

fn changes(handles: &Handles) -> Vec<(Operation, Vec<u8>)> {
    let where_ = handles.named(NUMBERED_BYTES);
    let (directory, name) = (DIRECTORY, NUMBERED);
    let symlink_data = symlink::SymlinkData {
        symlink_attributes: mode(0o777),
        symlink_data: b"t000000000000000a",
    };
    vec![
        (
            Operation::Create { directory, name },
            create::Args {
                where_,
                how: create::CreateHow::Unchecked(mode(0o600)),
            }
            .to_bytes(),
        ),
        (
            Operation::MakeDirectory { directory, name },
            mkdir::Args {
                where_,
                attributes: mode(0o700),
            }
            .to_bytes(),
        ),
        (
            Operation::MakeSymlink {
                directory,
                name,
                target: ObjectName::Numbered {
                    letter: b't',
                    number: 10,
                },
            },
            symlink::Args {
                where_,
                symlink: symlink_data,
            }
            .to_bytes(),
        ),
        (
            Operation::MakeNode { directory, name },
            mknod::Args {
                where_,
                what: mknod::MknodData::Fifo(mode(0o600)),
            }
            .to_bytes(),
        ),
        (Operation::Remove { directory, name }, where_.to_bytes()),
        (
            Operation::RemoveDirectory { directory, name },
            where_.to_bytes(),
        ),
        (
            Operation::Rename {
                from_directory: directory,
                from: name,
                to_directory: directory,
                to: ObjectName::Listed(0),
            },
            rename::Args {
                from: where_,
                to: handles.named(b"alpha"),
            }
            .to_bytes(),
        ),
        (
            Operation::Link {
                file: PATTERNED,
                directory,
                name,
            },
            link::Args {
                file: handles.of(PATTERNED),
                link: where_,
            }
            .to_bytes(),
        ),
    ]
}

fn listings_and_file_systems(handles: &Handles) -> Vec<(Operation, Vec<u8>)> {
    let dir = handles.of(DIRECTORY);
    let (directory, file) = (DIRECTORY, PATTERNED);
    let object = handles.of(PATTERNED);
    vec![
        (
            Operation::ReadDirectory {
                directory,
                cursor: CURSOR,
                len: 8192,
            },
            readdir::Args {
                dir,
                cookie: CURSOR.cookie,
                cookieverf: CURSOR.verifier,
                count: 8192,
            }
            .to_bytes(),
        ),
        (
            Operation::ReadDirectoryPlus {
                directory,
                cursor: CURSOR,
                len: 8192,
            },
            readdirplus::Args {
                dir,
                cookie: CURSOR.cookie,
                cookieverf: CURSOR.verifier,
                dircount: 8192,
                maxcount: 8192,
            }
            .to_bytes(),
        ),
        (Operation::FileSystemStatus { file }, object.to_bytes()),
        (Operation::FileSystemInfo { file }, object.to_bytes()),
        (Operation::PathConfiguration { file }, object.to_bytes()),
        (
            Operation::Commit {
                file,
                offset: 4096,
                len: 8192,
            },
            commit::Args {
                file: object,
                offset: 4096,
                count: 8192,
            }
            .to_bytes(),
        ),
    ]
}

fn number_of(operation: &Operation) -> u32 {
    let procedure = procedure_of(operation.kind());
    procedure.expect("NFSv3 has it").number()
}

fn expected_call(xid: u32, operation: &Operation, args: &[u8]) -> Vec<u8> {
    let credentials = credentials();
    let header = CallHeader {
        xid,
        program: PROGRAM,
        version: VERSION,
        procedure: number_of(operation),
        // NULL needs no credential, and has none.
        credential: match operation {
            Operation::Null => Credential::None,
            _ => credentials.to_auth(),
        },
        verifier: OpaqueAuth::NONE,
    };
    [&header.to_bytes(), args].concat()
}

#[test]
fn every_call_is_what_the_standard_says_over_streams_and_datagrams() {
    let operations = operations();
    for procedure in Procedure::ALL {
        assert!(
            operations
                .iter()
                .any(|(operation, _)| number_of(operation) == procedure.number()),
            "{}",
            procedure.name()
        );
    }
    for setup in [Setup::slots(3), Setup::udp(3)] {
        let mut talk = Talk::new(&setup);
        for (operation, args) in &operations {
            let call = talk.ask(1, *operation, at(1));
            let xid = xid_of(&call);
            let expected = expected_call(xid, operation, args);
            assert!(
                call == expected,
                "{operation:?}:\n{call:02x?}\n{expected:02x?}"
            );
            let mut reader = Reader::new(&call);
            let header = CallHeader::decode(&mut reader).unwrap();
            assert_eq!(header.procedure, number_of(operation));
            assert_eq!(reader.rest(), args);
            // The call is gone with its time, so that the slot is free.
            talk.time_out(at(1000 * SECOND));
        }
    }
}

#[test]
fn bytes_sent_are_counted_with_their_record_mark() {
    for (setup, mark) in [(Setup::slots(1), 4), (Setup::udp(1), 0)] {
        let mut talk = Talk::new(&setup);
        for (operation, args) in operations() {
            let call = talk.ask(0, operation, at(1));
            let reply = match mark {
                4 => success_record(xid_of(&call), b""),
                _ => success(xid_of(&call), b""),
            };
            let done = talk.hear_one(&reply, at(2));
            assert_eq!(done.bytes_sent as usize, mark + call.len(), "{operation:?}");
            assert!(call.len() >= args.len());
            assert_eq!(done.bytes_received as usize, mark + 24);
            assert_eq!(done.outcome == Outcome::Ok, operation == Operation::Null);
        }
    }
}

#[test]
fn a_batch_of_calls_is_one_stretch_of_bytes() {
    let mut talk = Talk::new(&Setup::slots(64));
    let operations = operations();
    for (slot, (operation, _)) in operations.iter().enumerate() {
        talk.submit(slot as u32, *operation);
    }
    talk.client.transmitted(at(5));
    let calls = talk.take_messages();
    assert_eq!(calls.len(), operations.len());
    for (call, (operation, args)) in calls.iter().zip(&operations) {
        assert!(
            *call == expected_call(xid_of(call), operation, args),
            "{operation:?}"
        );
    }
    assert_eq!(talk.client.in_flight() as usize, operations.len());
}

#[test]
fn a_repeated_call_is_the_same_call_with_an_xid_of_its_own() {
    for setup in [Setup::slots(4), Setup::udp(4)] {
        for (operation, args) in operations() {
            let mut talk = Talk::new(&setup);
            let mut xids: Vec<u32> = (0..4)
                .map(|slot| talk.ask_xid(slot, operation, at(1)))
                .collect();
            talk.time_out(at(1000 * SECOND));
            talk.client.repeat(&[2, 0, 3], &mut talk.out);
            talk.client.transmitted(at(1001 * SECOND));
            let calls = talk.take_messages();
            assert_eq!(calls.len(), 3, "{operation:?}");
            for call in &calls {
                let xid = xid_of(call);
                assert!(
                    *call == expected_call(xid, &operation, &args),
                    "{operation:?}"
                );
                assert!(!xids.contains(&xid), "{operation:?}");
                xids.push(xid);
            }
            assert_eq!(talk.client.in_flight(), 3);
            // Each is in its slot, with its own bytes and moments.
            for (call, slot) in calls.iter().zip([2, 0, 3]) {
                let reply = ReplyHeader::accepted(xid_of(call), AcceptStatus::SystemErr).to_bytes();
                let (reply, mark) = match setup.transport {
                    TransportKind::Tcp => (record(&reply), 4),
                    TransportKind::Udp => (reply, 0),
                };
                let done = talk.hear_one(&reply, at(1002 * SECOND));
                assert_eq!(done.ticket.slot, slot);
                assert_eq!(done.bytes_sent as usize, mark + call.len());
                assert_eq!(done.sent, at(1001 * SECOND));
                assert_eq!((done.calls, done.retransmissions), (1, 0));
            }
        }
    }
}

#[test]
fn what_is_repeated_without_a_connection_waits_for_one() {
    for setup in [Setup::slots(3), Setup::udp(3)] {
        for (operation, args) in operations() {
            let mut talk = Talk::new(&setup);
            for slot in 0..3 {
                talk.ask(slot, operation, at(1));
            }
            talk.client
                .disconnected(at(2), &mut CompletionBatch::default());
            talk.client.repeat(&[1, 2], &mut talk.out);
            assert!(talk.out.is_empty(), "{operation:?}");
            assert_eq!(talk.client.in_flight(), 0);
            talk.client.connected(at(3), &mut talk.out);
            talk.client.transmitted(at(4));
            let calls = talk.take_messages();
            assert_eq!(calls.len(), 2);
            for call in &calls {
                assert!(*call == expected_call(xid_of(call), &operation, &args));
            }
            // And after that, all is as it was.
            talk.time_out(at(1000 * SECOND));
            talk.client.repeat(&[0, 1, 2], &mut talk.out);
            assert_eq!(talk.take_messages().len(), 3);
        }
    }
}
