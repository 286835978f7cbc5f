//! XDR, ONC RPC, portmap, MOUNT and NFSv3: bytes to messages and back.
#![no_std]
extern crate alloc;
