//! An SMB2 server of empty directories, whatever is made in them, that lets everybody in as a guest,
//! and does wrong whatever a test wants of it.

use filestone_wire::smb2::codec::{Decode, Encode};
use filestone_wire::smb2::compound::{Message, Messages, append, link};
use filestone_wire::smb2::create::{self, CreateAction};
use filestone_wire::smb2::frame::{FRAME_MAX, FrameAssembler, FrameMark};
use filestone_wire::smb2::ioctl::{
    self, ControlCode, CopychunkCopy, CopychunkResponse, RESUME_KEY_LEN, ResumeKeyResponse,
};
use filestone_wire::smb2::negotiate::{self, Contexts};
use filestone_wire::smb2::session_setup::{self, SessionFlags};
use filestone_wire::smb2::tree_connect::{self, ShareCapabilities, ShareFlags, ShareType};
use filestone_wire::smb2::{
    AccessMask, Capabilities, Command, Dialect, ErrorResponse, FileAttributes, FileId, FileTime,
    Header, HeaderFlags, OplockLevel, SecurityMode, Status, close, echo, flush, lock, logoff,
    set_info, tree_disconnect, write,
};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

/// What it does about a request.
pub enum Reaction {
    /// What a server does.
    Usual,
    /// What a server does, but for what this makes of the message.
    Changed(fn(&mut Vec<u8>)),
    /// These bytes go out in place of a frame.
    Bytes(Vec<u8>),
    /// Nothing.
    Silence,
    /// The connection is closed.
    HangUp,
}

type Judge = Arc<dyn Fn(&Header) -> Reaction + Send + Sync>;

/// Serves on a free port of loopback for as long as the test runs.
pub fn serve(judge: impl Fn(&Header) -> Reaction + Send + Sync + 'static) -> SocketAddr {
    let judge: Judge = Arc::new(judge);
    listen(move |stream| {
        let judge = Arc::clone(&judge);
        // A client that is gone ends this.
        let _ = std::thread::spawn(move || converse(stream, &judge));
    })
}

/// Listens, and does this to everybody who comes.
pub fn listen(answer: impl Fn(TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || listener.incoming().flatten().for_each(answer));
    address
}

/// A message that is a frame of its own.
pub fn frame(message: &[u8]) -> Vec<u8> {
    let mark = FrameMark {
        len: message.len() as u32,
    };
    [&mark.to_bytes(), message].concat()
}

fn converse(mut stream: TcpStream, judge: &Judge) -> std::io::Result<()> {
    let mut assembler = FrameAssembler::new(FRAME_MAX);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let len = stream.read(&mut buffer)?;
        if len == 0 {
            return Ok(());
        }
        let mut piece = &buffer[..len];
        while let Ok(Some(request)) = assembler.next(&mut piece) {
            if !answer(&mut stream, request, judge)? {
                return Ok(());
            }
        }
    }
}

/// Answers the messages of a frame with a frame; whether the connection goes on.
fn answer(stream: &mut TcpStream, request: &[u8], judge: &Judge) -> std::io::Result<bool> {
    let mut responses: Vec<Vec<u8>> = Vec::new();
    for message in Messages::of(request).flatten() {
        let mut response = usual(&message);
        match judge(&message.header) {
            Reaction::Usual => responses.push(response),
            Reaction::Changed(change) => {
                change(&mut response);
                responses.push(response);
            }
            Reaction::Bytes(bytes) => stream.write_all(&bytes)?,
            Reaction::Silence => {}
            Reaction::HangUp => return Ok(false),
        }
    }
    let Some((first, others)) = responses.split_first() else {
        return Ok(true);
    };
    let (mut out, mut last) = (first.clone(), 0);
    for response in others {
        link(&mut out, last);
        last = out.len();
        out.extend_from_slice(response);
    }
    stream.write_all(&frame(&out))?;
    Ok(true)
}

/// The header of a response to this request.
pub fn header_to(asked: &Header, status: Status) -> Header {
    Header {
        status,
        credits: asked.credits.clamp(1, 64),
        flags: HeaderFlags(HeaderFlags::RESPONSE.0 | asked.flags.0 & HeaderFlags::RELATED.0),
        route: asked.route,
        session_id: 7,
        ..Header::request(asked.command, asked.message_id)
    }
}

/// A response of this status with this body.
pub fn message(asked: &Header, status: Status, body: &impl Encode) -> Vec<u8> {
    let mut out = Vec::new();
    append(&mut out, &header_to(asked, status), body);
    out
}

/// What a server answers.
fn usual(request: &Message<'_>) -> Vec<u8> {
    let (asked, ok) = (&request.header, Status::SUCCESS);
    match asked.command {
        Command::Negotiate => message(asked, ok, &negotiated(Dialect::SMB_2_1)),
        Command::SessionSetup => message(asked, ok, &guest()),
        Command::TreeConnect => message(asked, ok, &tree()),
        Command::Create => message(asked, ok, &directory()),
        Command::Close => message(asked, ok, &closed()),
        Command::Write => {
            let count = request.body::<write::Request<'_>>();
            let count = count.map_or(0, |write| write.data.len() as u32);
            let remaining = 0;
            message(asked, ok, &write::Response { count, remaining })
        }
        Command::Flush => message(asked, ok, &flush::Response {}),
        Command::SetInfo => message(asked, ok, &set_info::Response),
        Command::Lock => message(asked, ok, &lock::Response {}),
        Command::QueryDirectory => {
            let nothing = ErrorResponse::default();
            message(asked, Status::NO_MORE_FILES, &nothing)
        }
        Command::Ioctl => controlled(request),
        Command::Echo => message(asked, ok, &echo::Response {}),
        Command::Logoff => message(asked, ok, &logoff::Response {}),
        Command::TreeDisconnect => message(asked, ok, &tree_disconnect::Response {}),
        _ => message(asked, Status::NOT_SUPPORTED, &ErrorResponse::default()),
    }
}

/// Chunks, bytes of a chunk, and bytes in all that it copies at once.
pub const COPY_LIMITS: [u32; 3] = [4, 65_536, 131_072];

/// What comes of an IOCTL that is about a copy.
fn controlled(request: &Message<'_>) -> Vec<u8> {
    let asked = &request.header;
    let Ok(ioctl) = request.body::<ioctl::Request<'_>>() else {
        return message(asked, Status::INVALID_PARAMETER, &ErrorResponse::default());
    };
    let (status, output) = match ioctl.control_code {
        ControlCode::SRV_REQUEST_RESUME_KEY => {
            let resume_key = [5; RESUME_KEY_LEN];
            (Status::SUCCESS, ResumeKeyResponse { resume_key }.to_bytes())
        }
        ControlCode::SRV_COPYCHUNK => copied(ioctl.input),
        _ => return message(asked, Status::NOT_SUPPORTED, &ErrorResponse::default()),
    };
    let response = ioctl::Response {
        control_code: ioctl.control_code,
        file_id: ioctl.file_id,
        flags: 0,
        input: &[],
        output: &output,
    };
    message(asked, status, &response)
}

fn copied(input: &[u8]) -> (Status, Vec<u8>) {
    let copy = CopychunkCopy::from_bytes(input).expect("a request to copy");
    assert_eq!(copy.source_key, [5; RESUME_KEY_LEN]);
    let [chunks, chunk_len, total] = COPY_LIMITS;
    let sum: u32 = copy.chunks.iter().map(|chunk| chunk.length).sum();
    let longest = copy.chunks.iter().map(|chunk| chunk.length).max();
    let is_within =
        copy.chunks.len() as u32 <= chunks && longest <= Some(chunk_len) && sum <= total;
    let (status, figures) = if is_within {
        (Status::SUCCESS, [copy.chunks.len() as u32, 0, sum])
    } else {
        (Status::INVALID_PARAMETER, COPY_LIMITS)
    };
    let [chunks_written, chunk_bytes_written, total_bytes_written] = figures;
    let said = CopychunkResponse {
        chunks_written,
        chunk_bytes_written,
        total_bytes_written,
    };
    (status, said.to_bytes())
}

/// NEGOTIATE of a server that has chosen `dialect`.
pub fn negotiated(dialect: Dialect) -> negotiate::Response<'static> {
    negotiate::Response {
        security_mode: SecurityMode::SIGNING_ENABLED,
        dialect,
        server_guid: [1; 16],
        capabilities: Capabilities::LARGE_MTU,
        max_transact_size: 1 << 20,
        max_read_size: 1 << 20,
        max_write_size: 1 << 20,
        system_time: FileTime::default(),
        server_start_time: FileTime::default(),
        security_buffer: &[],
        contexts: Contexts::default(),
    }
}

fn guest() -> session_setup::Response<'static> {
    session_setup::Response {
        session_flags: SessionFlags::IS_GUEST,
        security_buffer: &[],
    }
}

fn tree() -> tree_connect::Response {
    tree_connect::Response {
        share_type: ShareType::DISK,
        share_flags: ShareFlags::NONE,
        capabilities: ShareCapabilities::NONE,
        maximal_access: AccessMask(0x001f_01ff),
    }
}

const NO_TIME: FileTime = FileTime { ticks: 0 };

fn directory() -> create::Response<'static> {
    create::Response {
        oplock_level: OplockLevel(0),
        flags: 0,
        action: CreateAction::OPENED,
        creation_time: NO_TIME,
        last_access_time: NO_TIME,
        last_write_time: NO_TIME,
        change_time: NO_TIME,
        allocation_size: 0,
        end_of_file: 0,
        file_attributes: FileAttributes::DIRECTORY,
        file_id: FileId {
            persistent: 1,
            volatile: 1,
        },
        contexts: create::Contexts::default(),
    }
}

fn closed() -> close::Response {
    close::Response {
        flags: close::CloseFlags::NONE,
        creation_time: NO_TIME,
        last_access_time: NO_TIME,
        last_write_time: NO_TIME,
        change_time: NO_TIME,
        allocation_size: 0,
        end_of_file: 0,
        file_attributes: FileAttributes::NONE,
    }
}
