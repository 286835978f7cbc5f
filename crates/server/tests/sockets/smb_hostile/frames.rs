//! Frames, headers, message ids, credits, compounds.

use filestone_wire::smb2::codec::Encode;
use filestone_wire::smb2::{Command, Dialect, FileId, Status, compound, echo};

use super::attacker::Attacker;
use super::bodies::{self, at, header, with};
use super::{Case, Got, Servers, fails};

const CLOSED: Got = Got::Closed;
const INVALID: Got = fails(Status::INVALID_PARAMETER);

/// What is said first on a connection.
fn first(servers: &Servers, bytes: &[u8]) -> Got {
    let mut attacker = Attacker::connected(&servers.open);
    attacker.send(bytes);
    attacker.heard()
}

/// What is said first, and nothing behind it.
fn only(servers: &Servers, bytes: &[u8]) -> Got {
    Attacker::connected(&servers.open).got_at_the_end(bytes)
}

/// An ECHO of a client that is logged on, with other bytes at a place.
fn echo_with(servers: &Servers, at: usize, value: &[u8]) -> Got {
    let mut attacker = Attacker::mounted(&servers.open);
    let message = echo_of(&mut attacker);
    attacker.got(&with(message, at, value))
}

fn echo_of(attacker: &mut Attacker) -> Vec<u8> {
    attacker.message(Command::Echo, &echo::Request {}.to_bytes())
}

pub const FRAMES: &[Case] = &[
    (
        "a request of HTTP",
        |s| first(s, b"GET / HTTP/1.1\r\n\r\n"),
        CLOSED,
    ),
    (
        "a session request of NetBIOS (0x81)",
        |s| first(s, &[0x81, 0, 0, 68]),
        CLOSED,
    ),
    (
        "a frame that is said to be of 2²⁴ − 1 bytes",
        |s| first(s, &[0, 0xff, 0xff, 0xff, 0xfe, b'S', b'M', b'B']),
        CLOSED,
    ),
    (
        "a frame of more than 64 KiB from a peer without a session",
        |s| first(s, &[0, 1, 0, 1, 0xfe, b'S', b'M', b'B']),
        CLOSED,
    ),
    (
        "a frame that is said to be longer than all that ever comes",
        |s| only(s, &[0, 0, 1, 0, 0xfe, b'S', b'M', b'B']),
        CLOSED,
    ),
    ("half of a mark", |s| only(s, &[0, 0]), CLOSED),
    ("a frame of no bytes", |s| first(s, &[0; 4]), CLOSED),
    (
        "a frame of three bytes",
        |s| first(s, &[0, 0, 0, 3, 0xfe, b'S', b'M']),
        CLOSED,
    ),
    (
        "a header that is cut after 63 bytes",
        |s| {
            let mut attacker = Attacker::mounted(&s.open);
            let message = echo_of(&mut attacker);
            attacker.got(&message[..63])
        },
        CLOSED,
    ),
    (
        "an unknown ProtocolId",
        |s| echo_with(s, 0, &[0xfb]),
        CLOSED,
    ),
    (
        "a compressed message, which nobody agreed on",
        |s| {
            first(
                s,
                &[
                    0, 0, 0, 16, 0xfc, b'S', b'M', b'B', 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                ],
            )
        },
        CLOSED,
    ),
    (
        "a header whose StructureSize is 63",
        |s| echo_with(s, header::STRUCTURE_SIZE, &[63]),
        CLOSED,
    ),
    (
        "command 0x13, which there is not",
        |s| echo_with(s, header::COMMAND, &[0x13]),
        INVALID,
    ),
    (
        "a response instead of a request",
        |s| echo_with(s, header::FLAGS, &[header::RESPONSE]),
        CLOSED,
    ),
    (
        "SMB1's NEGOTIATE that knows no dialect of SMB2",
        |s| first(s, &smb1(0x72, b"\x02NT LM 0.12\0")),
        CLOSED,
    ),
    (
        "another command of SMB1",
        |s| first(s, &smb1(0x73, b"\x02SMB 2.???\0")),
        CLOSED,
    ),
    (
        "SMB1's NEGOTIATE after that of SMB2",
        |s| {
            let mut attacker = Attacker::negotiated(&s.open, Dialect::SMB_2_1);
            attacker.send(&smb1(0x72, b"\x02SMB 2.???\0"));
            attacker.heard()
        },
        CLOSED,
    ),
    (
        "an ECHO whose StructureSize is 5",
        |s| echo_with(s, 64, &[5]),
        INVALID,
    ),
    (
        "an ECHO without a body",
        |s| {
            let mut attacker = Attacker::mounted(&s.open);
            let message = attacker.message(Command::Echo, &[]);
            attacker.got(&message)
        },
        INVALID,
    ),
];

/// A frame with a message of SMB1.
fn smb1(command: u8, dialects: &[u8]) -> Vec<u8> {
    let mut message = vec![0xff, b'S', b'M', b'B', command];
    message.resize(32, 0);
    message.push(0);
    message.extend((dialects.len() as u16).to_le_bytes());
    message.extend(dialects);
    let mut frame = (message.len() as u32).to_be_bytes().to_vec();
    frame.extend(message);
    frame
}

/// A transfer of so many bytes that is charged one credit.
fn charged_one(servers: &Servers, command: Command, body: fn(FileId) -> Vec<u8>) -> Got {
    let mut attacker = Attacker::mounted(&servers.open);
    let file = attacker.opened("");
    attacker.ask(command, &body(file))
}

pub const CREDITS: &[Case] = &[
    (
        "a MessageId that has been used",
        |s| echo_with(s, header::MESSAGE_ID, &[0; 8]),
        CLOSED,
    ),
    (
        "a MessageId that was not granted",
        |s| echo_with(s, header::MESSAGE_ID, &(1_u64 << 40).to_le_bytes()),
        CLOSED,
    ),
    (
        "MessageId 2⁶⁴ − 1",
        |s| echo_with(s, header::MESSAGE_ID, &[0xff; 8]),
        CLOSED,
    ),
    (
        "MessageId 2⁶⁴ − 2 with CreditCharge 4",
        |s| {
            let mut attacker = Attacker::mounted(&s.open);
            let message = echo_of(&mut attacker);
            let message = with(message, header::CHARGE, &[4]);
            let id = (u64::MAX - 1).to_le_bytes();
            attacker.got(&with(message, header::MESSAGE_ID, &id))
        },
        CLOSED,
    ),
    (
        "CreditCharge 65535",
        |s| echo_with(s, header::CHARGE, &[0xff, 0xff]),
        CLOSED,
    ),
    (
        "in 2.0.2, a second request beside the one credit",
        |s| {
            let mut attacker = Attacker::connected(&s.open);
            let message = attacker.message(Command::Negotiate, &bodies::negotiate(&[0x0202]));
            let none = with(message, header::CREDITS, &[0, 0]);
            attacker.got(&none);
            attacker.next_id += 1;
            let message = echo_of(&mut attacker);
            attacker.got(&message)
        },
        CLOSED,
    ),
    (
        "65535 credits asked for, 600 times, and the last of them used",
        |s| {
            let mut attacker = Attacker::mounted(&s.open);
            for _ in 0..600 {
                let message = echo_of(&mut attacker);
                attacker.got(&with(message, header::CREDITS, &[0xff, 0xff]));
            }
            attacker.next_id += 600 * 65_535;
            let message = echo_of(&mut attacker);
            attacker.got(&message)
        },
        CLOSED,
    ),
    (
        "a READ of 1 MiB for one credit",
        |s| {
            charged_one(s, Command::Read, |file| {
                with(bodies::read(file), at::READ_LENGTH, &[0, 0, 16, 0])
            })
        },
        INVALID,
    ),
    (
        "a READ of 65537 bytes for no credit",
        |s| {
            let mut attacker = Attacker::mounted(&s.open);
            let file = attacker.opened("file");
            let body = with(bodies::read(file), at::READ_LENGTH, &[1, 0, 1, 0]);
            let message = attacker.message(Command::Read, &body);
            attacker.got(&with(message, header::CHARGE, &[0]))
        },
        INVALID,
    ),
    (
        "a WRITE of 128 KiB for one credit",
        |s| {
            charged_one(s, Command::Write, |file| {
                super::super::requests::write_of(file, &[1; 128 << 10]).to_bytes()
            })
        },
        INVALID,
    ),
    (
        "a QUERY_DIRECTORY of 1 MiB for one credit",
        |s| {
            charged_one(s, Command::QueryDirectory, |file| {
                bodies::query_directory(file, 37, "*", 1 << 20)
            })
        },
        INVALID,
    ),
    (
        "CANCEL of a request that never was",
        |s| {
            let mut attacker = Attacker::mounted(&s.open);
            let message = attacker.message(Command::Cancel, &[4, 0, 0, 0]);
            let message = with(message, header::MESSAGE_ID, &[0x77; 8]);
            attacker.got_nothing(&message)
        },
        Got::Nothing,
    ),
    (
        "CANCEL of an AsyncId that never was",
        |s| {
            let mut attacker = Attacker::mounted(&s.open);
            let message = attacker.message(Command::Cancel, &[4, 0, 0, 0]);
            let message = with(message, header::FLAGS, &[header::ASYNC]);
            attacker.got_nothing(&message)
        },
        Got::Nothing,
    ),
];

/// Two ECHOs in one frame, with other bytes at a place of the frame.
fn two_with(servers: &Servers, at: usize, value: &[u8]) -> Got {
    let mut attacker = Attacker::mounted(&servers.open);
    let mut frame = echo_of(&mut attacker);
    compound::link(&mut frame, 0);
    let second = echo_of(&mut attacker);
    frame.extend(second);
    attacker.got(&with(frame, at, value))
}

/// Where the header of the second of them begins.
const SECOND: usize = 72;

pub const COMPOUNDS: &[Case] = &[
    (
        "NextCommand beyond the end of the frame",
        |s| two_with(s, header::NEXT, &1000_u32.to_le_bytes()),
        CLOSED,
    ),
    (
        "NextCommand 2³² − 1",
        |s| two_with(s, header::NEXT, &[0xff; 4]),
        CLOSED,
    ),
    (
        "NextCommand that is no multiple of eight",
        |s| two_with(s, header::NEXT, &71_u32.to_le_bytes()),
        CLOSED,
    ),
    (
        "NextCommand within its own header",
        |s| two_with(s, header::NEXT, &8_u32.to_le_bytes()),
        CLOSED,
    ),
    (
        "a first message that is related to one before it",
        |s| echo_with(s, header::FLAGS, &[header::RELATED]),
        INVALID,
    ),
    (
        "a second message with the MessageId of the first",
        |s| {
            let mut attacker = Attacker::mounted(&s.open);
            let mut frame = echo_of(&mut attacker);
            compound::link(&mut frame, 0);
            attacker.next_id -= 1;
            let second = echo_of(&mut attacker);
            frame.extend(second);
            attacker.got(&frame)
        },
        CLOSED,
    ),
    (
        "a second message that is no message",
        |s| two_with(s, SECOND, &[0; 4]),
        CLOSED,
    ),
    (
        "a READ of what a CREATE before it did not open",
        |s| {
            let mut attacker = Attacker::mounted(&s.open);
            let create = bodies::create("none\\such");
            let mut frame = attacker.message(Command::Create, &create);
            compound::link(&mut frame, 0);
            let second = frame.len();
            let read = attacker.message(Command::Read, &bodies::read(FileId::OF_PREVIOUS));
            frame.extend(with(read, header::FLAGS, &[header::RELATED]));
            attacker.say(&frame);
            let (_, answer) = attacker.answer().expect("an answer to both");
            let next = u32::from_le_bytes(answer[header::NEXT..][..4].try_into().unwrap());
            assert!(second > 0 && next > 0);
            let status = &answer[next as usize + 8..][..4];
            Got::Status(Status(u32::from_le_bytes(status.try_into().unwrap())))
        },
        fails(Status::OBJECT_PATH_NOT_FOUND),
    ),
];
