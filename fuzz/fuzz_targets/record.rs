#![no_main]

//! However a stream is cut, the same records come out, and the same error.

use filestone_wire::record::{Assembler, RecordError};
use libfuzzer_sys::fuzz_target;

const RECORD_MAX: usize = 300;

fn records(stream: &[u8], step: usize) -> (Vec<Vec<u8>>, Result<usize, RecordError>) {
    let mut assembler = Assembler::new(RECORD_MAX);
    let mut found = Vec::new();
    for mut piece in stream.chunks(step) {
        loop {
            match assembler.next(&mut piece) {
                Ok(Some(record)) => {
                    assert!(record.len() <= RECORD_MAX);
                    found.push(record.to_vec());
                }
                Ok(None) => break,
                Err(error) => return (found, Err(error)),
            }
        }
        assert!(piece.is_empty());
        assert!(assembler.capacity() <= 2 * RECORD_MAX.next_power_of_two());
    }
    (found, Ok(assembler.pending()))
}

fuzz_target!(|input: &[u8]| {
    if let Some((step, stream)) = input.split_first() {
        let whole = records(stream, stream.len().max(1));
        assert_eq!(records(stream, usize::from(*step).max(1)), whole);
    }
});
