#![no_main]

use filestone_fuzz::smb2_again::{INFORMATION, information};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let Some((selector, bytes)) = input.split_first() {
        let name = INFORMATION[usize::from(*selector) % INFORMATION.len()];
        // An error is a fine answer to most inputs.
        let _ = information(name, bytes);
    }
});
