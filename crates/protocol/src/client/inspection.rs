//! What is looked at of the data that a client reads.

use filestone_workload::payload::{DataVerifier, Payload, VerifyError};

/// The inspector of a client, once it has ever needed one.
#[derive(Debug, Default)]
pub struct LazyVerifier {
    inspector: Option<Box<DataVerifier>>,
    /// Whether what is read now is looked at.
    is_on: bool,
}

impl LazyVerifier {
    /// A line begins, whose data these are.
    #[inline]
    pub fn start(&mut self, payload: Option<&Payload>) {
        self.is_on = false;
        if let Some(Payload::Reading(reading)) = payload {
            self.is_on = true;
            self.inspector.get_or_insert_default().start(reading);
        }
    }

    /// Who looks at what is read now, if anybody does.
    #[inline]
    pub fn inspector(&mut self) -> Option<&mut DataVerifier> {
        if self.is_on {
            self.inspector.as_deref_mut()
        } else {
            None
        }
    }

    /// What was wrong with what the line has read.
    #[inline]
    pub fn take_fault(&mut self) -> Option<VerifyError> {
        self.inspector()?.take_fault()
    }
}
