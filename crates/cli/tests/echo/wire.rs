//! Messages of echo: length (four bytes, little-endian), type (one byte), fields.

/// Longest message: a WRITE of 1 MiB and its header.
pub const MESSAGE_MAX: usize = (1 << 20) + 64;
/// Bytes before the fields of a message.
pub const HEAD_LEN: usize = 5;

/// Type of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Client: requests a session.
    Hello = 1,
    /// Client: one operation.
    Request = 2,
    /// Client: acknowledges the new token.
    TokenKnown = 3,
    /// Server: a session; token, number of files, length of each.
    Welcome = 129,
    /// Server: sequence number, status, data.
    Reply = 130,
    /// Server, unsolicited: a new token is valid from now on.
    NewToken = 131,
}

impl Kind {
    const ALL: [Self; 6] = [
        Kind::Hello,
        Kind::Request,
        Kind::TokenKnown,
        Kind::Welcome,
        Kind::Reply,
        Kind::NewToken,
    ];
}

/// Operation of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Verb {
    /// No operation.
    Null = 0,
    /// Reads data of a file.
    Read = 1,
    /// Writes data to a file.
    Write = 2,
}

/// Header of a request; the data of a WRITE follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Token of the session.
    pub token: u64,
    /// Sequence number, echoed in the reply.
    pub sequence: u32,
    /// Operation.
    pub verb: Verb,
    /// File number.
    pub file: u32,
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub len: u32,
}

impl Request {
    /// Bytes of the fields before the data.
    pub const LEN: usize = 29;

    /// Encodes the fields.
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&self.token.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[12] = self.verb as u8;
        bytes[13..17].copy_from_slice(&self.file.to_le_bytes());
        bytes[17..25].copy_from_slice(&self.offset.to_le_bytes());
        bytes[25..].copy_from_slice(&self.len.to_le_bytes());
        bytes
    }

    /// Decodes the fields and returns them with the bytes that follow.
    pub fn read(body: &[u8]) -> Option<(Self, &[u8])> {
        let (token, body) = read_u64(body)?;
        let (sequence, body) = read_u32(body)?;
        let (verb, body) = body.split_first()?;
        let verb = match verb {
            0 => Verb::Null,
            1 => Verb::Read,
            2 => Verb::Write,
            _ => return None,
        };
        let (file, body) = read_u32(body)?;
        let (offset, body) = read_u64(body)?;
        let (len, data) = read_u32(body)?;
        let request = Self {
            token,
            sequence,
            verb,
            file,
            offset,
            len,
        };
        Some((request, data))
    }
}

/// Fields of a Welcome message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Welcome {
    /// Token that requests must contain.
    pub token: u64,
    /// Number of files, numbered from 0.
    pub files: u32,
    /// Length of each file, in bytes.
    pub file_len: u64,
}

impl Welcome {
    /// Encodes the fields.
    pub fn to_bytes(self) -> [u8; 20] {
        let mut bytes = [0; 20];
        bytes[..8].copy_from_slice(&self.token.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.files.to_le_bytes());
        bytes[12..].copy_from_slice(&self.file_len.to_le_bytes());
        bytes
    }

    /// Decodes the fields.
    pub fn read(body: &[u8]) -> Option<Self> {
        let (token, body) = read_u64(body)?;
        let (files, body) = read_u32(body)?;
        let (file_len, rest) = read_u64(body)?;
        rest.is_empty().then_some(Self {
            token,
            files,
            file_len,
        })
    }
}

/// Reads four bytes as a number and returns the rest.
pub fn read_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*number), rest))
}

/// Reads eight bytes as a number and returns the rest.
pub fn read_u64(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u64::from_le_bytes(*number), rest))
}

/// Appends a message with the fields in `parts`, and returns its length.
pub fn put(out: &mut Vec<u8>, kind: Kind, parts: &[&[u8]]) -> usize {
    let body: usize = parts.iter().map(|part| part.len()).sum();
    out.extend_from_slice(&(body as u32 + 1).to_le_bytes());
    out.push(kind as u8);
    parts.iter().for_each(|part| out.extend_from_slice(part));
    HEAD_LEN + body
}

/// A message: type, fields, total length.
pub type Message<'a> = (Kind, &'a [u8], usize);

/// Returns the message at the front of `bytes`; `None` if it is incomplete.
pub fn take(bytes: &[u8]) -> Result<Option<Message<'_>>, &'static str> {
    let Some((len, rest)) = read_u32(bytes) else {
        return Ok(None);
    };
    let len = len as usize;
    if len == 0 || len > MESSAGE_MAX {
        return Err("a message of an impossible length");
    }
    let Some((kind, body)) = rest.get(..len).and_then(<[u8]>::split_first) else {
        return Ok(None);
    };
    let known = Kind::ALL.into_iter().find(|known| *known as u8 == *kind);
    let kind = known.ok_or("a message of an unknown type")?;
    Ok(Some((kind, body, 4 + len)))
}

pub mod tests {
    use super::*;

    const REQUEST: Request = Request {
        token: 7,
        sequence: 9,
        verb: Verb::Write,
        file: 3,
        offset: 1 << 33,
        len: 2,
    };

    pub fn a_message_is_read_as_it_was_put_and_not_before_it_is_whole() {
        let mut bytes = Vec::new();
        let len = put(&mut bytes, Kind::Request, &[&REQUEST.to_bytes(), b"ab"]);
        assert_eq!(len, bytes.len());
        for end in 0..len {
            assert_eq!(take(&bytes[..end]), Ok(None));
        }
        let (kind, body, taken) = take(&bytes).expect("it is right").expect("it is whole");
        assert_eq!((kind, taken), (Kind::Request, len));
        assert_eq!(Request::read(body), Some((REQUEST, &b"ab"[..])));
        let welcome = Welcome {
            token: 1,
            files: 2,
            file_len: 3,
        };
        assert_eq!(Welcome::read(&welcome.to_bytes()), Some(welcome));
    }

    pub fn what_is_no_message_is_refused() {
        assert!(take(&[0, 0, 0, 0, 1]).is_err());
        assert!(take(&[0xff; 9]).is_err());
        assert!(take(&[1, 0, 0, 0, 77]).is_err());
        assert_eq!(Request::read(&[0; Request::LEN - 1]), None);
    }
}
