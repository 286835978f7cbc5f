//! What a client wants of a server, and why it does not get it.

use crate::client::call_slot::ActionError;
use crate::session::smb2::{MechanismError, Mechanisms};
use filestone_wire::smb2::negotiate::Cipher;
use filestone_wire::smb2::spnego::TokenError;
use filestone_wire::smb2::tree_connect::ShareType;
use filestone_wire::smb2::{Capabilities, Dialect, SecurityMode, Status};
use filestone_workload::load::Cause;
use std::sync::Arc;

/// Whether messages are signed, or encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protection {
    /// If the server wants it.
    #[default]
    IfRequired,
    /// In any case: a server without it is refused.
    Required,
    /// Not: a server that wants it is refused.
    Off,
}

/// What a client wants of a connection.
#[derive(Debug, Clone)]
pub struct ConnectOptions {
    /// Dialects that are offered, the oldest first.
    pub dialects: Vec<Dialect>,
    /// Ciphers that are offered, the preferred one first.
    pub ciphers: Vec<Cipher>,
    /// ClientGuid.
    pub client_guid: [u8; 16],
    /// Salt of pre-authentication integrity.
    pub salt: [u8; 32],
    /// Whether messages are signed.
    pub signing: Protection,
    /// Whether they are encrypted.
    pub encryption: Protection,
    /// How users prove who they are.
    pub mechanisms: Arc<dyn Mechanisms>,
    /// `\\server\share`.
    pub share: String,
    /// The server's name, for NEGOTIATE.
    pub server: String,
    /// Connections of its session.
    pub channels: u32,
}

impl ConnectOptions {
    /// All dialects, the oldest first.
    pub const DIALECTS: [Dialect; 5] = [
        Dialect::SMB_2_0_2,
        Dialect::SMB_2_1,
        Dialect::SMB_3_0,
        Dialect::SMB_3_0_2,
        Dialect::SMB_3_1_1,
    ];

    pub(super) fn capabilities(&self) -> Capabilities {
        let offers_3 = self
            .dialects
            .iter()
            .any(|dialect| dialect.0 >= Dialect::SMB_3_0.0);
        let mut capabilities = Capabilities::LARGE_MTU.with(Capabilities::LEASING);
        if offers_3 && self.encryption != Protection::Off {
            capabilities = capabilities.with(Capabilities::ENCRYPTION);
        }
        if offers_3 && self.channels > 1 {
            capabilities = capabilities.with(Capabilities::MULTI_CHANNEL);
        }
        capabilities
    }

    pub(super) fn security_mode(&self) -> SecurityMode {
        match self.signing {
            Protection::Required => SecurityMode::SIGNING_REQUIRED,
            Protection::IfRequired | Protection::Off => SecurityMode::SIGNING_ENABLED,
        }
    }
}

/// At which step there is no way on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupStep {
    /// NEGOTIATE.
    Negotiate,
    /// SESSION_SETUP.
    SessionSetup,
    /// TREE_CONNECT.
    TreeConnect,
    /// SESSION_SETUP that binds a connection to the session of another.
    Bind,
    /// LOGOFF.
    LogOff,
    /// FSCTL_VALIDATE_NEGOTIATE_INFO.
    Validate,
}

/// Why a session has no more than one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MultichannelUnavailable {
    /// The dialect has no more.
    #[error("the server chose dialect {0}, in which a session has one connection")]
    Dialect(Dialect),
    /// The server offers no more.
    #[error("the server offers one connection for a session (no multichannel)")]
    Server,
    /// A guest's session has no key that would prove whose it is.
    #[error("the server lets this user in as a guest, whose session has one connection")]
    Guest,
}

/// Why there is no connection to a share.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// The client cannot go on: the driver knows why.
    #[error("the connection was lost")]
    Lost,
    /// The connection is gone, and there may be another one.
    #[error("the connection was lost")]
    Reset,
    /// The server says no.
    #[error("{step:?} was answered {status}")]
    Refused {
        /// To what.
        step: SetupStep,
        /// How.
        status: Status,
    },
    /// The dialect is none of those that were offered.
    #[error("the server chose dialect {0}, which was not offered")]
    Dialect(Dialect),
    /// It takes no transfers.
    #[error("the server says that it takes {what} of {bytes} bytes at most")]
    Limits {
        /// Of what.
        what: &'static str,
        /// Bytes.
        bytes: u32,
    },
    /// What it wants, or does not offer, does not go with what was asked for.
    #[error("{0}")]
    Terms(&'static str),
    /// A session has no more than one connection, and more were asked for.
    #[error("{0}, and --connections-per-client asks for more")]
    OneChannel(MultichannelUnavailable),
    /// Its token cannot be read.
    #[error("the server's token of SPNEGO: {0}")]
    Token(TokenError),
    /// The mechanism cannot go on.
    #[error("authentication: {0}")]
    Mechanism(MechanismError),
    /// Keys cannot be made.
    #[error("keys of the session: {0}")]
    Keys(String),
    /// The last response of SESSION_SETUP is not signed as it has to be.
    #[error(
        "the server's signature of the session does not verify: it does not know the password, or \
         messages are changed on the way"
    )]
    Forged,
    /// It asks for no proof of who the user is, and does not call him a guest either.
    #[error("the server lets the user in without asking for a proof, and not as a guest")]
    Unproven,
    /// The share is no directory.
    #[error("the share is no disk: {0}")]
    Share(ShareType),
    /// What was negotiated was changed on the way.
    #[error(
        "what was negotiated is not what the server says that it was: messages are changed on the way"
    )]
    Changed,
}

impl ConnectError {
    /// As what became of an operation.
    pub fn into_failure(self) -> ActionError {
        match self {
            Self::Lost => ActionError::ClientFailed,
            Self::Reset => ActionError::ConnectionReset,
            Self::Refused { status, .. } => status.into(),
            _ => ActionError::refused(Cause::Other),
        }
    }
}

impl From<TokenError> for ConnectError {
    fn from(error: TokenError) -> Self {
        Self::Token(error)
    }
}

impl From<MechanismError> for ConnectError {
    fn from(error: MechanismError) -> Self {
        Self::Mechanism(error)
    }
}

/// What a step towards a share comes to.
pub(super) type Result<T> = std::result::Result<T, ConnectError>;

/// What became of a step, as why there is no connection.
pub(super) fn refused(step: SetupStep) -> impl Fn(ActionError) -> ConnectError {
    move |failure| match failure {
        ActionError::Status(filestone_workload::load::Status::Failed(status)) => {
            ConnectError::Refused {
                step,
                status: Status(status.number),
            }
        }
        ActionError::ConnectionReset => ConnectError::Reset,
        ActionError::Status(_) | ActionError::ClientFailed => ConnectError::Lost,
    }
}
