//! Tests of the socket from outside: permissions and limits.

use super::*;
use filestone_protocol::fleet_control::{
    Answer, ControlAnswer, ControlRequest, FleetRequest, ListRequest,
};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

/// Answers with the received line and this many blanks.
struct Echo(usize);

impl RequestHandler for Echo {
    fn answer(&mut self, line: &[u8]) -> ControlAnswer {
        let what = String::from_utf8_lossy(line).into_owned();
        ControlAnswer::refused(&(what + &" ".repeat(self.0)))
    }
}

/// A directory that is removed after the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let name = format!("filestone-socket-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("a temporary directory");
        Self(path)
    }

    fn serve(&self, answer_len: usize) -> ControlSocket {
        let choice = SocketChoice::At(self.0.join("ctl"));
        let served =
            ControlSocket::serve(&choice, FleetControl::new(Echo(answer_len))).expect("a socket");
        served.expect("it was chosen")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn request() -> ControlRequest {
    ControlRequest::new(FleetRequest::List(ListRequest::default()))
}

fn refusal(answer: ControlAnswer) -> String {
    match answer.answer {
        Answer::Refused(refusal) => refusal.what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn it_is_its_owners_alone_and_gone_afterwards() {
    let scratch = Scratch::new("owner");
    let socket = scratch.serve(0);
    let mode = std::fs::metadata(socket.path())
        .expect("it is there")
        .permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    let answer = ask(socket.path(), &request()).expect("an answer");
    assert!(refusal(answer).starts_with("{\"version\":1"));
    let path = socket.path().to_owned();
    drop(socket);
    assert!(!path.exists());
    assert!(matches!(
        ask(&path, &request()),
        Err(AskError::Unreachable { .. })
    ));
}

#[test]
fn one_that_is_served_is_left_alone_and_a_stale_one_is_replaced() {
    let scratch = Scratch::new("stale");
    let path = scratch.0.join("ctl");
    // Dropped without removal, as a killed process leaves it.
    drop(UnixListener::bind(&path).expect("a socket"));
    let socket = scratch.serve(0);
    let other = ControlSocket::serve(&SocketChoice::At(path.clone()), FleetControl::new(Echo(0)));
    assert!(matches!(other, Err(SocketError::InUse(_))));
    assert!(ask(&path, &request()).is_ok());
    drop(socket);
    std::fs::write(&path, "mine").expect("a file");
    let other = ControlSocket::serve(&SocketChoice::At(path.clone()), FleetControl::new(Echo(0)));
    assert!(matches!(other, Err(SocketError::NoSocket(_))));
    assert!(path.exists());
}

#[test]
fn who_never_reads_or_never_ends_a_line_keeps_nobody_waiting() {
    let scratch = Scratch::new("slow");
    let socket = scratch.serve(4 << 20);
    let connect = || UnixStream::connect(socket.path()).expect("it is served");
    let mut never_reads = connect();
    never_reads.write_all(b"a\nb\nc\n").expect("it is sent");
    let mut never_ends = connect();
    never_ends.write_all(b"{\"version\"").expect("it is sent");
    // A line that is too long is refused, and its connection closed.
    let mut too_long = connect();
    let _ = too_long.write_all(&vec![b'x'; 70_000]);
    let mut told = String::new();
    let _ = too_long.read_to_string(&mut told);
    assert!(told.contains("65,536 bytes") || told.is_empty(), "{told}");
    let others: Vec<UnixStream> = (0..13).map(|_| connect()).collect();
    let answer = ask(socket.path(), &request()).expect("an answer");
    assert!(refusal(answer).starts_with("{\"version\":1"));
    drop((never_reads, never_ends, others));
}

#[test]
fn several_lines_of_one_connection_are_answered_in_turn() {
    let scratch = Scratch::new("turn");
    let socket = scratch.serve(0);
    let mut stream = UnixStream::connect(socket.path()).expect("it is served");
    stream.write_all(b"one\ntwo\n").expect("it is sent");
    let mut answers = std::io::BufRead::lines(std::io::BufReader::new(stream));
    let mut next = || answers.next().expect("an answer").expect("a line");
    assert!(next().contains("one") && next().contains("two"));
}
