//! Credentials of calls.

use filestone_plan::plan::{CreateModes, IdRanges, Identities};
use filestone_wire::rpc::{AuthSys, Credential, GIDS_MAX, Gids};

/// Credentials of calls (AUTH_SYS, RFC 5531 appendix A).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    /// Name of this host.
    pub machine_name: String,
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// Supplementary groups.
    pub gids: Gids,
    /// Arbitrary stamp, identical for all calls of a run.
    pub stamp: u32,
    /// Permissions of objects that such calls create.
    pub modes: CreateModes,
}

impl Credentials {
    /// Returns the credentials of client `client`.
    pub fn of_client(self, identities: &Identities, client: u32) -> Self {
        let machine_name = identities.machine_name_of(client);
        let uid = identities.uids.of_client(client).unwrap_or(self.uid);
        let gids = match &identities.supplementary_gids {
            Some(gids) => groups(gids),
            // The supplementary groups belong to one user.
            None if uid != self.uid => Gids::EMPTY,
            None => self.gids,
        };
        Self {
            machine_name: machine_name.unwrap_or(self.machine_name),
            uid,
            gid: identities.gids.of_client(client).unwrap_or(self.gid),
            gids,
            ..self
        }
    }

    /// Returns the credential for calls that need one.
    pub fn to_auth(&self) -> Credential<'_> {
        Credential::Sys(AuthSys {
            stamp: self.stamp,
            machine_name: self.machine_name.as_bytes(),
            uid: self.uid,
            gid: self.gid,
            gids: self.gids,
        })
    }
}

/// Returns the groups of a plan, which has at most as many as a call can carry.
pub fn groups(ids: &IdRanges) -> Gids {
    let ids: Vec<u32> = ids.values().take(GIDS_MAX).collect();
    Gids::new(&ids).unwrap_or(Gids::EMPTY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> IdRanges {
        text.parse().expect("numbers")
    }

    #[test]
    fn groups_are_those_of_their_user_unless_they_are_named() {
        let caller = Credentials {
            machine_name: "host".into(),
            uid: 1000,
            gid: 100,
            gids: groups(&ids("4,24-25")),
            stamp: 0,
            modes: CreateModes::OWN,
        };
        assert_eq!(caller.gids.as_slice(), [4, 24, 25]);
        let Credential::Sys(carried) = caller.to_auth() else {
            panic!("AUTH_SYS");
        };
        assert_eq!(carried.gids, caller.gids);
        let of_client = |identities: &Identities, client| {
            let own = caller.clone().of_client(identities, client);
            own.gids.as_slice().to_vec()
        };
        let two_users = Identities {
            uids: ids("1000-1001"),
            ..Identities::default()
        };
        assert_eq!(of_client(&two_users, 0), [4, 24, 25]);
        assert!(of_client(&two_users, 1).is_empty());
        let named = Identities {
            supplementary_gids: Some(ids("7")),
            ..two_users
        };
        assert_eq!(of_client(&named, 0), [7]);
        assert_eq!(of_client(&named, 1), [7]);
    }
}
