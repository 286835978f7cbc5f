//! Signatures and encryption: what is forged by who knows the keys, and by who does not.

use filestone_server::Running;
use filestone_wire::smb2::codec::Encode;
use filestone_wire::smb2::transform::{TRANSFORM_HEADER_LEN, TransformHeader};
use filestone_wire::smb2::{Command, Dialect, Status, compound, echo};

use super::attacker::Attacker;
use super::bodies::{self, header, with};
use super::user::{Client, NEWEST};
use super::{Case, Got, Servers, fails};

const CLOSED: Got = Got::Closed;
const DENIED: Got = fails(Status::ACCESS_DENIED);

fn transform(session_id: u64, original_message_size: u32, data: &[u8]) -> Vec<u8> {
    let header = TransformHeader {
        signature: [1; 16],
        nonce: [2; 16],
        original_message_size,
        flags: TransformHeader::ENCRYPTED,
        session_id,
    };
    let mut frame = header.to_bytes();
    frame.extend(data);
    frame
}

/// Returns the response to an encrypted CREATE whose frame is changed by `forge`.
fn sealed_and(servers: &Servers, forge: impl FnOnce(Vec<u8>) -> Vec<u8>) -> Got {
    let mut user = Client::mounted(&servers.sealed, NEWEST);
    let message = user
        .attacker
        .message(Command::Create, &bodies::create("file"));
    let frame = user.sealed(&message);
    user.attacker.got(&forge(frame))
}

/// Returns the response to an encrypted CREATE that has `value` at a place of the frame.
fn sealed_with(servers: &Servers, at: usize, value: &[u8]) -> Got {
    sealed_and(servers, |frame| with(frame, at, value))
}

/// Inverts a bit of the ciphertext, so that it always changes.
fn with_other_bit(mut frame: Vec<u8>) -> Vec<u8> {
    frame[60] ^= 1;
    frame
}

/// What a user signs whose session has to be signed.
fn signed(servers: &Servers, forge: fn(&mut Client, Vec<u8>) -> Vec<u8>) -> Got {
    let mut user = Client::signing(&servers.guarded, Dialect::SMB_2_1);
    let message = user
        .attacker
        .message(Command::Create, &bodies::create("file"));
    let message = forge(&mut user, message);
    user.attacker.got(&message)
}

/// What a user gets for a TREE_CONNECT that proves nothing.
fn unsigned_tree(server: &Running, dialect: Dialect) -> Got {
    let mut user = Client::logged_on(server, dialect, 1);
    let body = bodies::tree_connect("\\\\a\\export");
    user.attacker.ask(Command::TreeConnect, &body)
}

pub const CASES: &[Case] = &[
    (
        "an encrypted message before NEGOTIATE",
        |s| Attacker::connected(&s.sealed).got(&transform(1, 64, &[7; 64])),
        CLOSED,
    ),
    (
        "an encrypted message of a session that nobody has",
        |s| Attacker::mounted(&s.open).got(&transform(0x7777, 64, &[7; 64])),
        CLOSED,
    ),
    (
        "an encrypted message of a guest, who has no key",
        |s| {
            let mut attacker = Attacker::mounted(&s.open);
            let frame = transform(attacker.session_id, 64, &[7; 64]);
            attacker.got(&frame)
        },
        CLOSED,
    ),
    (
        "an encrypted message of another connection's session",
        |s| {
            let other = Client::mounted(&s.sealed, NEWEST);
            let mut user = Client::mounted(&s.sealed, NEWEST);
            let frame = transform(other.attacker.session_id, 64, &[7; 64]);
            user.attacker.got(&frame)
        },
        CLOSED,
    ),
    (
        "garbage for an encrypted message",
        |s| {
            let mut user = Client::mounted(&s.sealed, NEWEST);
            let frame = transform(user.attacker.session_id, 64, &[7; 64]);
            user.attacker.got(&frame)
        },
        CLOSED,
    ),
    (
        "a transform header that is cut",
        |s| {
            let mut user = Client::mounted(&s.sealed, NEWEST);
            let frame = transform(user.attacker.session_id, 0, &[]);
            user.attacker.got(&frame[..TRANSFORM_HEADER_LEN - 1])
        },
        CLOSED,
    ),
    (
        "nothing, encrypted",
        |s| {
            let mut user = Client::mounted(&s.sealed, NEWEST);
            let frame = user.sealed(&[]);
            user.attacker.got(&frame)
        },
        CLOSED,
    ),
    (
        "OriginalMessageSize 2³² − 1",
        |s| sealed_with(s, 36, &[0xff; 4]),
        CLOSED,
    ),
    (
        "an encrypted message with one bit changed",
        |s| sealed_and(s, with_other_bit),
        CLOSED,
    ),
    (
        "an encrypted message whose signature was changed",
        |s| sealed_with(s, 4, &[0xa5; 16]),
        CLOSED,
    ),
    (
        "an encrypted message that is said not to be",
        |s| sealed_with(s, 42, &[0, 0]),
        CLOSED,
    ),
    (
        "an encrypted message in an encrypted one",
        |s| {
            let mut user = Client::mounted(&s.sealed, NEWEST);
            let message = user
                .attacker
                .message(Command::Echo, &echo::Request {}.to_bytes());
            let inner = user.sealed(&message);
            let frame = user.sealed(&inner);
            user.attacker.got(&frame)
        },
        CLOSED,
    ),
    (
        "a message of another session, encrypted with one's own key",
        |s| {
            let mut user = Client::mounted(&s.sealed, NEWEST);
            let message = user
                .attacker
                .message(Command::Create, &bodies::create("file"));
            let message = with(message, header::SESSION_ID, &[0x77; 8]);
            let frame = user.sealed(&message);
            user.attacker.got(&frame)
        },
        CLOSED,
    ),
    (
        "the same in the second message of a compound",
        |s| {
            let mut user = Client::mounted(&s.sealed, NEWEST);
            let echo = echo::Request {}.to_bytes();
            let mut frame = user.attacker.message(Command::Echo, &echo);
            compound::link(&mut frame, 0);
            let second = user.attacker.message(Command::Echo, &echo);
            frame.extend(with(second, header::SESSION_ID, &[0x77; 8]));
            let frame = user.sealed(&frame);
            user.attacker.got(&frame)
        },
        CLOSED,
    ),
    (
        "a plain message where encryption is required",
        |s| {
            let mut user = Client::mounted(&s.sealed, NEWEST);
            user.attacker.ask(Command::Create, &bodies::create("file"))
        },
        DENIED,
    ),
    (
        "a session of 2.1 where encryption is required",
        |s| Client::refused_in(&s.sealed, Dialect::SMB_2_1),
        DENIED,
    ),
    (
        "an unsigned message where the client asked for signatures",
        |s| signed(s, |_, message| message),
        DENIED,
    ),
    (
        "a signature of zeros",
        |s| {
            signed(s, |_, message| {
                with(message, header::FLAGS, &[header::SIGNED])
            })
        },
        DENIED,
    ),
    (
        "a signed message of which a byte was changed",
        |s| {
            signed(s, |user, message| {
                let message = user.signed(message);
                with(message, header::CREDITS, &[17])
            })
        },
        DENIED,
    ),
    (
        "the signature of another message",
        |s| {
            signed(s, |user, message| {
                let echo = echo::Request {}.to_bytes();
                let other = user.attacker.message(Command::Echo, &echo);
                user.attacker.next_id -= 1;
                let other = user.signed(other);
                let message = with(message, header::FLAGS, &[header::SIGNED]);
                with(message, header::SIGNATURE, &other[header::SIGNATURE..64])
            })
        },
        DENIED,
    ),
    (
        "a signed TREE_CONNECT of a user whose key is another's",
        |s| {
            let mut user = Client::signing(&s.guarded, NEWEST);
            let other = Client::signing(&s.guarded, NEWEST);
            let body = bodies::tree_connect("\\\\a\\export");
            let message = user.attacker.message(Command::TreeConnect, &body);
            let message = other.signed(message);
            user.attacker.got(&message)
        },
        DENIED,
    ),
    (
        "an unsigned TREE_CONNECT of a user in 3.1.1",
        |s| unsigned_tree(&s.guarded, NEWEST),
        CLOSED,
    ),
    (
        "an unsigned TREE_CONNECT of a user in 2.1",
        |s| unsigned_tree(&s.guarded, Dialect::SMB_2_1),
        fails(Status::SUCCESS),
    ),
    (
        "an unsigned TREE_CONNECT of a guest in 3.1.1, who has no key",
        |s| {
            let mut attacker = Attacker::negotiated(&s.open, NEWEST);
            attacker.log_on();
            let body = bodies::tree_connect("\\\\a\\export");
            attacker.ask(Command::TreeConnect, &body)
        },
        fails(Status::SUCCESS),
    ),
];
