//! Who calls come from.

use crate::plan::{Identities, Modes};
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
    /// Permissions of what such calls make.
    pub modes: Modes,
}

impl Credentials {
    /// These, as client `client` carries them.
    pub fn of_client(self, identities: &Identities, client: u32) -> Self {
        let machine_name = identities.machine_name_of(client);
        Self {
            machine_name: machine_name.unwrap_or(self.machine_name),
            uid: identities.uids.of_client(client).unwrap_or(self.uid),
            gid: identities.gids.of_client(client).unwrap_or(self.gid),
            ..self
        }
    }

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
