//! IOCTL: operations without a separate command (sections 2.2.31 and 2.2.32).

mod control_code;
mod copychunk;
mod network_interface;
mod validate_negotiate;

pub use control_code::ControlCode;
pub use copychunk::{Chunk, CopychunkCopy, CopychunkResponse, RESUME_KEY_LEN, ResumeKeyResponse};
pub use network_interface::{
    InterfaceAddress, InterfaceCapability, NetworkInterface, encode_interfaces, interfaces,
};
pub use validate_negotiate::{ValidateNegotiateRequest, ValidateNegotiateResponse};

use super::codec::{Decode, DecodeError, Encode, Reader, Writer, length32};
use super::{FileId, HEADER_LEN};

/// SMB2 IOCTL Request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// CtlCode.
    pub control_code: ControlCode,
    /// FileId; [`FileId::OF_PREVIOUS`] if the operation does not concern a file.
    pub file_id: FileId,
    /// MaxInputResponse.
    pub max_input_response: u32,
    /// MaxOutputResponse: largest output, in bytes.
    pub max_output_response: u32,
    /// Flags: 1 for an FSCTL, 0 for an IOCTL.
    pub flags: u32,
    /// Input.
    pub input: &'a [u8],
}

impl Request<'_> {
    const SIZE: u16 = 57;
    const INPUT_AT: u32 = HEADER_LEN as u32 + 56;
    /// SMB2_0_IOCTL_IS_FSCTL.
    pub const IS_FSCTL: u32 = 1;
}

impl Encode for Request<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        out.u16(Self::SIZE);
        out.u16(0);
        self.control_code.encode(out);
        self.file_id.encode(out);
        let has_input = !self.input.is_empty();
        out.u32(if has_input { Self::INPUT_AT } else { 0 });
        out.u32(length32(self.input.len()));
        out.u32(self.max_input_response);
        // No output in a request.
        out.u64(0);
        out.u32(self.max_output_response);
        out.u32(self.flags);
        out.u32(0);
        out.bytes(self.input);
        out.zeros(usize::from(!has_input));
    }
}

impl<'a> Decode<'a> for Request<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.structure(Self::SIZE)?;
        reader.skip(2)?;
        let control_code = ControlCode::decode(reader)?;
        let file_id = FileId::decode(reader)?;
        let (input_at, input_len) = (reader.u32()?, reader.u32()?);
        let max_input_response = reader.u32()?;
        reader.skip(8)?;
        let (max_output_response, flags) = (reader.u32()?, reader.u32()?);
        reader.skip(4)?;
        Ok(Self {
            control_code,
            file_id,
            max_input_response,
            max_output_response,
            flags,
            input: reader.buffer("Input", input_at, input_len)?,
        })
    }
}

/// SMB2 IOCTL Response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response<'a> {
    /// CtlCode.
    pub control_code: ControlCode,
    /// FileId.
    pub file_id: FileId,
    /// Flags: reserved.
    pub flags: u32,
    /// Input: the request's input, returned for some control codes.
    pub input: &'a [u8],
    /// Output.
    pub output: &'a [u8],
}

impl Response<'_> {
    const SIZE: u16 = 49;
    const BUFFER_AT: usize = HEADER_LEN + 48;
}

impl Encode for Response<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        let input_end = Self::BUFFER_AT + self.input.len();
        let output_at = input_end.next_multiple_of(8);
        out.u16(Self::SIZE);
        out.u16(0);
        self.control_code.encode(out);
        self.file_id.encode(out);
        out.u32(Self::BUFFER_AT as u32);
        out.u32(length32(self.input.len()));
        out.u32(length32(output_at));
        out.u32(length32(self.output.len()));
        out.u32(self.flags);
        out.u32(0);
        out.bytes(self.input);
        if !self.output.is_empty() {
            out.zeros(output_at - input_end);
            out.bytes(self.output);
        }
    }
}

impl<'a> Decode<'a> for Response<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.structure(Self::SIZE)?;
        reader.skip(2)?;
        let control_code = ControlCode::decode(reader)?;
        let file_id = FileId::decode(reader)?;
        let (input_at, input_len) = (reader.u32()?, reader.u32()?);
        let (output_at, output_len) = (reader.u32()?, reader.u32()?);
        let flags = reader.u32()?;
        reader.skip(4)?;
        Ok(Self {
            control_code,
            file_id,
            flags,
            input: reader.buffer("Input", input_at, input_len)?,
            output: reader.buffer("Output", output_at, output_len)?,
        })
    }
}
