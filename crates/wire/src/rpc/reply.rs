//! The header of a reply: `rpc_msg` with `reply_body` (RFC 5531, section 9).

use core::fmt;

use super::{OpaqueAuth, REPLY};
use crate::xdr::{Decode, DecodeError, Encode, Reader, Writer};

const MSG_ACCEPTED: u32 = 0;
const MSG_DENIED: u32 = 1;

const RPC_MISMATCH: u32 = 0;
const AUTH_ERROR: u32 = 1;

/// All fields of a reply before the procedure's results, which follow if the body is
/// [`ReplyBody::SUCCESS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyHeader<'a> {
    /// Transaction ID of the call.
    pub xid: u32,
    /// `verf` of an accepted reply. A denied reply has none on the wire; it
    /// decodes as [`OpaqueAuth::NONE`] and is not encoded.
    pub verifier: OpaqueAuth<'a>,
    /// Result of the call.
    pub body: ReplyBody,
}

impl ReplyHeader<'_> {
    /// Returns the header of a reply whose results follow.
    #[inline]
    pub const fn success(xid: u32) -> Self {
        Self::accepted(xid, AcceptStatus::Success)
    }

    /// Creates an accepted reply without a verifier.
    #[inline]
    pub const fn accepted(xid: u32, status: AcceptStatus) -> Self {
        Self {
            xid,
            verifier: OpaqueAuth::NONE,
            body: ReplyBody::Accepted(status),
        }
    }

    /// Creates a denied reply.
    #[inline]
    pub const fn denied(xid: u32, status: RejectStatus) -> Self {
        Self {
            xid,
            verifier: OpaqueAuth::NONE,
            body: ReplyBody::Denied(status),
        }
    }
}

/// `reply_body`: accepted or denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyBody {
    /// MSG_ACCEPTED.
    Accepted(AcceptStatus),
    /// MSG_DENIED.
    Denied(RejectStatus),
}

impl ReplyBody {
    /// The procedure was executed; its results follow.
    pub const SUCCESS: Self = Self::Accepted(AcceptStatus::Success);
}

/// `accept_stat` with its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcceptStatus {
    /// The procedure was executed.
    Success,
    /// The server does not have this program.
    ProgUnavail,
    /// The server has other versions of the program.
    ProgMismatch {
        /// Lowest version served.
        low: u32,
        /// Highest version served.
        high: u32,
    },
    /// The program has no such procedure.
    ProcUnavail,
    /// The arguments could not be decoded.
    GarbageArgs,
    /// The server lacks memory or another resource.
    SystemErr,
}

/// `reject_stat` with its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RejectStatus {
    /// The RPC version is not supported.
    RpcMismatch {
        /// Lowest version served.
        low: u32,
        /// Highest version served.
        high: u32,
    },
    /// The server does not trust the caller.
    AuthError(AuthStatus),
}

numbered! {
    /// `auth_stat`: why a caller is not trusted.
    pub struct AuthStatus("auth_stat") {
        /// Success.
        OK = 0, "AUTH_OK";
        /// Bad credential (seal broken).
        BADCRED = 1, "AUTH_BADCRED";
        /// The client must start a new session.
        REJECTEDCRED = 2, "AUTH_REJECTEDCRED";
        /// Bad verifier (seal broken).
        BADVERF = 3, "AUTH_BADVERF";
        /// The verifier expired or was replayed.
        REJECTEDVERF = 4, "AUTH_REJECTEDVERF";
        /// Rejected for security reasons.
        TOOWEAK = 5, "AUTH_TOOWEAK";
        /// Bogus response verifier.
        INVALIDRESP = 6, "AUTH_INVALIDRESP";
        /// Reason unknown.
        FAILED = 7, "AUTH_FAILED";
        /// Kerberos generic error.
        KERB_GENERIC = 8, "AUTH_KERB_GENERIC";
        /// The credential has expired.
        TIMEEXPIRE = 9, "AUTH_TIMEEXPIRE";
        /// Problem with the ticket file.
        TKT_FILE = 10, "AUTH_TKT_FILE";
        /// The authenticator cannot be decoded.
        DECODE = 11, "AUTH_DECODE";
        /// Wrong network address in the ticket.
        NET_ADDR = 12, "AUTH_NET_ADDR";
        /// No credentials for the user.
        RPCSEC_GSS_CREDPROBLEM = 13, "RPCSEC_GSS_CREDPROBLEM";
        /// Problem with the context.
        RPCSEC_GSS_CTXPROBLEM = 14, "RPCSEC_GSS_CTXPROBLEM";
    }
}

impl fmt::Display for AcceptStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Success => f.write_str("SUCCESS (0)"),
            Self::ProgUnavail => f.write_str("PROG_UNAVAIL (1)"),
            Self::ProgMismatch { low, high } => {
                write!(f, "PROG_MISMATCH (2), it has versions {low} to {high}")
            }
            Self::ProcUnavail => f.write_str("PROC_UNAVAIL (3)"),
            Self::GarbageArgs => f.write_str("GARBAGE_ARGS (4)"),
            Self::SystemErr => f.write_str("SYSTEM_ERR (5)"),
        }
    }
}

impl fmt::Display for RejectStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RpcMismatch { low, high } => {
                write!(f, "RPC_MISMATCH (0), it has versions {low} to {high}")
            }
            Self::AuthError(status) => status.fmt(f),
        }
    }
}

impl fmt::Display for ReplyBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accepted(status) => status.fmt(f),
            Self::Denied(status) => status.fmt(f),
        }
    }
}

impl Encode for ReplyHeader<'_> {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        match self.body {
            ReplyBody::Accepted(status) => {
                out.words([self.xid, REPLY, MSG_ACCEPTED]);
                self.verifier.encode(out);
                status.encode(out);
            }
            ReplyBody::Denied(status) => {
                out.words([self.xid, REPLY, MSG_DENIED]);
                status.encode(out);
            }
        }
    }
}

impl<'a> Decode<'a> for ReplyHeader<'a> {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let [xid, msg_type, reply_stat] = reader.words()?;
        if msg_type != REPLY {
            return Err(DecodeError::BadDiscriminant {
                field: "msg_type",
                value: msg_type,
            });
        }
        match reply_stat {
            MSG_ACCEPTED => {
                let verifier = OpaqueAuth::decode(reader)?;
                let body = ReplyBody::Accepted(AcceptStatus::decode(reader)?);
                Ok(Self {
                    xid,
                    verifier,
                    body,
                })
            }
            MSG_DENIED => Ok(Self::denied(xid, RejectStatus::decode(reader)?)),
            value => Err(DecodeError::BadDiscriminant {
                field: "reply_stat",
                value,
            }),
        }
    }
}

impl Encode for AcceptStatus {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        match self {
            Self::Success => out.u32(0),
            Self::ProgUnavail => out.u32(1),
            Self::ProgMismatch { low, high } => out.words([2, *low, *high]),
            Self::ProcUnavail => out.u32(3),
            Self::GarbageArgs => out.u32(4),
            Self::SystemErr => out.u32(5),
        }
    }
}

impl<'a> Decode<'a> for AcceptStatus {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.u32()? {
            0 => Self::Success,
            1 => Self::ProgUnavail,
            2 => {
                let [low, high] = reader.words()?;
                Self::ProgMismatch { low, high }
            }
            3 => Self::ProcUnavail,
            4 => Self::GarbageArgs,
            5 => Self::SystemErr,
            value => {
                return Err(DecodeError::BadDiscriminant {
                    field: "accept_stat",
                    value,
                });
            }
        })
    }
}

impl Encode for RejectStatus {
    fn encode(&self, out: &mut Writer<'_>) {
        match self {
            Self::RpcMismatch { low, high } => out.words([RPC_MISMATCH, *low, *high]),
            Self::AuthError(status) => out.words([AUTH_ERROR, status.0]),
        }
    }
}

impl<'a> Decode<'a> for RejectStatus {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        match reader.u32()? {
            RPC_MISMATCH => {
                let [low, high] = reader.words()?;
                Ok(Self::RpcMismatch { low, high })
            }
            AUTH_ERROR => Ok(Self::AuthError(AuthStatus::decode(reader)?)),
            value => Err(DecodeError::BadDiscriminant {
                field: "reject_stat",
                value,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_reply_without_results_is_twenty_four_bytes() {
        let expected = [
            0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ];
        assert_eq!(ReplyHeader::success(9).to_bytes(), expected);
        assert_eq!(
            ReplyHeader::from_bytes(&expected),
            Ok(ReplyHeader::success(9))
        );
    }

    #[test]
    fn a_denied_reply_has_no_verifier() {
        let header = ReplyHeader::denied(9, RejectStatus::AuthError(AuthStatus::TOOWEAK));
        let expected = [0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 5];
        assert_eq!(header.to_bytes(), expected);
        assert_eq!(ReplyHeader::from_bytes(&expected), Ok(header));
    }

    #[test]
    fn statuses_are_shown_by_name_and_number() {
        assert_eq!(AcceptStatus::ProgUnavail.to_string(), "PROG_UNAVAIL (1)");
        assert_eq!(
            AcceptStatus::ProgMismatch { low: 2, high: 4 }.to_string(),
            "PROG_MISMATCH (2), it has versions 2 to 4"
        );
        let body = ReplyBody::Denied(RejectStatus::AuthError(AuthStatus::TOOWEAK));
        assert_eq!(body.to_string(), "AUTH_TOOWEAK (5)");
        assert_eq!(AuthStatus(99).to_string(), "auth_stat 99");
    }

    #[test]
    fn an_undefined_accept_status_is_named() {
        let mut bytes = ReplyHeader::success(1).to_bytes();
        bytes[23] = 6;
        assert_eq!(
            ReplyHeader::from_bytes(&bytes),
            Err(DecodeError::BadDiscriminant {
                field: "accept_stat",
                value: 6
            })
        );
    }
}
