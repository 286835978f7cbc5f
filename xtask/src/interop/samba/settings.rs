//! The configurations, and that each is in force: smbclient is shown what filestone must meet.

use super::{TestEnv, session};
use crate::interop::smb::Protection;
use crate::samba::{self, GUEST_SHARE, Setting, USER, USER_SHARE};
use crate::table;
use anyhow::Result;

/// What a server is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Lets guests and the user in, with every protection and without.
    Open,
    /// Requires signatures.
    Signing,
    /// Requires encryption.
    Encrypting,
    /// Requires encryption, and has one cipher.
    Cipher(&'static str),
    /// Requires signatures, and has one algorithm for them.
    Signature(&'static str),
    /// Has no guests.
    NoGuests,
    /// Speaks nothing older than SMB 3.
    NoSmb2,
    /// Speaks nothing newer than SMB 2.1.
    NoSmb3,
    /// Has one connection for a session.
    NoChannels,
    /// Keeps handles for clients whose connections are lost.
    Durable,
    /// Does not.
    NotDurable,
    /// Grants so many credits, has no room in a listing, and takes as many connections as a command
    /// of the README has clients.
    Small(&'static str),
}

impl Purpose {
    /// Where its server listens.
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

/// What is small about a small server besides its credits. All names that begin with a dot are hidden.
const SMALL: [Setting; 4] = [
    ("smb2 max read", "65536"),
    ("smb2 max write", "65536"),
    ("max connections", SMALL_CONNECTIONS),
    ("veto files", "/.*/"),
];
/// As many clients as one of the README's commands has.
const SMALL_CONNECTIONS: &str = "16";

/// All of them. The first is at SMB's own port.
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
    // What the system, or NFS, or another program may do with a file is not looked at.
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

/// What smbclient is told, and what must come of it.
struct Shown {
    purpose: Purpose,
    dialect: &'static str,
    protection: Protection,
    user: &'static str,
    share: &'static str,
    expected: Expected,
}

/// What must come of it.
enum Expected {
    /// A session of which the server says this.
    Session(&'static str),
    /// An end with this in what is said.
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

/// Of a session without protection, what logs the user in is signed nevertheless.
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
    // 3.0 has no other cipher than AES-128-CCM.
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

/// Whether each does for smbclient what filestone must meet.
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
