//! Options of the SMB server.

use std::fmt;
use std::str::FromStr;

use filestone_protection::upcased;
use filestone_wire::smb2::Dialect;

/// Largest length of a READ, a WRITE or a QUERY, in bytes.
pub const TRANSFER_MAX: u32 = 1 << 20;

/// A user and the password.
#[derive(Clone, PartialEq, Eq)]
pub struct User {
    /// User name; its case does not matter.
    pub name: String,
    /// Password.
    pub password: String,
}

/// Omits the password.
impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "User({:?})", self.name)
    }
}

/// Degree of message protection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Protection {
    /// Never used.
    Refused,
    /// Used if the client requests it.
    #[default]
    Offered,
    /// Always used; clients without it are refused.
    Required,
}

/// Unknown degree of protection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not refused, offered or required")]
pub struct ProtectionParseError(String);

impl FromStr for Protection {
    type Err = ProtectionParseError;

    fn from_str(text: &str) -> Result<Self, ProtectionParseError> {
        match text {
            "refused" => Ok(Self::Refused),
            "offered" => Ok(Self::Offered),
            "required" => Ok(Self::Required),
            _ => Err(ProtectionParseError(text.into())),
        }
    }
}

/// Options of the SMB server: see [`Options::smb`](crate::Options::smb).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmbOptions {
    /// Port of all addresses; 0 selects a free one.
    pub port: u16,
    /// Users with access; with an empty list all clients have access as guests.
    pub users: Vec<User>,
    /// Signing of messages. Guests have no signing key; if signing is required, they are refused.
    /// `Refused` is treated as `Offered`: a server may not refuse signing.
    pub signing: Protection,
    /// Encryption of messages.
    pub encryption: Protection,
    /// Newest dialect offered.
    pub dialect_max: Dialect,
    /// Largest number of credits of a client, at least 1.
    pub credits: u16,
    /// MaxTransactSize, at least 4 KiB.
    pub transact_max: u32,
    /// MaxReadSize and MaxWriteSize, at least 4 KiB.
    pub transfer_max: u32,
}

impl Default for SmbOptions {
    fn default() -> Self {
        Self {
            port: 0,
            users: Vec::new(),
            signing: Protection::Offered,
            encryption: Protection::Offered,
            dialect_max: Dialect::SMB_3_1_1,
            credits: 8192,
            transact_max: TRANSFER_MAX,
            transfer_max: TRANSFER_MAX,
        }
    }
}

impl SmbOptions {
    /// Returns whether all clients have access as guests.
    pub(super) fn has_guests(&self) -> bool {
        self.users.is_empty()
    }

    pub(super) fn password_of(&self, name: &str) -> Option<&str> {
        let wanted = upcased(name);
        let mut users = self.users.iter();
        let user = users.find(|user| upcased(&user.name) == wanted);
        user.map(|user| user.password.as_str())
    }
}
