//! TREE_DISCONNECT: disconnects from a share (sections 2.2.11 and 2.2.12).

layout! {
    /// SMB2 TREE_DISCONNECT Request.
    #[derive(Default)]
    pub struct Request[4, reserved 2] {}
}

layout! {
    /// SMB2 TREE_DISCONNECT Response.
    #[derive(Default)]
    pub struct Response[4, reserved 2] {}
}
