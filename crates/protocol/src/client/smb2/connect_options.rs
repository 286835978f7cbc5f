//! Options of a client for connecting to a server, and errors of connecting.

use crate::client::call_slot::ActionError;
use crate::session::smb2::{MechanismError, Mechanisms};
use filestone_plan::plan::SmbProtection;
use filestone_wire::smb2::negotiate::Cipher;
use filestone_wire::smb2::spnego::TokenError;
use filestone_wire::smb2::tree_connect::ShareType;
use filestone_wire::smb2::{Dialect, Status};
use filestone_workload::load::Cause;
use std::sync::Arc;

/// Options of a connection.
#[derive(Debug, Clone)]
pub struct ConnectOptions {
    /// Offered dialects, oldest first.
    pub dialects: Vec<Dialect>,
    /// Offered ciphers, preferred one first.
    pub ciphers: Vec<Cipher>,
    /// ClientGuid.
    pub client_guid: [u8; 16],
    /// Salt of pre-authentication integrity.
    pub salt: [u8; 32],
    /// Policy for signing.
    pub signing: SmbProtection,
    /// Policy for encryption.
    pub encryption: SmbProtection,
    /// Authentication of users.
    pub mechanisms: Arc<dyn Mechanisms>,
    /// `\\server\share`.
    pub share: String,
    /// The server's name, for NEGOTIATE.
    pub server: String,
    /// Number of connections of its session.
    pub channels: u32,
}

impl ConnectOptions {
    /// All dialects, oldest first.
    pub const DIALECTS: [Dialect; 5] = [
        Dialect::SMB_2_0_2,
        Dialect::SMB_2_1,
        Dialect::SMB_3_0,
        Dialect::SMB_3_0_2,
        Dialect::SMB_3_1_1,
    ];
}

/// Step at which connecting to a share failed.
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

/// Reason why a session is limited to one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MultichannelUnavailable {
    /// The dialect does not support more.
    #[error("the server chose dialect {0}, in which a session has one connection")]
    Dialect(Dialect),
    /// The server does not offer more.
    #[error("the server offers one connection for a session (no multichannel)")]
    Server,
    /// A guest's session has no key to prove its identity on another connection.
    #[error("the server lets this user in as a guest, whose session has one connection")]
    Guest,
}

/// Error returned when connecting to a share fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// The client cannot continue: the driver has the reason.
    #[error("the connection was lost")]
    Lost,
    /// The connection was lost, and there may be another one.
    #[error("the connection was lost")]
    Reset,
    /// The server refused a step.
    #[error("{step:?} was answered {status}")]
    Refused {
        /// The refused step.
        step: SetupStep,
        /// The status.
        status: Status,
    },
    /// The server chose a dialect that was not offered.
    #[error("the server chose dialect {0}, which was not offered")]
    Dialect(Dialect),
    /// The server's maximum transfer size is too small.
    #[error("the server says that it takes {what} of {bytes} bytes at most")]
    Limits {
        /// Kind of transfer.
        what: &'static str,
        /// The maximum in bytes.
        bytes: u32,
    },
    /// The server requires or lacks a feature, contrary to the options.
    #[error("{0}")]
    Terms(&'static str),
    /// A session is limited to one connection, but the options request more.
    #[error("{0}, and --connections-per-client asks for more")]
    OneChannel(MultichannelUnavailable),
    /// The server's token cannot be decoded.
    #[error("the server's token of SPNEGO: {0}")]
    Token(TokenError),
    /// The authentication mechanism failed.
    #[error("authentication: {0}")]
    Mechanism(MechanismError),
    /// The keys cannot be derived.
    #[error("keys of the session: {0}")]
    Keys(String),
    /// The last response of SESSION_SETUP lacks the required signature.
    #[error(
        "the server's signature of the session does not verify: it does not know the password, or \
         messages are changed on the way"
    )]
    Forged,
    /// The server requires no authentication of the user, but does not report a guest session.
    #[error("the server lets the user in without asking for a proof, and not as a guest")]
    Unproven,
    /// The share is not a disk share.
    #[error("the share is no disk: {0}")]
    Share(ShareType),
    /// The negotiation was modified in transit.
    #[error(
        "what was negotiated is not what the server says that it was: messages are changed on the way"
    )]
    Changed,
}

impl ConnectError {
    /// Converts the error into that of an action.
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

/// Result of a step of connection setup.
pub(super) type Result<T> = std::result::Result<T, ConnectError>;

/// Returns a function that converts the error of an action into that of a setup step.
pub(super) fn refused(step: SetupStep) -> impl Fn(ActionError) -> ConnectError {
    move |failure| match failure {
        ActionError::Status(filestone_workload::load::ActionStatus::Failed(status)) => {
            ConnectError::Refused {
                step,
                status: Status(status.number),
            }
        }
        ActionError::ConnectionReset => ConnectError::Reset,
        ActionError::Status(_) | ActionError::ClientFailed => ConnectError::Lost,
    }
}
