#![no_main]

//! Whatever a server sends, in whatever pieces, a client with many calls of all
//! kinds in flight does not panic and ends each operation once.

use filestone_fuzz::conversation::Conversation;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let Some((head, script)) = input.split_first_chunk::<2>() {
        Conversation::new(*head).follow(script);
    }
});
