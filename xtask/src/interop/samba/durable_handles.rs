//! Durable handles: a relay between filestone and Samba cuts the connection in the middle of a load
//! that holds a file open and locked.

use super::TestEnv;
use super::settings::Purpose;
use crate::interop::smb::{Account, DIALECTS, Place};
use crate::record::Record;
use anyhow::{Context, Result, bail};
use filestone_wire::smb2::Command;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Offset of Command in the header of a message (MS-SMB2, section 2.2.1.2).
const COMMAND: usize = 12;
const NEXT: usize = 20;
/// Number of the WRITE that cuts the connection: in the middle of those of the load.
const CUT_AT: u64 = 4;

/// A file that is written while it is locked, and read again: operations that need both the handle
/// and the lock.
const LOAD: &str = r#"Mkdir "\clients\client1" NT_STATUS_OK
NTCreateX "\clients\client1\held" 0x40 0x5 10 NT_STATUS_OK
LockX 10 0 8192 NT_STATUS_OK
WriteX 10 0 1024 1024 NT_STATUS_OK
WriteX 10 1024 1024 1024 NT_STATUS_OK
WriteX 10 2048 1024 1024 NT_STATUS_OK
WriteX 10 3072 1024 1024 NT_STATUS_OK
WriteX 10 4096 1024 1024 NT_STATUS_OK
ReadX 10 0 5120 5120 NT_STATUS_OK
UnlockX 10 0 8192 NT_STATUS_OK
Close 10 NT_STATUS_OK
"#;

/// Expected results of a run.
struct Case {
    purpose: Purpose,
    dialect: &'static str,
    options: &'static [&'static str],
    /// Handles requested, granted, reconnected, and lost.
    handles: [f64; 4],
    /// Create context that reconnects a handle, if any.
    context: Option<&'static [u8]>,
    /// LOCK requests, including the unlock.
    locks: u64,
}

const fn taken_up(
    dialect: &'static str,
    options: &'static [&'static str],
    context: &'static [u8],
) -> Case {
    Case {
        purpose: Purpose::Durable,
        dialect,
        options,
        handles: [1.0, 1.0, 1.0, 0.0],
        context: Some(context),
        locks: 2,
    }
}

const CASES: &[Case] = &[
    taken_up("2.0.2", &[], b"DHnC"),
    taken_up("2.1", &[], b"DHnC"),
    taken_up("2.1", &["--oplock", "batch"], b"DHnC"),
    taken_up("3.0", &[], b"DH2C"),
    taken_up("3.1.1", &[], b"DH2C"),
    taken_up("3.1.1", &["--oplock", "batch"], b"DH2C"),
    // A server without durable handles: filestone opens the file again, and locks it again.
    Case {
        purpose: Purpose::NotDurable,
        dialect: "3.1.1",
        options: &[],
        handles: [2.0, 0.0, 0.0, 0.0],
        context: None,
        locks: 3,
    },
];

/// Checks in every case that the load ran as if the connection had not been cut.
pub fn handles(ground: &TestEnv) -> Result<String> {
    let load = ground.bed.folder.join("held.load");
    std::fs::write(&load, LOAD)?;
    for case in CASES {
        let what = format!("{:?} {} {:?}", case.purpose, case.dialect, case.options);
        let relay = Relay::start(ground.servers.get(case.purpose).port)?;
        let record = replay(ground, case, &relay, &load.display().to_string());
        check(case, &relay, &record.context(what.clone())?).context(what)?;
    }
    Ok(format!("{} cases", CASES.len()))
}

fn replay(ground: &TestEnv, case: &Case, relay: &Relay, load: &str) -> Result<Record> {
    let server = ground.servers.get(case.purpose);
    let password_file = server.password_file();
    let place = Place {
        authority: &format!("127.0.0.1:{}", relay.port),
        dialects: DIALECTS,
        password_file: &password_file,
    };
    let target = place.target(Account::User, "");
    let password_file = password_file.display().to_string();
    let asked = [
        "replay",
        load,
        "--on",
        &target,
        "--run-once",
        "--durable",
        "--dialect",
        case.dialect,
        "--password-file",
        &password_file,
        "--as",
        "json",
    ];
    let output = ground.bed.run(&[&asked, case.options].concat())?;
    Record::read(&output)
}

fn check(case: &Case, relay: &Relay, record: &Record) -> Result<()> {
    if record.number("/replay/mismatch_count")? > 0.0 || record.holds("clients-lost") {
        bail!(
            "{:?}, {:?}",
            record.list("/replay/mismatches"),
            record.list("/caveats")
        );
    }
    let count = |name: &str| record.number(&format!("/target/session/durable/{name}"));
    let handles = [
        count("asked")?,
        count("granted")?,
        count("reclaimed")?,
        count("gone")?,
    ];
    let locks = relay.seen.locks.load(Ordering::Relaxed);
    let reconnects = [b"DHnC", b"DH2C"].map(|name| relay.seen.of(name));
    let expected = [b"DHnC", b"DH2C"].map(|name| u64::from(case.context == Some(&name[..])));
    if handles != case.handles || locks != case.locks || reconnects != expected {
        bail!(
            "handles asked for, granted, taken up again, gone: {handles:?}; {locks} LOCKs; DHnC and \
             DH2C: {reconnects:?}"
        );
    }
    Ok(())
}

/// Counters of the relayed requests.
#[derive(Default)]
struct Seen {
    writes: AtomicU64,
    locks: AtomicU64,
    reconnects: AtomicU64,
    reconnects_v2: AtomicU64,
}

impl Seen {
    fn of(&self, name: &[u8; 4]) -> u64 {
        let count = if name == b"DH2C" {
            &self.reconnects_v2
        } else {
            &self.reconnects
        };
        count.load(Ordering::Relaxed)
    }

    /// Counts these messages. Returns whether to cut the connection before they are forwarded.
    fn look_at(&self, mut messages: &[u8]) -> bool {
        let number = |messages: &[u8], at: usize| messages.get(at).copied().unwrap_or_default();
        loop {
            let command = u16::from(number(messages, COMMAND));
            if command == Command::Lock as u16 {
                self.locks.fetch_add(1, Ordering::Relaxed);
            }
            if command == Command::Create as u16 {
                let has = |name: &[u8]| messages.windows(4).any(|four| four == name);
                for (name, count) in [
                    (&b"DHnC"[..], &self.reconnects),
                    (b"DH2C", &self.reconnects_v2),
                ] {
                    count.fetch_add(u64::from(has(name)), Ordering::Relaxed);
                }
            }
            if command == Command::Write as u16
                && 1 + self.writes.fetch_add(1, Ordering::Relaxed) == CUT_AT
            {
                return true;
            }
            let next = messages.get(NEXT..NEXT + 4);
            let next = next.and_then(|bytes| bytes.try_into().ok());
            let next = next.map_or(0, u32::from_le_bytes) as usize;
            match messages.get(next..) {
                Some(rest) if next > 0 => messages = rest,
                _ => return false,
            }
        }
    }
}

/// A relay in front of a server.
struct Relay {
    port: u16,
    seen: Arc<Seen>,
}

impl Relay {
    /// Starts a relay, which runs until this process ends.
    fn start(port: u16) -> Result<Self> {
        let server = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let seen = Arc::new(Seen::default());
        let own = Arc::clone(&seen);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A connection that cannot be relayed is closed.
                let _ = relay(client, server, &own);
            }
        });
        Ok(Self { port, seen })
    }
}

/// Relays a connection in two threads.
fn relay(client: TcpStream, server: SocketAddr, seen: &Arc<Seen>) -> Result<()> {
    let server = TcpStream::connect(server)?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let (mut answering, mut answered) = (server.try_clone()?, client.try_clone()?);
    std::thread::spawn(move || {
        // Either side may close at any time.
        let _ = std::io::copy(&mut answering, &mut answered);
        let _ = answered.shutdown(Shutdown::Both);
    });
    let seen = Arc::clone(seen);
    std::thread::spawn(move || {
        let _ = requests(&client, &server, &seen);
        for stream in [&client, &server] {
            let _ = stream.shutdown(Shutdown::Both);
        }
    });
    Ok(())
}

/// Forwards requests, frame by frame, until the one that cuts the connection.
fn requests(mut from: &TcpStream, mut to: &TcpStream, seen: &Seen) -> std::io::Result<()> {
    let (mut mark, mut frame) = ([0; 4], Vec::new());
    loop {
        from.read_exact(&mut mark)?;
        // The first byte is the message type, which is 0 (MS-SMB2, section 2.1).
        frame.resize(u32::from_be_bytes(mark) as usize, 0);
        from.read_exact(&mut frame)?;
        if seen.look_at(&frame) {
            return Ok(());
        }
        to.write_all(&mark)?;
        to.write_all(&frame)?;
    }
}
