//! Pre-authentication integrity of 3.1.1: hash of the messages exchanged before there was a key.

use aws_lc_rs::digest::{Context, SHA512};

/// Connection.PreauthIntegrityHashValue or Session.PreauthIntegrityHashValue (MS-SMB2, sections
/// 3.2.5.2 and 3.2.5.3): a chain of SHA-512 over whole messages, header and all.
///
/// A connection adds its NEGOTIATE request and response; each session continues with a copy, and
/// adds its SESSION_SETUP requests and all responses except the one with success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preauth(pub(super) [u8; 64]);

impl Default for Preauth {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl Preauth {
    /// Adds the next message that was sent or received.
    pub fn add(&mut self, message: &[u8]) {
        let mut context = Context::new(&SHA512);
        context.update(&self.0);
        context.update(message);
        self.0.copy_from_slice(context.finish().as_ref());
    }

    /// Returns the hash of the messages added.
    pub const fn bytes(&self) -> &[u8; 64] {
        &self.0
    }
}
