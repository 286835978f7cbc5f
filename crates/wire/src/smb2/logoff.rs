//! LOGOFF: ends a session (sections 2.2.7 and 2.2.8).

use super::Empty;

/// SMB2 LOGOFF Request.
pub type Request = Empty;

/// SMB2 LOGOFF Response.
pub type Response = Empty;
