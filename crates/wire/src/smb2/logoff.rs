//! LOGOFF: ends a session (sections 2.2.7 and 2.2.8).

layout! {
    /// SMB2 LOGOFF Request.
    #[derive(Default)]
    pub struct Request[4, reserved 2] {}
}

layout! {
    /// SMB2 LOGOFF Response.
    #[derive(Default)]
    pub struct Response[4, reserved 2] {}
}
