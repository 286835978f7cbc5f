//! NEGOTIATE, SESSION_SETUP, sessions and trees.

use filestone_wire::smb2::codec::Encode;
use filestone_wire::smb2::{Command, Dialect, Status, echo};

use super::super::requests::{ntlm_authenticate, ntlm_negotiate};
use super::attacker::Attacker;
use super::bodies::{self, at, header, with};
use super::user::{self, Client};
use super::{Case, Got, Servers, fails};

const CLOSED: Got = Got::Closed;
const INVALID: Got = fails(Status::INVALID_PARAMETER);
const NO_SESSION: Got = fails(Status::USER_SESSION_DELETED);

fn negotiate(servers: &Servers, body: &[u8]) -> Got {
    Attacker::connected(&servers.open).ask(Command::Negotiate, body)
}

fn negotiate_3_1_1(servers: &Servers, contexts: &[Vec<u8>]) -> Got {
    negotiate(servers, &bodies::negotiate_3_1_1(contexts))
}

pub const NEGOTIATE: &[Case] = &[
    (
        "an ECHO before NEGOTIATE",
        |s| Attacker::connected(&s.open).ask(Command::Echo, &echo::Request {}.to_bytes()),
        CLOSED,
    ),
    (
        "a SESSION_SETUP before NEGOTIATE",
        |s| {
            let body = bodies::setup(&ntlm_negotiate());
            Attacker::connected(&s.open).ask(Command::SessionSetup, &body)
        },
        CLOSED,
    ),
    (
        "a second NEGOTIATE",
        |s| {
            let mut attacker = Attacker::negotiated(&s.open, Dialect::SMB_2_1);
            attacker.ask(Command::Negotiate, &bodies::negotiate(&[0x0210]))
        },
        CLOSED,
    ),
    (
        "no dialect",
        |s| negotiate(s, &bodies::negotiate(&[])),
        INVALID,
    ),
    (
        "dialects that nobody knows",
        |s| negotiate(s, &bodies::negotiate(&[0x0999, 0xffff])),
        fails(Status::NOT_SUPPORTED),
    ),
    (
        "the wildcard 0x02ff as the only dialect",
        |s| negotiate(s, &bodies::negotiate(&[0x02ff])),
        fails(Status::NOT_SUPPORTED),
    ),
    (
        "DialectCount 65535, and one dialect",
        |s| {
            let body = bodies::negotiate(&[0x0210]);
            negotiate(s, &with(body, at::NEGOTIATE_COUNT, &[0xff, 0xff]))
        },
        INVALID,
    ),
    (
        "3.1.1 without contexts",
        |s| negotiate_3_1_1(s, &[]),
        INVALID,
    ),
    (
        "3.1.1 without hashes",
        |s| negotiate_3_1_1(s, &[bodies::ciphers(&[2])]),
        INVALID,
    ),
    (
        "3.1.1 with hashes that nobody knows",
        |s| negotiate_3_1_1(s, &[bodies::hashes(&[0x7777])]),
        fails(Status(0xc05d_0000)),
    ),
    (
        "two lists of hashes",
        |s| negotiate_3_1_1(s, &[bodies::hashes(&[1]), bodies::hashes(&[1])]),
        INVALID,
    ),
    (
        "two lists of ciphers",
        |s| {
            let ciphers = bodies::ciphers(&[1]);
            negotiate_3_1_1(s, &[bodies::hashes(&[1]), ciphers.clone(), ciphers])
        },
        INVALID,
    ),
    (
        "two lists of signing algorithms",
        |s| {
            let signing = bodies::signing(&[1]);
            negotiate_3_1_1(s, &[bodies::hashes(&[1]), signing.clone(), signing])
        },
        INVALID,
    ),
    (
        "an empty list of ciphers",
        |s| negotiate_3_1_1(s, &[bodies::hashes(&[1]), bodies::ciphers(&[])]),
        INVALID,
    ),
    (
        "an empty list of signing algorithms",
        |s| negotiate_3_1_1(s, &[bodies::hashes(&[1]), bodies::signing(&[])]),
        INVALID,
    ),
    (
        "NegotiateContextOffset 2³² − 1",
        |s| {
            let body = bodies::negotiate_3_1_1(&[bodies::hashes(&[1])]);
            negotiate(s, &with(body, at::NEGOTIATE_CONTEXTS_OFFSET, &[0xff; 4]))
        },
        INVALID,
    ),
    (
        "NegotiateContextCount 65535, and one context",
        |s| {
            let body = bodies::negotiate_3_1_1(&[bodies::hashes(&[1])]);
            negotiate(s, &with(body, at::NEGOTIATE_CONTEXTS_COUNT, &[0xff, 0xff]))
        },
        INVALID,
    ),
    (
        "a context whose DataLength is 65535",
        |s| {
            let context = with(bodies::hashes(&[1]), 2, &[0xff, 0xff]);
            negotiate_3_1_1(s, &[context])
        },
        INVALID,
    ),
];

/// The first SESSION_SETUP of a connection, with this token.
fn setup(servers: &Servers, token: &[u8]) -> Got {
    let mut attacker = Attacker::negotiated(&servers.open, Dialect::SMB_3_0_2);
    attacker.ask(Command::SessionSetup, &bodies::setup(token))
}

/// The same, with other bytes at a place of its body.
fn setup_with(servers: &Servers, at: usize, value: &[u8]) -> Got {
    let mut attacker = Attacker::negotiated(&servers.open, Dialect::SMB_3_0_2);
    let body = with(bodies::setup(&ntlm_negotiate()), at, value);
    attacker.ask(Command::SessionSetup, &body)
}

/// Begins a session, and does not finish it.
fn half_open(servers: &Servers) -> Attacker {
    let mut attacker = Attacker::negotiated(&servers.open, Dialect::SMB_3_0_2);
    let body = bodies::setup(&ntlm_negotiate());
    let message = attacker.message(Command::SessionSetup, &body);
    attacker.say(&message);
    attacker.session_id = attacker.answer().expect("it goes on").0.session_id;
    attacker
}

/// SPNEGO's NegTokenInit that offers Kerberos alone.
const KERBEROS: &[u8] = &[
    0x60, 0x1b, 0x06, 0x06, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x02, 0xa0, 0x11, 0x30, 0x0f, 0xa0, 0x0d,
    0x30, 0x0b, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02,
];

pub const SETUP: &[Case] = &[
    (
        "a session that nobody has",
        |s| {
            let mut attacker = Attacker::negotiated(&s.open, Dialect::SMB_3_0_2);
            attacker.session_id = 0x1234_5678_9abc_def0;
            attacker.ask(Command::SessionSetup, &bodies::setup(&ntlm_negotiate()))
        },
        NO_SESSION,
    ),
    ("an empty token", |s| setup(s, &[]), INVALID),
    ("a token of garbage", |s| setup(s, &[0x5a; 300]), INVALID),
    (
        "SPNEGO that is said to be of 2³² − 1 bytes",
        |s| setup(s, &[0x60, 0x84, 0xff, 0xff, 0xff, 0xff, 6, 6]),
        INVALID,
    ),
    (
        "SPNEGO whose length is in 127 bytes",
        |s| setup(s, &[0x60, 0xff, 1, 1, 1, 1]),
        INVALID,
    ),
    (
        "SPNEGO, sequences in sequences, 5,000 deep",
        |s| setup(s, &[0x30, 0x80].repeat(5000)),
        INVALID,
    ),
    (
        "SPNEGO that offers Kerberos alone",
        |s| setup(s, KERBEROS),
        fails(Status::LOGON_FAILURE),
    ),
    (
        "SPNEGO that is cut after each of its bytes, the last time",
        |s| {
            let lens = 1..KERBEROS.len();
            let mut got = lens.map(|len| setup(s, &KERBEROS[..len]));
            let last = got.next_back().unwrap_or(Got::Nothing);
            got.find(|got| *got != INVALID).unwrap_or(last)
        },
        INVALID,
    ),
    (
        "NTLM's last message first",
        |s| setup(s, &ntlm_authenticate()),
        INVALID,
    ),
    (
        "NTLM's last message, whose fields lie at 2³² − 1",
        |s| {
            let mut attacker = half_open(s);
            let mut token = ntlm_authenticate();
            for field in 0..6 {
                token[12 + 8 * field..][..8].fill(0xff);
            }
            attacker.ask(Command::SessionSetup, &bodies::setup(&token))
        },
        INVALID,
    ),
    (
        "SecurityBufferOffset 65535",
        |s| setup_with(s, at::SETUP_BUFFER_OFFSET, &[0xff, 0xff]),
        INVALID,
    ),
    (
        "SecurityBufferLength 65535",
        |s| setup_with(s, at::SETUP_BUFFER_LENGTH, &[0xff, 0xff]),
        INVALID,
    ),
    (
        "session 0 to be bound to a second connection: a new one",
        |s| setup_with(s, at::SETUP_FLAGS, &[1]),
        fails(Status::MORE_PROCESSING_REQUIRED),
    ),
    (
        "a sixty-fifth session that is not finished",
        |s| {
            let mut attacker = half_open(s);
            attacker.session_id = 0;
            let body = bodies::setup(&ntlm_negotiate());
            for _ in 1..64 {
                attacker.ask(Command::SessionSetup, &body);
            }
            attacker.ask(Command::SessionSetup, &body)
        },
        fails(Status::INSUFFICIENT_RESOURCES),
    ),
    (
        "nobody, to a server that has users",
        |s| {
            let mut attacker = Attacker::negotiated(&s.guarded, Dialect::SMB_3_0_2);
            let body = bodies::setup(&ntlm_negotiate());
            let message = attacker.message(Command::SessionSetup, &body);
            attacker.say(&message);
            attacker.session_id = attacker.answer().expect("it goes on").0.session_id;
            let body = bodies::setup(&ntlm_authenticate());
            attacker.ask(Command::SessionSetup, &body)
        },
        fails(Status::LOGON_FAILURE),
    ),
    (
        "a user whom the server does not know",
        |s| Client::refused(&s.guarded, "mallory", user::PASSWORD),
        fails(Status::LOGON_FAILURE),
    ),
    (
        "a wrong password",
        |s| Client::refused(&s.guarded, "anna", "melon"),
        fails(Status::LOGON_FAILURE),
    ),
];

/// A CREATE in a session or a tree that is not this connection's.
fn create_in(servers: &Servers, change: fn(&mut Attacker)) -> Got {
    let mut attacker = Attacker::mounted(&servers.open);
    change(&mut attacker);
    attacker.ask(Command::Create, &bodies::create("file"))
}

fn connect_to(servers: &Servers, path: &str) -> Got {
    let mut attacker = Attacker::mounted(&servers.open);
    attacker.ask(Command::TreeConnect, &bodies::tree_connect(path))
}

pub const TREES: &[Case] = &[
    (
        "the session of another connection",
        |s| {
            let other = Attacker::mounted(&s.open);
            let mut attacker = Attacker::mounted(&s.open);
            attacker.session_id = other.session_id;
            attacker.ask(Command::Create, &bodies::create("file"))
        },
        NO_SESSION,
    ),
    (
        "session 2⁶⁴ − 1",
        |s| create_in(s, |attacker| attacker.session_id = u64::MAX),
        NO_SESSION,
    ),
    (
        "no session",
        |s| create_in(s, |attacker| attacker.session_id = 0),
        NO_SESSION,
    ),
    (
        "a session that is not finished",
        |s| half_open(s).ask(Command::TreeConnect, &bodies::tree_connect("\\\\a\\export")),
        NO_SESSION,
    ),
    (
        "a session after its LOGOFF",
        |s| {
            create_in(s, |attacker| {
                attacker.ask(Command::Logoff, &echo::Request {}.to_bytes());
            })
        },
        NO_SESSION,
    ),
    (
        "a tree that nobody has",
        |s| create_in(s, |attacker| attacker.tree_id = 0x7777),
        fails(Status::NETWORK_NAME_DELETED),
    ),
    (
        "a tree after its TREE_DISCONNECT",
        |s| {
            create_in(s, |attacker| {
                attacker.ask(Command::TreeDisconnect, &echo::Request {}.to_bytes());
            })
        },
        fails(Status::NETWORK_NAME_DELETED),
    ),
    (
        "a share that there is not",
        |s| connect_to(s, "\\\\localhost\\ADMIN$"),
        fails(Status::BAD_NETWORK_NAME),
    ),
    (
        "the name of a share in 30,000 letters",
        |s| connect_to(s, &format!("\\\\a\\{}", "x".repeat(30_000))),
        fails(Status::BAD_NETWORK_NAME),
    ),
    (
        "a path without a server",
        |s| connect_to(s, "export"),
        INVALID,
    ),
    (
        "PathOffset 65535",
        |s| {
            let mut attacker = Attacker::mounted(&s.open);
            let body = bodies::tree_connect("\\\\a\\export");
            let body = with(body, at::TREE_PATH_OFFSET, &[0xff, 0xff]);
            attacker.ask(Command::TreeConnect, &body)
        },
        INVALID,
    ),
    (
        "a tree more than 1,024",
        |s| {
            let mut attacker = Attacker::mounted(&s.open);
            for _ in 1..1024 {
                attacker.connect_tree();
            }
            let body = bodies::tree_connect("\\\\a\\export");
            attacker.ask(Command::TreeConnect, &body)
        },
        fails(Status::INSUFFICIENT_RESOURCES),
    ),
    (
        "a pipe of IPC$",
        |s| {
            let mut attacker = Attacker::mounted(&s.open);
            let body = bodies::tree_connect("\\\\a\\IPC$");
            let message = attacker.message(Command::TreeConnect, &body);
            attacker.say(&message);
            let (header, _) = attacker.answer().expect("a tree");
            attacker.tree_id = header.tree_id().unwrap();
            attacker.ask(Command::Create, &bodies::create("srvsvc"))
        },
        fails(Status::OBJECT_NAME_NOT_FOUND),
    ),
    (
        "an asynchronous header where a tree should be",
        |s| {
            let mut attacker = Attacker::mounted(&s.open);
            let message = attacker.message(Command::Create, &bodies::create("file"));
            attacker.got(&with(message, header::FLAGS, &[header::ASYNC]))
        },
        fails(Status::NETWORK_NAME_DELETED),
    ),
];
