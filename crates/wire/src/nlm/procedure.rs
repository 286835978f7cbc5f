//! The procedures by name and number (RFC 1813, section 6.2).

/// A procedure of NLM version 4 that answers at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Procedure {
    /// NLMPROC4_NULL: void to void, section 6.3.0.
    Null = 0,
    /// NLMPROC4_TEST: whether a lock would be granted, section 6.3.1.
    Test = 1,
    /// NLMPROC4_LOCK: set a lock, section 6.3.2.
    Lock = 2,
    /// NLMPROC4_CANCEL: give up waiting for a lock, section 6.3.3.
    Cancel = 3,
    /// NLMPROC4_UNLOCK: remove a lock, section 6.3.4.
    Unlock = 4,
    /// NLMPROC4_GRANTED: the server's call when a wait is over, section 6.3.5.
    Granted = 5,
}

impl Procedure {
    /// All of them, by number.
    pub const ALL: [Self; 6] = [
        Self::Null,
        Self::Test,
        Self::Lock,
        Self::Cancel,
        Self::Unlock,
        Self::Granted,
    ];

    /// The procedure with this number.
    pub const fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Null,
            1 => Self::Test,
            2 => Self::Lock,
            3 => Self::Cancel,
            4 => Self::Unlock,
            5 => Self::Granted,
            _ => return None,
        })
    }

    /// The number on the wire.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The standard's name in lower case, without the prefix `NLMPROC4_`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Test => "test",
            Self::Lock => "lock",
            Self::Cancel => "cancel",
            Self::Unlock => "unlock",
            Self::Granted => "granted",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_count_from_null_to_granted() {
        for (number, procedure) in (0..).zip(Procedure::ALL) {
            assert_eq!(procedure.number(), number);
            assert_eq!(Procedure::from_number(number), Some(procedure));
        }
        assert_eq!(Procedure::from_number(6), None);
    }
}
