//! ECHO: checks that the server responds (sections 2.2.28 and 2.2.29).

layout! {
    /// SMB2 ECHO Request.
    #[derive(Default)]
    pub struct Request[4, reserved 2] {}
}

layout! {
    /// SMB2 ECHO Response.
    #[derive(Default)]
    pub struct Response[4, reserved 2] {}
}
