//! CANCEL: cancels a pending request (section 2.2.30).
//!
//! The message has the MessageId of that request, or its AsyncId, and no response.

layout! {
    /// SMB2 CANCEL Request.
    #[derive(Default)]
    pub struct Request[4, reserved 2] {}
}
