//! ERROR: the body of a response that failed (MS-SMB2, section 2.2.2).

use super::codec::{Decode, DecodeError, Encode, Reader, Writer, length32};
use super::compound::Message;
use super::{Command, Status};

/// StructureSize.
const SIZE: u16 = 9;

/// SMB2 ERROR Response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ErrorResponse<'a> {
    /// ErrorContextCount: number of contexts in ErrorData, in dialect 3.1.1.
    pub context_count: u8,
    /// ErrorData: for STATUS_BUFFER_TOO_SMALL the required number of bytes, for
    /// STATUS_STOPPED_ON_SYMLINK the target of the link; otherwise empty.
    pub data: &'a [u8],
}

/// Body of a response: the command's structure, or an error. The status is in the header.
pub type Reply<'a, T> = Result<T, ErrorResponse<'a>>;

impl Encode for ErrorResponse<'_> {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        out.u16(SIZE);
        out.u8(self.context_count);
        out.u8(0);
        out.u32(length32(self.data.len()));
        out.bytes(self.data);
        // Without data there is one byte instead.
        out.zeros(usize::from(self.data.is_empty()));
    }
}

impl<'a> Decode<'a> for ErrorResponse<'a> {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.structure(SIZE)?;
        let context_count = reader.u8()?;
        reader.skip(1)?;
        let len = reader.u32()?;
        Ok(Self {
            context_count,
            data: reader.take(len as usize)?,
        })
    }
}

/// Returns whether the body of a response with this status is the command's structure (section
/// 3.3.4.4).
///
/// A copying IOCTL may fail with any status and return a structure with the number of bytes copied
/// or the limits; [`Message::reply`] checks for that.
#[inline]
pub const fn has_own_body(command: Command, status: Status) -> bool {
    match status {
        Status::SUCCESS => true,
        Status::MORE_PROCESSING_REQUIRED => matches!(command, Command::SessionSetup),
        Status::BUFFER_OVERFLOW => matches!(
            command,
            Command::QueryInfo | Command::Read | Command::Ioctl | Command::QueryDirectory
        ),
        Status::NOTIFY_ENUM_DIR | Status::NOTIFY_CLEANUP => {
            matches!(command, Command::ChangeNotify)
        }
        // A lease was requested while its break is in progress.
        Status::OPLOCK_BREAK_IN_PROGRESS => matches!(command, Command::Create),
        _ => false,
    }
}

impl<'a> Message<'a> {
    /// Decodes the body of a response: the command's structure `T`, or an ERROR.
    #[inline]
    pub fn reply<T: Decode<'a>>(&self) -> Result<Reply<'a, T>, DecodeError> {
        let (command, status) = (self.header.command, self.header.status);
        if has_own_body(command, status) {
            return self.body().map(Ok);
        }
        let error = self.body();
        let is_copy = matches!(error, Err(DecodeError::Structure { .. }));
        if is_copy && command == Command::Ioctl {
            return self.body().map(Ok);
        }
        error.map(Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_without_data_has_one_byte_in_their_place() {
        let error = ErrorResponse::default();
        assert_eq!(error.to_bytes(), [9, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(
            ErrorResponse::from_bytes(&[9, 0, 0, 0, 0, 0, 0, 0]),
            Ok(error)
        );
    }

    #[test]
    fn data_that_are_not_there_are_missed() {
        let bytes = [9, 0, 1, 0, 4, 0, 0, 0, 1, 2, 3];
        let short = DecodeError::Short {
            at: 8,
            need: 4,
            have: 3,
        };
        assert_eq!(ErrorResponse::from_bytes(&bytes), Err(short));
    }

    #[test]
    fn the_same_status_is_an_answer_to_one_command_and_an_error_to_another() {
        let own = |command| has_own_body(command, Status::BUFFER_OVERFLOW);
        assert!(own(Command::QueryInfo) && !own(Command::Write));
        let own = |command| has_own_body(command, Status::MORE_PROCESSING_REQUIRED);
        assert!(own(Command::SessionSetup) && !own(Command::Create));
        assert!(!has_own_body(Command::ChangeNotify, Status::PENDING));
    }
}
