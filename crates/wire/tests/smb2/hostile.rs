//! What a peer can do to us with bytes: nothing but an error.

use crate::again;
use crate::real_peers::frames;
use filestone_wire::smb2::codec::{Decode, DecodeError};
use filestone_wire::smb2::transform::Encrypted;
use std::fmt::Debug;

/// Every byte at which one can cut; what is still understood says the same, and has only lost
/// padding.
fn cut<E: Debug + PartialEq>(bytes: &[u8], again: impl Fn(&[u8]) -> Result<Vec<u8>, E>) {
    let whole = again(bytes).unwrap();
    for len in 0..bytes.len() {
        if let Ok(cut) = again(&bytes[..len]) {
            assert!(whole.starts_with(&cut), "cut at {len}: {bytes:02x?}");
        }
    }
}

/// Every word that could be a length, an offset or a number, replaced.
fn replace<E>(bytes: &[u8], again: impl Fn(&[u8]) -> Result<Vec<u8>, E>) {
    const WORDS: [u32; 8] = [0, 1, 8, 64, 0xffff, i32::MAX as u32, u32::MAX - 7, u32::MAX];
    let mut changed = bytes.to_vec();
    for at in (0..bytes.len()).step_by(2) {
        for (word, width) in WORDS.iter().flat_map(|word| [(word, 2), (word, 4)]) {
            let end = bytes.len().min(at + width);
            changed[at..end].copy_from_slice(&word.to_le_bytes()[..end - at]);
            // Either outcome will do; a panic or an hour will not.
            let _ = again(&changed);
            changed[at..end].copy_from_slice(&bytes[at..end]);
        }
    }
}

fn messages() -> impl Iterator<Item = Vec<u8>> {
    let files = ["samba-smb2.hex", "windows-smb2.hex"];
    let all = files.into_iter().flat_map(frames);
    all.filter(|(word, _)| word != "encrypted")
        .map(|(_, frame)| frame)
}

#[test]
fn no_frame_can_be_cut_so_that_it_says_something_else() {
    for frame in messages() {
        cut(&frame, again::frame);
    }
}

#[test]
fn no_word_of_a_frame_can_do_harm() {
    for frame in messages() {
        replace(&frame, again::frame);
    }
}

#[test]
fn no_structure_in_a_buffer_can_do_harm() {
    for (name, bytes) in frames("samba-fscc.hex") {
        cut(&bytes, |bytes| again::information(&name, bytes));
        replace(&bytes, |bytes| again::information(&name, bytes));
    }
}

#[test]
fn an_encrypted_frame_has_as_many_bytes_as_its_header_says() {
    let mut count = 0;
    for (word, frame) in frames("windows-smb2.hex") {
        if word == "encrypted" {
            count += 1;
            let encrypted = Encrypted::from_bytes(&frame).unwrap();
            assert_eq!(encrypted.data.len(), frame.len() - 52);
            for len in 0..frame.len() {
                let cut = Encrypted::from_bytes(&frame[..len]);
                assert!(matches!(cut, Err(DecodeError::Short { .. })));
            }
        }
    }
    assert_eq!(count, 6);
}
