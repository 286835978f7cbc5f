//! Checks of the byte counts in READ and WRITE replies.
//!
//! RFC 1813 lets a server move less than requested (sections 3.3.6 and 3.3.7). Such a reply is
//! valid, but the request is incomplete. A caller with several calls per transfer requests the
//! rest; an operation of a single call has failed.

use filestone_workload::operation::ReplyFault;

/// Parameters of a READ and of its reply.
#[derive(Debug, Clone, Copy)]
pub struct ReadCounts {
    /// Start offset.
    pub offset: u64,
    /// Bytes requested.
    pub requested: u32,
    /// Byte count in the reply.
    pub count: u32,
    /// The reply's end-of-file flag.
    pub eof: bool,
    /// Length of the file, from the reply's attributes or known before.
    pub file_len: Option<u64>,
}

impl ReadCounts {
    /// Returns an error if the reply contradicts its call or itself, or is short.
    #[inline]
    pub fn check(&self) -> Result<(), ReplyFault> {
        if self.count == self.requested {
            return Ok(());
        }
        self.check_unequal()
    }

    #[cold]
    fn check_unequal(&self) -> Result<(), ReplyFault> {
        // A server may not return more than requested (RFC 1813, section 3.3.6). A server that does
        // has a bug worth reporting, so this is an error and not a clamp.
        if self.count > self.requested {
            return Err(ReplyFault::TooMuchData);
        }
        // An empty reply before the end of the file would make a client repeat forever.
        if self.count == 0 && !self.eof {
            return Err(ReplyFault::Inconsistent);
        }
        let end = self.offset.saturating_add(u64::from(self.count));
        let is_before_end = self.file_len.map(|len| end < len);
        match (is_before_end, self.eof) {
            // All data of the file, even without the end-of-file flag.
            (Some(false), _) | (None, true) => Ok(()),
            (Some(true), true) => Err(ReplyFault::Inconsistent),
            (_, false) => Err(ReplyFault::Short),
        }
    }
}

/// Returns an error if a reply with `count` bytes written contradicts a call of `asked` bytes, or
/// is short.
#[inline]
pub fn check_written(asked: u32, count: u32) -> Result<(), ReplyFault> {
    if count == asked {
        return Ok(());
    }
    // A success with zero bytes would make a client repeat forever.
    if count > asked || count == 0 {
        return Err(ReplyFault::Inconsistent);
    }
    Err(ReplyFault::Short)
}

/// Accepts a short transfer, for a caller that requests the rest.
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
            // Exactly at the end a server should set the flag; omitting it is harmless.
            (900, 100, 100, false, len, Ok(())),
            (900, 100, 100, true, len, Ok(())),
            // Complete, whatever the end-of-file flag: another client may have written since.
            (0, 100, 100, true, len, Ok(())),
            (0, 100, 101, false, len, Err(TooMuchData)),
            (0, 100, u32::MAX, true, len, Err(TooMuchData)),
            (950, 100, 50, true, len, Ok(())),
            (950, 100, 50, false, len, Ok(())),
            (1000, 100, 0, true, len, Ok(())),
            (2000, 100, 0, true, len, Ok(())),
            (u64::MAX, 100, 0, true, Some(u64::MAX), Ok(())),
            (0, 0, 0, false, len, Ok(())),
            // An empty reply before the end of the file is never enough.
            (0, 100, 0, false, len, Err(Inconsistent)),
            (1000, 100, 0, false, len, Err(Inconsistent)),
            (0, 100, 0, false, None, Err(Inconsistent)),
            // The end-of-file flag, long before the end.
            (0, 100, 0, true, len, Err(Inconsistent)),
            (800, 100, 99, true, len, Err(Inconsistent)),
            // Legal, but less than requested.
            (0, 100, 99, false, len, Err(Short)),
            (0, 100, 1, false, None, Err(Short)),
            // There is no file length to compare with.
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
