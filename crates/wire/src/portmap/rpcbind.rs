//! rpcbind versions 3 and 4 (RFC 1833, section 2).

use alloc::vec::Vec;

/// RPCBVERS.
pub const VERSION_3: u32 = 3;
/// RPCBVERS4.
pub const VERSION_4: u32 = 4;

procedures! {
    /// A procedure of version 3 or 4, section 2.2.1.
    pub enum Procedure: u32 {
        /// RPCBPROC_NULL: void to void.
        Null = 0, "null";
        /// RPCBPROC_SET: [`Rpcb`] to `bool`.
        Set = 1, "set";
        /// RPCBPROC_UNSET: [`Rpcb`] to `bool`.
        Unset = 2, "unset";
        /// RPCBPROC_GETADDR: [`Rpcb`] to a string, empty if the program is not registered.
        Getaddr = 3, "getaddr";
        /// RPCBPROC_DUMP: void to [`DumpReply`].
        Dump = 4, "dump";
        /// RPCBPROC_CALLIT of version 3, RPCBPROC_BCAST of version 4: a call that rpcbind forwards.
        Bcast = 5, "bcast";
        /// RPCBPROC_GETTIME: void to `u32`, seconds since the beginning of 1970.
        Gettime = 6, "gettime";
        /// RPCBPROC_UADDR2TADDR: a string to `netbuf`.
        Uaddr2taddr = 7, "uaddr2taddr";
        /// RPCBPROC_TADDR2UADDR: `netbuf` to a string.
        Taddr2uaddr = 8, "taddr2uaddr";
        /// RPCBPROC_GETVERSADDR, version 4: [`Rpcb`] to a string, empty if the program is not
        /// registered in exactly that version.
        Getversaddr = 9, "getversaddr";
        /// RPCBPROC_INDIRECT, version 4: a call that rpcbind forwards.
        Indirect = 10, "indirect";
        /// RPCBPROC_GETADDRLIST, version 4: [`Rpcb`] to `rpcb_entry_list_ptr`.
        Getaddrlist = 11, "getaddrlist";
        /// RPCBPROC_GETSTAT, version 4: void to `rpcb_stat_byvers`.
        Getstat = 12, "getstat";
    }
}

impl Procedure {
    /// Returns the procedure with this number in this version.
    pub fn of_version(number: u32, version: u32) -> Option<Self> {
        let is_there = |one: &Self| version == VERSION_4 || *one <= Self::Taddr2uaddr;
        Self::from_number(number).filter(is_there)
    }
}

message! {
    /// `rpcb`, section 2.1.
    #[derive(Copy)]
    pub struct Rpcb<'a> {
        /// `r_prog`.
        pub program: u32,
        /// `r_vers`.
        pub version: u32,
        /// `r_netid`: "tcp", "udp", "tcp6", "udp6", …
        pub netid: &'a [u8],
        /// `r_addr`: a universal address.
        pub address: &'a [u8],
        /// `r_owner`.
        pub owner: &'a [u8],
    }
}

/// A universal address, or an empty string: the reply to GETADDR and GETVERSADDR.
pub type AddrReply<'a> = &'a [u8];

/// `rpcblist_ptr`.
pub type DumpReply<'a> = Vec<Rpcb<'a>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_count_from_null_to_getstat() {
        for (number, procedure) in (0..).zip(Procedure::ALL) {
            assert_eq!(procedure.number(), number);
            assert_eq!(Procedure::of_version(number, VERSION_4), Some(procedure));
        }
        assert_eq!(
            Procedure::of_version(8, VERSION_3),
            Some(Procedure::Taddr2uaddr)
        );
        assert_eq!(Procedure::of_version(9, VERSION_3), None);
        assert_eq!(Procedure::of_version(13, VERSION_4), None);
    }
}
