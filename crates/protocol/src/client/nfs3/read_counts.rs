//! Whether READ and WRITE moved what they were asked to, as far as a reply says.
//!
//! RFC 1813 lets a server move less than was asked for (sections 3.3.6 and 3.3.7). Such
//! an answer is no lie, but what was asked is not done. Who has many calls for one
//! transfer asks for the rest; an operation that is one call has failed.

use filestone_workload::operation::ReplyFault;

/// What a READ asked for, and what its reply says.
#[derive(Debug, Clone, Copy)]
pub struct ReadCounts {
    /// Where it began.
    pub offset: u64,
    /// Bytes asked for.
    pub requested: u32,
    /// Bytes that the reply says it has.
    pub count: u32,
    /// Whether the reply says that the file ends there.
    pub eof: bool,
    /// Length of the file, from the reply's attributes or known before.
    pub file_len: Option<u64>,
}

impl ReadCounts {
    /// An error if the reply contradicts its call or itself, or is short.
    #[inline]
    pub fn check(&self) -> Result<(), ReplyFault> {
        if self.count == self.requested {
            return Ok(());
        }
        self.check_unequal()
    }

    #[cold]
    fn check_unequal(&self) -> Result<(), ReplyFault> {
        // A server may not return more than was asked (RFC 1813, section 3.3.6). One
        // that does has a bug worth seeing, so this is an error and not a clamp.
        if self.count > self.requested {
            return Err(ReplyFault::TooMuchData);
        }
        // Nothing at all without the end of the file would make a client ask for ever.
        if self.count == 0 && !self.eof {
            return Err(ReplyFault::Inconsistent);
        }
        let end = self.offset.saturating_add(u64::from(self.count));
        let is_before_end = self.file_len.map(|len| end < len);
        match (is_before_end, self.eof) {
            // All that there is, even if the server does not say so.
            (Some(false), _) | (None, true) => Ok(()),
            (Some(true), true) => Err(ReplyFault::Inconsistent),
            (_, false) => Err(ReplyFault::Short),
        }
    }
}

/// An error if a reply that says that `count` bytes were written contradicts a call of
/// `asked`, or is short.
#[inline]
pub fn check_written(asked: u32, count: u32) -> Result<(), ReplyFault> {
    if count == asked {
        return Ok(());
    }
    // A success of nothing would make a client send it for ever.
    if count > asked || count == 0 {
        return Err(ReplyFault::Inconsistent);
    }
    Err(ReplyFault::Short)
}

/// What these checks say to a caller that asks for the rest of a short transfer.
pub fn go_on_after(checked: Result<(), ReplyFault>) -> Result<(), ReplyFault> {
    match checked {
        Err(ReplyFault::Short) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ReplyFault::{Inconsistent, Short, TooMuchData};

    #[test]
    fn what_a_read_may_bring_depends_on_where_the_file_ends() {
        let len = Some(1000);
        for (offset, asked, count, eof, file_len, expected) in [
            (0, 100, 100, false, len, Ok(())),
            // Exactly at the end a server should say so; that it does not is harmless.
            (900, 100, 100, false, len, Ok(())),
            (900, 100, 100, true, len, Ok(())),
            // Whole, whatever it says of the end: another may have written since.
            (0, 100, 100, true, len, Ok(())),
            (0, 100, 101, false, len, Err(TooMuchData)),
            (0, 100, u32::MAX, true, len, Err(TooMuchData)),
            (950, 100, 50, true, len, Ok(())),
            (950, 100, 50, false, len, Ok(())),
            (1000, 100, 0, true, len, Ok(())),
            (2000, 100, 0, true, len, Ok(())),
            (u64::MAX, 100, 0, true, Some(u64::MAX), Ok(())),
            (0, 0, 0, false, len, Ok(())),
            // Nothing is never enough without the end of the file.
            (0, 100, 0, false, len, Err(Inconsistent)),
            (1000, 100, 0, false, len, Err(Inconsistent)),
            (0, 100, 0, false, None, Err(Inconsistent)),
            // The end of the file, long before it.
            (0, 100, 0, true, len, Err(Inconsistent)),
            (800, 100, 99, true, len, Err(Inconsistent)),
            // Legal, and not what was asked.
            (0, 100, 99, false, len, Err(Short)),
            (0, 100, 1, false, None, Err(Short)),
            // Nothing to hold it against.
            (0, 100, 1, true, None, Ok(())),
            (0, 100, 0, true, None, Ok(())),
        ] {
            let amount = ReadCounts {
                offset,
                requested: asked,
                count,
                eof,
                file_len,
            };
            assert_eq!(amount.check(), expected, "{amount:?}");
        }
    }

    #[test]
    fn a_write_of_nothing_is_no_write() {
        for (asked, count, expected) in [
            (100, 100, Ok(())),
            (0, 0, Ok(())),
            (100, 99, Err(Short)),
            (100, 1, Err(Short)),
            (100, 0, Err(Inconsistent)),
            (100, 101, Err(Inconsistent)),
            (0, 1, Err(Inconsistent)),
        ] {
            assert_eq!(check_written(asked, count), expected, "{count} of {asked}");
        }
    }
}
