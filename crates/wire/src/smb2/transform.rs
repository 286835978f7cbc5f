//! SMB2 TRANSFORM_HEADER: header of encrypted messages (section 2.2.41). Only its layout;
//! encryption is elsewhere.

use super::ProtocolId;
use super::codec::{Decode, DecodeError, Encode, Reader, Writer};

/// Length of the header, in bytes.
pub const TRANSFORM_HEADER_LEN: usize = 52;

/// SMB2 TRANSFORM_HEADER.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransformHeader {
    /// Signature: the tag of the encryption.
    pub signature: [u8; 16],
    /// Nonce: 11 bytes for CCM, 12 for GCM, and zeros.
    pub nonce: [u8; 16],
    /// OriginalMessageSize: length of the unencrypted messages, in bytes.
    pub original_message_size: u32,
    /// Flags of 3.1.1, EncryptionAlgorithm of 3.0 and 3.0.2: 1 for encrypted, with AES-128-CCM
    /// in the older ones.
    pub flags: u16,
    /// SessionId.
    pub session_id: u64,
}

impl TransformHeader {
    /// Flags of the header.
    pub const ENCRYPTED: u16 = 1;
    /// Offset of Nonce: from there on, the header is authenticated with the data.
    pub const AUTHENTICATED_FROM: usize = 20;

    /// Returns the header as in a frame, to be completed when the messages after it are encrypted.
    #[inline]
    pub fn bytes(&self) -> [u8; TRANSFORM_HEADER_LEN] {
        let mut bytes = [0; TRANSFORM_HEADER_LEN];
        bytes[..4].copy_from_slice(&ProtocolId::Transform.bytes());
        bytes[4..20].copy_from_slice(&self.signature);
        bytes[20..36].copy_from_slice(&self.nonce);
        bytes[36..40].copy_from_slice(&self.original_message_size.to_le_bytes());
        bytes[42..44].copy_from_slice(&self.flags.to_le_bytes());
        bytes[44..].copy_from_slice(&self.session_id.to_le_bytes());
        bytes
    }
}

impl Encode for TransformHeader {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        out.bytes(&self.bytes());
    }
}

impl<'a> Decode<'a> for TransformHeader {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        ProtocolId::Transform.expect(reader)?;
        let (signature, nonce) = (*reader.array()?, *reader.array()?);
        let original_message_size = reader.u32()?;
        reader.skip(2)?;
        Ok(Self {
            signature,
            nonce,
            original_message_size,
            flags: reader.u16()?,
            session_id: reader.u64()?,
        })
    }
}

/// An encrypted frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encrypted<'a> {
    /// Header of the frame.
    pub header: TransformHeader,
    /// Bytes of the header that are authenticated with the data.
    pub authenticated: &'a [u8],
    /// The encrypted data, with the length in the header.
    pub data: &'a [u8],
}

impl<'a> Decode<'a> for Encrypted<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let bytes = reader.rest();
        let header = TransformHeader::decode(reader)?;
        let authenticated = bytes.get(TransformHeader::AUTHENTICATED_FROM..TRANSFORM_HEADER_LEN);
        Ok(Self {
            header,
            authenticated: authenticated.unwrap_or_default(),
            data: reader.take(header.original_message_size as usize)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_stands_where_the_standard_has_it() {
        let header = TransformHeader {
            signature: [1; 16],
            nonce: [2; 16],
            original_message_size: 3,
            flags: TransformHeader::ENCRYPTED,
            session_id: 0x0405_0607_0809_0a0b,
        };
        let mut bytes = header.to_bytes();
        assert_eq!(bytes.len(), TRANSFORM_HEADER_LEN);
        let tail = [3, 0, 0, 0, 0, 0, 1, 0, 0x0b, 0x0a, 9, 8, 7, 6, 5, 4];
        assert_eq!(bytes[36..], tail);

        assert!(Encrypted::from_bytes(&bytes).is_err());
        bytes.extend(b"abc");
        let encrypted = Encrypted::from_bytes(&bytes).unwrap();
        assert_eq!((encrypted.header, encrypted.data), (header, &b"abc"[..]));
        assert_eq!(encrypted.authenticated, &bytes[20..52]);
    }
}
