//! Signatures of messages (MS-SMB2, section 3.1.4.1).

use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::{cmac, hmac};
use filestone_wire::smb2::codec::Decode;
use filestone_wire::smb2::negotiate::SigningAlgorithm;
use filestone_wire::smb2::{Command, HEADER_LEN, Header};

const SIGNATURE_LEN: usize = 16;
const SIGNATURE_END: usize = Header::SIGNATURE_AT + SIGNATURE_LEN;

/// Signing key of both sides of a session, ready to use.
#[derive(Debug)]
pub struct SigningKey(Key);

#[derive(Debug)]
enum Key {
    InPieces(Mac),
    InOnePiece(Gmac),
}

impl SigningKey {
    /// Returns `None` if the algorithm is unknown.
    pub(super) fn new(algorithm: SigningAlgorithm, key: &[u8; 16]) -> Option<Self> {
        Some(Self(match algorithm {
            SigningAlgorithm::HMAC_SHA256 => Key::InPieces(Mac::hmac_sha256(key)),
            SigningAlgorithm::AES_CMAC => Key::InPieces(Mac::aes_cmac(key)),
            SigningAlgorithm::AES_GMAC => Key::InOnePiece(Gmac::new(key)),
            _ => return None,
        }))
    }

    /// Writes the signature of a message into its header. The header must otherwise be complete and
    /// have SIGNED set; in a compound, a message extends to the next header.
    ///
    /// # Panics
    ///
    /// Panics if there is no header.
    pub fn sign(&self, message: &mut [u8]) {
        let signature = match &self.0 {
            Key::InPieces(mac) => mac.signature(message),
            Key::InOnePiece(gmac) => {
                message[Header::SIGNATURE_AT..SIGNATURE_END].fill(0);
                let signature = gmac.signature(message);
                signature.expect("what is signed begins with a header")
            }
        };
        message[Header::SIGNATURE_AT..SIGNATURE_END].copy_from_slice(&signature);
    }

    /// Verifies the signature in the header of a message, up to the next header of a compound.
    ///
    /// `room` is a buffer that is reused from message to message: the library computes a GMAC only
    /// over contiguous bytes, so the message is copied there, with zeros as its signature.
    pub fn verify(&self, message: &[u8], room: &mut Vec<u8>) -> bool {
        if message.len() < HEADER_LEN {
            return false;
        }
        let expected = match &self.0 {
            Key::InPieces(mac) => Some(mac.signature(message)),
            Key::InOnePiece(gmac) => {
                room.clear();
                room.extend_from_slice(message);
                room[Header::SIGNATURE_AT..SIGNATURE_END].fill(0);
                gmac.signature(room)
            }
        };
        let found = &message[Header::SIGNATURE_AT..SIGNATURE_END];
        expected.is_some_and(|expected| verify_slices_are_equal(&expected, found).is_ok())
    }
}

/// An algorithm that processes a message in pieces.
#[derive(Debug)]
enum Mac {
    HmacSha256(Box<hmac::Key>),
    AesCmac(cmac::Key),
}

impl Mac {
    fn hmac_sha256(key: &[u8; 16]) -> Self {
        Self::HmacSha256(Box::new(hmac::Key::new(hmac::HMAC_SHA256, key)))
    }

    fn aes_cmac(key: &[u8; 16]) -> Self {
        let key = cmac::Key::new(cmac::AES_128, key);
        Self::AesCmac(key.expect("AES-128 takes keys of 16 bytes"))
    }

    /// Returns the signature of a message, ignoring the contents of its signature field.
    fn signature(&self, message: &[u8]) -> [u8; SIGNATURE_LEN] {
        let pieces = [
            &message[..Header::SIGNATURE_AT],
            &[0; SIGNATURE_LEN],
            &message[SIGNATURE_END..],
        ];
        match self {
            Self::HmacSha256(key) => {
                let mut context = hmac::Context::with_key(key);
                pieces.iter().for_each(|piece| context.update(piece));
                first_bytes(context.sign().as_ref())
            }
            Self::AesCmac(key) => {
                let mut context = cmac::Context::with_key(key);
                let taken = pieces.iter().try_for_each(|piece| context.update(piece));
                let tag = taken.and_then(|()| context.sign());
                first_bytes(tag.expect("any bytes have a CMAC").as_ref())
            }
        }
    }
}

/// Returns the first half of an HMAC-SHA256 tag, or the whole tag of another algorithm.
fn first_bytes(tag: &[u8]) -> [u8; SIGNATURE_LEN] {
    *tag.first_chunk()
        .expect("no sum is shorter than a signature")
}

/// AES-GMAC: AES-GCM with nothing to encrypt.
#[derive(Debug)]
struct Gmac(LessSafeKey);

impl Gmac {
    fn new(key: &[u8; 16]) -> Self {
        let key = UnboundKey::new(&AES_128_GCM, key);
        Self(LessSafeKey::new(
            key.expect("AES-128 takes keys of 16 bytes"),
        ))
    }

    /// Returns the signature of a message that has zeros in the signature field; `None` if its
    /// header is invalid.
    fn signature(&self, message: &[u8]) -> Option<[u8; SIGNATURE_LEN]> {
        let header = Header::from_bytes(message).ok()?;
        let nonce = Nonce::assume_unique_for_key(gmac_nonce(&header));
        let tag = self
            .0
            .seal_in_place_separate_tag(nonce, Aad::from(message), &mut []);
        Some(first_bytes(tag.expect("no message is too long").as_ref()))
    }
}

/// MessageId, a bit for the sender's role and one for CANCEL, which has the MessageId of the
/// cancelled request.
fn gmac_nonce(header: &Header) -> [u8; NONCE_LEN] {
    let is_cancel = header.command == Command::Cancel;
    let mut nonce = [0; NONCE_LEN];
    nonce[..8].copy_from_slice(&header.message_id.to_le_bytes());
    nonce[8] = u8::from(header.is_response()) | u8::from(is_cancel) << 1;
    nonce
}
