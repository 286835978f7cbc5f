//! The configurations, and a check with smbclient that each is in force.

use super::{TestEnv, session};
use crate::interop::smb::Protection;
use crate::samba::{self, GUEST_SHARE, Setting, USER, USER_SHARE};
use crate::table;
use anyhow::Result;

/// Purpose of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Accepts guests and the user, with and without every protection.
    Open,
    /// Requires signatures.
    Signing,
    /// Requires encryption.
    Encrypting,
    /// Requires encryption, with one cipher.
    Cipher(&'static str),
    /// Requires signatures, with one algorithm.
    Signature(&'static str),
    /// Rejects guests.
    NoGuests,
    /// Supports only SMB 3 and later.
    NoSmb2,
    /// Supports only SMB 2.1 and earlier.
    NoSmb3,
    /// Permits one connection per session.
    NoChannels,
    /// Supports durable handles.
    Durable,
    /// Does not support durable handles.
    NotDurable,
    /// Grants this number of credits, has small limits for listings, and accepts as many
    /// connections as a command of the README has clients.
    Small(&'static str),
}

impl Purpose {
    /// Returns the port of the server.
    pub fn port(self) -> u16 {
        let number = ALL.iter().position(|(purpose, _)| *purpose == self);
        match number.unwrap_or_default() {
            0 => 445,
            number => 4450 + number as u16,
        }
    }
}

const COUNTING: Setting = ("smbd profiling level", "count");
const SIGNING: Setting = ("server signing", "mandatory");
const ENCRYPTING: Setting = ("server smb encrypt", "required");
const CIPHERS: &str = "server smb3 encryption algorithms";
const SIGNATURES: &str = "server smb3 signing algorithms";

/// Limits of a small server other than its credits. All names that start with a dot are hidden.
const SMALL: [Setting; 4] = [
    ("smb2 max read", "65536"),
    ("smb2 max write", "65536"),
    ("max connections", SMALL_CONNECTIONS),
    ("veto files", "/.*/"),
];
/// Number of clients of a command of the README.
const SMALL_CONNECTIONS: &str = "16";

/// Configurations of all servers. The first uses the standard SMB port.
pub const ALL: &[(Purpose, &[Setting])] = &[
    (Purpose::Open, &[COUNTING]),
    (Purpose::Signing, &[SIGNING]),
    (Purpose::Encrypting, &[ENCRYPTING]),
    (
        Purpose::Cipher("AES-128-CCM"),
        &[ENCRYPTING, (CIPHERS, "AES-128-CCM")],
    ),
    (
        Purpose::Cipher("AES-128-GCM"),
        &[ENCRYPTING, (CIPHERS, "AES-128-GCM")],
    ),
    (
        Purpose::Cipher("AES-256-CCM"),
        &[ENCRYPTING, (CIPHERS, "AES-256-CCM")],
    ),
    (
        Purpose::Cipher("AES-256-GCM"),
        &[ENCRYPTING, (CIPHERS, "AES-256-GCM")],
    ),
    (
        Purpose::Signature("HMAC-SHA256"),
        &[SIGNING, (SIGNATURES, "HMAC-SHA256")],
    ),
    (
        Purpose::Signature("AES-128-CMAC"),
        &[SIGNING, (SIGNATURES, "AES-128-CMAC")],
    ),
    (
        Purpose::Signature("AES-128-GMAC"),
        &[SIGNING, (SIGNATURES, "AES-128-GMAC")],
    ),
    (
        Purpose::NoGuests,
        &[("map to guest", "Never"), ("restrict anonymous", "2")],
    ),
    (Purpose::NoSmb2, &[("server min protocol", "SMB3_00")]),
    (Purpose::NoSmb3, &[("server max protocol", "SMB2_10")]),
    (
        Purpose::NoChannels,
        &[("server multi channel support", "no")],
    ),
    // Samba does not check for conflicting use by the system, NFS or another program.
    (
        Purpose::Durable,
        &[
            ("kernel oplocks", "no"),
            ("kernel share modes", "no"),
            ("posix locking", "no"),
        ],
    ),
    (Purpose::NotDurable, &[("durable handles", "no")]),
    (
        Purpose::Small("1"),
        &[
            ("smb2 max credits", "1"),
            ("smb2 max trans", "4096"),
            SMALL[0],
            SMALL[1],
            SMALL[2],
            SMALL[3],
        ],
    ),
    (
        Purpose::Small("8"),
        &[
            ("smb2 max credits", "8"),
            ("smb2 max trans", "16384"),
            SMALL[0],
            SMALL[1],
            SMALL[2],
            SMALL[3],
        ],
    ),
];

/// Options of smbclient and the expected result.
struct Shown {
    purpose: Purpose,
    dialect: &'static str,
    protection: Protection,
    user: &'static str,
    share: &'static str,
    expected: Expected,
}

/// Expected result of smbclient.
enum Expected {
    /// A session that the server describes with this text.
    Session(&'static str),
    /// A refusal whose output contains this text.
    Refusal(&'static str),
}
use Expected::{Refusal, Session};
use Protection::{Encrypted, Signed, Unsigned};

const STRANGER: &str = "stranger";
const ACCESS_DENIED: Expected = Refusal("NT_STATUS_ACCESS_DENIED");

const fn of_user(
    purpose: Purpose,
    dialect: &'static str,
    protection: Protection,
    expected: Expected,
) -> Shown {
    Shown {
        purpose,
        dialect,
        protection,
        user: USER,
        share: USER_SHARE,
        expected,
    }
}

const fn of_stranger(purpose: Purpose, share: &'static str, expected: Expected) -> Shown {
    Shown {
        purpose,
        dialect: "SMB3_11",
        protection: Unsigned,
        user: STRANGER,
        share,
        expected,
    }
}

/// In a session without protection, the logon messages are signed nevertheless.
const SHOWN: &[Shown] = &[
    of_user(
        Purpose::Open,
        "SMB2_02",
        Unsigned,
        Session("some signed with HMAC-SHA256"),
    ),
    of_user(
        Purpose::Open,
        "SMB2_10",
        Signed,
        Session("all signed with HMAC-SHA256"),
    ),
    of_user(
        Purpose::Open,
        "SMB3_00",
        Encrypted,
        Session("all signed with AES-128-CMAC, encrypted with AES-128-CCM"),
    ),
    of_user(
        Purpose::Open,
        "SMB3_02",
        Signed,
        Session("all signed with AES-128-CMAC"),
    ),
    of_user(
        Purpose::Open,
        "SMB3_11",
        Encrypted,
        Session("all signed with AES-128-GMAC, encrypted with AES-128-GCM"),
    ),
    of_stranger(Purpose::Open, GUEST_SHARE, Session("unsigned")),
    of_stranger(Purpose::Open, USER_SHARE, ACCESS_DENIED),
    of_user(
        Purpose::Signing,
        "SMB2_02",
        Unsigned,
        Session("all signed with HMAC-SHA256"),
    ),
    of_user(
        Purpose::Signing,
        "SMB3_11",
        Unsigned,
        Session("all signed with AES-128-GMAC"),
    ),
    of_user(Purpose::Encrypting, "SMB2_10", Signed, ACCESS_DENIED),
    of_user(
        Purpose::Encrypting,
        "SMB3_02",
        Unsigned,
        Session("some signed with AES-128-CMAC, encrypted with AES-128-CCM"),
    ),
    of_stranger(Purpose::Encrypting, GUEST_SHARE, ACCESS_DENIED),
    of_user(
        Purpose::Cipher("AES-128-CCM"),
        "SMB3_11",
        Unsigned,
        Session("some signed with AES-128-GMAC, encrypted with AES-128-CCM"),
    ),
    of_user(
        Purpose::Cipher("AES-128-GCM"),
        "SMB3_11",
        Unsigned,
        Session("some signed with AES-128-GMAC, encrypted with AES-128-GCM"),
    ),
    // 3.0 only has the cipher AES-128-CCM.
    of_user(
        Purpose::Cipher("AES-128-GCM"),
        "SMB3_00",
        Unsigned,
        Refusal("NT_STATUS_INVALID_PARAMETER"),
    ),
    of_user(
        Purpose::Cipher("AES-256-CCM"),
        "SMB3_11",
        Unsigned,
        Session("some signed with AES-128-GMAC, encrypted with AES-256-CCM"),
    ),
    of_user(
        Purpose::Cipher("AES-256-GCM"),
        "SMB3_11",
        Unsigned,
        Session("some signed with AES-128-GMAC, encrypted with AES-256-GCM"),
    ),
    of_user(
        Purpose::Signature("HMAC-SHA256"),
        "SMB3_11",
        Unsigned,
        Session("all signed with HMAC-SHA256"),
    ),
    of_user(
        Purpose::Signature("AES-128-CMAC"),
        "SMB3_11",
        Unsigned,
        Session("all signed with AES-128-CMAC"),
    ),
    of_user(
        Purpose::Signature("AES-128-GMAC"),
        "SMB3_11",
        Unsigned,
        Session("all signed with AES-128-GMAC"),
    ),
    of_stranger(
        Purpose::NoGuests,
        GUEST_SHARE,
        Refusal("NT_STATUS_LOGON_FAILURE"),
    ),
    of_user(
        Purpose::NoSmb2,
        "SMB2_10",
        Unsigned,
        Refusal("NT_STATUS_NOT_SUPPORTED"),
    ),
    of_user(
        Purpose::NoSmb3,
        "SMB2_10",
        Unsigned,
        Session("some signed with HMAC-SHA256"),
    ),
];

/// Whether the server behaves with smbclient as configured, for every configuration.
pub fn are_in_force(ground: &TestEnv) -> Result<bool> {
    let (mut rows, mut is_good) = (Vec::new(), true);
    for shown in SHOWN {
        let server = ground.servers.get(shown.purpose);
        let client = session::Smbclient {
            dialect: shown.dialect,
            protection: shown.protection,
            user: shown.user,
            share: shown.share,
        };
        let is_expected = |session: &samba::Session| match shown.expected {
            Session(protection) => {
                session.dialect == shown.dialect && session.protection() == protection
            }
            Refusal(_) => false,
        };
        let outcome = client.connect(server, &ground.bed.folder, is_expected)?;
        let is_right = match (&shown.expected, &outcome) {
            (_, Ok(session)) => is_expected(session),
            (Refusal(word), Err(said)) => said.contains(word),
            (Session(_), Err(_)) => false,
        };
        is_good &= is_right;
        rows.push(vec![
            format!("{:?}", shown.purpose),
            format!("{} {:?} as {}", shown.dialect, shown.protection, shown.user),
            if is_right { "ok" } else { "wrong" }.to_owned(),
            outcome.map_or_else(|said| said, |session| session.text()),
        ]);
    }
    print!(
        "{}",
        table::lay_out(&["Samba", "smbclient", "", "came"], &rows, false)
    );
    Ok(is_good)
}
