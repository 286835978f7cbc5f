#![no_main]

use filestone_wire::rpc::CallHeader;
use filestone_wire::xdr::{Decode, Encode, Reader};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let mut reader = Reader::new(input);
    if let Ok(header) = CallHeader::decode(&mut reader) {
        let bytes = header.to_bytes();
        assert!(reader.position() == bytes.len());
        assert_eq!(CallHeader::from_bytes(&bytes), Ok(header));
    }
});
