//! Identities of the clients of a run: users, groups and machine names.

use super::ranges::{RangeItem, Ranges};
use crate::JsonSchema;
use filestone_wire::rpc::GIDS_MAX;
use serde::{Deserialize, Serialize};

/// Placeholder for the client number in a pattern of machine names.
pub const CLIENT_NUMBER: &str = "%d";

/// User, group and machine name that clients send. Omitted fields default to the target's.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Identities {
    /// AUTH_SYS user ids. Preparation and clean-up use the first.
    #[serde(default, skip_serializing_if = "IdRanges::is_empty")]
    pub uids: IdRanges,
    /// AUTH_SYS group ids. Preparation and clean-up use the first.
    #[serde(default, skip_serializing_if = "IdRanges::is_empty")]
    pub gids: IdRanges,
    /// Supplementary groups of AUTH_SYS in each client's calls. By default, clients with the
    /// target's user have the target's groups, and others have no groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supplementary_gids: Option<IdRanges>,
    /// Machine name that clients send; `%d` in it is replaced by the number of the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_name: Option<String>,
}

impl Identities {
    /// Whether all fields default to the target's.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the machine name of client `client`, if a pattern is set.
    pub fn machine_name_of(&self, client: u32) -> Option<String> {
        let pattern = self.machine_name.as_ref()?;
        Some(pattern.replace(CLIENT_NUMBER, &client.to_string()))
    }

    /// Returns the permissions of objects that the run creates. With several users, all of them
    /// work with objects that the first one prepares, and the first removes objects of all of them.
    pub fn modes(&self) -> CreateModes {
        match self.uids.count() {
            0 | 1 => CreateModes::OWN,
            _ => CreateModes::SHARED,
        }
    }
}

/// Parses the supplementary groups of a user: numbers and ranges with commas, or `none`.
pub fn supplementary_gids(text: &str) -> Result<IdRanges, String> {
    let gids: IdRanges = match text {
        "none" => IdRanges::default(),
        text => text.parse()?,
    };
    if gids.count() > GIDS_MAX as u128 {
        return Err(format!(
            "a call carries {GIDS_MAX} supplementary groups at most"
        ));
    }
    Ok(gids)
}

/// Identities of the clients, by group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GroupIdentities(Vec<GroupIdentity>);

/// Identities of the clients of one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupIdentity {
    /// The number of the group's first client.
    pub first: u32,
    /// The identities.
    pub identities: Identities,
}

/// Identity of one client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientIdentity<'c> {
    /// The identities of its group.
    pub identities: &'c Identities,
    /// Number of the client in the group.
    pub number: u32,
}

impl GroupIdentities {
    /// Returns identities that apply to all clients.
    pub fn all(identities: Identities) -> Self {
        let first = 0;
        Self(vec![GroupIdentity { first, identities }])
    }

    /// Identities by group, in the order of their clients.
    pub const fn of_groups(groups: Vec<GroupIdentity>) -> Self {
        Self(groups)
    }

    /// Returns the identity of a client, if one is set.
    pub fn of(&self, client: u32) -> Option<ClientIdentity<'_>> {
        let group = self.0.iter().rev().find(|group| group.first <= client)?;
        Some(ClientIdentity {
            identities: &group.identities,
            number: client - group.first,
        })
    }

    /// Returns the identities of the first client's group, which preparation and clean-up also use.
    pub fn first(&self) -> Identities {
        let first = self.0.first().map(|group| group.identities.clone());
        first.unwrap_or_default()
    }

    /// Returns the permissions of objects that the run creates.
    pub fn modes(&self) -> CreateModes {
        let mut groups = self.0.iter().map(|group| &group.identities);
        let first = groups.next().map(|first| &first.uids);
        let is_one = groups.all(|other| Some(&other.uids) == first);
        match self.0.first() {
            Some(group) if is_one => group.identities.modes(),
            None => CreateModes::OWN,
            Some(_) => CreateModes::SHARED,
        }
    }
}

/// Permissions of objects that a run creates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreateModes {
    /// Mode of files and named pipes.
    pub file: u32,
    /// Mode of directories.
    pub directory: u32,
}

impl CreateModes {
    /// Access for the one user of a run only.
    pub const OWN: Self = Self {
        file: 0o600,
        directory: 0o700,
    };
    /// Access for all users, for runs with several users.
    pub const SHARED: Self = Self {
        file: 0o666,
        directory: 0o777,
    };
}

/// Ranges of user or group ids: client i has number i modulo their number. Written as `1000-1999`,
/// `100`, or a list of these with commas.
pub type IdRanges = Ranges<u32>;

impl RangeItem for u32 {
    const EXPECTED: &str = "a number, or a range such as 1000-1999";

    fn number(self) -> u128 {
        self.into()
    }

    fn like(self, number: u128) -> Self {
        number as Self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_take_numbers_in_turn() {
        let ids: IdRanges = "1000-1001,7".parse().expect("numbers");
        let of = [0, 1, 2, 3].map(|client| ids.of_client(client));
        assert_eq!(of, [Some(1000), Some(1001), Some(7), Some(1000)]);
        assert_eq!(IdRanges::default().of_client(3), None);
        let all: IdRanges = "0-4294967295".parse().expect("numbers");
        assert_eq!(all.of_client(u32::MAX), Some(u32::MAX));
    }

    #[test]
    fn what_is_no_number_is_refused_and_the_rest_is_stored_as_text() {
        for text in ["", "x", "-1", "5-3", "1,", "4294967296"] {
            let error = text.parse::<IdRanges>().expect_err(text);
            assert!(error.contains("expected a number"), "{error}");
        }
        let ids: IdRanges = "1,5-9".parse().expect("numbers");
        let stored = serde_json::to_string(&ids).expect("text");
        assert_eq!(stored, "\"1,5-9\"");
        assert_eq!(
            serde_json::from_str::<IdRanges>(&stored).expect("the same"),
            ids
        );
    }

    #[test]
    fn a_call_has_room_for_sixteen_groups() {
        let sixteen = supplementary_gids("1-15,20").expect("as many as there is room for");
        assert_eq!(sixteen.count(), 16);
        assert!(supplementary_gids("1-17").is_err_and(|why| why.contains("16")));
        assert_eq!(supplementary_gids("none"), Ok(IdRanges::default()));
        assert!(supplementary_gids("").is_err());
    }

    #[test]
    fn machines_are_named_by_a_pattern() {
        let identities = Identities {
            machine_name: Some("host%d.example".into()),
            ..Identities::default()
        };
        let name = identities.machine_name_of(12);
        assert_eq!(name.as_deref(), Some("host12.example"));
    }

    #[test]
    fn several_users_share_what_is_made() {
        let modes = |uids: &str, gids: &str| {
            let (uids, gids) = (uids.parse().ok(), gids.parse().ok());
            let identities = Identities {
                uids: uids.unwrap_or_default(),
                gids: gids.unwrap_or_default(),
                ..Identities::default()
            };
            identities.modes()
        };
        assert_eq!(modes("", "5-9"), CreateModes::OWN);
        assert_eq!(modes("7", ""), CreateModes::OWN);
        assert_eq!(modes("7-8", ""), CreateModes::SHARED);
    }
}
