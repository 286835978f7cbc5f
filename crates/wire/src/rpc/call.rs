//! The header of a call: `rpc_msg` with `call_body` (RFC 5531, section 9).

use super::{CALL, Credential, OpaqueAuth, RPC_VERSION};
use crate::xdr::{Decode, DecodeError, Encode, Reader, Writer};

/// All fields of a call before the procedure's arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallHeader<'a> {
    /// Chosen by the caller and repeated in the reply.
    pub xid: u32,
    /// `prog`.
    pub program: u32,
    /// `vers`.
    pub version: u32,
    /// `proc`.
    pub procedure: u32,
    /// `cred`.
    pub credential: Credential<'a>,
    /// `verf`.
    pub verifier: OpaqueAuth<'a>,
}

impl Encode for CallHeader<'_> {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        out.words([
            self.xid,
            CALL,
            RPC_VERSION,
            self.program,
            self.version,
            self.procedure,
        ]);
        self.credential.encode(out);
        self.verifier.encode(out);
    }
}

impl<'a> Decode<'a> for CallHeader<'a> {
    /// A version other than [`RPC_VERSION`] is a bad discriminant with field `rpcvers`; a server
    /// answers it with RPC_MISMATCH to the xid in the first four bytes.
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let [xid, msg_type, rpc_version, program, version, procedure] = reader.words()?;
        if msg_type != CALL {
            return Err(DecodeError::BadDiscriminant {
                field: "msg_type",
                value: msg_type,
            });
        }
        if rpc_version != RPC_VERSION {
            return Err(DecodeError::BadDiscriminant {
                field: "rpcvers",
                value: rpc_version,
            });
        }
        let credential = Credential::decode(reader)?;
        let verifier = OpaqueAuth::decode(reader)?;
        Ok(Self {
            xid,
            program,
            version,
            procedure,
            credential,
            verifier,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_null_call_is_forty_bytes() {
        let header = CallHeader {
            xid: 0x0102_0304,
            program: 100_003,
            version: 3,
            procedure: 0,
            credential: Credential::None,
            verifier: OpaqueAuth::NONE,
        };
        let mut expected = [0; 40];
        expected[..4].copy_from_slice(&[1, 2, 3, 4]);
        expected[11] = 2;
        expected[12..16].copy_from_slice(&[0, 1, 0x86, 0xa3]);
        expected[19] = 3;
        assert_eq!(header.to_bytes(), expected);
        assert_eq!(CallHeader::from_bytes(&expected), Ok(header));
    }

    #[test]
    fn another_version_of_rpc_is_named() {
        let mut bytes = [0; 40];
        bytes[11] = 3;
        assert_eq!(
            CallHeader::from_bytes(&bytes),
            Err(DecodeError::BadDiscriminant {
                field: "rpcvers",
                value: 3
            })
        );
    }

    #[test]
    fn a_reply_is_not_a_call() {
        let mut bytes = [0; 40];
        bytes[7] = 1;
        assert_eq!(
            CallHeader::from_bytes(&bytes),
            Err(DecodeError::BadDiscriminant {
                field: "msg_type",
                value: 1
            })
        );
    }
}
