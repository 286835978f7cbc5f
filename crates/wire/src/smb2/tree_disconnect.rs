//! TREE_DISCONNECT: disconnects from a share (sections 2.2.11 and 2.2.12).

use super::Empty;

/// SMB2 TREE_DISCONNECT Request.
pub type Request = Empty;

/// SMB2 TREE_DISCONNECT Response.
pub type Response = Empty;
