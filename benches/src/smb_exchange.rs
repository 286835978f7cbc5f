//! Single SMB2 requests over a blocking connection: enough to open a file on a server that accepts
//! guests. The measured requests are in [`raw_client`](crate::raw_client).

use anyhow::{Result, bail};
use filestone_interop::exchange;
use filestone_wire::smb2::codec::{Array, Decode, Encode, Reader, Text};
use filestone_wire::smb2::create::{
    self, CreateDisposition, CreateOptions, ImpersonationLevel, ShareAccess,
};
use filestone_wire::smb2::frame::FrameMark;
use filestone_wire::smb2::{
    AccessMask, Capabilities, Channel, Command, Dialect, FileAttributes, FileId, HEADER_LEN,
    Header, OplockLevel, Route, SecurityMode, Status, compound, echo, negotiate, read,
    session_setup, tree_connect,
};
use std::net::TcpStream;

/// Offset of MessageId in a frame with one message.
pub const MESSAGE_ID_AT: usize = 4 + 24;
/// NTLMSSP_NEGOTIATE_UNICODE, REQUEST_TARGET and NTLM (MS-NLMP, section 2.2.2.5).
const NTLM_FLAGS: u32 = 0x0000_0205;
const USER: &str = "raw";

/// A session with an open file.
pub struct Opened {
    /// Message ID of the next request.
    pub next_id: u64,
    session_id: u64,
    tree_id: u32,
    file_id: FileId,
    /// Length of the file in bytes.
    pub file_len: u64,
}

/// Opens a file of a share with dialect 2.1, and gets credits for `credits` requests in flight.
pub fn open(stream: &mut TcpStream, share: &str, file: &str, credits: u16) -> Result<Opened> {
    let mut way = Opened {
        next_id: 0,
        session_id: 0,
        tree_id: 0,
        file_id: FileId::OF_PREVIOUS,
        file_len: 0,
    };
    let dialects = [Dialect::SMB_2_1];
    let request = negotiate::Request {
        security_mode: SecurityMode::SIGNING_ENABLED,
        capabilities: Capabilities::NONE,
        client_guid: [1; 16],
        dialects: Array::from(&dialects[..]),
        contexts: negotiate::Contexts::from(&[][..]),
    };
    way.exchange(stream, Command::Negotiate, credits, &request)?;
    let challenge = way.set_up(stream, credits, &first_token())?;
    if challenge.status != Status::MORE_PROCESSING_REQUIRED {
        bail!("the server challenged nobody: {}", challenge.status);
    }
    way.session_id = challenge.session_id;
    accepted(way.set_up(stream, credits, &last_token())?)?;
    let path = format!("\\\\127.0.0.1\\{share}");
    let request = tree_connect::Request {
        flags: tree_connect::ConnectFlags::NONE,
        path: Text::from(&*path),
    };
    let (header, _) = way.exchange(stream, Command::TreeConnect, 1, &request)?;
    way.tree_id = accepted(header)?.tree_id().unwrap_or(0);
    way.create(stream, file)?;
    Ok(way)
}

fn accepted(header: Header) -> Result<Header> {
    if header.status == Status::SUCCESS {
        return Ok(header);
    }
    bail!("{:?} was answered {}", header.command, header.status)
}

impl Opened {
    /// Returns a frame with this request and message ID 0.
    pub fn frame(&self, command: Command, credits: u16, body: &impl Encode) -> Vec<u8> {
        let header = Header {
            credit_charge: 1,
            credits,
            session_id: self.session_id,
            route: Route::Sync {
                process_id: 0,
                tree_id: self.tree_id,
            },
            ..Header::request(command, 0)
        };
        let mut bytes = Vec::new();
        let start = FrameMark::open(&mut bytes);
        compound::append(&mut bytes, &header, body);
        FrameMark::close(&mut bytes, start, 0);
        bytes
    }

    /// Returns a frame with ECHO.
    pub fn echo(&self) -> Vec<u8> {
        self.frame(Command::Echo, 1, &echo::Request::default())
    }

    /// Returns a frame with READ of the file.
    pub fn read(&self, offset: u64, length: u32) -> Vec<u8> {
        let request = read::Request {
            padding: read::Request::PADDING,
            flags: read::ReadFlags::NONE,
            length,
            offset,
            file_id: self.file_id,
            minimum_count: 0,
            channel: Channel::NONE,
            remaining_bytes: 0,
            channel_info: &[],
        };
        self.frame(Command::Read, 1, &request)
    }

    fn set_up(&mut self, stream: &mut TcpStream, credits: u16, token: &[u8]) -> Result<Header> {
        let request = session_setup::Request {
            flags: session_setup::SetupFlags::NONE,
            security_mode: SecurityMode::SIGNING_ENABLED,
            capabilities: Capabilities::NONE,
            channel: 0,
            previous_session_id: 0,
            security_buffer: token,
        };
        let (header, _) = self.exchange(stream, Command::SessionSetup, credits, &request)?;
        Ok(header)
    }

    fn create(&mut self, stream: &mut TcpStream, file: &str) -> Result<()> {
        let request = create::Request {
            oplock_level: OplockLevel::NONE,
            impersonation_level: ImpersonationLevel::IMPERSONATION,
            desired_access: AccessMask::READ_DATA,
            file_attributes: FileAttributes::NORMAL,
            share_access: ShareAccess::READ,
            disposition: CreateDisposition::OPEN,
            options: CreateOptions::NONE,
            name: Text::from(file),
            contexts: create::Contexts::from(&[][..]),
        };
        let (header, response) = self.exchange(stream, Command::Create, 1, &request)?;
        accepted(header)?;
        let mut reader = Reader::starting_at(&response, HEADER_LEN);
        let created = create::Response::decode(&mut reader)?;
        self.file_id = created.file_id;
        self.file_len = created.end_of_file;
        Ok(())
    }

    fn exchange(
        &mut self,
        stream: &mut TcpStream,
        command: Command,
        credits: u16,
        body: &impl Encode,
    ) -> Result<(Header, Vec<u8>)> {
        let mut frame = self.frame(command, credits, body);
        self.number(&mut frame);
        let response = exchange(stream, &frame)?;
        Ok((Header::from_bytes(&response)?, response))
    }

    /// Assigns the next message ID to a frame.
    pub fn number(&mut self, frame: &mut [u8]) {
        let place = frame.get_mut(MESSAGE_ID_AT..);
        if let Some(place) = place.and_then(|tail| tail.first_chunk_mut()) {
            *place = self.next_id.to_le_bytes();
        }
        self.next_id += 1;
    }
}

/// Sends a frame and returns the response without its length prefix.
pub fn exchange(stream: &mut TcpStream, frame: &[u8]) -> Result<Vec<u8>> {
    exchange::framed(stream, frame, |mark| Ok(u32::from_be_bytes(mark) as usize))
}

/// Returns an empty NEGOTIATE_MESSAGE (MS-NLMP, section 2.2.1.1).
fn first_token() -> Vec<u8> {
    let mut token = [&b"NTLMSSP\0"[..], &1_u32.to_le_bytes()].concat();
    token.extend_from_slice(&NTLM_FLAGS.to_le_bytes());
    token.extend_from_slice(&[0; 16]);
    token
}

/// Returns an AUTHENTICATE_MESSAGE (section 2.2.1.3) of a user without credentials.
fn last_token() -> Vec<u8> {
    const PAYLOAD_AT: u32 = 64;
    let user: Vec<u8> = USER.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let len = user.len() as u16;
    let mut token = [&b"NTLMSSP\0"[..], &3_u32.to_le_bytes()].concat();
    // LmChallengeResponse, NtChallengeResponse, DomainName, UserName, Workstation, the key.
    for len in [0, 0, 0, len, 0, 0] {
        token.extend_from_slice(&len.to_le_bytes());
        token.extend_from_slice(&len.to_le_bytes());
        token.extend_from_slice(&PAYLOAD_AT.to_le_bytes());
    }
    token.extend_from_slice(&NTLM_FLAGS.to_le_bytes());
    token.extend_from_slice(&user);
    token
}
