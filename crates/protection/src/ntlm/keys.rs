//! Keys and signatures (MS-NLMP, sections 3.3.2 and 3.4).

use super::messages::{flag, utf16};
use crate::upcased;
use aws_lc_rs::constant_time::verify_slices_are_equal;
use hmac::{Hmac, KeyInit, Mac};
use md4::Md4;
use md5::{Digest, Md5};

/// Length of a session key, of a proof and of a signature, in bytes.
pub const KEY_LEN: usize = 16;

/// NTOWFv2: the key of a user. `domain` is in UTF-16, as it is in the message.
pub(super) fn ntowf_v2(user: &str, domain: &[u8], password: &str) -> [u8; KEY_LEN] {
    let hash = Md4::digest(utf16(password));
    hmac_md5(&hash, &[&utf16(&upcased(user)), domain])
}

pub(super) fn hmac_md5(key: &[u8], pieces: &[&[u8]]) -> [u8; KEY_LEN] {
    let mut mac = Hmac::<Md5>::new_from_slice(key).expect("HMAC takes keys of any length");
    for piece in pieces {
        mac.update(piece);
    }
    mac.finalize().into_bytes().into()
}

/// MIC (section 3.1.5.1.2): over all three messages, the last with zeros as its MIC.
pub(super) fn mic_of(key: &[u8; KEY_LEN], messages: [&[u8]; 3]) -> [u8; KEY_LEN] {
    hmac_md5(key, &messages)
}

/// Encrypts or decrypts an exported session key with the session base key.
pub(super) fn exchanged(base: &[u8; KEY_LEN], key: &[u8; KEY_LEN]) -> [u8; KEY_LEN] {
    let mut key = *key;
    Rc4::new(base).apply(&mut key);
    key
}

/// Result of a successful authentication.
#[derive(Debug, Clone)]
pub struct AuthenticationResult {
    /// ExportedSessionKey.
    pub key: [u8; KEY_LEN],
    pub(super) flags: u32,
}

/// The signing side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SigningSide {
    /// The initiator.
    Client,
    /// The acceptor.
    Server,
}

impl AuthenticationResult {
    /// mechListMIC: the first signature of a side (section 3.4.4.2).
    pub fn mic(&self, signatory: SigningSide, mech_types: &[u8]) -> [u8; KEY_LEN] {
        let way = match signatory {
            SigningSide::Client => "client-to-server",
            SigningSide::Server => "server-to-client",
        };
        let key_for = |key: &[u8], use_: &str| {
            let magic = format!("session key to {way} {use_} key magic constant\0");
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

    /// Verifies a client's mechListMIC.
    pub fn is_mic(&self, mech_types: &[u8], mic: &[u8]) -> bool {
        let expected = self.mic(SigningSide::Client, mech_types);
        verify_slices_are_equal(&expected, mic).is_ok()
    }
}

/// RC4, which NTLM uses to encrypt keys and checksums; not used for anything else here.
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
