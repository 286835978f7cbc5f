//! IOCTL and CHANGE_NOTIFY (MS-SMB2, sections 3.3.5.15 and 3.3.5.19), with few of their functions.

use filestone_wire::smb2::codec::{Decode, Encode};
use filestone_wire::smb2::compound::Message;
use filestone_wire::smb2::ioctl::{
    ControlCode, Request, Response, ValidateNegotiateRequest, ValidateNegotiateResponse,
};
use filestone_wire::smb2::{Dialect, Status, change_notify};

use super::exchange::{Answered, CommandFailure, Exchange, put};
use super::metadata::VOLUME;
use crate::reply::ReplySink;
use crate::tree::InodeNumber;

impl Exchange<'_> {
    pub fn ioctl(&mut self, message: &Message<'_>, sink: &mut ReplySink) -> Answered {
        let request: Request<'_> = message.body()?;
        if request.flags != Request::IS_FSCTL {
            return Err(Status::NOT_SUPPORTED.into());
        }
        match request.control_code {
            ControlCode::VALIDATE_NEGOTIATE_INFO => self.validate_negotiate(&request, sink),
            ControlCode::DFS_GET_REFERRALS => Err(Status::NOT_FOUND.into()),
            ControlCode::QUERY_NETWORK_INTERFACE_INFO | ControlCode::PIPE_WAIT => {
                Err(Status::INVALID_DEVICE_REQUEST.into())
            }
            code => {
                // All others concern a file, whether they are supported or not.
                let (_, open) = self.open(request.file_id)?;
                let number = open.number;
                match code {
                    // A partially written file is sparse anyway, so there is nothing to do.
                    ControlCode::SET_SPARSE => put_output(&request, &[], sink),
                    ControlCode::CREATE_OR_GET_OBJECT_ID => put_object_id(&request, number, sink),
                    _ => Err(Status::INVALID_DEVICE_REQUEST.into()),
                }
            }
        }
    }

    /// Section 3.3.5.19: change notification is not supported.
    pub fn change_notify(&mut self, message: &Message<'_>) -> Answered {
        let request: change_notify::Request = message.body()?;
        let (_, open) = self.open(request.file_id)?;
        if !open.is_directory {
            return Err(Status::INVALID_PARAMETER.into());
        }
        Err(Status::NOT_SUPPORTED.into())
    }

    /// Section 3.3.5.15.12: closes the connection if the NEGOTIATE was modified.
    fn validate_negotiate(&mut self, request: &Request<'_>, sink: &mut ReplySink) -> Answered {
        let agreed = self.connection.agreed.as_deref();
        let agreed = agreed.filter(|agreed| agreed.dialect != Dialect::SMB_3_1_1);
        let agreed = agreed.ok_or(CommandFailure::Hangup)?;
        let said = ValidateNegotiateRequest::from_bytes(request.input)?;
        let newest = said.dialects.iter().filter(|dialect| {
            *dialect <= self.shared.options.dialect_max && *dialect <= Dialect::SMB_3_1_1
        });
        let is_same = said.guid == agreed.client_guid
            && said.capabilities == agreed.client_capabilities
            && said.security_mode == agreed.client_security_mode
            && newest.max() == Some(agreed.dialect);
        if !is_same {
            return Err(CommandFailure::Hangup);
        }
        let response = ValidateNegotiateResponse {
            capabilities: agreed.capabilities,
            guid: self.shared.guid,
            security_mode: agreed.security_mode,
            dialect: agreed.dialect,
        };
        let output = response.to_bytes();
        if (request.max_output_response as usize) < output.len() {
            return Err(Status::BUFFER_TOO_SMALL.into());
        }
        put_output(request, &output, sink)
    }
}

/// FILE_OBJECTID_BUFFER (MS-FSCC, section 2.1.3): an ID that is unique within the volume.
fn put_object_id(request: &Request<'_>, number: InodeNumber, sink: &mut ReplySink) -> Answered {
    const LEN: usize = 64;
    if (request.max_output_response as usize) < LEN {
        return Err(Status::INVALID_PARAMETER.into());
    }
    let mut id = number.fileid().to_le_bytes().to_vec();
    id.extend_from_slice(&u64::from(VOLUME).to_le_bytes());
    id.resize(LEN, 0);
    put_output(request, &id, sink)
}

fn put_output(request: &Request<'_>, output: &[u8], sink: &mut ReplySink) -> Answered {
    let response = Response {
        control_code: request.control_code,
        file_id: request.file_id,
        flags: 0,
        input: &[],
        output,
    };
    put(sink, &response)
}
