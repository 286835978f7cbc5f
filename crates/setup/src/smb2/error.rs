//! Errors of an SMB server that cannot be used for the requested run.

use filestone_host::error::{AreaError, ErrorCategory, RunError};
use filestone_protocol::client::smb2::{ConnectError, MultichannelUnavailable, SetupStep};
use filestone_protocol::session::smb2::SmbStreamError;
use filestone_wire::smb2::Status;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// Error of an exchange.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The server did not respond in time.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The server closed the connection.
    #[error("the server closed the connection without an answer")]
    Closed,
    /// The received data are text of another protocol.
    #[error("what answers there does not speak SMB2: it sent {0:?}")]
    OtherProtocol(String),
    /// The received data are not SMB2.
    #[error("the server {0}")]
    NotSmb(SmbStreamError),
    /// A response cannot be decoded, or violates the standard.
    #[error("{0}")]
    Bad(String),
    /// The signature of the response is invalid.
    #[error("the signature of a response is missing or wrong")]
    Forged,
    /// Another error of the operating system.
    #[error("{0}")]
    System(#[source] io::Error),
    /// The run was interrupted.
    #[error("interrupted")]
    Stopped,
}

impl ExchangeError {
    /// Whether the response was modified or sent by a third party.
    pub const fn is_forgery(&self) -> bool {
        matches!(self, Self::Forged | Self::NotSmb(SmbStreamError::Forged))
    }
}

impl From<io::Error> for ExchangeError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::Interrupted => ExchangeError::Stopped,
            _ => ExchangeError::System(error),
        }
    }
}

impl From<rustix::io::Errno> for ExchangeError {
    fn from(error: rustix::io::Errno) -> Self {
        ExchangeError::System(error.into())
    }
}

/// A failed exchange: server, request and error.
#[derive(Debug, thiserror::Error)]
#[error("{address}: {request}: {source}")]
pub struct ExchangeFailed {
    /// Address of the server.
    pub address: SocketAddr,
    /// Name of the request, such as `CREATE+CLOSE`.
    pub request: String,
    /// The error.
    pub source: ExchangeError,
}

/// Error returned when an SMB server or share cannot be used for the requested run.
#[derive(Debug, thiserror::Error)]
pub enum SmbError {
    /// Connecting to the share failed.
    #[error("{address}: {}", setup_in_words(.source, .share))]
    Setup {
        /// Address of the server.
        address: SocketAddr,
        /// Name of the share.
        share: String,
        /// The error.
        source: ConnectError,
    },
    /// An exchange before or after the run failed.
    #[error("{0}")]
    Exchange(#[from] ExchangeFailed),
    /// The server refused a request before or after the run.
    #[error("{path}: {request} was answered {status}")]
    Answered {
        /// Path of the object.
        path: String,
        /// Name of the request.
        request: &'static str,
        /// Status of the response.
        status: Status,
    },
    /// The target of a replay or mix is not a directory.
    #[error("{path}: is not a directory")]
    NotADirectory {
        /// Path of the target.
        path: String,
    },
    /// An operation of the run exceeds the limits of the server.
    #[error("{path}: {needs}, and the server {takes}")]
    BeyondLimits {
        /// Path of the target.
        path: String,
        /// Requirement of an operation.
        needs: String,
        /// Limit of the server, or credits granted.
        takes: String,
        /// Advice for the user.
        help: String,
    },
}

impl SmbError {
    /// Whether the response was modified or sent by a third party.
    pub const fn is_forgery(&self) -> bool {
        matches!(self, Self::Exchange(failed) if failed.source.is_forgery())
    }

    /// Converts to a run error; an exchange aborted by the end of the run is not an error of the
    /// server.
    pub fn into_run_error(self) -> RunError {
        match self {
            SmbError::Exchange(ExchangeFailed {
                source: ExchangeError::Stopped,
                ..
            }) => RunError::Interrupted,
            SmbError::Exchange(ExchangeFailed {
                address,
                request,
                source: ExchangeError::System(source),
            }) if request.is_empty() => RunError::Connect { address, source },
            error => error.into(),
        }
    }
}

const fn name_of(step: SetupStep) -> &'static str {
    match step {
        SetupStep::Negotiate => "NEGOTIATE",
        SetupStep::SessionSetup => "SESSION_SETUP",
        SetupStep::Bind => "SESSION_SETUP of one more connection of a session",
        SetupStep::TreeConnect => "TREE_CONNECT",
        SetupStep::LogOff => "LOGOFF",
        SetupStep::Validate => "FSCTL_VALIDATE_NEGOTIATE_INFO",
    }
}

fn setup_in_words(source: &ConnectError, share: &str) -> String {
    match source {
        ConnectError::Refused { step, status } => {
            let about = match step {
                SetupStep::TreeConnect => format!(" of share {share}"),
                _ => String::new(),
            };
            format!("{}{about} was answered {status}", name_of(*step))
        }
        source => source.to_string(),
    }
}

impl AreaError for SmbError {
    fn category(&self) -> ErrorCategory {
        match self {
            SmbError::Setup { source, .. } => match source {
                ConnectError::Terms(_) | ConnectError::OneChannel(_) | ConnectError::Share(_) => {
                    ErrorCategory::Usage
                }
                _ => ErrorCategory::Target,
            },
            SmbError::Exchange(_) | SmbError::Answered { .. } => ErrorCategory::Target,
            SmbError::NotADirectory { .. } | SmbError::BeyondLimits { .. } => ErrorCategory::Usage,
        }
    }

    fn help(&self) -> Option<String> {
        let help = match self {
            SmbError::Setup { source, .. } => setup_help(source)?,
            SmbError::Exchange(failed) => exchange_help(&failed.source)?,
            SmbError::Answered { status, .. } => status_help(*status)?,
            SmbError::NotADirectory { .. } => "name the directory that it is in",
            SmbError::BeyondLimits { help, .. } => return Some(help.clone()),
        };
        Some(help.into())
    }
}

const fn exchange_help(error: &ExchangeError) -> Option<&'static str> {
    match error {
        ExchangeError::OtherProtocol(_) | ExchangeError::NotSmb(_) | ExchangeError::Closed => {
            Some("is this the port of an SMB server that speaks SMB2? (smb://host:port/share)")
        }
        ExchangeError::TimedOut(_) => Some(
            "does an SMB server listen there, and is it well? --timeout is how long each request is waited for",
        ),
        ExchangeError::Forged => Some(
            "something changes messages on the way, or answers in the server's place: no answer of it was taken",
        ),
        _ => None,
    }
}

fn setup_help(source: &ConnectError) -> Option<&'static str> {
    match source {
        ConnectError::Refused { step, status } => refused_help(*step, *status),
        ConnectError::Forged => Some("is the password right? (--password-file)"),
        ConnectError::Dialect(_) => Some("see --dialect"),
        ConnectError::Share(_) => Some("a run needs a share with files"),
        ConnectError::OneChannel(why) => Some(channels_help(*why)),
        _ => None,
    }
}

/// Returns advice if a server or user allows only one connection per session.
pub const fn channels_help(why: MultichannelUnavailable) -> &'static str {
    match why {
        MultichannelUnavailable::Dialect(_) => {
            "have the server speak 3.0 or later, or leave --connections-per-client out"
        }
        MultichannelUnavailable::Server => {
            "have the server offer multichannel (Samba: server multi channel support = yes), or leave \
             --connections-per-client out"
        }
        MultichannelUnavailable::Guest => {
            "name a user that the server knows (smb://user@host/share), or leave \
             --connections-per-client out"
        }
    }
}

fn refused_help(step: SetupStep, status: Status) -> Option<&'static str> {
    match (step, status) {
        (_, Status::LOGON_FAILURE) => Some(
            "the user or the password is wrong: smb://user@host/share with --password-file FILE, \
             or FILESTONE_PASSWORD",
        ),
        (_, Status::ACCOUNT_DISABLED) => Some("the server has disabled this user"),
        (SetupStep::Negotiate, Status::NOT_SUPPORTED) => {
            Some("the server speaks none of the dialects that were offered (--dialect)")
        }
        (SetupStep::TreeConnect, Status::BAD_NETWORK_NAME) => {
            Some("the server has no share of that name")
        }
        (SetupStep::TreeConnect, Status::ACCESS_DENIED) => Some(
            "the user may not use this share, or the share wants messages encrypted (--encrypt)",
        ),
        (SetupStep::Bind, Status::INSUFFICIENT_RESOURCES) => {
            Some("the server takes fewer connections of a session (--connections-per-client)")
        }
        (SetupStep::SessionSetup, Status::ACCESS_DENIED) => Some(
            "the server lets no guests in, or wants messages signed or encrypted: name a user \
             (smb://user@host/share)",
        ),
        _ => None,
    }
}

fn status_help(status: Status) -> Option<&'static str> {
    match status {
        Status::OBJECT_NAME_NOT_FOUND | Status::OBJECT_PATH_NOT_FOUND => {
            Some("the share has nothing of that name")
        }
        Status::ACCESS_DENIED => {
            Some("the user may not do that there: name another (smb://user@…)")
        }
        Status::STOPPED_ON_SYMLINK => Some(
            "there is a symbolic link in the path: name the file or directory that it leads to",
        ),
        Status::MEDIA_WRITE_PROTECTED => {
            Some("this operation changes things; the share is read-only")
        }
        Status::DISK_FULL => Some(
            "the server's file system or quota is full: ask for fewer or shorter files, or make room",
        ),
        _ => None,
    }
}
