//! The thread that serves the socket of a fleet.
//!
//! Limits per socket: sixteen connections; lines of 64 KiB; one reply at a time, dropped if the
//! client does not read it for ten seconds; and a fifth of a processor, because the thread pauses
//! for four times the time of each reply.

use super::path::{make_room, usual};
use super::{FleetControl, SocketChoice, SocketError};
use filestone_protocol::fleet_control::{ControlAnswer, LINE_MAX};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, fchmod};
use rustix::net::sockopt::socket_peercred;
use rustix::process::getuid;
use socket2::{Domain, SockAddr, Socket, Type};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Maximum number of connections.
const CONNECTIONS_MAX: usize = 16;
/// Longest transfer of a line, in either direction.
const LINE_TIME: Duration = Duration::from_secs(10);
/// Longest time that a connection may be idle.
const IDLE_TIME: Duration = Duration::from_secs(300);

/// Answers the lines received on the socket.
pub trait RequestHandler: Send + 'static {
    /// Returns the reply to a line.
    fn answer(&mut self, line: &[u8]) -> ControlAnswer;
}

/// The socket of a fleet, which is served until this value is dropped.
#[derive(Debug)]
pub struct ControlSocket {
    path: PathBuf,
    /// Ends the thread when closed.
    end: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl ControlSocket {
    /// Serves the chosen socket; returns `None` for [`SocketChoice::None`].
    pub fn serve(
        choice: &SocketChoice,
        control: FleetControl,
    ) -> Result<Option<Self>, SocketError> {
        match choice {
            SocketChoice::None => Ok(None),
            SocketChoice::Usual => Self::at(usual()?, control).map(Some),
            SocketChoice::At(path) => Self::at(path.clone(), control).map(Some),
        }
    }

    fn at(path: PathBuf, control: FleetControl) -> Result<Self, SocketError> {
        make_room(&path)?;
        let refused = |error| SocketError::refused(&path, error);
        let listener = listen(&path).map_err(refused)?;
        let (end, ended) = UnixStream::pair().map_err(refused)?;
        let mut server = Server {
            listener,
            ended,
            connections: Vec::new(),
            control,
        };
        let thread = std::thread::Builder::new().name("filestone-ctl".into());
        let thread = thread.spawn(move || server.run());
        // If the thread did not start, dropping this still removes the socket.
        let mut socket = Self {
            end: Some(end),
            thread: None,
            path: path.clone(),
        };
        socket.thread = Some(thread.map_err(|error| SocketError::refused(&path, error))?);
        Ok(socket)
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported.
            let _ = thread.join();
        }
        // The file may have been removed by another process, which is fine.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Creates a listener that only its owner can use, from the first moment on: Linux gives the file
/// the mode of the socket.
fn listen(path: &Path) -> std::io::Result<UnixListener> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    socket.bind(&SockAddr::unix(path)?)?;
    rustix::fs::chmod(path, Mode::RUSR | Mode::WUSR)?;
    socket.listen(CONNECTIONS_MAX as i32)?;
    socket.set_nonblocking(true)?;
    Ok(UnixListener::from(OwnedFd::from(socket)))
}

struct Server {
    listener: UnixListener,
    ended: UnixStream,
    connections: Vec<Connection>,
    control: FleetControl,
}

impl Server {
    fn run(&mut self) {
        while let Some(ready) = self.wait() {
            let mut answered = false;
            for (connection, is_ready) in self.connections.iter_mut().zip(ready) {
                if is_ready {
                    answered |= connection.advance(&self.control);
                }
            }
            self.accept();
            self.connections.retain(Connection::is_open);
            if answered {
                std::thread::sleep(self.control.rest());
            }
        }
    }

    /// Waits for events; returns which connections can continue, or `None` at the end.
    fn wait(&self) -> Option<Vec<bool>> {
        let has_line =
            |connection: &Connection| connection.out.is_empty() && connection.line.contains(&b'\n');
        let mut waiting = vec![
            PollFd::new(&self.ended, PollFlags::IN),
            PollFd::new(&self.listener, PollFlags::IN),
        ];
        waiting.extend(self.connections.iter().map(|connection| {
            let wanted = if connection.out.is_empty() {
                PollFlags::IN
            } else {
                PollFlags::OUT
            };
            PollFd::new(&connection.stream, wanted)
        }));
        // Expired connections are checked every second.
        let has_lines: Vec<bool> = self.connections.iter().map(has_line).collect();
        let second = Timespec {
            tv_sec: i64::from(!has_lines.contains(&true)),
            tv_nsec: 0,
        };
        // An interrupted poll counts as no event.
        let _ = poll(&mut waiting, Some(&second));
        let mut ready = waiting.iter().map(|fd| !fd.revents().is_empty());
        let has_ended = ready.next().unwrap_or(true);
        ready.next();
        let can_go_on = ready
            .zip(has_lines)
            .map(|(is_ready, has_line)| is_ready || has_line);
        (!has_ended).then(|| can_go_on.collect())
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            let peer = socket_peercred(&stream);
            let is_ours = peer.is_ok_and(|peer| peer.uid == getuid() || peer.uid.is_root());
            if !is_ours || stream.set_nonblocking(true).is_err() {
                continue;
            }
            let mut connection = Connection::new(stream);
            if self.connections.len() >= CONNECTIONS_MAX {
                let refused = ControlAnswer::refused("too many connections: 16 at a time");
                connection.out = refused.to_line();
                connection.write();
                continue;
            }
            self.connections.push(connection);
        }
    }
}

struct Connection {
    stream: UnixStream,
    line: Vec<u8>,
    out: Vec<u8>,
    /// Time since the connection is idle, or since the start of its current line.
    since: Instant,
    is_closed: bool,
}

impl Connection {
    fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            line: Vec::new(),
            out: Vec::new(),
            since: Instant::now(),
            is_closed: false,
        }
    }

    fn is_open(&self) -> bool {
        let is_idle = self.line.is_empty() && self.out.is_empty();
        let limit = if is_idle { IDLE_TIME } else { LINE_TIME };
        !self.is_closed && self.since.elapsed() < limit
    }

    /// Reads, answers one line, and sends what the socket accepts. Returns whether it answered.
    fn advance(&mut self, control: &FleetControl) -> bool {
        if !self.out.is_empty() {
            self.write();
            return false;
        }
        self.read();
        let Some(end) = self.line.iter().position(|byte| *byte == b'\n') else {
            if self.line.len() >= LINE_MAX {
                self.out = ControlAnswer::refused("a line has 65,536 bytes at most").to_line();
                self.write();
                self.is_closed = true;
            }
            return false;
        };
        let rest = self.line.split_off(end + 1);
        let line = std::mem::replace(&mut self.line, rest);
        std::thread::sleep(control.rest());
        self.out = control.answer(&line).to_line();
        self.since = Instant::now();
        self.write();
        true
    }

    fn read(&mut self) {
        let mut room = [0; 4096];
        while self.line.len() < LINE_MAX && !self.line.contains(&b'\n') {
            match self.stream.read(&mut room) {
                Ok(0) => {
                    self.is_closed = true;
                    return;
                }
                Ok(len) => {
                    if self.line.is_empty() {
                        self.since = Instant::now();
                    }
                    self.line
                        .extend_from_slice(room.get(..len).unwrap_or_default());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.is_closed = error.kind() != ErrorKind::WouldBlock;
                    return;
                }
            }
        }
    }

    fn write(&mut self) {
        match self.stream.write(&self.out) {
            Ok(len) => {
                self.out.drain(..len);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => self.is_closed = true,
        }
    }
}
