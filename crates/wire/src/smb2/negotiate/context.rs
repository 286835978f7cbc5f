//! NEGOTIATE_CONTEXT (sections 2.2.3.1 and 2.2.4.1): equal in requests, which offer, and responses,
//! which select.

use core::fmt;

use crate::smb2::codec::{
    Array, Decode, DecodeError, Encode, Fixed, Reader, Text, Writer, length16,
};

values! {
    /// HashAlgorithms of pre-authentication integrity.
    pub struct HashAlgorithm(u16) {
        /// SHA-512.
        SHA_512 = 0x0001, "SHA-512";
    }
}

values! {
    /// Ciphers.
    pub struct Cipher(u16) {
        /// AES-128-CCM.
        AES_128_CCM = 0x0001, "AES-128-CCM";
        /// AES-128-GCM.
        AES_128_GCM = 0x0002, "AES-128-GCM";
        /// AES-256-CCM.
        AES_256_CCM = 0x0003, "AES-256-CCM";
        /// AES-256-GCM.
        AES_256_GCM = 0x0004, "AES-256-GCM";
    }
}

values! {
    /// SigningAlgorithms.
    pub struct SigningAlgorithm(u16) {
        /// HMAC-SHA256.
        HMAC_SHA256 = 0x0000, "HMAC-SHA256";
        /// AES-CMAC.
        AES_CMAC = 0x0001, "AES-CMAC";
        /// AES-GMAC.
        AES_GMAC = 0x0002, "AES-GMAC";
    }
}

values! {
    /// CompressionAlgorithms.
    pub struct CompressionAlgorithm(u16) {
        /// NONE.
        NONE = 0x0000, "NONE";
        /// LZNT1.
        LZNT1 = 0x0001, "LZNT1";
        /// LZ77.
        LZ77 = 0x0002, "LZ77";
        /// LZ77+Huffman.
        LZ77_HUFFMAN = 0x0003, "LZ77+Huffman";
        /// Pattern_V1.
        PATTERN_V1 = 0x0004, "Pattern_V1";
        /// LZ4.
        LZ4 = 0x0005, "LZ4";
    }
}

/// ContextType of the contexts that are decoded here.
mod context_type {
    pub const PREAUTH_INTEGRITY: u16 = 0x0001;
    pub const ENCRYPTION: u16 = 0x0002;
    pub const COMPRESSION: u16 = 0x0003;
    pub const NETNAME: u16 = 0x0005;
    pub const TRANSPORT: u16 = 0x0006;
    pub const SIGNING: u16 = 0x0008;
}

/// A context of NEGOTIATE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context<'a> {
    /// SMB2_PREAUTH_INTEGRITY_CAPABILITIES.
    PreauthIntegrity {
        /// HashAlgorithms.
        hash_algorithms: Array<'a, HashAlgorithm>,
        /// Salt.
        salt: &'a [u8],
    },
    /// SMB2_ENCRYPTION_CAPABILITIES: in a response one cipher, or number 0 for none.
    Encryption(Array<'a, Cipher>),
    /// SMB2_COMPRESSION_CAPABILITIES.
    Compression {
        /// Flags: 1 if several algorithms may be used on one message.
        flags: u32,
        /// CompressionAlgorithms.
        algorithms: Array<'a, CompressionAlgorithm>,
    },
    /// SMB2_NETNAME_NEGOTIATE_CONTEXT_ID: the server's name as used by the client.
    Netname(Text<'a>),
    /// SMB2_TRANSPORT_CAPABILITIES: flags.
    Transport(u32),
    /// SMB2_SIGNING_CAPABILITIES.
    Signing(Array<'a, SigningAlgorithm>),
    /// Any other context.
    Other {
        /// ContextType.
        context_type: u16,
        /// Data.
        data: &'a [u8],
    },
}

impl Context<'_> {
    const fn context_type(&self) -> u16 {
        match self {
            Self::PreauthIntegrity { .. } => context_type::PREAUTH_INTEGRITY,
            Self::Encryption(_) => context_type::ENCRYPTION,
            Self::Compression { .. } => context_type::COMPRESSION,
            Self::Netname(_) => context_type::NETNAME,
            Self::Transport(_) => context_type::TRANSPORT,
            Self::Signing(_) => context_type::SIGNING,
            Self::Other { context_type, .. } => *context_type,
        }
    }

    fn encode_data(&self, out: &mut Writer<'_>) {
        match self {
            Self::PreauthIntegrity {
                hash_algorithms,
                salt,
            } => {
                out.u16(length16(hash_algorithms.len()));
                out.u16(length16(salt.len()));
                hash_algorithms.encode(out);
                out.bytes(salt);
            }
            Self::Encryption(ciphers) => {
                out.u16(length16(ciphers.len()));
                ciphers.encode(out);
            }
            Self::Compression { flags, algorithms } => {
                out.u16(length16(algorithms.len()));
                out.u16(0);
                out.u32(*flags);
                algorithms.encode(out);
            }
            Self::Netname(name) => name.encode(out),
            Self::Transport(flags) => out.u32(*flags),
            Self::Signing(algorithms) => {
                out.u16(length16(algorithms.len()));
                algorithms.encode(out);
            }
            Self::Other { data, .. } => out.bytes(data),
        }
    }
}

impl<'a> Context<'a> {
    fn decode_data(context_type: u16, data: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(data);
        let reader = &mut reader;
        Ok(match context_type {
            context_type::PREAUTH_INTEGRITY => {
                let (count, salt_len) = (reader.u16()?, reader.u16()?);
                Self::PreauthIntegrity {
                    hash_algorithms: Array::decode(reader, count.into())?,
                    salt: reader.take(salt_len.into())?,
                }
            }
            context_type::ENCRYPTION => Self::Encryption(counted(reader)?),
            context_type::COMPRESSION => {
                let count = reader.u16()?;
                reader.skip(2)?;
                Self::Compression {
                    flags: reader.u32()?,
                    algorithms: Array::decode(reader, count.into())?,
                }
            }
            context_type::NETNAME => Self::Netname(Text::from_units(data, "NetName")?),
            context_type::TRANSPORT => Self::Transport(reader.u32()?),
            context_type::SIGNING => Self::Signing(counted(reader)?),
            context_type => Self::Other { context_type, data },
        })
    }
}

/// Reads a two-byte count and that number of members.
fn counted<'a, T>(reader: &mut Reader<'a>) -> Result<Array<'a, T>, DecodeError>
where
    T: Copy + Fixed + Encode + for<'x> Decode<'x>,
{
    let count = reader.u16()?;
    Array::decode(reader, count.into())
}

impl Encode for Context<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        out.u16(self.context_type());
        let len_at = out.position();
        out.u16(0);
        out.u32(0);
        let start = out.position();
        self.encode_data(out);
        out.patch_u16(len_at, length16(out.position() - start));
    }
}

impl<'a> Decode<'a> for Context<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let (context_type, len) = (reader.u16()?, reader.u16()?);
        reader.skip(4)?;
        Self::decode_data(context_type, reader.take(len.into())?)
    }
}

/// NegotiateContextList: a peer's bytes, or the caller's contexts. Each context after the first
/// begins at a multiple of eight bytes from the first.
#[derive(Clone, Copy)]
pub struct Contexts<'a> {
    source: Source<'a>,
}

#[derive(Clone, Copy)]
enum Source<'a> {
    Values(&'a [Context<'a>]),
    /// A counted list of contexts, all of which are complete.
    Bytes {
        count: u16,
        bytes: &'a [u8],
    },
}

impl<'a> From<&'a [Context<'a>]> for Contexts<'a> {
    fn from(contexts: &'a [Context<'a>]) -> Self {
        let source = Source::Values(contexts);
        Self { source }
    }
}

impl Default for Contexts<'_> {
    fn default() -> Self {
        Self::from(&[][..])
    }
}

impl<'a> Contexts<'a> {
    /// Returns the `count` contexts at `offset` of a message.
    pub(super) fn decode(
        reader: &Reader<'a>,
        offset: u32,
        count: u16,
    ) -> Result<Self, DecodeError> {
        if count == 0 {
            return Ok(Self::default());
        }
        let bytes = reader.buffer_from("NegotiateContextList", offset)?;
        walk(bytes, count).try_for_each(|context| context.map(|_| ()))?;
        let source = Source::Bytes { count, bytes };
        Ok(Self { source })
    }

    /// Returns NegotiateContextCount.
    pub fn count(&self) -> u16 {
        match self.source {
            Source::Values(contexts) => length16(contexts.len()),
            Source::Bytes { count, .. } => count,
        }
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Iterates over the contexts.
    pub fn iter(self) -> impl Iterator<Item = Context<'a>> {
        let (contexts, count, bytes): (&[Context<'a>], _, &[u8]) = match self.source {
            Source::Values(contexts) => (contexts, 0, &[]),
            Source::Bytes { count, bytes } => (&[], count, bytes),
        };
        contexts
            .iter()
            .copied()
            .chain(walk(bytes, count).filter_map(Result::ok))
    }
}

/// Consecutive contexts.
fn walk(bytes: &[u8], count: u16) -> impl Iterator<Item = Result<Context<'_>, DecodeError>> {
    let mut reader = Reader::new(bytes);
    (0..count).map(move |_| {
        let gap = reader.position().next_multiple_of(8) - reader.position();
        reader.skip(gap)?;
        Context::decode(&mut reader)
    })
}

impl Encode for Contexts<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        let start = out.position();
        for context in self.iter() {
            out.pad_from(start, 8);
            context.encode(out);
        }
    }
}

impl PartialEq for Contexts<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Contexts<'_> {}

impl fmt::Debug for Contexts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
