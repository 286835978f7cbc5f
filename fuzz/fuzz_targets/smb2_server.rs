#![no_main]

//! Whole conversations with the built-in server of SMB, over two connections.

use filestone_fuzz::smb2_conversation::talk;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| talk(data));
