//! Credentials and verifiers (RFC 5531, sections 8.2 and 9, appendix A).

use core::fmt;

use crate::xdr::{Decode, DecodeError, Encode, Reader, Writer, length};

/// Flavor of no authentication.
pub const AUTH_NONE: u32 = 0;
/// Flavor of the user and group numbers of a Unix process.
pub const AUTH_SYS: u32 = 1;
/// Returns the name of a flavor in `sec=` of exports; `None` for one without a name. The numbers
/// from 390003 on are the pseudo flavors of RPCSEC_GSS (RFC 2623, section 2.7.2).
pub const fn flavor_name(flavor: u32) -> Option<&'static str> {
    Some(match flavor {
        AUTH_NONE => "none",
        AUTH_SYS => "sys",
        3 => "dh",
        390_003 => "krb5",
        390_004 => "krb5i",
        390_005 => "krb5p",
        _ => return None,
    })
}

/// Longest body of a credential or verifier, in bytes (`opaque body<400>`).
pub const AUTH_BODY_MAX: usize = 400;
/// Longest machine name, in bytes (`string machinename<255>`).
pub const MACHINE_NAME_MAX: usize = 255;
/// Largest number of supplementary groups (`unsigned int gids<16>`).
pub const GIDS_MAX: usize = 16;

/// `opaque_auth`: a flavor, and a body whose form depends on the flavor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpaqueAuth<'a> {
    /// `flavor`.
    pub flavor: u32,
    /// `body`, at most [`AUTH_BODY_MAX`] bytes.
    pub body: &'a [u8],
}

impl OpaqueAuth<'_> {
    /// AUTH_NONE with an empty body: the verifier of nearly all messages.
    pub const NONE: OpaqueAuth<'static> = OpaqueAuth {
        flavor: AUTH_NONE,
        body: &[],
    };
}

impl Encode for OpaqueAuth<'_> {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        out.u32(self.flavor);
        out.opaque(self.body);
    }
}

impl<'a> Decode<'a> for OpaqueAuth<'a> {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            flavor: reader.u32()?,
            body: reader.opaque(AUTH_BODY_MAX)?,
        })
    }
}

/// The credential of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential<'a> {
    /// AUTH_NONE with an empty body.
    None,
    /// AUTH_SYS.
    Sys(AuthSys<'a>),
    /// Any other flavor. An invalid AUTH_SYS body is included, so that a server can answer
    /// AUTH_BADCRED to a call that it can identify.
    Other(OpaqueAuth<'a>),
}

impl Encode for Credential<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        match self {
            Self::None => OpaqueAuth::NONE.encode(out),
            Self::Sys(auth) => {
                out.words([AUTH_SYS, length(auth.encoded_len())]);
                auth.encode(out);
            }
            Self::Other(auth) => auth.encode(out),
        }
    }
}

impl<'a> Decode<'a> for Credential<'a> {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let auth = OpaqueAuth::decode(reader)?;
        Ok(match auth.flavor {
            AUTH_NONE if auth.body.is_empty() => Self::None,
            AUTH_SYS => AuthSys::from_bytes(auth.body).map_or(Self::Other(auth), Self::Sys),
            _ => Self::Other(auth),
        })
    }
}

/// `authsys_parms`, RFC 5531 appendix A.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthSys<'a> {
    /// An arbitrary number from the caller's machine.
    pub stamp: u32,
    /// `machinename`, at most [`MACHINE_NAME_MAX`] bytes.
    pub machine_name: &'a [u8],
    /// Effective user.
    pub uid: u32,
    /// Effective group.
    pub gid: u32,
    /// Supplementary groups.
    pub gids: Gids,
}

impl AuthSys<'_> {
    /// Returns the length of the encoded body, in bytes.
    #[inline]
    pub const fn encoded_len(&self) -> usize {
        20 + self.machine_name.len().next_multiple_of(4) + 4 * self.gids.as_slice().len()
    }
}

impl Encode for AuthSys<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        out.u32(self.stamp);
        out.opaque(self.machine_name);
        out.words([self.uid, self.gid]);
        self.gids.encode(out);
    }
}

impl<'a> Decode<'a> for AuthSys<'a> {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let stamp = reader.u32()?;
        let machine_name = reader.opaque(MACHINE_NAME_MAX)?;
        let [uid, gid] = reader.words()?;
        Ok(Self {
            stamp,
            machine_name,
            uid,
            gid,
            gids: Gids::decode(reader)?,
        })
    }
}

/// `unsigned int gids<16>`, in place.
#[derive(Clone, Copy, Default)]
pub struct Gids {
    len: u8,
    values: [u32; GIDS_MAX],
}

impl Gids {
    /// No supplementary groups.
    pub const EMPTY: Self = Self {
        len: 0,
        values: [0; GIDS_MAX],
    };

    /// Creates a list of groups; `None` if there are more than [`GIDS_MAX`].
    pub fn new(gids: &[u32]) -> Option<Self> {
        let mut all = Self::EMPTY;
        all.values.get_mut(..gids.len())?.copy_from_slice(gids);
        all.len = u8::try_from(gids.len()).ok()?;
        Some(all)
    }

    /// Returns the groups in their original order.
    #[inline]
    pub const fn as_slice(&self) -> &[u32] {
        // `len` never exceeds the array; the split makes that visible to the compiler.
        match self.values.split_at_checked(self.len as usize) {
            Some((gids, _)) => gids,
            None => &self.values,
        }
    }
}

impl PartialEq for Gids {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Gids {}

impl fmt::Debug for Gids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

impl Encode for Gids {
    fn encode(&self, out: &mut Writer<'_>) {
        out.u32(self.len.into());
        for gid in self.as_slice() {
            out.u32(*gid);
        }
    }
}

impl<'a> Decode<'a> for Gids {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let at = reader.position();
        let len = reader.u32()?;
        let mut gids = Self::EMPTY;
        let too_long = DecodeError::TooLong {
            at,
            len: len as usize,
            limit: GIDS_MAX,
        };
        for place in gids.values.get_mut(..len as usize).ok_or(too_long)? {
            *place = reader.u32()?;
        }
        gids.len = u8::try_from(len).map_err(|_| too_long)?;
        Ok(gids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const SYS: AuthSys<'_> = AuthSys {
        stamp: 1,
        machine_name: b"host",
        uid: 1000,
        gid: 100,
        gids: Gids::EMPTY,
    };

    /// flavor 1, 24 bytes: stamp, "host", uid 1000, gid 100, no gids.
    const SYS_BYTES: [u8; 32] = [
        0, 0, 0, 1, 0, 0, 0, 24, 0, 0, 0, 1, 0, 0, 0, 4, b'h', b'o', b's', b't', 0, 0, 3, 0xe8, 0,
        0, 0, 100, 0, 0, 0, 0,
    ];

    #[test]
    fn auth_sys_is_written_as_appendix_a_says() {
        assert_eq!(Credential::Sys(SYS).to_bytes(), SYS_BYTES);
        assert_eq!(Credential::from_bytes(&SYS_BYTES), Ok(Credential::Sys(SYS)));
    }

    #[test]
    fn sixteen_groups_are_carried_and_seventeen_are_not() {
        let all: Vec<u32> = (0..16).collect();
        let gids = Gids::new(&all).unwrap();
        assert_eq!(gids.as_slice(), all);
        assert_eq!(Gids::from_bytes(&gids.to_bytes()), Ok(gids));
        assert_eq!(Gids::new(&[0; 17]), None);
        assert_eq!(
            Gids::from_bytes(&[0, 0, 0, 17]),
            Err(DecodeError::TooLong {
                at: 0,
                len: 17,
                limit: 16
            })
        );
    }

    #[test]
    fn a_credential_that_is_not_what_its_flavor_says_can_still_be_answered() {
        let mut bytes = SYS_BYTES;
        bytes[31] = 17;
        let expected = OpaqueAuth {
            flavor: AUTH_SYS,
            body: &bytes[8..],
        };
        assert_eq!(
            Credential::from_bytes(&bytes),
            Ok(Credential::Other(expected))
        );
    }

    #[test]
    fn a_body_over_400_bytes_is_refused() {
        assert_eq!(
            Credential::from_bytes(&[0, 0, 0, 6, 0, 0, 1, 0x91]),
            Err(DecodeError::TooLong {
                at: 4,
                len: 401,
                limit: 400
            })
        );
    }
}
