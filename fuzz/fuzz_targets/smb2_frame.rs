#![no_main]

//! A frame of SMB2: encrypted, or one message or more.

use filestone_fuzz::smb2_again;
use filestone_wire::smb2::ProtocolId;
use filestone_wire::smb2::codec::Decode;
use filestone_wire::smb2::transform::Encrypted;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if ProtocolId::of(input) == Some(ProtocolId::Transform) {
        let _ = Encrypted::from_bytes(input);
    } else if let Ok(same) = smb2_again::frame(input) {
        assert_eq!(smb2_again::frame(&same).as_ref(), Ok(&same));
    }
});
