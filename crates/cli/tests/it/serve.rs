//! `filestone serve`: to whom it is open, and that it says so.

use crate::support::{Running, Scratch, filestone, text};
use std::io::{BufRead, BufReader, Read};

/// Starts a server; all that it says up to the line that begins so.
fn said(arguments: &[&str], last: &str) -> (Running, String) {
    let mut server = Running::start(arguments);
    let mut out = server.out();
    let mut said = String::new();
    while !said.lines().any(|line| line.starts_with(last)) || !said.ends_with('\n') {
        let read = out.read_line(&mut said);
        assert!(read.is_ok_and(|count| count > 0), "{said}");
    }
    (server, said)
}

fn line<'s>(said: &'s str, begin: &str) -> &'s str {
    let line = said.lines().find(|line| line.starts_with(begin));
    line.unwrap_or_else(|| panic!("no {begin} in {said}"))
}

#[test]
fn a_user_of_smb_closes_nfs_unless_it_is_asked_for() {
    let scratch = Scratch::new();
    let password = scratch.file("password", "mellon\n");
    let arguments = [
        "serve",
        "--bind",
        "127.0.0.1",
        "--smb-port",
        "0",
        "--user",
        "alice",
    ];
    let arguments = [&arguments[..], &["--password-file", &password]].concat();
    let (_server, closed) = said(&arguments, "NFS: off");
    assert!(line(&closed, "SMB on 127.0.0.1:").ends_with(": user alice"));
    assert!(
        !closed.contains("nfs://") && !closed.contains("serving NFS"),
        "{closed}"
    );
    let (_server, open) = said(&[&arguments[..], &["--port", "0"]].concat(), "SMB on ");
    let nfs = line(&open, "NFS on 127.0.0.1:");
    assert!(
        nfs.contains(": anyone who can connect, as any user"),
        "{nfs}"
    );
}

#[test]
fn what_other_hosts_can_reach_without_a_password_is_a_warning() {
    for (more, name) in [(None, "NFS"), (Some("--tbench"), "tbench")] {
        let arguments = ["serve", "--bind", "0.0.0.0", "--port", "0"].into_iter();
        let arguments: Vec<&str> = arguments.chain(more).collect();
        let mut server = Running::start(&arguments);
        let mut warned = String::new();
        let mut err = BufReader::new(server.err());
        while !warned.contains("help:") {
            let read = err.read_line(&mut warned);
            assert!(read.is_ok_and(|count| count > 0), "{warned}");
        }
        let beyond = format!("{name} on 0.0.0.0:");
        assert!(warned.contains(&beyond), "{warned}");
        assert!(warned.contains("without a password"), "{warned}");
    }
}

#[test]
fn a_server_of_loopback_alone_warns_of_nothing() {
    let arguments = [
        "serve",
        "--bind",
        "127.0.0.1",
        "--port",
        "0",
        "--smb-port",
        "0",
    ];
    let (mut server, said) = said(&arguments, "SMB on ");
    assert!(line(&said, "SMB on ").ends_with("anyone who can connect, as a guest"));
    server.interrupt();
    let mut warned = Vec::new();
    server.err().read_to_end(&mut warned).expect("it ends");
    assert_eq!(text(&warned), "");
}

#[test]
fn a_server_without_permissions_says_so() {
    let arguments = [
        "serve",
        "--bind",
        "127.0.0.1",
        "--port",
        "0",
        "--no-permissions",
    ];
    let (_server, said) = said(&arguments, "NFS on ");
    assert!(
        line(&said, "NFS on ").ends_with("with all rights"),
        "{said}"
    );
}

#[test]
fn permissions_of_nfs_are_not_left_out_where_there_is_no_nfs() {
    let arguments = ["serve", "--smb-port", "0", "--user", "anna"];
    let output = filestone(&[&arguments[..], &["--no-permissions"]].concat());
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("--no-permissions: it is about NFS, which is off"),
        "{told}"
    );
}
