#![no_main]

//! Whatever a gate says, reading it does not panic; what is one is read again as it was, and what
//! is none is shown with its place.

use filestone_plan::gate::{Gate, GateError};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    match text.parse::<Gate>() {
        Ok(gate) => assert_eq!(gate.to_string().parse(), Ok(gate)),
        Err(error) => check(&error),
    }
});

/// Something is wrong somewhere in it, and no control character is shown.
fn check(error: &GateError) {
    assert!(!error.message.is_empty() && error.column() <= error.text.chars().count() + 1);
    let shown = error.picture();
    assert!(
        shown
            .chars()
            .all(|letter| letter == '\n' || !letter.is_control())
    );
}
