//! NTLMv2 on the server's side (MS-NLMP): who knows the password of a user, and the key that both
//! sides have then.
//!
//! Anonymous users and those that are let in as guests prove nothing and have no key. LM and
//! NTLMv1 are refused.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use filestone_protection::upcased;
use hmac::{Hmac, KeyInit, Mac};
use md4::Md4;
use md5::{Digest, Md5};

/// Bytes of an NTLMv1 response, which no NTLMv2_CLIENT_CHALLENGE fits into.
const V1_LEN: usize = 24;
/// Where the AV_PAIRs begin in an NTLMv2_RESPONSE (sections 2.2.2.7 and 2.2.2.8).
const PAIRS_AT: usize = 44;
/// Bytes of a session key, a challenge's proof and a signature.
pub const KEY_LEN: usize = 16;

const SIGNATURE: &[u8; 8] = b"NTLMSSP\0";

/// NegotiateFlags, section 2.2.2.5.
mod flag {
    pub const UNICODE: u32 = 0x0000_0001;
    pub const REQUEST_TARGET: u32 = 0x0000_0004;
    pub const SIGN: u32 = 0x0000_0010;
    pub const SEAL: u32 = 0x0000_0020;
    pub const NTLM: u32 = 0x0000_0200;
    pub const ALWAYS_SIGN: u32 = 0x0000_8000;
    pub const TARGET_TYPE_SERVER: u32 = 0x0002_0000;
    pub const EXTENDED_SESSIONSECURITY: u32 = 0x0008_0000;
    pub const TARGET_INFO: u32 = 0x0080_0000;
    pub const VERSION: u32 = 0x0200_0000;
    pub const BITS_128: u32 = 0x2000_0000;
    pub const KEY_EXCHANGE: u32 = 0x4000_0000;
    pub const BITS_56: u32 = 0x8000_0000;
}

/// What a client may ask for and get.
const OFFERED: u32 = flag::SIGN
    | flag::SEAL
    | flag::ALWAYS_SIGN
    | flag::EXTENDED_SESSIONSECURITY
    | flag::BITS_128
    | flag::KEY_EXCHANGE
    | flag::BITS_56;

/// AvId, section 2.2.2.1.
mod av {
    pub const END: u16 = 0;
    pub const COMPUTER: u16 = 1;
    pub const DOMAIN: u16 = 2;
    pub const DNS_COMPUTER: u16 = 3;
    pub const DNS_DOMAIN: u16 = 4;
    pub const FLAGS: u16 = 6;
    pub const TIMESTAMP: u16 = 7;
}

/// MsvAvFlags: the AUTHENTICATE_MESSAGE has a MIC.
const HAS_MIC: u32 = 0x2;

/// The longest token that is looked at, in bytes.
const TOKEN_MAX: usize = 16 << 10;

/// The token is none that is due, or not of NTLMv2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadToken;

/// Who somebody says he is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// Nobody.
    Anonymous,
    /// This user.
    User(String),
}

/// One authentication.
#[derive(Debug, Default)]
pub struct Acceptor {
    negotiate: Vec<u8>,
    challenge_message: Vec<u8>,
    challenge: [u8; 8],
}

/// Whether these bytes are a message of NTLM without anything around it.
pub fn is_message(token: &[u8]) -> bool {
    token.starts_with(SIGNATURE)
}

/// A last message that has been taken apart.
#[derive(Debug)]
pub struct Authentication<'a> {
    message: &'a [u8],
    response: &'a [u8],
    user: Vec<u16>,
    domain: Vec<u16>,
    encrypted_key: &'a [u8],
    flags: u32,
    /// Who he says he is.
    pub claim: Claim,
}

impl Acceptor {
    /// CHALLENGE_MESSAGE, section 2.2.1.2, to a NEGOTIATE_MESSAGE: `challenge` is random, `now` a
    /// FILETIME.
    pub fn challenge(
        &mut self,
        negotiate: &[u8],
        challenge: [u8; 8],
        now: u64,
    ) -> Result<Vec<u8>, BadToken> {
        let body = body_of(negotiate, 1)?;
        let asked = word(body, 0)?;
        let fixed = flag::UNICODE
            | flag::REQUEST_TARGET
            | flag::NTLM
            | flag::TARGET_TYPE_SERVER
            | flag::TARGET_INFO
            | flag::VERSION;
        let flags = fixed | asked & OFFERED;
        let name = utf16("FILESTONE");
        let info = target_info(&name, now);
        const PAYLOAD_AT: usize = 56;
        let mut message = [&SIGNATURE[..], &2_u32.to_le_bytes()].concat();
        push_field(&mut message, name.len(), PAYLOAD_AT);
        message.extend_from_slice(&flags.to_le_bytes());
        message.extend_from_slice(&challenge);
        message.extend_from_slice(&[0; 8]);
        push_field(&mut message, info.len(), PAYLOAD_AT + name.len());
        // Version 6.1, NTLMSSP_REVISION_W2K3.
        message.extend_from_slice(&[6, 1, 0, 0, 0, 0, 0, 15]);
        message.extend_from_slice(&name);
        message.extend_from_slice(&info);
        self.negotiate = negotiate.to_vec();
        self.challenge_message.clone_from(&message);
        self.challenge = challenge;
        Ok(message)
    }

    /// Takes an AUTHENTICATE_MESSAGE apart, section 2.2.1.3.
    pub fn read<'a>(&self, message: &'a [u8]) -> Result<Authentication<'a>, BadToken> {
        let body = body_of(message, 3)?;
        let flags = word(body, 48)?;
        let response = field(message, 20)?;
        let units = |at| -> Result<Vec<u16>, BadToken> {
            let (pairs, _) = field(message, at)?.as_chunks();
            Ok(pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect())
        };
        let (domain, user) = (units(28)?, units(36)?);
        if response.len() > V1_LEN {
            check_pairs(response.get(PAIRS_AT..).ok_or(BadToken)?)?;
        }
        let claim = if user.is_empty() && response.is_empty() {
            Claim::Anonymous
        } else {
            Claim::User(String::from_utf16_lossy(&user))
        };
        Ok(Authentication {
            message,
            response,
            user,
            domain,
            encrypted_key: field(message, 52).unwrap_or_default(),
            flags,
            claim,
        })
    }

    /// The key that both sides have, if the message proves that its sender knows this password.
    pub fn verify(&self, answer: &Authentication<'_>, password: &str) -> Option<Established> {
        let (proof, blob) = answer.response.split_first_chunk::<KEY_LEN>()?;
        let pairs = answer.response.get(PAIRS_AT..)?;
        let user = upcased(&String::from_utf16_lossy(&answer.user));
        let hash = Md4::digest(utf16(password));
        let domain: Vec<u8> = answer
            .domain
            .iter()
            .flat_map(|unit| unit.to_le_bytes())
            .collect();
        let owner = hmac_md5(&hash, &[&utf16(&user), &domain]);
        let expected = hmac_md5(&owner, &[&self.challenge, blob]);
        verify_slices_are_equal(&expected, proof).ok()?;
        let mut key = hmac_md5(&owner, &[proof]);
        if answer.flags & flag::KEY_EXCHANGE != 0 {
            let base = key;
            key = *answer.encrypted_key.first_chunk()?;
            Rc4::new(&base).apply(&mut key);
        }
        if has_mic(pairs) {
            self.check_mic(answer.message, &key)?;
        }
        Some(Established {
            key,
            flags: answer.flags,
        })
    }

    /// MIC, section 3.1.5.1.2: over all three messages, with zeros in its place.
    fn check_mic(&self, message: &[u8], key: &[u8; KEY_LEN]) -> Option<()> {
        const MIC_AT: usize = 72;
        let found = message.get(MIC_AT..MIC_AT + KEY_LEN)?;
        let mut without = message.to_vec();
        without.get_mut(MIC_AT..MIC_AT + KEY_LEN)?.fill(0);
        let pieces = [&self.negotiate[..], &self.challenge_message, &without];
        verify_slices_are_equal(&hmac_md5(key, &pieces), found).ok()
    }
}

/// Somebody has proven who he is.
#[derive(Debug, Clone)]
pub struct Established {
    /// ExportedSessionKey.
    pub key: [u8; KEY_LEN],
    flags: u32,
}

/// Who signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signatory {
    Client,
    Server,
}

impl Established {
    /// mechListMIC: the first signature of a side (section 3.4.4.2).
    pub fn mic(&self, signatory: Signatory, mech_types: &[u8]) -> [u8; KEY_LEN] {
        let way = match signatory {
            Signatory::Client => "client-to-server",
            Signatory::Server => "server-to-client",
        };
        let key_for = |key: &[u8], what: &str| {
            let magic = format!("session key to {way} {what} key magic constant\0");
            let mut md5 = Md5::new();
            md5.update(key);
            md5.update(magic.as_bytes());
            <[u8; KEY_LEN]>::from(md5.finalize())
        };
        let sequence = 0_u32.to_le_bytes();
        let signing_key = key_for(&self.key, "signing");
        let sum = hmac_md5(&signing_key, &[&sequence, mech_types]);
        let mut checksum = [0; 8];
        checksum.copy_from_slice(&sum[..8]);
        if self.flags & flag::KEY_EXCHANGE != 0 {
            let strength = if self.flags & flag::BITS_128 != 0 {
                16
            } else if self.flags & flag::BITS_56 != 0 {
                7
            } else {
                5
            };
            Rc4::new(&key_for(&self.key[..strength], "sealing")).apply(&mut checksum);
        }
        let mut mic = [0; KEY_LEN];
        mic[0] = 1;
        mic[4..12].copy_from_slice(&checksum);
        mic
    }

    /// Whether a client's mechListMIC is right.
    pub fn is_mic(&self, mech_types: &[u8], mic: &[u8]) -> bool {
        let expected = self.mic(Signatory::Client, mech_types);
        verify_slices_are_equal(&expected, mic).is_ok()
    }
}

/// What follows signature and type.
fn body_of(message: &[u8], message_type: u32) -> Result<&[u8], BadToken> {
    let body = message
        .strip_prefix(SIGNATURE)
        .and_then(|rest| rest.strip_prefix(&message_type.to_le_bytes()));
    body.filter(|_| message.len() <= TOKEN_MAX).ok_or(BadToken)
}

fn word(bytes: &[u8], at: usize) -> Result<u32, BadToken> {
    let word = bytes.get(at..).and_then(|tail| tail.first_chunk());
    word.map(|word| u32::from_le_bytes(*word)).ok_or(BadToken)
}

/// The bytes that the Fields at `at` of a message point at.
fn field(message: &[u8], at: usize) -> Result<&[u8], BadToken> {
    let len = (word(message, at)? & 0xffff) as usize;
    let start = word(message, at + 4)? as usize;
    if len == 0 {
        return Ok(&[]);
    }
    message
        .get(start..start.saturating_add(len))
        .ok_or(BadToken)
}

fn push_field(message: &mut Vec<u8>, len: usize, at: usize) {
    let len = (len as u16).to_le_bytes();
    message.extend_from_slice(&len);
    message.extend_from_slice(&len);
    message.extend_from_slice(&(at as u32).to_le_bytes());
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// AV_PAIRs, section 2.2.2.1.
fn target_info(name: &[u8], now: u64) -> Vec<u8> {
    let mut info = Vec::new();
    let lower = utf16("filestone");
    for (id, value) in [
        (av::DOMAIN, name),
        (av::COMPUTER, name),
        (av::DNS_DOMAIN, &[]),
        (av::DNS_COMPUTER, &lower),
        (av::TIMESTAMP, &now.to_le_bytes()),
        (av::END, &[]),
    ] {
        info.extend_from_slice(&id.to_le_bytes());
        info.extend_from_slice(&(value.len() as u16).to_le_bytes());
        info.extend_from_slice(value);
    }
    info
}

/// Whether AV_PAIRs are all there (section 2.2.2.1).
fn check_pairs(mut pairs: &[u8]) -> Result<(), BadToken> {
    while let Some((head, rest)) = pairs.split_first_chunk::<4>() {
        let id = u16::from_le_bytes([head[0], head[1]]);
        let len = usize::from(u16::from_le_bytes([head[2], head[3]]));
        if id == av::END {
            return Ok(());
        }
        pairs = rest.get(len..).ok_or(BadToken)?;
    }
    Ok(())
}

/// Whether the AV_PAIRs of a client say that there is a MIC.
fn has_mic(mut pairs: &[u8]) -> bool {
    while let Some((head, rest)) = pairs.split_first_chunk::<4>() {
        let id = u16::from_le_bytes([head[0], head[1]]);
        let len = usize::from(u16::from_le_bytes([head[2], head[3]]));
        let Some((value, rest)) = rest.split_at_checked(len) else {
            return false;
        };
        match id {
            av::END => return false,
            av::FLAGS => return word(value, 0).is_ok_and(|flags| flags & HAS_MIC != 0),
            _ => pairs = rest,
        }
    }
    false
}

fn hmac_md5(key: &[u8], pieces: &[&[u8]]) -> [u8; KEY_LEN] {
    let mut mac = Hmac::<Md5>::new_from_slice(key).expect("HMAC takes keys of any length");
    for piece in pieces {
        mac.update(piece);
    }
    mac.finalize().into_bytes().into()
}

/// RC4, by which NTLM hides a key and its checksums; nothing else here is encrypted by it.
struct Rc4 {
    state: [u8; 256],
}

impl Rc4 {
    fn new(key: &[u8; KEY_LEN]) -> Self {
        let mut state = [0; 256];
        for (place, value) in state.iter_mut().zip(0..=u8::MAX) {
            *place = value;
        }
        let mut j = 0_u8;
        for i in 0..256 {
            j = j.wrapping_add(state[i]).wrapping_add(key[i % KEY_LEN]);
            state.swap(i, usize::from(j));
        }
        Self { state }
    }

    fn apply(mut self, bytes: &mut [u8]) {
        let (mut i, mut j) = (0_u8, 0_u8);
        for byte in bytes {
            i = i.wrapping_add(1);
            j = j.wrapping_add(self.state[usize::from(i)]);
            self.state.swap(usize::from(i), usize::from(j));
            let sum = self.state[usize::from(i)].wrapping_add(self.state[usize::from(j)]);
            *byte ^= self.state[usize::from(sum)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits = hex.as_bytes().chunks(2);
        let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.map(byte).collect()
    }

    /// MS-NLMP, sections 4.2.1 and 4.2.4: NTLMv2 of "User" in "Domain" with "Password".
    #[test]
    fn the_standards_own_example_is_accepted() {
        let acceptor = Acceptor {
            challenge: *bytes("0123456789abcdef").first_chunk().unwrap(),
            ..Acceptor::default()
        };
        let blob = bytes(concat!(
            "01010000000000000000000000000000aaaaaaaaaaaaaaaa00000000",
            "02000c0044006f006d00610069006e0001000c0053006500720076006500720000000000",
            "00000000"
        ));
        let mut response = bytes("68cd0ab851e51c96aabc927bebef6a1c");
        response.extend_from_slice(&blob);
        let units = |text: &str| text.encode_utf16().collect();
        let encrypted = bytes("c5dad2544fc9799094ce1ce90bc9d03e");
        let mut answer = Authentication {
            message: &[],
            response: &response,
            user: units("User"),
            domain: units("Domain"),
            encrypted_key: &encrypted,
            flags: 0xe28a_8233,
            claim: Claim::User("User".into()),
        };
        let established = acceptor.verify(&answer, "Password").unwrap();
        assert_eq!(established.key, [0x55; 16]);
        assert!(acceptor.verify(&answer, "password").is_none());
        answer.flags &= !flag::KEY_EXCHANGE;
        let established = acceptor.verify(&answer, "Password").unwrap();
        assert_eq!(
            established.key.to_vec(),
            bytes("8de40ccadbc14a82f15cb0ad0de95ca3")
        );
    }

    #[test]
    fn a_message_cut_or_changed_at_any_byte_is_no_more_than_refused() {
        let mut acceptor = Acceptor::default();
        let negotiate = [&SIGNATURE[..], &[1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]].concat();
        for len in 0..negotiate.len() {
            assert!(acceptor.challenge(&negotiate[..len], [1; 8], 2).is_err());
        }
        acceptor.challenge(&negotiate, [1; 8], 2).unwrap();
        let mut message = [&SIGNATURE[..], &[3, 0, 0, 0]].concat();
        for at in [64, 64, 124, 124, 128, 130] {
            push_field(&mut message, 60, at);
        }
        message.resize(200, 7);
        for len in 0..message.len() {
            let _ = acceptor
                .read(&message[..len])
                .map(|read| acceptor.verify(&read, "x"));
        }
        for at in 0..message.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut changed = message.clone();
                changed[at] = value;
                let _ = acceptor
                    .read(&changed)
                    .map(|read| acceptor.verify(&read, "x"));
            }
        }
    }
}
