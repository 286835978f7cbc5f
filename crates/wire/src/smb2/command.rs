//! The commands (MS-SMB2, section 2.2.1.2).

use super::codec::{Decode, DecodeError, Encode, Reader, Writer};

procedures! {
    /// Command of a message.
    #[expect(missing_docs, reason = "the names are the standard's")]
    pub enum Command: u16 {
        Negotiate = 0, "NEGOTIATE";
        SessionSetup = 1, "SESSION_SETUP";
        Logoff = 2, "LOGOFF";
        TreeConnect = 3, "TREE_CONNECT";
        TreeDisconnect = 4, "TREE_DISCONNECT";
        Create = 5, "CREATE";
        Close = 6, "CLOSE";
        Flush = 7, "FLUSH";
        Read = 8, "READ";
        Write = 9, "WRITE";
        Lock = 10, "LOCK";
        Ioctl = 11, "IOCTL";
        Cancel = 12, "CANCEL";
        Echo = 13, "ECHO";
        QueryDirectory = 14, "QUERY_DIRECTORY";
        ChangeNotify = 15, "CHANGE_NOTIFY";
        QueryInfo = 16, "QUERY_INFO";
        SetInfo = 17, "SET_INFO";
        OplockBreak = 18, "OPLOCK_BREAK";
    }
}

impl core::fmt::Display for Command {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}

impl Encode for Command {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        out.u16(self.number());
    }
}

impl<'a> Decode<'a> for Command {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let number = reader.u16()?;
        Self::from_number(number).ok_or(DecodeError::Undefined {
            field: "Command",
            value: number.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_count_from_negotiate_to_oplock_break() {
        for (number, command) in (0..).zip(Command::ALL) {
            assert_eq!(command.number(), number);
            assert_eq!(Command::from_number(number), Some(command));
        }
        assert_eq!(Command::from_number(19), None);
    }
}
