//! The procedures by name and number (RFC 1813, section 6.2).

procedures! {
    /// A procedure of NLM version 4 with an immediate reply.
    pub enum Procedure: u32 {
        /// NLMPROC4_NULL: void to void, section 6.3.0.
        Null = 0, "null";
        /// NLMPROC4_TEST: checks whether a lock would be granted, section 6.3.1.
        Test = 1, "test";
        /// NLMPROC4_LOCK: set a lock, section 6.3.2.
        Lock = 2, "lock";
        /// NLMPROC4_CANCEL: ends waiting for a lock, section 6.3.3.
        Cancel = 3, "cancel";
        /// NLMPROC4_UNLOCK: remove a lock, section 6.3.4.
        Unlock = 4, "unlock";
        /// NLMPROC4_GRANTED: the server's call when a waiting lock is granted, section 6.3.5.
        Granted = 5, "granted";
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
