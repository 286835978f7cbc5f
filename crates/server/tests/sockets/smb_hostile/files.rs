//! Files: what is opened, transferred, locked, asked and set.

use filestone_wire::smb2::codec::Encode;
use filestone_wire::smb2::create::{CreateDisposition, CreateOptions};
use filestone_wire::smb2::{Command, FileId, Status, close};

use super::super::requests::close_of;
use super::attacker::Attacker;
use super::bodies::{self, at, with};
use super::{Case, Got, Servers, fails};

const CLOSED: Got = Got::Closed;
const INVALID: Got = fails(Status::INVALID_PARAMETER);
const BAD_NAME: Got = fails(Status::OBJECT_NAME_INVALID);
const NO_HANDLE: Got = fails(Status::FILE_CLOSED);

fn create(servers: &Servers, body: &[u8]) -> Got {
    Attacker::mounted(&servers.open).ask(Command::Create, body)
}

fn named(servers: &Servers, name: &str) -> Got {
    create(servers, &bodies::create(name))
}

/// A CREATE of a file with other bytes at a place of its body.
fn create_with(servers: &Servers, at: usize, value: u32) -> Got {
    let body = with(bodies::create("made"), at, &value.to_le_bytes());
    create(servers, &body)
}

pub const CREATE: &[Case] = &[
    (
        "a name that goes up, out of the share",
        |s| named(s, "..\\..\\etc\\passwd"),
        fails(Status::OBJECT_PATH_SYNTAX_BAD),
    ),
    (
        "a name that begins with a backslash",
        |s| named(s, "\\file"),
        INVALID,
    ),
    ("a name with a zero in it", |s| named(s, "a\0b"), BAD_NAME),
    (
        "a name with a colon: a stream",
        |s| named(s, "file:stream"),
        BAD_NAME,
    ),
    (
        "a name with a slash",
        |s| named(s, "files/file0000"),
        BAD_NAME,
    ),
    (
        "an empty name within a path",
        |s| named(s, "a\\\\b"),
        BAD_NAME,
    ),
    (
        "a name of 256 letters",
        |s| named(s, &"x".repeat(256)),
        BAD_NAME,
    ),
    (
        "a name of 30,000 letters",
        |s| named(s, &"x".repeat(30_000)),
        fails(Status::NAME_TOO_LONG),
    ),
    (
        "a path of 2,000 names",
        |s| named(s, &"x\\".repeat(2000)),
        fails(Status::OBJECT_PATH_NOT_FOUND),
    ),
    (
        "half a pair of UTF-16 for a name",
        |s| {
            let body = with(bodies::create("xy"), 56, &[0x00, 0xd8, b'\\', 0]);
            create(s, &with(body, at::CREATE_DISPOSITION, &[1, 0, 0, 0]))
        },
        fails(Status::OBJECT_NAME_NOT_FOUND),
    ),
    (
        "NameOffset 65535",
        |s| {
            let body = with(bodies::create("a"), at::CREATE_NAME_OFFSET, &[0xff, 0xff]);
            create(s, &body)
        },
        INVALID,
    ),
    (
        "NameLength 65534",
        |s| {
            let body = with(bodies::create("a"), at::CREATE_NAME_LENGTH, &[0xfe, 0xff]);
            create(s, &body)
        },
        INVALID,
    ),
    (
        "NameLength 1",
        |s| {
            let body = with(bodies::create("a"), at::CREATE_NAME_LENGTH, &[1, 0]);
            create(s, &body)
        },
        INVALID,
    ),
    (
        "CreateDisposition 6",
        |s| create_with(s, at::CREATE_DISPOSITION, 6),
        INVALID,
    ),
    (
        "CreateOptions 2³² − 1",
        |s| create_with(s, at::CREATE_OPTIONS, u32::MAX),
        INVALID,
    ),
    (
        "a directory that is none",
        |s| create_with(s, at::CREATE_OPTIONS, 0x41),
        INVALID,
    ),
    (
        "ShareAccess 8",
        |s| create_with(s, at::CREATE_SHARE, 8),
        INVALID,
    ),
    (
        "FileAttributes 2³² − 1",
        |s| create_with(s, at::CREATE_ATTRIBUTES, u32::MAX),
        INVALID,
    ),
    (
        "ImpersonationLevel 4",
        |s| create_with(s, at::CREATE_IMPERSONATION, 4),
        fails(Status::BAD_IMPERSONATION_LEVEL),
    ),
    (
        "DesiredAccess 0",
        |s| create_with(s, at::CREATE_ACCESS, 0),
        fails(Status::ACCESS_DENIED),
    ),
    (
        "DesiredAccess 2³² − 1",
        |s| create_with(s, at::CREATE_ACCESS, u32::MAX),
        fails(Status::ACCESS_DENIED),
    ),
    (
        "the share itself, to be removed with the handle",
        |s| {
            let options = CreateOptions::DIRECTORY_FILE.with(CreateOptions::DELETE_ON_CLOSE);
            let body = bodies::create("");
            let body = with(body, at::CREATE_OPTIONS, &options.0.to_le_bytes());
            let open = CreateDisposition::OPEN.0.to_le_bytes();
            create(s, &with(body, at::CREATE_DISPOSITION, &open))
        },
        fails(Status::CANNOT_DELETE),
    ),
    (
        "a context whose Next is 2³² − 1",
        |s| {
            let context = bodies::create_context(u32::MAX, *b"QFid", 0);
            create(s, &bodies::create_with_contexts(&context))
        },
        INVALID,
    ),
    (
        "a context whose Next points into itself",
        |s| {
            let context = bodies::create_context(8, *b"QFid", 0);
            create(s, &bodies::create_with_contexts(&context))
        },
        INVALID,
    ),
    (
        "a context whose DataLength is 2³² − 1",
        |s| {
            let context = bodies::create_context(0, *b"RqLs", u32::MAX);
            create(s, &bodies::create_with_contexts(&context))
        },
        INVALID,
    ),
    (
        "a context whose NameOffset is 65535",
        |s| {
            let context = with(bodies::create_context(0, *b"QFid", 0), 4, &[0xff, 0xff]);
            create(s, &bodies::create_with_contexts(&context))
        },
        INVALID,
    ),
    (
        "contexts at 2³² − 1",
        |s| {
            let context = bodies::create_context(0, *b"QFid", 0);
            let body = bodies::create_with_contexts(&context);
            create(s, &with(body, at::CREATE_CONTEXTS_OFFSET, &[0xff; 4]))
        },
        INVALID,
    ),
    (
        "2,500 contexts that nobody knows",
        |s| {
            let context = bodies::create_context(24, *b"XXXX", 0);
            let mut contexts = context.repeat(2500);
            contexts.extend(bodies::create_context(0, *b"XXXX", 0));
            create(s, &bodies::create_with_contexts(&contexts))
        },
        fails(Status::SUCCESS),
    ),
    (
        "a durable handle of somebody who was never here",
        |s| {
            let mut context = bodies::create_context(0, *b"DHnC", 16);
            context.extend([0x77; 16]);
            create(s, &bodies::create_with_contexts(&context))
        },
        fails(Status::OBJECT_NAME_NOT_FOUND),
    ),
];

const NOBODYS: FileId = FileId {
    persistent: 0x7777_7777_7777_7777,
    volatile: 0x7777_7777_7777_7777,
};

/// A READ by a handle that this makes.
fn read_by(servers: &Servers, handle: fn(&Servers, &mut Attacker) -> FileId) -> Got {
    let mut attacker = Attacker::mounted(&servers.open);
    let file_id = handle(servers, &mut attacker);
    attacker.ask(Command::Read, &bodies::read(file_id))
}

pub const HANDLES: &[Case] = &[
    (
        "a handle that nobody was given",
        |s| read_by(s, |_, _| NOBODYS),
        NO_HANDLE,
    ),
    (
        "a handle of all ones, not in a compound",
        |s| read_by(s, |_, _| FileId::OF_PREVIOUS),
        NO_HANDLE,
    ),
    (
        "half a handle",
        |s| {
            read_by(s, |_, attacker| FileId {
                persistent: 1,
                ..attacker.opened("file")
            })
        },
        NO_HANDLE,
    ),
    (
        "the handle of another connection's session",
        |s| {
            let mut other = Attacker::mounted(&s.open);
            let file_id = other.opened("file");
            let mut attacker = Attacker::mounted(&s.open);
            let got = attacker.ask(Command::Close, &close_of(file_id).to_bytes());
            let still = other.ask(Command::Read, &bodies::read(file_id));
            assert_eq!(still, fails(Status::SUCCESS));
            got
        },
        NO_HANDLE,
    ),
    (
        "the handle of another session of the connection",
        |s| {
            read_by(s, |_, attacker| {
                let file_id = attacker.opened("file");
                attacker.session_id = 0;
                attacker.log_on();
                attacker.connect_tree();
                file_id
            })
        },
        NO_HANDLE,
    ),
    (
        "the handle of another tree of the session",
        |s| {
            read_by(s, |_, attacker| {
                let file_id = attacker.opened("file");
                attacker.connect_tree();
                file_id
            })
        },
        NO_HANDLE,
    ),
    (
        "a handle after its CLOSE",
        |s| {
            read_by(s, |_, attacker| {
                let file_id = attacker.opened("file");
                let close = close::Request {
                    flags: close::CloseFlags::POSTQUERY_ATTRIB,
                    file_id,
                };
                attacker.ask(Command::Close, &close.to_bytes());
                file_id
            })
        },
        NO_HANDLE,
    ),
    (
        "a directory's handle, to be read",
        |s| read_by(s, |_, attacker| attacker.opened("files")),
        fails(Status::INVALID_DEVICE_REQUEST),
    ),
    (
        "a handle for attributes alone, to be read",
        |s| {
            let mut attacker = Attacker::mounted(&s.open);
            let body = with(bodies::create("file"), at::CREATE_ACCESS, &[0x80, 0, 0, 0]);
            attacker.ask(Command::Create, &body);
            let file_id = attacker.last_opened;
            attacker.ask(Command::Read, &bodies::read(file_id))
        },
        fails(Status::ACCESS_DENIED),
    ),
    (
        "a handle for reading alone, to be flushed",
        |s| {
            let mut attacker = Attacker::mounted(&s.open);
            let body = with(bodies::create("file"), at::CREATE_ACCESS, &[0x81, 0, 0, 0]);
            attacker.ask(Command::Create, &body);
            let mut body = vec![24, 0, 0, 0, 0, 0, 0, 0];
            body.extend(bodies::id(attacker.last_opened));
            attacker.ask(Command::Flush, &body)
        },
        fails(Status::ACCESS_DENIED),
    ),
];

/// A request about a file that is open.
fn about(servers: &Servers, command: Command, body: impl Fn(FileId) -> Vec<u8>) -> Got {
    let mut attacker = Attacker::mounted(&servers.open);
    let file_id = attacker.opened("about");
    attacker.ask(command, &body(file_id))
}

fn read_with(servers: &Servers, at: usize, value: &[u8]) -> Got {
    about(servers, Command::Read, |file| {
        with(bodies::read(file), at, value)
    })
}

fn write_with(servers: &Servers, at: usize, value: &[u8]) -> Got {
    about(servers, Command::Write, |file| {
        with(bodies::write(file), at, value)
    })
}

const EXCLUSIVE_NOW: u32 = 0x12;

pub const TRANSFERS: &[Case] = &[
    (
        "a READ at 2⁶⁴ − 1",
        |s| read_with(s, at::READ_OFFSET, &[0xff; 8]),
        INVALID,
    ),
    (
        "a READ whose end is beyond 2⁶³",
        |s| read_with(s, at::READ_OFFSET, &(i64::MAX as u64).to_le_bytes()),
        INVALID,
    ),
    (
        "a READ at the end of the largest file there can be",
        |s| read_with(s, at::READ_OFFSET, &(i64::MAX as u64 - 100).to_le_bytes()),
        fails(Status::END_OF_FILE),
    ),
    (
        "a READ of 2³² − 1 bytes",
        |s| read_with(s, at::READ_LENGTH, &[0xff; 4]),
        INVALID,
    ),
    (
        "a READ by RDMA, which there is not",
        |s| read_with(s, at::READ_CHANNEL, &[1]),
        INVALID,
    ),
    (
        "a WRITE at 2⁶⁴ − 1",
        |s| write_with(s, at::WRITE_OFFSET, &[0xff; 8]),
        INVALID,
    ),
    (
        "a WRITE whose end is beyond 2⁶³",
        |s| write_with(s, at::WRITE_OFFSET, &(i64::MAX as u64 - 2).to_le_bytes()),
        INVALID,
    ),
    (
        "a WRITE of more than it carries",
        |s| write_with(s, at::WRITE_LENGTH, &[6, 0, 0, 0]),
        INVALID,
    ),
    (
        "a WRITE whose DataOffset is 65535",
        |s| write_with(s, at::WRITE_DATA_OFFSET, &[0xff, 0xff]),
        INVALID,
    ),
    (
        "a LOCK that ends beyond 2⁶⁴",
        |s| {
            about(s, Command::Lock, |file| {
                bodies::lock(file, u64::MAX, 2, EXCLUSIVE_NOW)
            })
        },
        fails(Status::INVALID_LOCK_RANGE),
    ),
    (
        "a LOCK of the last byte there can be",
        |s| {
            about(s, Command::Lock, |file| {
                bodies::lock(file, u64::MAX, 1, EXCLUSIVE_NOW)
            })
        },
        fails(Status::SUCCESS),
    ),
    (
        "a LOCK of no range",
        |s| {
            about(s, Command::Lock, |file| {
                with(
                    bodies::lock(file, 0, 1, EXCLUSIVE_NOW),
                    at::LOCK_COUNT,
                    &[0, 0],
                )
            })
        },
        INVALID,
    ),
    (
        "a LOCK of 65535 ranges that carries one",
        |s| {
            about(s, Command::Lock, |file| {
                with(
                    bodies::lock(file, 0, 1, EXCLUSIVE_NOW),
                    at::LOCK_COUNT,
                    &[0xff; 2],
                )
            })
        },
        INVALID,
    ),
    (
        "a LOCK that is shared, exclusive and to be freed at once",
        |s| about(s, Command::Lock, |file| bodies::lock(file, 0, 1, 0x17)),
        INVALID,
    ),
    (
        "a LOCK to be freed that nobody has",
        |s| about(s, Command::Lock, |file| bodies::lock(file, 5, 1, 4)),
        fails(Status::RANGE_NOT_LOCKED),
    ),
    (
        "one more LOCK that waits than may",
        |s| {
            let mut holder = Attacker::mounted(&s.open);
            let held = holder.opened("locked");
            holder.ask(Command::Lock, &bodies::lock(held, 0, 1, EXCLUSIVE_NOW));
            let mut attacker = Attacker::mounted(&s.open);
            let file = attacker.opened("locked");
            for _ in 0..512 {
                let got = attacker.ask(Command::Lock, &bodies::lock(file, 0, 1, 2));
                if got != fails(Status::PENDING) {
                    return got;
                }
            }
            attacker.ask(Command::Lock, &bodies::lock(file, 0, 1, 2))
        },
        fails(Status::INSUFFICIENT_RESOURCES),
    ),
];

/// FileEndOfFileInformation and FileAllocationInformation of this size.
fn size(class: u8, size: u64) -> impl Fn(FileId) -> Vec<u8> {
    move |file| bodies::set_info(file, class, &size.to_le_bytes())
}

fn renamed(to: &'static str, said: Option<u32>) -> impl Fn(FileId) -> Vec<u8> {
    move |file| bodies::set_info(file, 10, &bodies::rename(to, said))
}

pub const INFORMATION: &[Case] = &[
    (
        "FileEndOfFileInformation 2⁶⁴ − 1",
        |s| about(s, Command::SetInfo, size(20, u64::MAX)),
        INVALID,
    ),
    (
        "FileAllocationInformation of 2⁵⁰ bytes",
        |s| about(s, Command::SetInfo, size(19, 1 << 50)),
        fails(Status::DISK_FULL),
    ),
    (
        "FileBasicInformation of three bytes",
        |s| {
            about(s, Command::SetInfo, |file| {
                bodies::set_info(file, 4, &[1; 3])
            })
        },
        fails(Status::INFO_LENGTH_MISMATCH),
    ),
    (
        "FileRenameInformation whose name is of 2³² − 1 bytes",
        |s| about(s, Command::SetInfo, renamed("a", Some(u32::MAX))),
        fails(Status::INFO_LENGTH_MISMATCH),
    ),
    (
        "FileRenameInformation up, out of the share",
        |s| about(s, Command::SetInfo, renamed("..\\..\\out", None)),
        fails(Status::OBJECT_PATH_SYNTAX_BAD),
    ),
    (
        "FileRenameInformation without a name",
        |s| about(s, Command::SetInfo, renamed("", None)),
        INVALID,
    ),
    (
        "a directory that is to be moved below itself",
        |s| {
            let mut attacker = Attacker::mounted(&s.open);
            let directory = CreateOptions::DIRECTORY_FILE.0.to_le_bytes();
            let body = with(bodies::create("loop"), at::CREATE_OPTIONS, &directory);
            attacker.ask(Command::Create, &body);
            let file_id = attacker.last_opened;
            attacker.ask(Command::SetInfo, &renamed("loop\\below", None)(file_id))
        },
        fails(Status::SHARING_VIOLATION),
    ),
    (
        "a class of SET_INFO that there is not",
        |s| {
            about(s, Command::SetInfo, |file| {
                bodies::set_info(file, 0xee, &[0; 8])
            })
        },
        fails(Status::INVALID_INFO_CLASS),
    ),
    (
        "a class of QUERY_INFO that there is not",
        |s| {
            about(s, Command::QueryInfo, |file| {
                bodies::query_info(file, 1, 0xee, 4096)
            })
        },
        fails(Status::INVALID_INFO_CLASS),
    ),
    (
        "InfoType 9",
        |s| {
            about(s, Command::QueryInfo, |file| {
                bodies::query_info(file, 9, 18, 4096)
            })
        },
        INVALID,
    ),
    (
        "QUERY_INFO with room for 2³² − 1 bytes",
        |s| {
            about(s, Command::QueryInfo, |file| {
                bodies::query_info(file, 1, 18, u32::MAX)
            })
        },
        INVALID,
    ),
    (
        "QUERY_INFO with room for one byte",
        |s| {
            about(s, Command::QueryInfo, |file| {
                bodies::query_info(file, 1, 18, 1)
            })
        },
        fails(Status::INFO_LENGTH_MISMATCH),
    ),
    (
        "QUERY_DIRECTORY of a file",
        |s| {
            about(s, Command::QueryDirectory, |file| {
                bodies::query_directory(file, 37, "*", 4096)
            })
        },
        INVALID,
    ),
    (
        "a class of QUERY_DIRECTORY that there is not",
        |s| listed(s, 0xee, "*", 4096),
        fails(Status::INVALID_INFO_CLASS),
    ),
    (
        "a pattern of 30,000 letters",
        |s| listed(s, 37, &"*a".repeat(15_000), 4096),
        BAD_NAME,
    ),
    (
        "QUERY_DIRECTORY with room for one byte",
        |s| listed(s, 37, "*", 1),
        fails(Status::INFO_LENGTH_MISMATCH),
    ),
    (
        "an FSCTL that there is not",
        |s| {
            about(s, Command::Ioctl, |file| {
                bodies::ioctl(file, 0xffff_ffff, &[])
            })
        },
        fails(Status::INVALID_DEVICE_REQUEST),
    ),
    (
        "an IOCTL that is no FSCTL",
        |s| {
            about(s, Command::Ioctl, |file| {
                with(bodies::ioctl(file, 0x0014_0196, &[]), at::IOCTL_FLAGS, &[0])
            })
        },
        fails(Status::NOT_SUPPORTED),
    ),
    (
        "InputOffset 2³² − 1 of an IOCTL",
        |s| {
            about(s, Command::Ioctl, |file| {
                with(
                    bodies::ioctl(file, 0x0014_0204, &[1; 8]),
                    at::IOCTL_INPUT_OFFSET,
                    &[0xff; 4],
                )
            })
        },
        INVALID,
    ),
    (
        "VALIDATE_NEGOTIATE_INFO that tells of another NEGOTIATE",
        |s| {
            about(s, Command::Ioctl, |_| {
                let mut said = vec![0; 24];
                said[22] = 1;
                said.extend([0x02, 0x02]);
                bodies::ioctl(FileId::OF_PREVIOUS, 0x0014_0204, &said)
            })
        },
        CLOSED,
    ),
    (
        "CHANGE_NOTIFY of what is no directory",
        |s| {
            about(s, Command::ChangeNotify, |file| {
                let mut body = vec![32, 0, 0, 0, 0, 16, 0, 0];
                body.extend(bodies::id(file));
                body.extend([0xff, 0, 0, 0, 0, 0, 0, 0]);
                body
            })
        },
        fails(Status::INVALID_PARAMETER),
    ),
    (
        "OPLOCK_BREAK where nothing is broken",
        |s| {
            about(s, Command::OplockBreak, |file| {
                let mut body = vec![24, 0, 0, 0, 0, 0, 0, 0];
                body.extend(bodies::id(file));
                body
            })
        },
        fails(Status::INVALID_OPLOCK_PROTOCOL),
    ),
    (
        "OPLOCK_BREAK of a lease that nobody has",
        |s| {
            about(s, Command::OplockBreak, |_| {
                let mut body = vec![36, 0, 0, 0, 0, 0, 0, 0];
                body.resize(36, 0);
                body
            })
        },
        fails(Status::OBJECT_NAME_NOT_FOUND),
    ),
];

fn listed(servers: &Servers, class: u8, pattern: &str, len: u32) -> Got {
    let mut attacker = Attacker::mounted(&servers.open);
    let directory = attacker.opened("");
    let body = bodies::query_directory(directory, class, pattern, len);
    attacker.ask(Command::QueryDirectory, &body)
}
