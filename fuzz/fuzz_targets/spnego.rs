#![no_main]

use filestone_fuzz::smb2_again::token;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = token(input);
});
