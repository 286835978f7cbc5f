//! Frames of real clients and servers: every message decodes, and encodes to the same bytes. The
//! first line of each file says where they come from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use filestone_wire::smb2::compound::Messages;
use filestone_wire::smb2::{Command, Status};

use crate::again;

fn bytes(hex: &str) -> Vec<u8> {
    assert_eq!(hex.len() % 2, 0);
    let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digits).collect()
}

/// What a frame holds, in words.
fn description(frame: &[u8]) -> String {
    let mut text = String::new();
    for message in Messages::of(frame) {
        match message.map(|message| message.header) {
            Ok(header) if header.is_response() => {
                write!(text, " {} response {}", header.command, header.status).unwrap();
            }
            Ok(header) => write!(text, " {} request", header.command).unwrap(),
            Err(error) => write!(text, " {error}").unwrap(),
        }
    }
    text
}

/// The frames of a file, each with the word in front of it.
pub fn frames(file: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let text = fs::read_to_string(folder.join(file)).unwrap();
    let (origin, lines) = text.split_once('\n').unwrap();
    assert!(
        origin.starts_with("# server: "),
        "{file} says where it comes from"
    );
    let frame = |line: &str| {
        let (word, hex) = line.split_once(' ').unwrap();
        (word.to_owned(), bytes(hex))
    };
    lines.lines().map(frame).collect()
}

/// Commands and statuses of the responses, and commands of the requests, of a file in which every
/// frame has been found to be understood.
fn check(file: &str) -> BTreeSet<(Command, Option<Status>)> {
    let mut found = BTreeSet::new();
    for (word, frame) in frames(file) {
        if word == "encrypted" {
            continue;
        }
        let again = again::frame(&frame).unwrap();
        assert_eq!(again == frame, word == "frame", "{}", description(&frame));
        for message in Messages::of(&frame) {
            let header = message.unwrap().header;
            let status = header.is_response().then_some(header.status);
            found.insert((header.command, status));
        }
    }
    found
}

#[test]
fn samba_and_its_clients_are_understood_to_the_byte() {
    let found = check("samba-smb2.hex");
    for command in Command::ALL {
        assert!(found.contains(&(command, None)), "{command} request");
        // There is no response to a CANCEL.
        let answered = found.contains(&(command, Some(Status::SUCCESS)));
        assert_eq!(answered, command != Command::Cancel, "{command} response");
    }
    for status in [
        Status::PENDING,
        Status::BUFFER_OVERFLOW,
        Status::MORE_PROCESSING_REQUIRED,
        Status::LOCK_NOT_GRANTED,
        Status::CANCELLED,
    ] {
        assert!(
            found.iter().any(|(_, found)| *found == Some(status)),
            "{status}"
        );
    }
}

#[test]
fn windows_is_understood_to_the_byte() {
    let found = check("windows-smb2.hex");
    for command in [
        Command::Negotiate,
        Command::SessionSetup,
        Command::TreeConnect,
    ] {
        assert!(
            found.contains(&(command, Some(Status::SUCCESS))),
            "{command}"
        );
    }
}

/// Looks at frames of one's own: `FILESTONE_SMB2_FRAMES=FILE`, with the hex of a frame at the end
/// of each line. What is not understood, and what would be written otherwise, stands in
/// `FILE.report`.
#[test]
fn frames_of_a_file_are_told_apart() {
    let Ok(path) = env::var("FILESTONE_SMB2_FRAMES") else {
        return;
    };
    let mut found = BTreeMap::<String, Vec<String>>::new();
    for line in fs::read_to_string(&path).unwrap().lines() {
        let hex = line.rsplit(' ').next().unwrap();
        let frame = bytes(hex);
        let key = match again::frame(&frame) {
            Ok(same) if same == frame => "same".to_owned(),
            Ok(other) => {
                let at = frame.iter().zip(&other).position(|(a, b)| a != b);
                let lens = (frame.len(), other.len());
                format!("differs at {at:?}, {lens:?}:{}", description(&frame))
            }
            Err(error) => format!("{error}:{}", description(&frame)),
        };
        found.entry(key).or_default().push(hex.to_owned());
    }
    let mut report = String::new();
    for (what, frames) in found {
        writeln!(report, "{:7} {what}", frames.len()).unwrap();
        if what != "same" {
            writeln!(report, "        {}", frames.join("\n        ")).unwrap();
        }
    }
    fs::write(path + ".report", report).unwrap();
}
