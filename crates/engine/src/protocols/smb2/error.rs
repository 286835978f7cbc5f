//! Why an SMB server is none for the run that was asked for.

use crate::error::{AreaError, ErrorCategory, RunError};
use filestone_protocol::client::smb2::{ConnectError, MultichannelUnavailable, SetupStep};
use filestone_protocol::session::smb2::SmbStreamError;
use filestone_wire::smb2::Status;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// Why an exchange came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// No answer in time.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The server hung up.
    #[error("the server closed the connection without an answer")]
    Closed,
    /// What came is text of another protocol.
    #[error("what answers there does not speak SMB2: it sent {0:?}")]
    OtherProtocol(String),
    /// What came is not SMB2.
    #[error("the server {0}")]
    NotSmb(SmbStreamError),
    /// A response cannot be decoded, or says what the standard forbids.
    #[error("{0}")]
    Bad(String),
    /// It is not known to be the server's.
    #[error("the signature of a response is missing or wrong")]
    Forged,
    /// The operating system said so.
    #[error("{0}")]
    System(#[source] io::Error),
    /// The run was interrupted.
    #[error("interrupted")]
    Stopped,
}

impl ExchangeError {
    /// Whether somebody has changed what the server sent, or has sent it in its place.
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

/// An exchange that came to nothing: which, of which server, and why.
#[derive(Debug, thiserror::Error)]
#[error("{address}: {request}: {source}")]
pub struct ExchangeFailed {
    /// The server.
    pub address: SocketAddr,
    /// What was asked, such as `CREATE+CLOSE`.
    pub request: String,
    /// Why.
    pub source: ExchangeError,
}

/// Why an SMB server, or a share of it, is none for the run that was asked for.
#[derive(Debug, thiserror::Error)]
pub enum SmbError {
    /// There is no way to the share.
    #[error("{address}: {}", setup_in_words(.source, .share))]
    Setup {
        /// The server.
        address: SocketAddr,
        /// The share.
        share: String,
        /// Why.
        source: ConnectError,
    },
    /// An exchange before or after the run came to nothing.
    #[error("{0}")]
    Exchange(#[from] ExchangeFailed),
    /// A request was refused before or after the run.
    #[error("{path}: {request} was answered {status}")]
    Answered {
        /// What it was about.
        path: String,
        /// Which request.
        request: &'static str,
        /// How.
        status: Status,
    },
    /// A load is replayed in a directory, and a mix makes its files in one.
    #[error("{path}: is not a directory")]
    NotADirectory {
        /// The target.
        path: String,
    },
    /// The target has not what the operation needs.
    #[error("{path}: {operation} needs {needs}")]
    WrongObject {
        /// The target.
        path: String,
        /// What was asked.
        operation: &'static str,
        /// What it needs.
        needs: &'static str,
    },
    /// The server takes less at once than each operation of the run needs.
    #[error("{path}: {needs}, and the server {takes}")]
    BeyondLimits {
        /// The target.
        path: String,
        /// What an operation needs.
        needs: String,
        /// What the server takes, or grants.
        takes: String,
        /// What to do instead.
        help: String,
    },
}

impl SmbError {
    /// Whether what was answered is not the server's.
    pub const fn is_forgery(&self) -> bool {
        matches!(self, Self::Exchange(failed) if failed.source.is_forgery())
    }

    /// An exchange that was broken off because the run is to end is no error of the server.
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
            SmbError::NotADirectory { .. }
            | SmbError::WrongObject { .. }
            | SmbError::BeyondLimits { .. } => ErrorCategory::Usage,
        }
    }

    fn help(&self) -> Option<String> {
        let help = match self {
            SmbError::Setup { source, .. } => setup_help(source)?,
            SmbError::Exchange(failed) => exchange_help(&failed.source)?,
            SmbError::Answered { status, .. } => status_help(*status)?,
            SmbError::NotADirectory { .. } => "name the directory that it is in",
            SmbError::BeyondLimits { help, .. } => return Some(help.clone()),
            SmbError::WrongObject { .. } => "name another file or directory of the share",
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

/// What to do about a server, or a user, of one connection.
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
