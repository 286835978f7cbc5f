//! Keys of a session (MS-SMB2, sections 3.1.4.2 and 3.2.5.3).

use aws_lc_rs::kdf::{KbkdfCtrHmacAlgorithmId, get_kbkdf_ctr_hmac_algorithm, kbkdf_ctr_hmac};
use filestone_wire::smb2::Dialect;
use filestone_wire::smb2::negotiate::{Cipher, SigningAlgorithm};

use super::{OpeningKey, Preauth, SealingKey, SigningKey};
use std::sync::Arc;

/// Input of the key derivation of a session.
#[derive(Clone, Copy)]
pub struct KeyMaterial<'a> {
    /// Session key that the authentication has produced.
    pub session_key: &'a [u8],
    /// The dialect.
    pub dialect: Dialect,
    /// Negotiated signing algorithm.
    pub signing: SigningAlgorithm,
    /// Negotiated cipher, if the session may be encrypted.
    pub cipher: Option<Cipher>,
    /// The messages of NEGOTIATE and SESSION_SETUP, in dialect 3.1.1.
    pub preauth: Option<&'a Preauth>,
}

/// No keys can be derived for the negotiated parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The dialect has no supported key derivation.
    #[error("dialect {0} has no known keys")]
    Dialect(Dialect),
    /// The signing algorithm is not supported.
    #[error("signing algorithm {0} is not known")]
    Signing(SigningAlgorithm),
    /// The cipher is not supported.
    #[error("cipher {0} is not known")]
    Cipher(Cipher),
    /// 3.1.1 derives keys from the preauthentication hash, which is missing.
    #[error("dialect 3.1.1 needs the pre-authentication integrity hash")]
    NoPreauth,
}

/// Keys of a session for one of its channels, ready to use.
#[derive(Debug)]
pub struct SessionKeys {
    /// Signs and verifies, on this channel.
    pub signer: SigningKey,
    /// Encrypts sent messages, if a cipher was negotiated, on all channels.
    pub sealer: Option<Arc<SealingKey>>,
    /// Decrypts received messages, if a cipher was negotiated, on all channels.
    pub opener: Option<Arc<OpeningKey>>,
}

impl SessionKeys {
    /// Derives the keys of a client.
    pub fn derive(material: &KeyMaterial<'_>) -> Result<Self, KeyError> {
        Self::new(material, [Purpose::ToServer, Purpose::ToClient])
    }

    /// Derives the client keys of an additional channel of this session: a signing key from the
    /// parameters and the hash of that channel, and the encryption keys of the session (section
    /// 3.2.5.3.3).
    pub fn derive_for_channel(&self, material: &KeyMaterial<'_>) -> Result<Self, KeyError> {
        Ok(Self {
            signer: material.signer()?,
            sealer: self.sealer.clone(),
            opener: self.opener.clone(),
        })
    }

    /// Derives the keys of the server.
    pub fn derive_of_server(material: &KeyMaterial<'_>) -> Result<Self, KeyError> {
        Self::new(material, [Purpose::ToClient, Purpose::ToServer])
    }

    fn new(material: &KeyMaterial<'_>, [sent, received]: [Purpose; 2]) -> Result<Self, KeyError> {
        let mut keys = Self {
            signer: material.signer()?,
            sealer: None,
            opener: None,
        };
        if let Some(cipher) = material.cipher {
            let unknown = KeyError::Cipher(cipher);
            let key = material.cipher_key(cipher, sent)?;
            let sealer = SealingKey::new(cipher, key.bytes()).ok_or(unknown)?;
            keys.sealer = Some(Arc::new(sealer));
            let key = material.cipher_key(cipher, received)?;
            let opener = OpeningKey::new(cipher, key.bytes()).ok_or(unknown)?;
            keys.opener = Some(Arc::new(opener));
        }
        Ok(keys)
    }
}

/// Purpose of a key.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    Signing,
    ToServer,
    ToClient,
}

/// Label and context of a derived key. The standard counts the terminating zero of a text as one of
/// its bytes.
struct Distinction<'a> {
    label: &'static [u8],
    context: &'a [u8],
}

impl<'a> KeyMaterial<'a> {
    fn signer(&self) -> Result<SigningKey, KeyError> {
        let key = self.signing_key()?;
        SigningKey::new(self.signing, &key).ok_or(KeyError::Signing(self.signing))
    }

    fn signing_key(&self) -> Result<[u8; 16], KeyError> {
        if matches!(self.dialect, Dialect::SMB_2_0_2 | Dialect::SMB_2_1) {
            return Ok(self.short_session_key());
        }
        let mut key = [0; 16];
        let distinction = self.distinction(Purpose::Signing)?;
        distinction.derive(&self.short_session_key(), &mut key);
        Ok(key)
    }

    fn cipher_key(&self, cipher: Cipher, purpose: Purpose) -> Result<CipherKey, KeyError> {
        let distinction = self.distinction(purpose)?;
        if matches!(cipher, Cipher::AES_256_CCM | Cipher::AES_256_GCM) {
            let mut key = [0; 32];
            distinction.derive(self.session_key, &mut key);
            return Ok(CipherKey::Long(key));
        }
        let mut key = [0; 16];
        distinction.derive(&self.short_session_key(), &mut key);
        Ok(CipherKey::Short(key))
    }

    /// Session.SessionKey: a shorter key is padded with zeros, a longer one truncated.
    fn short_session_key(&self) -> [u8; 16] {
        let len = self.session_key.len().min(16);
        let mut key = [0; 16];
        key[..len].copy_from_slice(&self.session_key[..len]);
        key
    }

    fn distinction(&self, purpose: Purpose) -> Result<Distinction<'a>, KeyError> {
        match self.dialect {
            Dialect::SMB_3_0 | Dialect::SMB_3_0_2 => Ok(Distinction::by_text(purpose)),
            Dialect::SMB_3_1_1 => {
                let preauth = self.preauth.ok_or(KeyError::NoPreauth)?;
                Ok(Distinction::by_messages(purpose, preauth))
            }
            unknown => Err(KeyError::Dialect(unknown)),
        }
    }
}

impl<'a> Distinction<'a> {
    /// Returns label and context of 3.0 and 3.0.2.
    const fn by_text(purpose: Purpose) -> Self {
        let (label, context): (&[u8], &[u8]) = match purpose {
            Purpose::Signing => (b"SMB2AESCMAC\0", b"SmbSign\0"),
            Purpose::ToServer => (b"SMB2AESCCM\0", b"ServerIn \0"),
            Purpose::ToClient => (b"SMB2AESCCM\0", b"ServerOut\0"),
        };
        Self { label, context }
    }

    /// Returns label and context of 3.1.1.
    const fn by_messages(purpose: Purpose, preauth: &'a Preauth) -> Self {
        Self {
            label: match purpose {
                Purpose::Signing => b"SMBSigningKey\0",
                Purpose::ToServer => b"SMBC2SCipherKey\0",
                Purpose::ToClient => b"SMBS2CCipherKey\0",
            },
            context: preauth.bytes(),
        }
    }

    /// NIST SP 800-108 in counter mode with HMAC-SHA256.
    fn derive(&self, from: &[u8], key: &mut [u8]) {
        let bits = (key.len() * 8) as u32;
        let fixed = [self.label, &[0], self.context, &bits.to_be_bytes()].concat();
        let hmac = get_kbkdf_ctr_hmac_algorithm(KbkdfCtrHmacAlgorithmId::Sha256);
        let hmac = hmac.expect("the library has HMAC-SHA256");
        kbkdf_ctr_hmac(hmac, from, &fixed, key).expect("keys are neither empty nor long");
    }
}

/// A key of 128 or 256 bits.
enum CipherKey {
    Short([u8; 16]),
    Long([u8; 32]),
}

impl CipherKey {
    const fn bytes(&self) -> &[u8] {
        match self {
            Self::Short(key) => key,
            Self::Long(key) => key,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::DecryptBuffer;
    use super::*;
    use filestone_wire::smb2::codec::{Decode, Encode};
    use filestone_wire::smb2::transform::{Encrypted, TRANSFORM_HEADER_LEN};
    use filestone_wire::smb2::{Command, Header};

    fn material(preauth: &Preauth) -> KeyMaterial<'_> {
        KeyMaterial {
            session_key: &[7; 16],
            dialect: Dialect::SMB_3_1_1,
            signing: SigningAlgorithm::AES_CMAC,
            cipher: None,
            preauth: Some(preauth),
        }
    }

    const SIGNING: [SigningAlgorithm; 3] = [
        SigningAlgorithm::HMAC_SHA256,
        SigningAlgorithm::AES_CMAC,
        SigningAlgorithm::AES_GMAC,
    ];

    #[test]
    fn what_one_side_signs_the_other_verifies_and_any_other_bit_it_does_not() {
        let preauth = Preauth::default();
        let mut room = Vec::new();
        for signing in SIGNING {
            let material = KeyMaterial {
                signing,
                ..material(&preauth)
            };
            let client = SessionKeys::derive(&material).unwrap();
            let server = SessionKeys::derive_of_server(&material).unwrap();
            let mut message = Header::request(Command::Echo, 3).to_bytes();
            message.extend_from_slice(&[4, 0, 0, 0]);
            client.signer.sign(&mut message);
            assert!(server.signer.verify(&message, &mut room), "{signing}");
            for bit in 0..message.len() * 8 {
                message[bit / 8] ^= 1 << (bit % 8);
                assert!(!server.signer.verify(&message, &mut room), "{signing}");
                message[bit / 8] ^= 1 << (bit % 8);
            }
            for len in 0..message.len() {
                assert!(!server.signer.verify(&message[..len], &mut room));
            }
        }
    }

    const CIPHERS: [Cipher; 4] = [
        Cipher::AES_128_CCM,
        Cipher::AES_128_GCM,
        Cipher::AES_256_CCM,
        Cipher::AES_256_GCM,
    ];

    #[test]
    fn what_one_side_encrypts_the_other_decrypts_and_any_other_bit_it_does_not() {
        let preauth = Preauth::default();
        for cipher in CIPHERS {
            let material = KeyMaterial {
                cipher: Some(cipher),
                ..material(&preauth)
            };
            let client = SessionKeys::derive(&material).unwrap();
            let server = SessionKeys::derive_of_server(&material).unwrap();
            let mut frame = [5; TRANSFORM_HEADER_LEN + 70];
            client.sealer.unwrap().seal(9, 11, &mut frame);
            let mut out = DecryptBuffer::default();
            let opener = server.opener.unwrap();
            let encrypted = Encrypted::from_bytes(&frame).unwrap();
            assert_eq!(encrypted.header.session_id, 11);
            assert_eq!(opener.open(&encrypted, &mut out), Ok(()));
            assert_eq!(out.messages(), [5; 70], "{cipher}");
            for bit in 32..frame.len() * 8 {
                frame[bit / 8] ^= 1 << (bit % 8);
                if let Ok(encrypted) = Encrypted::from_bytes(&frame) {
                    assert!(opener.open(&encrypted, &mut out).is_err(), "{cipher} {bit}");
                    assert!(out.messages().is_empty());
                }
                frame[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}
