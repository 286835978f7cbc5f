//! CANCEL: cancels a pending request (section 2.2.30).
//!
//! The message has the MessageId of that request, or its AsyncId, and no response.

use super::Empty;

/// SMB2 CANCEL Request.
pub type Request = Empty;
