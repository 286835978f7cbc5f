#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| filestone_fuzz::selected(input, filestone_fuzz::nlm));
