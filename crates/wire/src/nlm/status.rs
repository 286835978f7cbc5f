//! `nlm4_stats` (RFC 1813, section 6.1.3).

numbered! {
    /// `nlm4_stats`: result of a lock request.
    pub struct Status("nlm4_stats") {
        /// The call succeeded.
        GRANTED = 0, "NLM4_GRANTED";
        /// Another owner has a conflicting lock.
        DENIED = 1, "NLM4_DENIED";
        /// The server lacks resources for another lock.
        DENIED_NOLOCKS = 2, "NLM4_DENIED_NOLOCKS";
        /// The caller waits; GRANTED will be called back.
        BLOCKED = 3, "NLM4_BLOCKED";
        /// The server has restarted and only accepts reclaims.
        DENIED_GRACE_PERIOD = 4, "NLM4_DENIED_GRACE_PERIOD";
        /// The wait would cause a deadlock.
        DEADLCK = 5, "NLM4_DEADLCK";
        /// Read-only file system.
        ROFS = 6, "NLM4_ROFS";
        /// The handle's file no longer exists.
        STALE_FH = 7, "NLM4_STALE_FH";
        /// Offset or length too large.
        FBIG = 8, "NLM4_FBIG";
        /// Any other failure.
        FAILED = 9, "NLM4_FAILED";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_status_is_shown_by_name_and_number() {
        assert_eq!(Status::DENIED.to_string(), "NLM4_DENIED (1)");
        assert_eq!(Status(10).to_string(), "nlm4_stats 10");
    }
}
