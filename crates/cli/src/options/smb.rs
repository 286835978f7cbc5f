//! How a share on an SMB2 server is named and spoken to.

use super::password::PasswordOptions;
use super::target::{decoded, host_of_url, parse_port, split_host};
use super::values::within;
use crate::options::choice::choice;
use clap::Args;

use filestone_plan::plan::{CHANNELS_MAX, SmbDialect, SmbOplock, SmbProtection};

/// What stands before a share.
pub const SCHEME: &str = "smb://";

/// A place on a share, as a URL names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareLocation {
    /// Who logs on.
    pub user: Option<String>,
    /// Whose user that is.
    pub domain: Option<String>,
    /// Name or address, without brackets; `None` for the built-in server.
    pub host: Option<String>,
    /// Port, if it was given.
    pub port: Option<u16>,
    /// Name of the share.
    pub share: String,
    /// Path in the share, without a slash at either end.
    pub path: String,
}

const EXPECTED: &str = "expected smb://[[domain;]user@]host[:port]/share[/path], with an IPv6 \
    address in brackets and %XX for other bytes, such as smb://user@[::1]:4450/bench";

const PASSWORD: &str = "a target must not hold a password: every user of this host can read it \
    there; use --password-file, -A or FILESTONE_PASSWORD";

/// What means the share of the built-in server.
pub const BUILT_IN: &str = "smb:";

impl ShareLocation {
    /// The root of the built-in server's share.
    pub fn built_in() -> Self {
        Self {
            user: None,
            domain: None,
            host: None,
            port: None,
            share: "export".into(),
            path: String::new(),
        }
    }
}

/// What stands behind `smb://`, in whatever case, as schemes of URLs are (RFC 3986, section 3.1).
pub fn behind_scheme(text: &str) -> Option<&str> {
    behind(text, SCHEME)
}

fn behind<'t>(text: &'t str, scheme: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(scheme.len())?;
    start.eq_ignore_ascii_case(scheme).then_some(rest)
}

/// What is to be said of a target in a notation of other programs: `//host/share`, `\\host\share`
/// or `cifs://host/share`. `None` if it is none of these.
pub fn other_notation(text: &str) -> Option<String> {
    let rest = behind_other(text)?;
    if holds_password(rest) {
        return Some(PASSWORD.into());
    }
    let rest = rest.replace('\\', "/").replace(' ', "%20");
    Some(match parse(&rest) {
        Ok(_) => format!("a share is smb://host/share here: did you mean {SCHEME}{rest}?"),
        Err(why) => format!("a share is smb://host/share here: {why}"),
    })
}

fn behind_other(text: &str) -> Option<&str> {
    let plain = text
        .strip_prefix("//")
        .or_else(|| text.strip_prefix("\\\\"));
    plain.or_else(|| behind(text, "cifs://"))
}

/// Reads what stands behind `smb://`.
pub fn parse(rest: &str) -> Result<ShareLocation, String> {
    if holds_password(rest) {
        return Err(PASSWORD.into());
    }
    let (authority, path) = rest.split_once('/').ok_or(EXPECTED)?;
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    let (domain, user) = match user.and_then(|user| user.split_once(';')) {
        Some((domain, user)) => (Some(domain), Some(user)),
        None => (None, user),
    };
    let (host, port) = host_and_port(host)?;
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let share = name(parts.next().ok_or(EXPECTED)?)?;
    let path: Vec<String> = parts.map(name).collect::<Result<_, _>>()?;
    Ok(ShareLocation {
        user: user.map(name).transpose()?,
        domain: domain.map(name).transpose()?,
        host: Some(host),
        port,
        share,
        path: path.join("/"),
    })
}

fn host_and_port(text: &str) -> Result<(String, Option<u16>), String> {
    let (host, after) = split_host(text).map_err(|_| EXPECTED)?;
    let port = match after {
        "" => None,
        _ => Some(parse_port(after.strip_prefix(':').ok_or(EXPECTED)?)?),
    };
    Ok((host_of_url(host)?, port))
}

/// A name in a URL, with the bytes that stand as `%XX`.
fn name(part: &str) -> Result<String, String> {
    let text = decoded(part).ok_or(EXPECTED)?;
    if text.is_empty() || text.contains(['/', '\\', '\0']) {
        return Err(EXPECTED.into());
    }
    Ok(text)
}

/// Whether there is a password behind the user of a target. Whatever else is wrong with such a
/// target, it is not said: the message would show the password.
fn holds_password(rest: &str) -> bool {
    let authority = rest.split('/').next().unwrap_or_default();
    if let Some((user, _)) = authority.rsplit_once('@') {
        // Behind a colon, or as smbclient's -U has it.
        return user.contains(':') || !is_escaped(user);
    }
    // A password with a slash in it: what follows the colon is no port, and an @ comes later.
    let behind_colon = authority.split_once(':').map(|(_, behind)| behind);
    let is_bracketed = authority.starts_with('[');
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    behind_colon.is_some_and(|behind| !is_bracketed && !is_port(behind)) && rest.contains('@')
}

/// Whether every % stands before two hexadecimal digits.
fn is_escaped(text: &str) -> bool {
    text.split('%').skip(1).all(|after| {
        let digits = after.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

/// Why a command line may not be looked at any further, if a target on it holds a password.
pub fn password_in(word: &str) -> Option<&'static str> {
    let lower = word.to_ascii_lowercase();
    let behind = |scheme: &str| {
        let mut places = lower.match_indices(scheme);
        places
            .any(|(place, _)| holds_password(word.get(place + scheme.len()..).unwrap_or_default()))
    };
    let is_other = behind_other(word).is_some_and(holds_password);
    (is_other || behind(SCHEME) || behind("cifs://")).then_some(PASSWORD)
}

/// How an SMB server is spoken to.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "SMB")]
pub struct SmbArguments {
    /// Speak this dialect of SMB and no other [default: the best that the server has]
    #[arg(hide_short_help = true, long, value_name = "DIALECT", value_parser = choice::<SmbDialect>())]
    pub dialect: Option<SmbDialect>,
    /// Whether messages are signed; off refuses a server that asks for it [default: if-required;
    /// without a word: required]
    #[arg(hide_short_help = true, long, value_name = "WHEN", value_parser = choice::<SmbProtection>(), num_args = 0..=1, default_missing_value = "required")]
    pub sign: Option<SmbProtection>,
    /// Whether messages are encrypted; off refuses a server that asks for it [default: if-required;
    /// without a word: required]
    #[arg(hide_short_help = true, long, value_name = "WHEN", value_parser = choice::<SmbProtection>(), num_args = 0..=1, default_missing_value = "required")]
    pub encrypt: Option<SmbProtection>,
    /// Send requests that belong together, such as CREATE and CLOSE, one after the other instead
    /// of in one compound
    #[arg(hide_short_help = true, long)]
    pub no_compound: bool,
    /// What files are opened with [default: none]
    #[arg(hide_short_help = true, long, value_name = "WHAT", value_parser = choice::<SmbOplock>())]
    pub oplock: Option<SmbOplock>,
    /// Ask for handles that the server keeps for a client whose connection is lost, and take them up
    /// again; files are opened with a lease unless --oplock says batch
    #[arg(hide_short_help = true, long)]
    pub durable: bool,
    /// Connections of each client, over all of which its one session goes (multichannel): 3.0 and
    /// later; its calls in flight are shared by them [default: 1]
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = within::<1, { CHANNELS_MAX }>)]
    pub connections_per_client: Option<u32>,
    #[command(flatten)]
    pub access: PasswordOptions,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_user_host_share_and_path() {
        let plain = ShareLocation {
            user: None,
            domain: None,
            host: Some("fs".into()),
            port: None,
            share: "bench".into(),
            path: String::new(),
        };
        let anna = ShareLocation {
            user: Some("anna".into()),
            ..plain.clone()
        };
        for (text, expected) in [
            ("fs/bench", plain.clone()),
            ("fs/bench/", plain.clone()),
            ("anna@fs/bench", anna.clone()),
            (
                "CORP;an%40na@[::1]:4450/b%20b/a/%c3%a4",
                ShareLocation {
                    user: Some("an@na".into()),
                    domain: Some("CORP".into()),
                    host: Some("::1".into()),
                    port: Some(4450),
                    share: "b b".into(),
                    path: "a/ä".into(),
                },
            ),
            (
                "[fe80::1%25eth0]:4450/bench",
                ShareLocation {
                    host: Some("fe80::1%eth0".into()),
                    port: Some(4450),
                    ..plain.clone()
                },
            ),
            (
                "fs/bench/a@b:c",
                ShareLocation {
                    path: "a@b:c".into(),
                    ..plain.clone()
                },
            ),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            "fs",
            "fs/",
            "/bench",
            "@fs/bench",
            "fs:0/bench",
            "fs:x/bench",
            "fs/b%2",
            "fs/b%zz",
            "fs/b%ff",
            "fs/a%2fb",
            "fs/a%5cb",
            "::1/bench",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_password_in_a_target_is_refused_without_showing_it() {
        for word in [
            "smb://anna:secret@fs/bench",
            "--layer=smb://fs/x,smb://C;anna:se@cret@fs/bench",
            "smb://anna:se/cret@fs/bench",
            "smb://anna:secret@",
        ] {
            let refused = password_in(word).expect(word);
            assert!(!refused.contains("secret"));
        }
        for word in [
            "smb://anna@fs:445/bench/a:b@c",
            "smb://[::1]:445/a@b",
            "nfs://a:2049/x",
        ] {
            assert_eq!(password_in(word), None, "{word}");
        }
        assert_eq!(parse("anna:secret@fs:x/bench"), Err(PASSWORD.into()));
        assert_eq!(parse("anna%secret@fs/bench"), Err(PASSWORD.into()));
        assert_eq!(password_in("smb://anna%20b@fs/bench"), None);
    }
}
