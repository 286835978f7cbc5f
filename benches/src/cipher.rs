//! Time that a cipher library needs for the bytes of a READ alone.

use crate::figures::median;
use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use filestone_interop::times;

/// A response to READ: header, fixed fields, 64 KiB.
const MESSAGE_LEN: usize = 64 + 16 + (64 << 10);
/// Authenticated part of a TRANSFORM_HEADER.
const AUTHENTICATED: [u8; 32] = [7; 32];
const READS_PER_BATCH: u32 = 500;
const BATCHES: u32 = 21;

/// Measures the CPU time to decrypt one response, in microseconds; encrypting takes the same.
/// Median of several batches.
pub fn us_per_read() -> f64 {
    let key = UnboundKey::new(&AES_128_GCM, &[1; 16]).expect("a key of 16 bytes");
    let key = LessSafeKey::new(key);
    let nonce = || Nonce::assume_unique_for_key([2; NONCE_LEN]);
    let mut message = vec![3; MESSAGE_LEN];
    let sealed = key.seal_in_place_separate_tag(nonce(), Aad::from(AUTHENTICATED), &mut message);
    let tag = sealed.expect("a short message");
    let mut plain = vec![0; MESSAGE_LEN];
    let mut batch = || {
        let began = times::of_thread();
        for _ in 0..READS_PER_BATCH {
            key.open_separate_gather(
                nonce(),
                Aad::from(AUTHENTICATED),
                &message,
                tag.as_ref(),
                &mut plain,
            )
            .expect("what was sealed with this key");
        }
        (times::of_thread() - began).as_secs_f64() * 1e6 / f64::from(READS_PER_BATCH)
    };
    batch();
    let batches: Vec<f64> = (0..BATCHES).map(|_| batch()).collect();
    median(&batches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn to_decrypt_takes_time() {
        assert!(us_per_read() > 0.0);
    }
}
