//! rpcbind versions 3 and 4 (RFC 1833, section 2).

use alloc::vec::Vec;

use crate::xdr::{Decode, DecodeError, Encode, Reader, Writer};

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
        /// RPCBPROC_CALLIT of version 3, RPCBPROC_BCAST of version 4:
        /// [`CallArgs`] to [`CallReply`].
        Bcast = 5, "bcast";
        /// RPCBPROC_GETTIME: void to `u32`, seconds since the beginning of 1970.
        Gettime = 6, "gettime";
        /// RPCBPROC_UADDR2TADDR: a string to [`Netbuf`].
        Uaddr2taddr = 7, "uaddr2taddr";
        /// RPCBPROC_TADDR2UADDR: [`Netbuf`] to a string.
        Taddr2uaddr = 8, "taddr2uaddr";
        /// RPCBPROC_GETVERSADDR, version 4: [`Rpcb`] to a string, empty if the program is not
        /// registered in exactly that version.
        Getversaddr = 9, "getversaddr";
        /// RPCBPROC_INDIRECT, version 4: [`CallArgs`] to [`CallReply`].
        Indirect = 10, "indirect";
        /// RPCBPROC_GETADDRLIST, version 4: [`Rpcb`] to [`AddrListReply`].
        Getaddrlist = 11, "getaddrlist";
        /// RPCBPROC_GETSTAT, version 4: void to [`StatReply`].
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

message! {
    /// `rpcb_rmtcallargs`: a call that rpcbind forwards.
    #[derive(Copy)]
    pub struct CallArgs<'a> {
        /// `prog`.
        pub program: u32,
        /// `vers`.
        pub version: u32,
        /// `proc`.
        pub procedure: u32,
        /// Encoded arguments.
        pub args: &'a [u8],
    }
}

message! {
    /// `rpcb_rmtcallres`: the results of a forwarded call.
    #[derive(Copy)]
    pub struct CallReply<'a> {
        /// The universal address of the program.
        pub address: &'a [u8],
        /// Encoded results.
        pub results: &'a [u8],
    }
}

message! {
    /// `netbuf`: an address in the format of a transport.
    #[derive(Copy)]
    pub struct Netbuf<'a> {
        /// Largest length of the address, in bytes.
        pub maxlen: u32,
        /// The address.
        pub buf: &'a [u8],
    }
}

message! {
    /// `rpcb_entry`: one address of a program.
    #[derive(Copy)]
    pub struct RpcbEntry<'a> {
        /// `r_maddr`: the universal address.
        pub maddr: &'a [u8],
        /// `r_nc_netid`: the network identifier.
        pub nc_netid: &'a [u8],
        /// `r_nc_semantics`: 1 datagrams, 2 connections, 3 with orderly release.
        pub nc_semantics: u32,
        /// `r_nc_protofmly`: the family of protocols, such as "inet".
        pub nc_protofmly: &'a [u8],
        /// `r_nc_proto`: the protocol, such as "tcp".
        pub nc_proto: &'a [u8],
    }
}

/// `rpcb_entry_list_ptr`.
pub type AddrListReply<'a> = Vec<RpcbEntry<'a>>;

message! {
    /// `rpcbs_addrlist`: number of queries for one address.
    #[derive(Copy)]
    pub struct AddrStat<'a> {
        /// `prog`.
        pub program: u32,
        /// `vers`.
        pub version: u32,
        /// Number of successful queries.
        pub success: i32,
        /// Number of unsuccessful queries.
        pub failure: i32,
        /// `netid`.
        pub netid: &'a [u8],
    }
}

message! {
    /// `rpcbs_rmtcalllist`: number of times that one call was forwarded.
    #[derive(Copy)]
    pub struct CallStat<'a> {
        /// `prog`.
        pub program: u32,
        /// `vers`.
        pub version: u32,
        /// `proc`.
        pub procedure: u32,
        /// Number of successful calls.
        pub success: i32,
        /// Number of failed calls.
        pub failure: i32,
        /// Nonzero for INDIRECT, 0 for BCAST or CALLIT.
        pub indirect: i32,
        /// `netid`.
        pub netid: &'a [u8],
    }
}

message! {
    /// `rpcb_stat`: statistics of one version of rpcbind.
    pub struct Stat<'a> {
        /// Number of calls of each procedure.
        pub info: ProcedureCounts,
        /// `setinfo`: successful SETs.
        pub setinfo: i32,
        /// `unsetinfo`: successful UNSETs.
        pub unsetinfo: i32,
        /// `addrinfo`: queried addresses.
        pub addrinfo: Vec<AddrStat<'a>>,
        /// `rmtinfo`: calls passed on.
        pub rmtinfo: Vec<CallStat<'a>>,
    }
}

/// `rpcbs_proc`: RPCBSTAT_HIGHPROC counters, by procedure number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcedureCounts(pub [i32; 13]);

impl Encode for ProcedureCounts {
    fn encode(&self, out: &mut Writer<'_>) {
        out.words(self.0.map(i32::cast_unsigned));
    }
}

impl<'a> Decode<'a> for ProcedureCounts {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self(reader.words()?.map(u32::cast_signed)))
    }
}

message! {
    /// `rpcb_stat_byvers`: portmap version 2, rpcbind versions 3 and 4.
    pub struct StatReply<'a> {
        /// Version 2.
        pub version_2: Stat<'a>,
        /// Version 3.
        pub version_3: Stat<'a>,
        /// Version 4.
        pub version_4: Stat<'a>,
    }
}

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
