//! XDR, ONC RPC, portmap, MOUNT, NFSv3, NLM, tbench and SMB2: bytes to messages and back.
//!
//! Nothing here opens a socket, reads a clock or needs `std`. Messages borrow names, handles and
//! file data from the bytes that they were decoded from; a length that a peer announces never
//! determines the memory used.
//!
//! | module | standard |
//! |---|---|
//! | [`xdr`] | RFC 4506 |
//! | [`record`], [`rpc`] | RFC 5531 |
//! | [`portmap`] | RFC 1833 |
//! | [`mount`] | RFC 1813, appendix I |
//! | [`nfs3`] | RFC 1813 |
//! | [`tbench`] | none: the messages of dbench's tbench |
//! | [`nlm`] | RFC 1813, appendix II |
//! | [`smb2`] | MS-SMB2, MS-FSCC, RFC 4178 |
//! | [`pattern`] | none: file data that contain their position |

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

#[macro_use]
mod declare;

pub mod mount;
pub mod nfs3;
pub mod nlm;
pub mod pattern;
pub mod portmap;
pub mod record;
pub mod rpc;
pub mod smb2;
pub mod tbench;
pub mod xdr;
