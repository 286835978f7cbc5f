//! Durable handles: a relay between filestone and Samba cuts the connection in the middle of a load
//! that holds a file open and locked.

use super::TestEnv;
use super::relay::{self, COMMAND, Direction, Inspector};
use crate::peers::smb::Account;
use crate::record::Record;
use anyhow::{Context, Result, bail};
use filestone_wire::smb2::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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

/// Names of the create contexts that reconnect a handle, in dialects 2 and 3.
const RECONNECTS: [&[u8]; 2] = [b"DHnC", b"DH2C"];

/// Expected results of a run.
struct Case {
    server: &'static str,
    dialect: &'static str,
    options: &'static str,
    /// Handles requested, granted, reconnected, and lost.
    handles: [f64; 4],
    /// Create context that reconnects a handle, if any.
    context: Option<&'static [u8]>,
    /// LOCK requests, including the unlock.
    locks: u64,
}

const fn taken_up(dialect: &'static str, options: &'static str, context: &'static [u8]) -> Case {
    Case {
        server: "durable",
        dialect,
        options,
        handles: [1.0, 1.0, 1.0, 0.0],
        context: Some(context),
        locks: 2,
    }
}

const CASES: &[Case] = &[
    taken_up("2.0.2", "", b"DHnC"),
    taken_up("2.1", "", b"DHnC"),
    taken_up("2.1", "--oplock batch", b"DHnC"),
    taken_up("3.0", "", b"DH2C"),
    taken_up("3.1.1", "", b"DH2C"),
    taken_up("3.1.1", "--oplock batch", b"DH2C"),
    // A server without durable handles: filestone opens the file again, and locks it again.
    Case {
        server: "not-durable",
        dialect: "3.1.1",
        options: "",
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
        let what = format!("{} {} {}", case.server, case.dialect, case.options);
        let seen = Arc::new(Seen::default());
        let record = replay(ground, case, &seen, &load.display().to_string());
        check(case, &seen, &record.context(what.clone())?).context(what)?;
    }
    Ok(format!("{} cases", CASES.len()))
}

fn replay(ground: &TestEnv, case: &Case, seen: &Arc<Seen>, load: &str) -> Result<Record> {
    let port = relay::start(ground.servers.get(case.server)?.port, seen)?;
    let place = ground.servers.place(case.server, Some(port))?;
    let line = format!(
        "replay {load} --layer {} --run-once --durable --dialect {} --password-file {} --format json {}",
        place.target(Account::User, ""),
        case.dialect,
        place.password_file.display(),
        case.options
    );
    Record::read(&ground.bed.run(&line)?)
}

fn check(case: &Case, seen: &Seen, record: &Record) -> Result<()> {
    record.is_as_expected()?;
    let count = |name: &str| record.number(&format!("/target/session/durable/{name}"));
    let handles = [
        count("requested")?,
        count("granted")?,
        count("reclaimed")?,
        count("lost")?,
    ];
    let locks = seen.locks.load(Ordering::Relaxed);
    let reconnects = seen.reconnects.each_ref();
    let reconnects = reconnects.map(|count| count.load(Ordering::Relaxed));
    let expected = RECONNECTS.map(|name| u64::from(case.context == Some(name)));
    if handles != case.handles || locks != case.locks || reconnects != expected {
        bail!(
            "handles requested, granted, reclaimed, lost: {handles:?}; {locks} LOCKs; DHnC and \
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
    /// Create contexts, by their place in [`RECONNECTS`].
    reconnects: [AtomicU64; 2],
}

impl Inspector for Seen {
    const DIRECTION: Direction = Direction::Requests;

    /// Counts a message, and cuts the connection at the chosen WRITE.
    fn inspect(&self, message: &mut [u8]) -> bool {
        let command = relay::number::<2>(message, COMMAND);
        let add = |counter: &AtomicU64, is_one: bool| {
            is_one as u64 + counter.fetch_add(is_one.into(), Ordering::Relaxed)
        };
        let has = |name: &[u8]| message.windows(4).any(|four| four == name);
        let is_create = command == Command::Create as u64;
        add(&self.locks, command == Command::Lock as u64);
        for (counter, name) in self.reconnects.iter().zip(RECONNECTS) {
            add(counter, is_create && has(name));
        }
        let is_write = command == Command::Write as u64;
        add(&self.writes, is_write) == CUT_AT && is_write
    }
}
