//! A server with paths, as the command line says it: `nfs://host[:port]/path`, or nct's and
//! mount's `[user@]host:/path`.

use crate::protocols;

/// A parsed TARGET of a server with paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// What stands before `://`, of a protocol that is not NFS.
    pub scheme: Option<String>,
    /// Name or address, without brackets.
    pub host: String,
    /// Port of the NFS server, if it was given.
    pub port: Option<u16>,
    /// Path of the object under test.
    pub path: String,
}

const EXPECTED: &str = "expected nfs://host[:port]/path or host:/path, \
    with an IPv6 address in brackets, such as nfs://[::1]:2049/export";

/// Reads `nfs://host[:port]/path` or `[user@]host:/path`.
pub fn parse(text: &str) -> Result<Target, String> {
    match text.strip_prefix("nfs://") {
        Some(rest) => parse_url(rest),
        None => match text.split_once("://") {
            Some((scheme, rest)) if protocols::known().brings(scheme) => Ok(Target {
                scheme: Some(scheme.into()),
                ..parse_url(rest)?
            }),
            Some(_) => Err(EXPECTED.into()),
            None => parse_mount_style(text, None),
        },
    }
}

/// Reads nct's `[user@]host[:path]`; without a path it is `/`.
pub fn parse_nct(text: &str) -> Result<Target, String> {
    parse_mount_style(text, Some("/"))
}

fn parse_url(rest: &str) -> Result<Target, String> {
    let (authority, path) = match rest.find('/') {
        Some(slash) => rest.split_at(slash),
        None => (rest, "/"),
    };
    let (host, after) = split_host(authority)?;
    let port = match after {
        "" => None,
        _ => Some(parse_port(after.strip_prefix(':').ok_or(EXPECTED)?)?),
    };
    Ok(Target {
        scheme: None,
        host: host.into(),
        port,
        path: path.into(),
    })
}

fn parse_mount_style(text: &str, default_path: Option<&str>) -> Result<Target, String> {
    let (host, after) = split_host(text)?;
    let path = match (after.strip_prefix(':'), default_path) {
        (Some(path), _) if path.starts_with('/') => path,
        (Some(_), _) => return Err("the path must begin with /: host:/path".into()),
        (None, Some(path)) if after.is_empty() => path,
        (None, _) => return Err(EXPECTED.into()),
    };
    Ok(Target {
        scheme: None,
        host: host.into(),
        port: None,
        path: path.into(),
    })
}

/// Splits `[user@]host` from what follows. The user is nct's and means nothing.
pub(super) fn split_host(text: &str) -> Result<(&str, &str), String> {
    // An @ behind the first slash belongs to the path.
    let start = match (text.find('@'), text.find('/')) {
        (Some(at), Some(slash)) if at > slash => 0,
        (Some(at), _) => at + 1,
        (None, _) => 0,
    };
    let text = &text[start..];
    let (host, after) = match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']').ok_or(EXPECTED)?,
        None => match text.find([':', '/']) {
            Some(end) => text.split_at(end),
            None => (text, ""),
        },
    };
    if host.is_empty() || host.contains(char::is_whitespace) {
        return Err(EXPECTED.into());
    }
    Ok((host, after))
}

pub(super) fn parse_port(text: &str) -> Result<u16, String> {
    match text.parse() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(format!(
            "\"{text}\" is not a port; expected a number from 1 to 65535"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(host: &str, port: Option<u16>, path: &str) -> Result<Target, String> {
        Ok(Target {
            scheme: None,
            host: host.into(),
            port,
            path: path.into(),
        })
    }

    #[test]
    fn both_notations_name_host_port_and_path() {
        for (text, expected) in [
            ("nfs://server/export", target("server", None, "/export")),
            (
                "nfs://server:2050/a/b",
                target("server", Some(2050), "/a/b"),
            ),
            ("nfs://server", target("server", None, "/")),
            (
                "nfs://[::1]:2049/export",
                target("::1", Some(2049), "/export"),
            ),
            ("nfs://[fe80::1%eth0]/x", target("fe80::1%eth0", None, "/x")),
            ("10.0.0.5:/export/f", target("10.0.0.5", None, "/export/f")),
            ("me@server:/export", target("server", None, "/export")),
            ("[::1]:/export", target("::1", None, "/export")),
            ("server:/with@sign", target("server", None, "/with@sign")),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
        assert_eq!(parse_nct("greg@server"), target("server", None, "/"));
    }

    #[test]
    fn what_is_no_target_says_what_would_be() {
        for text in [
            "",
            "server",
            "/export",
            "nfs://",
            "nfs:///export",
            "[::1:/x",
            "::1:/x",
            ":/x",
            "smb://server/share",
            "nfs://server:0/x",
            "nfs://server:70000/x",
            "server:export",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse("nfs://s:x/").is_err_and(|text| text.contains("\"x\" is not a port")));
    }
}
