//! SPNEGO: the wrapper of the tokens in SESSION_SETUP (RFC 4178, section 4.2; MS-SPNG).
//!
//! Only the parts that NTLMSSP needs are decoded: mechanisms, tokens and states. The tokens of the
//! mechanism are opaque here.

mod der;

use alloc::vec::Vec;

use der::{DerReader, element};

/// Error when bytes are not the expected token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The token ends inside an element.
    #[error("the token ends before the element of tag {tag:#04x} does")]
    Short {
        /// Tag of the element.
        tag: u8,
    },
    /// The element has another tag than expected.
    #[error("an element of tag {found:#04x} where {expected:#04x} is due")]
    Tag {
        /// Expected tag.
        expected: u8,
        /// Received tag.
        found: u8,
    },
    /// The token is not an SPNEGO token.
    #[error("the token is of another mechanism than SPNEGO")]
    NotSpnego,
    /// negState is not one of RFC 4178.
    #[error("negState has {len} bytes or a number above 3")]
    BadState {
        /// Length in bytes.
        len: usize,
    },
}

mod tag {
    pub const OCTET_STRING: u8 = 0x04;
    pub const OID: u8 = 0x06;
    pub const ENUMERATED: u8 = 0x0a;
    pub const SEQUENCE: u8 = 0x30;
    /// `[APPLICATION 0]` of RFC 2743, section 3.1.
    pub const APPLICATION: u8 = 0x60;
    /// `[0]`: NegTokenInit among the tokens, mechTypes or negState in them.
    pub const CONTEXT_0: u8 = 0xa0;
    /// `[1]`: NegTokenResp among the tokens, reqFlags or supportedMech in them.
    pub const CONTEXT_1: u8 = 0xa1;
    /// `[2]`: mechToken or responseToken.
    pub const CONTEXT_2: u8 = 0xa2;
    /// `[3]`: mechListMIC, or in a server's NegTokenInit2 negHints.
    pub const CONTEXT_3: u8 = 0xa3;
}

/// SPNEGO's own OID, 1.3.6.1.5.5.2.
const SPNEGO: &[u8] = &[0x2b, 6, 1, 5, 5, 2];

/// DER-encoded OID of a mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mechanism<'a>(pub &'a [u8]);

impl Mechanism<'static> {
    /// NTLMSSP, 1.3.6.1.4.1.311.2.2.10.
    pub const NTLMSSP: Self = Self(&[0x2b, 6, 1, 4, 1, 0x82, 0x37, 2, 2, 10]);
    /// Kerberos 5, 1.2.840.113554.1.2.2.
    pub const KERBEROS: Self = Self(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 1, 2, 2]);
}

/// First token of a negotiation: from a server in NEGOTIATE, from a client in SESSION_SETUP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NegTokenInit<'a> {
    /// mechTypes: DER of the mechanisms, in order of preference.
    mechanisms: &'a [u8],
    /// mechToken: the first token of the most preferred mechanism.
    pub mech_token: Option<&'a [u8]>,
}

impl<'a> NegTokenInit<'a> {
    /// Reads a token, with the frame of GSS-API around it.
    pub fn from_bytes(token: &'a [u8]) -> Result<Self, TokenError> {
        let mut frame = DerReader::new(DerReader::new(token).element(tag::APPLICATION)?);
        if frame.element(tag::OID)? != SPNEGO {
            return Err(TokenError::NotSpnego);
        }
        let choice = frame.element(tag::CONTEXT_0)?;
        let mut fields = DerReader::new(DerReader::new(choice).element(tag::SEQUENCE)?);
        let mechanisms = match fields.optional(tag::CONTEXT_0)? {
            Some(types) => DerReader::new(types).element(tag::SEQUENCE)?,
            None => &[],
        };
        for mechanism in oids(mechanisms) {
            mechanism?;
        }
        fields.optional(tag::CONTEXT_1)?;
        let mech_token = octets(fields.optional(tag::CONTEXT_2)?)?;
        // negHints and mechListMIC are not used here.
        Ok(Self {
            mechanisms,
            mech_token,
        })
    }

    /// Returns the offered mechanisms, in order of preference.
    pub fn mechanisms(&self) -> impl Iterator<Item = Mechanism<'a>> + use<'a> {
        oids(self.mechanisms).filter_map(Result::ok)
    }

    /// Appends a token that offers these mechanisms, with the first token of the first of them.
    pub fn encode(mechanisms: &[Mechanism<'_>], mech_token: Option<&[u8]>, out: &mut Vec<u8>) {
        element(out, tag::APPLICATION, |out| {
            element(out, tag::OID, |out| out.extend_from_slice(SPNEGO));
            element(out, tag::CONTEXT_0, |out| {
                element(out, tag::SEQUENCE, |out| {
                    element(out, tag::CONTEXT_0, |out| {
                        encode_mech_types(mechanisms, out);
                    });
                    encode_octets(tag::CONTEXT_2, mech_token, out);
                });
            });
        });
    }
}

/// Appends MechTypeList, the input of a mechListMIC.
pub fn encode_mech_types(mechanisms: &[Mechanism<'_>], out: &mut Vec<u8>) {
    element(out, tag::SEQUENCE, |out| {
        for mechanism in mechanisms {
            element(out, tag::OID, |out| out.extend_from_slice(mechanism.0));
        }
    });
}

/// Iterates over consecutive OIDs; ends after an error.
fn oids(bytes: &[u8]) -> impl Iterator<Item = Result<Mechanism<'_>, TokenError>> {
    let mut reader = DerReader::new(bytes);
    core::iter::from_fn(move || {
        reader.peek()?;
        let oid = reader.element(tag::OID);
        if oid.is_err() {
            reader = DerReader::new(&[]);
        }
        Some(oid.map(Mechanism))
    })
}

/// Returns the contents of the OCTET STRING of a field, if the field is present.
fn octets(field: Option<&[u8]>) -> Result<Option<&[u8]>, TokenError> {
    field
        .map(|field| DerReader::new(field).element(tag::OCTET_STRING))
        .transpose()
}

fn encode_octets(field: u8, octets: Option<&[u8]>, out: &mut Vec<u8>) {
    if let Some(octets) = octets {
        element(out, field, |out| {
            element(out, tag::OCTET_STRING, |out| out.extend_from_slice(octets));
        });
    }
}

/// negState: state of the negotiation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum NegState {
    /// accept-completed.
    AcceptCompleted = 0,
    /// accept-incomplete: another token is required.
    AcceptIncomplete = 1,
    /// reject.
    Reject = 2,
    /// request-mic: another token with a mechListMIC is required.
    RequestMic = 3,
}

impl NegState {
    const fn from_bytes(bytes: &[u8]) -> Result<Self, TokenError> {
        match bytes {
            [0] => Ok(Self::AcceptCompleted),
            [1] => Ok(Self::AcceptIncomplete),
            [2] => Ok(Self::Reject),
            [3] => Ok(Self::RequestMic),
            _ => Err(TokenError::BadState { len: bytes.len() }),
        }
    }
}

/// Further token of a negotiation, in either direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NegTokenResp<'a> {
    /// negState; a client omits it.
    pub state: Option<NegState>,
    /// supportedMech: the mechanism that a server has selected, in its first token.
    pub supported_mech: Option<Mechanism<'a>>,
    /// responseToken: the next token of the mechanism.
    pub response_token: Option<&'a [u8]>,
    /// mechListMIC.
    pub mech_list_mic: Option<&'a [u8]>,
}

impl<'a> NegTokenResp<'a> {
    /// Reads a token.
    pub fn from_bytes(token: &'a [u8]) -> Result<Self, TokenError> {
        let choice = DerReader::new(token).element(tag::CONTEXT_1)?;
        let mut fields = DerReader::new(DerReader::new(choice).element(tag::SEQUENCE)?);
        let state = fields.optional(tag::CONTEXT_0)?;
        let state = state.map(|field| {
            let number = DerReader::new(field).element(tag::ENUMERATED)?;
            NegState::from_bytes(number)
        });
        let mech = fields.optional(tag::CONTEXT_1)?;
        let mech = mech.map(|field| DerReader::new(field).element(tag::OID).map(Mechanism));
        Ok(Self {
            state: state.transpose()?,
            supported_mech: mech.transpose()?,
            response_token: octets(fields.optional(tag::CONTEXT_2)?)?,
            mech_list_mic: octets(fields.optional(tag::CONTEXT_3)?)?,
        })
    }

    /// Appends the token.
    pub fn encode(&self, out: &mut Vec<u8>) {
        element(out, tag::CONTEXT_1, |out| {
            element(out, tag::SEQUENCE, |out| self.encode_fields(out));
        });
    }

    fn encode_fields(&self, out: &mut Vec<u8>) {
        if let Some(state) = self.state {
            element(out, tag::CONTEXT_0, |out| {
                element(out, tag::ENUMERATED, |out| out.push(state as u8));
            });
        }
        if let Some(mechanism) = self.supported_mech {
            element(out, tag::CONTEXT_1, |out| {
                element(out, tag::OID, |out| out.extend_from_slice(mechanism.0));
            });
        }
        encode_octets(tag::CONTEXT_2, self.response_token, out);
        encode_octets(tag::CONTEXT_3, self.mech_list_mic, out);
    }
}
