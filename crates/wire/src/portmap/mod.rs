//! Port mapper: portmap version 2 and rpcbind versions 3 and 4 (RFC 1833). One program number,
//! three versions.
//!
//! Version 2, in this file, returns a port; versions 3 and 4, in [`rpcbind`], return a universal
//! address ([`UniversalAddress`]).

mod address;
pub mod rpcbind;

use alloc::vec::Vec;

pub use address::UniversalAddress;

/// PMAP_PROG and RPCBPROG.
pub const PROGRAM: u32 = 100_000;
/// PMAP_VERS.
pub const VERSION: u32 = 2;
/// PMAP_PORT: port of the port mapper.
pub const PORT: u16 = 111;
/// `prot` of TCP.
pub const IPPROTO_TCP: u32 = 6;
/// `prot` of UDP.
pub const IPPROTO_UDP: u32 = 17;

procedures! {
    /// A procedure of version 2, section 3.2.
    pub enum Procedure: u32 {
        /// PMAPPROC_NULL: void to void.
        Null = 0, "null";
        /// PMAPPROC_SET: [`Mapping`] to `bool`.
        Set = 1, "set";
        /// PMAPPROC_UNSET: [`Mapping`] to `bool`; protocol and port are ignored.
        Unset = 2, "unset";
        /// PMAPPROC_GETPORT: [`Mapping`] to `u32`, 0 if the program is not registered; the port in
        /// the request is ignored.
        Getport = 3, "getport";
        /// PMAPPROC_DUMP: void to [`DumpReply`].
        Dump = 4, "dump";
        /// PMAPPROC_CALLIT: a call that the port mapper forwards.
        Callit = 5, "callit";
    }
}

message! {
    /// `mapping`.
    #[derive(Copy, Hash)]
    pub struct Mapping {
        /// `prog`.
        pub program: u32,
        /// `vers`.
        pub version: u32,
        /// `prot`: [`IPPROTO_TCP`] or [`IPPROTO_UDP`].
        pub protocol: u32,
        /// `port`.
        pub port: u32,
    }
}

/// `pmaplist`.
pub type DumpReply = Vec<Mapping>;
