//! How SMB is spoken, as far as there is a choice.

use std::fmt;
use std::str::FromStr;

use filestone_protection::upcased;
use filestone_wire::smb2::Dialect;

/// The most bytes that a READ, a WRITE or a QUERY carries.
pub const TRANSFER_MAX: u32 = 1 << 20;

/// A user and the password that is asked of him.
#[derive(Clone, PartialEq, Eq)]
pub struct User {
    /// His name; its case does not matter.
    pub name: String,
    /// His password.
    pub password: String,
}

/// Without the password.
impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "User({:?})", self.name)
    }
}

/// Whether something is done with messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Protection {
    /// Never.
    Refused,
    /// If the client wants it.
    #[default]
    Offered,
    /// Always; who cannot is not served.
    Required,
}

/// Not a degree of protection.
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

/// How SMB is served: see [`Options::smb`](crate::Options::smb).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmbOptions {
    /// The port, the same for all addresses; 0 is any that is free.
    pub port: u16,
    /// Who is let in. If there is nobody in it, everybody is, as a guest.
    pub users: Vec<User>,
    /// Whether messages are signed. Guests have no key to sign with; where it is required, they
    /// are not let in. `Refused` is taken for `Offered`: no server may refuse a signature.
    pub signing: Protection,
    /// Whether messages are encrypted.
    pub encryption: Protection,
    /// The newest dialect that is spoken.
    pub dialect_max: Dialect,
    /// Credits that a client may have at once, at least 1.
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
    /// Whether whoever comes is let in.
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
