#![no_main]

//! Whatever a server sends, in whatever pieces, a client of a load does not panic and ends
//! each line once.

use filestone_fuzz::load_conversation::LoadConversation;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let Some((flags, steps)) = input.split_first() {
        LoadConversation::new(*flags).follow(steps);
    }
});
