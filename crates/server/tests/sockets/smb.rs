//! The share, over sockets: one file through both protocols, requests that wait, messages that no
//! client sends.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::requests::{
    close_of, negotiate_of, ntlm_authenticate, ntlm_negotiate, read_of, setup_of, tree_connect_of,
    write_of,
};
use filestone_server::{Options, Running, Server, SmbOptions};
use filestone_wire::smb2::codec::{Array, Decode, Encode, Text};
use filestone_wire::smb2::compound::{self, Message, Messages};
use filestone_wire::smb2::create::{
    Contexts, CreateDisposition, CreateOptions, ImpersonationLevel, ShareAccess,
};
use filestone_wire::smb2::frame::FrameMark;
use filestone_wire::smb2::lock::{LockElement, LockFlags};
use filestone_wire::smb2::negotiate;
use filestone_wire::smb2::oplock_break::{Acknowledgment, Notification, OplockBreak};
use filestone_wire::smb2::{
    AccessMask, Command, FileAttributes, FileId, Header, HeaderFlags, OplockLevel, Route, Status,
    UNASKED, create, echo, lock, read, write,
};

pub fn start() -> Running {
    Server::start(Options {
        threads: 2,
        memory_limit: 16 << 20,
        smb: Some(SmbOptions::default()),
        ..Options::default()
    })
    .unwrap()
}

/// A client that says one thing after the other.
pub struct Client {
    pub socket: TcpStream,
    next_id: u64,
    pub session_id: u64,
    tree_id: u32,
}

impl Client {
    fn connect(server: &Running) -> Self {
        let socket = TcpStream::connect(server.smb_addresses()[0]).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        Self {
            socket,
            next_id: 0,
            session_id: 0,
            tree_id: 0,
        }
    }

    /// One that has come as far as the share, as nobody.
    pub fn mounted(server: &Running) -> Self {
        Self::mounted_by(server, &negotiate_of())
    }

    pub fn mounted_by(server: &Running, negotiate: &negotiate::Request<'_>) -> Self {
        let mut client = Self::connect(server);
        assert_eq!(
            client.ask(Command::Negotiate, negotiate).0.status,
            Status::SUCCESS
        );
        for token in [ntlm_negotiate(), ntlm_authenticate()] {
            let setup = setup_of(&token);
            client.session_id = client.ask(Command::SessionSetup, &setup).0.session_id;
        }
        let connect = tree_connect_of();
        let (header, _) = client.ask(Command::TreeConnect, &connect);
        assert_eq!(header.status, Status::SUCCESS);
        client.tree_id = header.tree_id().unwrap();
        client
    }

    pub fn header(&mut self, command: Command) -> Header {
        let message_id = self.next_id;
        self.next_id += 1;
        Header {
            credits: 16,
            credit_charge: 1,
            route: Route::Sync {
                process_id: 0,
                tree_id: self.tree_id,
            },
            session_id: self.session_id,
            ..Header::request(command, message_id)
        }
    }

    pub fn send(&mut self, command: Command, body: &impl Encode) -> u64 {
        let header = self.header(command);
        let mut frame = Vec::new();
        let start = FrameMark::open(&mut frame);
        compound::append(&mut frame, &header, body);
        FrameMark::close(&mut frame, start, 0);
        self.socket.write_all(&frame).unwrap();
        header.message_id
    }

    /// The next frame; none if the server has hung up.
    pub fn frame(&mut self) -> Option<Vec<u8>> {
        let mut mark = [0; 4];
        self.socket.read_exact(&mut mark).ok()?;
        let mut frame = vec![0; u32::from_be_bytes(mark) as usize];
        self.socket.read_exact(&mut frame).ok()?;
        Some(frame)
    }

    pub fn answer(&mut self) -> (Header, Vec<u8>) {
        let frame = self.frame().expect("an answer");
        let header = Header::from_bytes(&frame).unwrap();
        (header, frame)
    }

    pub fn ask(&mut self, command: Command, body: &impl Encode) -> (Header, Vec<u8>) {
        self.send(command, body);
        self.answer()
    }

    pub fn send_create(&mut self, name: &str, disposition: CreateDisposition, oplock: OplockLevel) {
        let create = create::Request {
            oplock_level: oplock,
            impersonation_level: ImpersonationLevel::IMPERSONATION,
            desired_access: AccessMask(0x001f_01ff),
            file_attributes: FileAttributes::NONE,
            share_access: ShareAccess(7),
            disposition,
            options: CreateOptions::NONE,
            name: Text::from(name),
            contexts: Contexts::default(),
        };
        self.send(Command::Create, &create);
    }

    pub fn create(&mut self, name: &str, disposition: CreateDisposition) -> FileId {
        self.send_create(name, disposition, OplockLevel::NONE);
        self.created().0
    }

    pub fn created(&mut self) -> (FileId, OplockLevel) {
        let (header, frame) = self.answer();
        assert_eq!(header.status, Status::SUCCESS);
        let body: create::Response<'_> = Message::from_bytes(&frame).unwrap().body().unwrap();
        (body.file_id, body.oplock_level)
    }

    fn lock(&mut self, file_id: FileId, flags: LockFlags) -> u64 {
        let elements = [LockElement {
            offset: 0,
            length: 10,
            flags,
        }];
        let lock = lock::Request {
            lock_sequence: 0,
            file_id,
            locks: Array::from(&elements),
        };
        self.send(Command::Lock, &lock)
    }

    pub fn is_served(&mut self) -> bool {
        self.ask(Command::Echo, &echo::Request {}).0.status == Status::SUCCESS
    }
}

#[test]
fn what_is_written_is_read_by_another_in_whatever_case() {
    let server = start();
    let (mut one, mut other) = (Client::mounted(&server), Client::mounted(&server));
    let file = one.create("Hello.txt", CreateDisposition::CREATE);
    let (written, _) = one.ask(Command::Write, &write_of(file, b"hello"));
    assert_eq!(written.status, Status::SUCCESS);
    let same = other.create("HELLO.TXT", CreateDisposition::OPEN);
    let (header, frame) = other.ask(Command::Read, &read_of(same, 100));
    assert_eq!(header.status, Status::SUCCESS);
    let body: read::Response<'_> = Message::from_bytes(&frame).unwrap().body().unwrap();
    assert_eq!(body.data, b"hello");
    let counters = server.stop();
    assert_eq!(counters.requests(Command::Write), 1);
    assert_eq!(counters.calls_total(), 0);
}

#[test]
fn a_lock_waits_until_it_is_free_or_cancelled() {
    let server = start();
    let (mut one, mut other) = (Client::mounted(&server), Client::mounted(&server));
    let mine = one.create("locked", CreateDisposition::OPEN_IF);
    let yours = other.create("locked", CreateDisposition::OPEN_IF);
    one.lock(mine, LockFlags::EXCLUSIVE_LOCK);
    assert_eq!(one.answer().0.status, Status::SUCCESS);
    other.lock(
        yours,
        LockFlags::EXCLUSIVE_LOCK.with(LockFlags::FAIL_IMMEDIATELY),
    );
    assert_eq!(other.answer().0.status, Status::LOCK_NOT_GRANTED);
    let (header, _) = other.ask(Command::Read, &read_of(yours, 5));
    assert_eq!(header.status, Status::FILE_LOCK_CONFLICT);
    // It waits, and is cancelled by its number.
    let id = other.lock(yours, LockFlags::EXCLUSIVE_LOCK);
    assert!(other.answer().0.is_interim());
    other.next_id = id;
    other.send(Command::Cancel, &echo::Request {});
    let (cancelled, _) = other.answer();
    assert_eq!(
        (cancelled.status, cancelled.message_id),
        (Status::CANCELLED, id)
    );
    // It waits again, and has it when it is free.
    other.lock(yours, LockFlags::EXCLUSIVE_LOCK);
    let (interim, _) = other.answer();
    assert!(interim.is_interim());
    one.lock(mine, LockFlags::UNLOCK);
    assert_eq!(one.answer().0.status, Status::SUCCESS);
    let (granted, _) = other.answer();
    assert_eq!(
        (granted.status, granted.route),
        (Status::SUCCESS, interim.route)
    );
    // And one waits for ever whose file is closed meanwhile: it does not.
    one.lock(mine, LockFlags::EXCLUSIVE_LOCK);
    assert!(one.answer().0.is_interim());
    one.send(Command::Close, &close_of(mine));
    let statuses = [one.answer().0.status, one.answer().0.status];
    assert_eq!(statuses, [Status::SUCCESS, Status::RANGE_NOT_LOCKED]);
}

#[test]
fn a_batch_oplock_is_taken_back_before_another_opens() {
    let server = start();
    let (mut one, mut other) = (Client::mounted(&server), Client::mounted(&server));
    one.send_create("kept", CreateDisposition::OPEN_IF, OplockLevel::BATCH);
    let (file_id, level) = one.created();
    assert_eq!(level, OplockLevel::BATCH);
    other.send_create("kept", CreateDisposition::OPEN, OplockLevel::BATCH);
    assert!(other.answer().0.is_interim());
    let (header, frame) = one.answer();
    assert_eq!(
        (header.message_id, header.command),
        (UNASKED, Command::OplockBreak)
    );
    let body: Notification = Message::from_bytes(&frame).unwrap().body().unwrap();
    let left = OplockBreak {
        level: OplockLevel::II,
        file_id,
    };
    assert_eq!(body, Notification::Oplock(left));
    let (header, _) = one.ask(Command::OplockBreak, &Acknowledgment::Oplock(left));
    assert_eq!(header.status, Status::SUCCESS);
    assert_eq!(other.created().1, OplockLevel::II);
}

#[test]
fn who_hangs_up_leaves_nothing() {
    let server = start();
    let mut other = Client::mounted(&server);
    let yours = other.create("left", CreateDisposition::OPEN_IF);
    {
        let mut one = Client::mounted(&server);
        let mine = one.create("left", CreateDisposition::OPEN);
        one.lock(mine, LockFlags::EXCLUSIVE_LOCK);
        assert_eq!(one.answer().0.status, Status::SUCCESS);
    }
    // It is granted as soon as the server has seen the other go.
    other.lock(yours, LockFlags::EXCLUSIVE_LOCK);
    let mut answer = other.answer().0;
    if answer.is_interim() {
        answer = other.answer().0;
    }
    assert_eq!(answer.status, Status::SUCCESS);
}

#[test]
fn a_compound_hands_its_file_on() {
    let server = start();
    let mut client = Client::mounted(&server);
    let mut frame = Vec::new();
    let start = FrameMark::open(&mut frame);
    let create = create::Request {
        oplock_level: OplockLevel::NONE,
        impersonation_level: ImpersonationLevel::IMPERSONATION,
        desired_access: AccessMask(0x0012_0089),
        file_attributes: FileAttributes::NONE,
        share_access: ShareAccess(7),
        disposition: CreateDisposition::OPEN,
        options: CreateOptions::NONE,
        name: Text::from("nothing"),
        contexts: Contexts::default(),
    };
    let header = client.header(Command::Create);
    let mut last = compound::append(&mut frame, &header, &create);
    for _ in 0..2 {
        compound::link(&mut frame, last);
        let header = Header {
            flags: HeaderFlags::RELATED,
            ..client.header(Command::Close)
        };
        last = compound::append(&mut frame, &header, &close_of(FileId::OF_PREVIOUS));
    }
    FrameMark::close(&mut frame, start, 0);
    client.socket.write_all(&frame).unwrap();
    let answers = client.frame().unwrap();
    let statuses: Vec<Status> = Messages::of(&answers)
        .map(|message| message.unwrap().header.status)
        .collect();
    assert_eq!(
        statuses,
        [Status::OBJECT_NAME_NOT_FOUND; 3],
        "they fail as it does"
    );
}

/// What one frame asks for has a bound, whatever credits there are; others are served.
#[test]
fn a_compound_of_many_reads_ends_its_connection() {
    let server = start();
    let mut client = Client::mounted(&server);
    let file_id = client.create("much", CreateDisposition::CREATE);
    let end = write::Request {
        offset: 60_000,
        ..write_of(file_id, b"the end")
    };
    client.send(Command::Write, &end);
    assert_eq!(client.answer().0.status, Status::SUCCESS);
    let mut frame = Vec::new();
    let start = FrameMark::open(&mut frame);
    let mut last = None;
    for _ in 0..200 {
        if let Some(last) = last {
            compound::link(&mut frame, last);
        }
        let header = client.header(Command::Read);
        last = Some(compound::append(
            &mut frame,
            &header,
            &read_of(file_id, 60_000),
        ));
    }
    FrameMark::close(&mut frame, start, 0);
    client.socket.write_all(&frame).unwrap();
    assert!(client.frame().is_none());
    assert!(Client::mounted(&server).is_served());
}

/// The export itself stays: nobody could open anything any more.
#[test]
fn the_root_of_the_share_is_not_deleted_on_close() {
    let server = start();
    let mut client = Client::mounted(&server);
    let create = create::Request {
        oplock_level: OplockLevel::NONE,
        impersonation_level: ImpersonationLevel::IMPERSONATION,
        desired_access: AccessMask(0x001f_01ff),
        file_attributes: FileAttributes::NONE,
        share_access: ShareAccess(7),
        disposition: CreateDisposition::OPEN,
        options: CreateOptions::DIRECTORY_FILE.with(CreateOptions::DELETE_ON_CLOSE),
        name: Text::from(""),
        contexts: Contexts::default(),
    };
    let (header, _) = client.ask(Command::Create, &create);
    assert_eq!(header.status, Status::CANNOT_DELETE);
}

/// Every request, cut at every byte and with every byte changed, gets a status or the end of the
/// connection; and whoever behaves is served all the while.
#[test]
fn hostile_messages_harm_nobody() {
    let server = start();
    let mut other = Client::mounted(&server);
    let bodies: Vec<(Command, Vec<u8>)> = {
        let id = FileId {
            persistent: 3,
            volatile: 3,
        };
        vec![
            (Command::Read, read_of(id, u32::MAX).to_bytes()),
            (Command::Write, write_of(id, &[1; 40]).to_bytes()),
            (Command::Close, close_of(id).to_bytes()),
            (Command::Ioctl, vec![57; 60]),
            (Command::QueryInfo, vec![41; 44]),
            (Command::SetInfo, vec![33; 44]),
            (Command::QueryDirectory, vec![33; 40]),
            (Command::Lock, vec![48; 64]),
            (Command::Create, vec![57; 80]),
            (Command::TreeConnect, vec![9; 20]),
            (Command::SessionSetup, vec![25; 30]),
            (Command::OplockBreak, vec![24; 24]),
            (Command::ChangeNotify, vec![32; 32]),
        ]
    };
    let mut tried = 0;
    for (command, body) in &bodies {
        let mut client = Client::mounted(&server);
        for at in 0..body.len() {
            for value in [0, 0x7f, 0xff] {
                let mut bytes = body.clone();
                bytes[0] = bytes[0].min(57);
                bytes[1] = 0;
                if at > 1 {
                    bytes[at] = value;
                }
                if value == 0x7f {
                    bytes.truncate(at);
                }
                let header = client.header(*command);
                let mut frame = Vec::new();
                let start = FrameMark::open(&mut frame);
                frame.extend(header.to_bytes());
                frame.extend(&bytes);
                FrameMark::close(&mut frame, start, 0);
                client.socket.write_all(&frame).unwrap();
                tried += 1;
                let Some(answer) = client.frame() else {
                    client = Client::mounted(&server);
                    continue;
                };
                assert!(Header::from_bytes(&answer).unwrap().is_response());
            }
        }
        assert!(other.is_served());
    }
    assert!(tried > 1000, "{tried}");
}

/// What is no frame, no message or no request ends its connection.
#[test]
fn what_is_no_request_ends_its_connection() {
    let server = start();
    let mut other = Client::mounted(&server);
    let echo = |change: &dyn Fn(&mut Header)| {
        let mut client = Client::mounted(&server);
        let mut header = client.header(Command::Echo);
        change(&mut header);
        let mut frame = Vec::new();
        let start = FrameMark::open(&mut frame);
        compound::append(&mut frame, &header, &echo::Request {});
        FrameMark::close(&mut frame, start, 0);
        client.socket.write_all(&frame).unwrap();
        client.frame()
    };
    assert!(echo(&|_| {}).is_some());
    assert!(
        echo(&|header| header.message_id = 0).is_none(),
        "it was used"
    );
    assert!(
        echo(&|header| header.message_id = 1 << 40).is_none(),
        "it was not granted"
    );
    assert!(echo(&|header| header.credit_charge = u16::MAX).is_none());
    assert!(echo(&|header| header.flags = HeaderFlags::RESPONSE).is_none());
    for garbage in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[0, 0xff, 0xff, 0xff, 0xfe, b'S', b'M', b'B'],
        &[0, 0, 0, 4, 1, 2, 3, 4],
        &[0, 0, 0, 4, 0xfd, b'S', b'M', b'B'],
        &[0, 0, 0, 4, 0xfc, b'S', b'M', b'B'],
        &[0, 0, 0, 4, 0xff, b'S', b'M', b'B'],
        &[0, 0, 0, 0],
    ] {
        let mut client = Client::connect(&server);
        client.socket.write_all(garbage).unwrap();
        assert!(client.frame().is_none(), "{garbage:?}");
    }
    assert!(other.is_served());
}

#[test]
fn sessions_that_are_never_finished_have_an_end() {
    let server = start();
    let mut client = Client::connect(&server);
    let negotiate = negotiate_of();
    client.ask(Command::Negotiate, &negotiate);
    let token = ntlm_negotiate();
    let mut refused = 0;
    for _ in 0..100 {
        let setup = setup_of(&token);
        let status = client.ask(Command::SessionSetup, &setup).0.status;
        refused += u32::from(status == Status::INSUFFICIENT_RESOURCES);
    }
    assert_eq!(refused, 36);
    assert!(Client::mounted(&server).is_served());
}

#[test]
fn a_share_is_served_without_nfs() {
    let server = Server::start(Options {
        has_nfs: false,
        smb: Some(SmbOptions::default()),
        ..Options::default()
    })
    .unwrap();
    assert_eq!(server.addresses(), []);
    let mut client = Client::mounted(&server);
    assert!(client.is_served());
    assert_eq!(server.stop().calls_total(), 0);
}
