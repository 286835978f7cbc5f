//! A client that sends what it likes.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use filestone_server::Running;
use filestone_wire::smb2::codec::{Decode as _, Encode};
use filestone_wire::smb2::compound::Message;
use filestone_wire::smb2::frame::FrameMark;
use filestone_wire::smb2::{
    Command, Dialect, FileId, HEADER_LEN, Header, Route, Status, create, echo,
};

use super::super::requests::{
    create_of, negotiate_of, ntlm_authenticate, ntlm_negotiate, setup_of, tree_connect_of,
};
use super::{Got, bodies};
use filestone_wire::smb2::OplockLevel;

/// Longer than any answer takes here; nothing waits for it where a server answers as it should.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// One connection of it.
pub struct Attacker {
    socket: TcpStream,
    pub next_id: u64,
    pub session_id: u64,
    pub tree_id: u32,
    /// What was opened last.
    pub last_opened: FileId,
    /// Whether it has waited in vain for an answer.
    is_silent: bool,
}

impl Attacker {
    pub fn connected(server: &Running) -> Self {
        let socket = TcpStream::connect(server.smb_addresses()[0]).unwrap();
        socket.set_read_timeout(Some(ANSWER_MAX)).unwrap();
        socket.set_nodelay(true).unwrap();
        Self {
            socket,
            next_id: 0,
            session_id: 0,
            tree_id: 0,
            last_opened: FileId::OF_PREVIOUS,
            is_silent: false,
        }
    }

    /// One that has agreed on a dialect.
    pub fn negotiated(server: &Running, dialect: Dialect) -> Self {
        let mut attacker = Self::connected(server);
        let body = if dialect == Dialect::SMB_3_1_1 {
            bodies::negotiate_3_1_1(&[bodies::hashes(&[1])])
        } else {
            bodies::negotiate(&[dialect.0])
        };
        let got = attacker.ask(Command::Negotiate, &body);
        assert_eq!(got, Got::Status(Status::SUCCESS));
        attacker
    }

    /// One that has come as far as the share, as a guest.
    pub fn mounted(server: &Running) -> Self {
        let mut attacker = Self::connected(server);
        attacker.ask(Command::Negotiate, &negotiate_of().to_bytes());
        attacker.log_on();
        attacker.connect_tree();
        attacker
    }

    /// Logs on as a guest.
    pub fn log_on(&mut self) {
        for token in [ntlm_negotiate(), ntlm_authenticate()] {
            self.tell(Command::SessionSetup, &setup_of(&token).to_bytes());
            self.session_id = self.answer().expect("it goes on").0.session_id;
        }
    }

    /// Connects to the share.
    pub fn connect_tree(&mut self) {
        self.tell(Command::TreeConnect, &tree_connect_of().to_bytes());
        let (header, _) = self.answer().expect("a tree");
        assert_eq!(header.status, Status::SUCCESS);
        self.tree_id = header.tree_id().unwrap();
    }

    /// A file of it that is open.
    pub fn opened(&mut self, name: &str) -> FileId {
        let body = create_of(name, OplockLevel::NONE).to_bytes();
        let got = self.ask(Command::Create, &body);
        assert_eq!(got, Got::Status(Status::SUCCESS), "{name}");
        self.last_opened
    }

    /// A request as it should be, with the next message id.
    pub fn message(&mut self, command: Command, body: &[u8]) -> Vec<u8> {
        let header = Header {
            credits: 16,
            credit_charge: 1,
            route: Route::Sync {
                process_id: 0,
                tree_id: self.tree_id,
            },
            session_id: self.session_id,
            ..Header::request(command, self.next_id)
        };
        self.next_id += u64::from(command != Command::Cancel);
        let mut message = header.to_bytes();
        message.extend_from_slice(body);
        message
    }

    /// Sends bytes as they are. A server may have hung up already.
    pub fn send(&mut self, bytes: &[u8]) {
        let _ = self.socket.write_all(bytes);
    }

    /// Sends a frame.
    pub fn say(&mut self, messages: &[u8]) {
        let mut frame = Vec::new();
        let start = FrameMark::open(&mut frame);
        frame.extend_from_slice(messages);
        FrameMark::close(&mut frame, start, 0);
        self.send(&frame);
    }

    fn tell(&mut self, command: Command, body: &[u8]) {
        let message = self.message(command, body);
        self.say(&message);
    }

    /// Sends a request, and says what it got.
    pub fn ask(&mut self, command: Command, body: &[u8]) -> Got {
        self.tell(command, body);
        self.heard()
    }

    /// Sends a frame, and says what it got.
    pub fn got(&mut self, messages: &[u8]) -> Got {
        self.say(messages);
        self.heard()
    }

    /// The next frame; none if the server has hung up.
    pub fn frame(&mut self) -> Option<Vec<u8>> {
        let mut mark = [0; 4];
        self.read(&mut mark)?;
        let mut frame = vec![0; u32::from_be_bytes(mark) as usize];
        self.read(&mut frame)?;
        Some(frame)
    }

    fn read(&mut self, into: &mut [u8]) -> Option<()> {
        let read = self.socket.read_exact(into);
        self.is_silent = read
            .as_ref()
            .is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
        read.ok()
    }

    pub fn answer(&mut self) -> Option<(Header, Vec<u8>)> {
        let frame = self.frame()?;
        Some((self.taken(&frame)?, frame))
    }

    /// The header of an answer, whose handle is noted; none of what is no answer.
    fn taken(&mut self, frame: &[u8]) -> Option<Header> {
        let message = Message::from_bytes(frame).ok()?;
        let header = message.header;
        if (header.command, header.status) == (Command::Create, Status::SUCCESS) {
            let body: create::Response<'_> = message.body().ok()?;
            self.last_opened = body.file_id;
        }
        header.is_response().then_some(header)
    }

    /// What the next answer says.
    pub fn heard(&mut self) -> Got {
        let Some(frame) = self.frame() else {
            return if self.is_silent {
                Got::Nothing
            } else {
                Got::Closed
            };
        };
        match self.taken(&frame).or_else(|| unknown(&frame)) {
            Some(header) => Got::Status(header.status),
            None => Got::Garbage,
        }
    }

    /// Sends a frame that is not to be answered: an ECHO behind it is answered first.
    pub fn got_nothing(&mut self, messages: &[u8]) -> Got {
        self.say(messages);
        let echo = self.next_id;
        self.tell(Command::Echo, &echo::Request {}.to_bytes());
        match self.answer() {
            Some((header, _)) if header.message_id == echo => Got::Nothing,
            Some((header, _)) => Got::Status(header.status),
            None => Got::Closed,
        }
    }

    /// Sends bytes and nothing more, for ever.
    pub fn got_at_the_end(&mut self, bytes: &[u8]) -> Got {
        self.send(bytes);
        let _ = self.socket.shutdown(Shutdown::Write);
        self.heard()
    }

    pub fn is_served(&mut self) -> bool {
        let got = self.ask(Command::Echo, &echo::Request {}.to_bytes());
        got == Got::Status(Status::SUCCESS)
    }
}

/// The header of an answer to a command that there is not.
fn unknown(frame: &[u8]) -> Option<Header> {
    let mut known = *frame.first_chunk::<HEADER_LEN>()?;
    known[12..14].copy_from_slice(&(Command::Echo as u16).to_le_bytes());
    let header = Header::from_bytes(&known).ok()?;
    header.is_response().then_some(header)
}
