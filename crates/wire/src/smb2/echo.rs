//! ECHO: checks that the server responds (sections 2.2.28 and 2.2.29).

use super::Empty;

/// SMB2 ECHO Request.
pub type Request = Empty;

/// SMB2 ECHO Response.
pub type Response = Empty;
