//! Who calls come from.

use filestone_wire::rpc::{AuthSys, Credential, Gids};

/// Who the calls come from (AUTH_SYS, RFC 5531 appendix A).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    /// Name of this host.
    pub machine_name: String,
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// Any number, the same for all calls of a run.
    pub stamp: u32,
}

impl Credentials {
    /// The credential of calls that need one.
    pub fn to_auth(&self) -> Credential<'_> {
        Credential::Sys(AuthSys {
            stamp: self.stamp,
            machine_name: self.machine_name.as_bytes(),
            uid: self.uid,
            gid: self.gid,
            gids: Gids::EMPTY,
        })
    }
}
