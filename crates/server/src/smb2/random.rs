//! Unpredictable random numbers: challenges and salts.

use filestone_wire::smb2::Status;

/// Fills `bytes` with random bytes.
pub fn fill(bytes: &mut [u8]) -> Result<(), Status> {
    aws_lc_rs::rand::fill(bytes).map_err(|_| Status::INSUFFICIENT_RESOURCES)
}
