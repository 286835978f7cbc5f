//! Messages that no client sends, each with what it has to get: a status, or the end of its
//! connection, as MS-SMB2 has it. Who behaves is served beside them all the while.

mod attacker;
mod bodies;
mod files;
mod frames;
mod protected;
mod sessions;
mod user;

use std::fmt;

use filestone_server::{Options, Protection, Running, Server, SmbOptions, User};
use filestone_wire::smb2::Status;

use attacker::Attacker;

/// The table that people read.
const PAGE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/reference/smb-hostile.md"
);
/// Set, it has the table written instead of compared.
const WRITE: &str = "FILESTONE_WRITE_TABLE";

/// What a message got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Got {
    /// An answer with this status.
    Status(Status),
    /// The connection was closed.
    Closed,
    /// No answer; the connection goes on.
    Nothing,
    /// Bytes that are no answer.
    Garbage,
}

impl fmt::Display for Got {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => match status.name() {
                Some(name) => write!(f, "`{name}`"),
                None => write!(f, "`{:#010x}`", status.0),
            },
            Self::Closed => f.write_str("the connection is closed"),
            Self::Nothing => f.write_str("no answer"),
            Self::Garbage => f.write_str("garbage"),
        }
    }
}

/// The servers that are attacked.
pub struct Servers {
    /// One that lets everybody in.
    pub open: Running,
    /// One that lets a user in.
    pub guarded: Running,
    /// One that speaks to him only encrypted.
    pub sealed: Running,
}

/// What is sent, how, and what it has to get.
pub type Case = (&'static str, fn(&Servers) -> Got, Got);

/// What fails with a status.
pub const fn fails(status: Status) -> Got {
    Got::Status(status)
}

/// All cases, by what they are about.
const SECTIONS: &[(&str, &str, &[Case])] = &[
    ("Frames and headers", "2.1, 2.2.1, 3.3.5.2", frames::FRAMES),
    (
        "Message ids and credits",
        "3.3.5.2.3, 3.3.5.2.5, 3.3.5.16",
        frames::CREDITS,
    ),
    ("Compounds", "3.3.5.2.7", frames::COMPOUNDS),
    ("NEGOTIATE", "3.3.5.3, 3.3.5.4", sessions::NEGOTIATE),
    ("SESSION_SETUP", "3.3.5.5", sessions::SETUP),
    (
        "Sessions and trees",
        "3.3.5.2.9, 3.3.5.2.11, 3.3.5.7",
        sessions::TREES,
    ),
    ("CREATE", "3.3.5.9", files::CREATE),
    ("Handles", "3.3.5.10 to 3.3.5.14", files::HANDLES),
    (
        "READ, WRITE, LOCK",
        "3.3.5.12 to 3.3.5.14",
        files::TRANSFERS,
    ),
    (
        "Information and the rest",
        "3.3.5.15 to 3.3.5.22",
        files::INFORMATION,
    ),
    (
        "Signatures and encryption",
        "3.3.5.2.1.1, 3.3.5.2.4",
        protected::CASES,
    ),
];

fn start(user: Option<&str>, encryption: Protection) -> Running {
    let users = user.map(|name| User {
        name: name.into(),
        password: user::PASSWORD.into(),
    });
    Server::start(Options {
        threads: 2,
        memory_limit: 32 << 20,
        smb: Some(SmbOptions {
            users: users.into_iter().collect(),
            encryption,
            ..SmbOptions::default()
        }),
        ..Options::default()
    })
    .unwrap()
}

/// As the page has it.
fn table() -> String {
    let mut text = String::new();
    let mut number = 0;
    for (section, source, cases) in SECTIONS {
        text.push_str(&format!(
            "\n## {section}\n\nMS-SMB2, sections {source}.\n\n"
        ));
        text.push_str("| | what is sent | what it gets |\n|---|---|---|\n");
        for (what, _, gets) in *cases {
            number += 1;
            text.push_str(&format!("| {number} | {what} | {gets} |\n"));
        }
    }
    text
}

#[test]
fn every_hostile_message_gets_what_it_has_to() {
    let servers = Servers {
        open: start(None, Protection::Offered),
        guarded: start(Some("anna"), Protection::Offered),
        sealed: start(Some("anna"), Protection::Required),
    };
    let mut witness = Attacker::mounted(&servers.open);
    let file = witness.opened("witness");
    let mut wrong = Vec::new();
    for (section, _, cases) in SECTIONS {
        for (what, send, gets) in *cases {
            let got = send(&servers);
            if got != *gets {
                wrong.push(format!("{section}: {what}: {got} instead of {gets}"));
            }
            assert!(witness.is_served(), "{section}: {what}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    use filestone_wire::smb2::Command;
    for (command, body) in [
        (Command::Write, bodies::write(file)),
        (Command::Read, bodies::read(file)),
    ] {
        assert_eq!(witness.ask(command, &body), fails(Status::SUCCESS));
    }
    for server in [&servers.guarded, &servers.sealed] {
        let mut user = user::Client::mounted(server, user::NEWEST);
        assert!(user.is_served());
    }
}

#[test]
fn the_page_shows_the_table() {
    const MARK: &str = "<!-- table -->\n";
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (before, shown) = page.split_once(MARK).expect("a mark before the table");
    let table = table();
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(PAGE, format!("{before}{MARK}{table}")).unwrap();
        return;
    }
    assert!(
        shown == table,
        "docs/reference/smb-hostile.md is not the table: {WRITE}=1 cargo test -p filestone-server writes it"
    );
    let cases: usize = SECTIONS.iter().map(|(_, _, cases)| cases.len()).sum();
    assert!(cases >= 100, "{cases}");
}
