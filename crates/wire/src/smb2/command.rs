//! The commands (MS-SMB2, section 2.2.1.2).

use super::codec::{Decode, DecodeError, Encode, Reader, Writer};

/// What a message asks or answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
#[expect(missing_docs, reason = "the names are the standard's")]
pub enum Command {
    Negotiate = 0,
    SessionSetup = 1,
    Logoff = 2,
    TreeConnect = 3,
    TreeDisconnect = 4,
    Create = 5,
    Close = 6,
    Flush = 7,
    Read = 8,
    Write = 9,
    Lock = 10,
    Ioctl = 11,
    Cancel = 12,
    Echo = 13,
    QueryDirectory = 14,
    ChangeNotify = 15,
    QueryInfo = 16,
    SetInfo = 17,
    OplockBreak = 18,
}

impl Command {
    /// All of them, by number.
    pub const ALL: [Self; 19] = [
        Self::Negotiate,
        Self::SessionSetup,
        Self::Logoff,
        Self::TreeConnect,
        Self::TreeDisconnect,
        Self::Create,
        Self::Close,
        Self::Flush,
        Self::Read,
        Self::Write,
        Self::Lock,
        Self::Ioctl,
        Self::Cancel,
        Self::Echo,
        Self::QueryDirectory,
        Self::ChangeNotify,
        Self::QueryInfo,
        Self::SetInfo,
        Self::OplockBreak,
    ];

    /// The command with this number.
    #[inline]
    pub fn from_number(number: u16) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// The number on the wire.
    #[inline]
    pub const fn number(self) -> u16 {
        self as u16
    }

    /// The standard's name, without its prefix.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Negotiate => "NEGOTIATE",
            Self::SessionSetup => "SESSION_SETUP",
            Self::Logoff => "LOGOFF",
            Self::TreeConnect => "TREE_CONNECT",
            Self::TreeDisconnect => "TREE_DISCONNECT",
            Self::Create => "CREATE",
            Self::Close => "CLOSE",
            Self::Flush => "FLUSH",
            Self::Read => "READ",
            Self::Write => "WRITE",
            Self::Lock => "LOCK",
            Self::Ioctl => "IOCTL",
            Self::Cancel => "CANCEL",
            Self::Echo => "ECHO",
            Self::QueryDirectory => "QUERY_DIRECTORY",
            Self::ChangeNotify => "CHANGE_NOTIFY",
            Self::QueryInfo => "QUERY_INFO",
            Self::SetInfo => "SET_INFO",
            Self::OplockBreak => "OPLOCK_BREAK",
        }
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
