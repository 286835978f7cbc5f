//! Encryption of messages (MS-SMB2, sections 3.1.4.3 and 3.2.5.1.1.1).

use std::fmt;

use aes::{Aes128, Aes256};
use aws_lc_rs::aead::{AES_128_GCM, AES_256_GCM, Aad, Algorithm, LessSafeKey, Nonce, UnboundKey};
use ccm::Ccm;
use ccm::aead::{AeadInPlace, KeyInit};
use ccm::consts::{U11, U16};
use filestone_wire::smb2::negotiate::Cipher;
use filestone_wire::smb2::transform::{Encrypted, TRANSFORM_HEADER_LEN, TransformHeader};

const TAG_LEN: usize = 16;

/// An encrypted frame fails authentication with this session's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an encrypted frame does not verify: another key, or changed on its way")]
pub struct DecryptError;

/// Encryption key of this side of a session, ready to use.
#[derive(Debug)]
pub struct SealingKey(Key);

impl SealingKey {
    /// Returns `None` if the cipher is unknown or takes a key of another length.
    pub(super) fn new(cipher: Cipher, key: &[u8]) -> Option<Self> {
        Key::new(cipher, key).map(Self)
    }

    /// Encrypts the messages in `frame` that follow the space for a TRANSFORM_HEADER, and fills in
    /// the header.
    ///
    /// Each frame of a session needs a different `nonce_counter`, across all of its connections.
    ///
    /// # Panics
    ///
    /// Panics if there is no space for the header.
    pub fn seal(&self, nonce_counter: u64, session_id: u64, frame: &mut [u8]) {
        let mut nonce = [0; 16];
        nonce[..8].copy_from_slice(&nonce_counter.to_le_bytes());
        self.seal_with(nonce, session_id, frame);
    }

    pub(super) fn seal_with(&self, nonce: [u8; 16], session_id: u64, frame: &mut [u8]) {
        let (room, messages) = frame.split_at_mut(TRANSFORM_HEADER_LEN);
        let mut header = TransformHeader {
            signature: [0; TAG_LEN],
            nonce,
            original_message_size: messages.len() as u32,
            flags: TransformHeader::ENCRYPTED,
            session_id,
        };
        let authenticated = &header.bytes()[TransformHeader::AUTHENTICATED_FROM..];
        header.signature = self.0.seal(&nonce, authenticated, messages);
        room.copy_from_slice(&header.bytes());
    }
}

/// Decryption key of this side of a session, ready to use.
#[derive(Debug)]
pub struct OpeningKey(Key);

impl OpeningKey {
    /// Returns `None` if the cipher is unknown or takes a key of another length.
    pub(super) fn new(cipher: Cipher, key: &[u8]) -> Option<Self> {
        Key::new(cipher, key).map(Self)
    }

    /// Decrypts a frame. `out` is empty if authentication fails.
    pub fn open(
        &self,
        encrypted: &Encrypted<'_>,
        out: &mut DecryptBuffer,
    ) -> Result<(), DecryptError> {
        let is_open = self.0.open(encrypted, out.room(encrypted.data.len()));
        if is_open.is_err() {
            out.len = 0;
        }
        is_open
    }
}

/// The last decrypted messages, in memory that is reused from frame to frame and never cleared.
#[derive(Debug, Default)]
pub struct DecryptBuffer {
    memory: Vec<u8>,
    len: usize,
}

impl DecryptBuffer {
    /// Returns the messages: one or a compound.
    pub fn messages(&self) -> &[u8] {
        &self.memory[..self.len]
    }

    fn room(&mut self, len: usize) -> &mut [u8] {
        if self.memory.len() < len {
            self.memory.resize(len, 0);
        }
        self.len = len;
        &mut self.memory[..len]
    }
}

/// A cipher with its expanded key.
enum Key {
    Gcm(LessSafeKey),
    Ccm128(Box<Ccm<Aes128, U16, U11>>),
    Ccm256(Box<Ccm<Aes256, U16, U11>>),
}

impl Key {
    fn new(cipher: Cipher, key: &[u8]) -> Option<Self> {
        match cipher {
            Cipher::AES_128_CCM => Some(Self::Ccm128(Box::new(Ccm::new_from_slice(key).ok()?))),
            Cipher::AES_256_CCM => Some(Self::Ccm256(Box::new(Ccm::new_from_slice(key).ok()?))),
            Cipher::AES_128_GCM => Self::gcm(&AES_128_GCM, key),
            Cipher::AES_256_GCM => Self::gcm(&AES_256_GCM, key),
            _ => None,
        }
    }

    fn gcm(algorithm: &'static Algorithm, key: &[u8]) -> Option<Self> {
        let key = UnboundKey::new(algorithm, key).ok()?;
        Some(Self::Gcm(LessSafeKey::new(key)))
    }

    /// Encrypts in place and returns the tag.
    fn seal(&self, nonce: &[u8; 16], authenticated: &[u8], messages: &mut [u8]) -> [u8; TAG_LEN] {
        match self {
            Self::Gcm(key) => {
                let (nonce, authenticated) = (gcm_nonce(nonce), Aad::from(authenticated));
                let tag = key.seal_in_place_separate_tag(nonce, authenticated, messages);
                let tag = tag.expect("no frame is too long for AES-GCM");
                *tag.as_ref().first_chunk().expect("a tag has 16 bytes")
            }
            Self::Ccm128(cipher) => seal_ccm(&**cipher, nonce, authenticated, messages),
            Self::Ccm256(cipher) => seal_ccm(&**cipher, nonce, authenticated, messages),
        }
    }

    /// Decrypts into `out`, whose length is that of the data.
    fn open(&self, encrypted: &Encrypted<'_>, out: &mut [u8]) -> Result<(), DecryptError> {
        match self {
            Self::Gcm(key) => {
                let nonce = gcm_nonce(&encrypted.header.nonce);
                let authenticated = Aad::from(encrypted.authenticated);
                let tag = &encrypted.header.signature;
                key.open_separate_gather(nonce, authenticated, encrypted.data, tag, out)
                    .map_err(|_| DecryptError)
            }
            Self::Ccm128(cipher) => open_ccm(&**cipher, encrypted, out),
            Self::Ccm256(cipher) => open_ccm(&**cipher, encrypted, out),
        }
    }
}

/// Omits the key.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gcm(_) => "AES-GCM",
            Self::Ccm128(_) => "AES-128-CCM",
            Self::Ccm256(_) => "AES-256-CCM",
        })
    }
}

fn gcm_nonce(nonce: &[u8; 16]) -> Nonce {
    Nonce::assume_unique_for_key(*first_bytes(nonce))
}

fn first_bytes<const LEN: usize>(nonce: &[u8; 16]) -> &[u8; LEN] {
    nonce.first_chunk().expect("a cipher's nonce is shorter")
}

fn seal_ccm<C>(
    cipher: &C,
    nonce: &[u8; 16],
    authenticated: &[u8],
    messages: &mut [u8],
) -> [u8; TAG_LEN]
where
    C: AeadInPlace<NonceSize = U11, TagSize = U16>,
{
    let nonce = first_bytes::<11>(nonce).into();
    let tag = cipher.encrypt_in_place_detached(nonce, authenticated, messages);
    tag.expect("no frame is too long for AES-CCM").into()
}

fn open_ccm<C>(cipher: &C, encrypted: &Encrypted<'_>, out: &mut [u8]) -> Result<(), DecryptError>
where
    C: AeadInPlace<NonceSize = U11, TagSize = U16>,
{
    let header = &encrypted.header;
    let nonce = first_bytes::<11>(&header.nonce).into();
    out.copy_from_slice(encrypted.data);
    cipher
        .decrypt_in_place_detached(
            nonce,
            encrypted.authenticated,
            out,
            &header.signature.into(),
        )
        .map_err(|_| DecryptError)
}
