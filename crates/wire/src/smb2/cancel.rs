//! CANCEL: ask that a pending request be given up (section 2.2.30).
//!
//! It has the MessageId of that request, or its AsyncId, and no response of its own.

layout! {
    /// SMB2 CANCEL Request.
    #[derive(Default)]
    pub struct Request[4, reserved 2] {}
}
