//! Verification of the data that a client reads.

use filestone_workload::payload::{DataVerifier, Payload, VerifyError};

/// The verifier of a client, created on first use.
#[derive(Debug, Default)]
pub struct LazyVerifier {
    verifier: Option<Box<DataVerifier>>,
    /// Whether the current reads are verified.
    is_on: bool,
}

impl LazyVerifier {
    /// Begins a line with this payload.
    #[inline]
    pub fn start(&mut self, payload: Option<&Payload>) {
        self.is_on = false;
        if let Some(Payload::Reading(reading)) = payload {
            self.is_on = true;
            self.verifier.get_or_insert_default().start(reading);
        }
    }

    /// Returns the verifier, if the current reads are verified.
    #[inline]
    pub fn verifier(&mut self) -> Option<&mut DataVerifier> {
        if self.is_on {
            self.verifier.as_deref_mut()
        } else {
            None
        }
    }

    /// Returns the error found in the data of the line.
    #[inline]
    pub fn take_fault(&mut self) -> Option<VerifyError> {
        self.verifier()?.take_fault()
    }
}
