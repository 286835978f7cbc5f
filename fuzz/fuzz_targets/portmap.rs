#![no_main]

use filestone_wire::portmap::UniversalAddress;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    filestone_fuzz::selected(input, filestone_fuzz::portmap);
    if let Ok(address) = UniversalAddress::parse(input) {
        assert_eq!(
            UniversalAddress::parse(address.text().as_bytes()),
            Ok(address)
        );
    }
});
