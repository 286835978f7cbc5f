//! VALIDATE_NEGOTIATE_INFO (sections 2.2.31.4 and 2.2.32.6): repeats the contents of NEGOTIATE in
//! signed messages.

use crate::smb2::codec::{Array, Decode, DecodeError, Encode, Reader, Writer, length16};
use crate::smb2::{Capabilities, Dialect, SecurityMode};

/// VALIDATE_NEGOTIATE_INFO Request: values that the client sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValidateNegotiateRequest<'a> {
    /// Capabilities.
    pub capabilities: Capabilities,
    /// Guid of the client.
    pub guid: [u8; 16],
    /// SecurityMode.
    pub security_mode: SecurityMode,
    /// Dialects.
    pub dialects: Array<'a, Dialect>,
}

impl Encode for ValidateNegotiateRequest<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        self.capabilities.encode(out);
        out.bytes(&self.guid);
        self.security_mode.encode(out);
        out.u16(length16(self.dialects.len()));
        self.dialects.encode(out);
    }
}

impl<'a> Decode<'a> for ValidateNegotiateRequest<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let capabilities = Capabilities::decode(reader)?;
        let guid = *reader.array()?;
        let security_mode = SecurityMode::decode(reader)?;
        let dialect_count = reader.u16()?;
        Ok(Self {
            capabilities,
            guid,
            security_mode,
            dialects: Array::decode(reader, dialect_count.into())?,
        })
    }
}

layout! {
    /// VALIDATE_NEGOTIATE_INFO Response: values that the server selected.
    pub struct ValidateNegotiateResponse {
        /// Capabilities.
        pub capabilities: Capabilities;
        /// Guid of the server.
        pub guid: [u8; 16];
        /// SecurityMode.
        pub security_mode: SecurityMode;
        /// Dialect.
        pub dialect: Dialect;
    }
}
