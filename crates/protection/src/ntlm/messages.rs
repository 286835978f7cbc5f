//! Fields and AV_PAIRs of NTLM's messages (MS-NLMP, section 2.2).

pub(super) const SIGNATURE: &[u8; 8] = b"NTLMSSP\0";

/// Offset of the AV_PAIRs in an NTLMv2_RESPONSE (sections 2.2.2.7 and 2.2.2.8).
pub(super) const PAIRS_AT: usize = 44;
/// Offset of the MIC in an AUTHENTICATE_MESSAGE (section 2.2.1.3).
pub(super) const MIC_AT: usize = 72;
/// Version 6.1, NTLMSSP_REVISION_W2K3 (section 2.2.2.10).
pub(super) const VERSION: [u8; 8] = [6, 1, 0, 0, 0, 0, 0, 15];

/// NegotiateFlags, section 2.2.2.5.
pub(super) mod flag {
    pub const UNICODE: u32 = 0x0000_0001;
    pub const REQUEST_TARGET: u32 = 0x0000_0004;
    pub const SIGN: u32 = 0x0000_0010;
    pub const SEAL: u32 = 0x0000_0020;
    pub const NTLM: u32 = 0x0000_0200;
    pub const ANONYMOUS: u32 = 0x0000_0800;
    pub const ALWAYS_SIGN: u32 = 0x0000_8000;
    pub const TARGET_TYPE_SERVER: u32 = 0x0002_0000;
    pub const EXTENDED_SESSIONSECURITY: u32 = 0x0008_0000;
    pub const TARGET_INFO: u32 = 0x0080_0000;
    pub const VERSION: u32 = 0x0200_0000;
    pub const BITS_128: u32 = 0x2000_0000;
    pub const KEY_EXCHANGE: u32 = 0x4000_0000;
    pub const BITS_56: u32 = 0x8000_0000;
}

/// AvId, section 2.2.2.1.
pub(super) mod av {
    pub const END: u16 = 0;
    pub const COMPUTER: u16 = 1;
    pub const DOMAIN: u16 = 2;
    pub const DNS_COMPUTER: u16 = 3;
    pub const DNS_DOMAIN: u16 = 4;
    pub const FLAGS: u16 = 6;
    pub const TIMESTAMP: u16 = 7;
}

/// MsvAvFlags: the AUTHENTICATE_MESSAGE has a MIC.
pub(super) const HAS_MIC: u32 = 0x2;

/// Length of the longest accepted token, in bytes.
const TOKEN_MAX: usize = 16 << 10;

/// The token is not the expected message, or not NTLMv2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadToken;

/// Returns whether these bytes are a bare NTLM message, without an envelope.
pub fn is_message(token: &[u8]) -> bool {
    token.starts_with(SIGNATURE)
}

/// Signature and MessageType.
pub(super) fn head(message_type: u32) -> Vec<u8> {
    [&SIGNATURE[..], &message_type.to_le_bytes()].concat()
}

/// Returns the bytes after signature and type.
pub(super) fn body_of(message: &[u8], message_type: u32) -> Result<&[u8], BadToken> {
    let body = message
        .strip_prefix(SIGNATURE)
        .and_then(|rest| rest.strip_prefix(&message_type.to_le_bytes()));
    body.filter(|_| message.len() <= TOKEN_MAX).ok_or(BadToken)
}

pub(super) fn word(bytes: &[u8], at: usize) -> Result<u32, BadToken> {
    let word = bytes.get(at..).and_then(|tail| tail.first_chunk());
    word.map(|word| u32::from_le_bytes(*word)).ok_or(BadToken)
}

/// Returns the payload bytes that the Fields at offset `at` of a message refer to.
pub(super) fn field(message: &[u8], at: usize) -> Result<&[u8], BadToken> {
    let len = (word(message, at)? & 0xffff) as usize;
    let start = word(message, at + 4)? as usize;
    if len == 0 {
        return Ok(&[]);
    }
    message
        .get(start..start.saturating_add(len))
        .ok_or(BadToken)
}

/// Appends Fields for `len` bytes of the payload at offset `at`.
pub(super) fn push_field(message: &mut Vec<u8>, len: usize, at: usize) {
    let len = (len as u16).to_le_bytes();
    message.extend_from_slice(&len);
    message.extend_from_slice(&len);
    message.extend_from_slice(&(at as u32).to_le_bytes());
}

pub(super) fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// An AV_PAIR and the bytes after it; an error if it is truncated.
type Pair<'a> = (u16, &'a [u8], &'a [u8]);

fn next_pair(pairs: &[u8]) -> Result<Option<Pair<'_>>, BadToken> {
    let Some((head, rest)) = pairs.split_first_chunk::<4>() else {
        return Ok(None);
    };
    let id = u16::from_le_bytes([head[0], head[1]]);
    let len = usize::from(u16::from_le_bytes([head[2], head[3]]));
    if id == av::END {
        return Ok(None);
    }
    let (value, rest) = rest.split_at_checked(len).ok_or(BadToken)?;
    Ok(Some((id, value, rest)))
}

/// Checks that the AV_PAIRs are complete (section 2.2.2.1).
pub(super) fn check_pairs(mut pairs: &[u8]) -> Result<(), BadToken> {
    while let Some((_, _, rest)) = next_pair(pairs)? {
        pairs = rest;
    }
    Ok(())
}

/// Returns the value of the first AV_PAIR with this AvId.
pub(super) fn find_pair(mut pairs: &[u8], wanted: u16) -> Option<&[u8]> {
    while let Ok(Some((id, value, rest))) = next_pair(pairs) {
        if id == wanted {
            return Some(value);
        }
        pairs = rest;
    }
    None
}

/// Returns the AV_PAIRs without MsvAvEOL and without those with this AvId.
pub(super) fn pairs_without(mut pairs: &[u8], unwanted: u16) -> Result<Vec<u8>, BadToken> {
    let mut kept = Vec::with_capacity(pairs.len());
    while let Some((id, value, rest)) = next_pair(pairs)? {
        if id != unwanted {
            push_pair(&mut kept, id, value);
        }
        pairs = rest;
    }
    Ok(kept)
}

pub(super) fn push_pair(pairs: &mut Vec<u8>, id: u16, value: &[u8]) {
    pairs.extend_from_slice(&id.to_le_bytes());
    pairs.extend_from_slice(&(value.len() as u16).to_le_bytes());
    pairs.extend_from_slice(value);
}
