//! A server with paths, as the command line says it: `nfs://host[:port]/path`, or nct's and
//! mount's `[user@]host:/path`.

use crate::protocols;

/// A parsed TARGET of a server with paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedTarget {
    /// What stands before `://`, of a protocol that is not NFS.
    pub scheme: Option<String>,
    /// Name or address, without brackets.
    pub host: String,
    /// Port of the NFS server, if it was given.
    pub port: Option<u16>,
    /// Path of the object under test.
    pub path: String,
    /// What stands behind `?`.
    pub arguments: Arguments,
}

/// Arguments of a URL, as those of libnfs have them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arguments {
    /// `uid`: user id that calls carry.
    pub uid: Option<u32>,
    /// `gid`: group id that calls carry.
    pub gid: Option<u32>,
    /// `nfsport`: port of the NFS server.
    pub port: Option<u16>,
    /// `mountport`: port of the MOUNT server.
    pub mount_port: Option<u16>,
}

impl Arguments {
    /// Reads `NAME=VALUE&NAME=VALUE…`. An argument that is passed over would give a figure of
    /// something else than was asked for.
    fn read(text: &str) -> Result<Self, String> {
        let mut arguments = Self::default();
        for argument in text.split('&') {
            let (name, value) = argument.split_once('=').ok_or_else(|| {
                format!(
                    "?{argument}: expected NAME=VALUE behind the ? of a URL; a path with a ? in it \
                     is written host:/path"
                )
            })?;
            match name {
                "uid" => arguments.uid = Some(parse_id(name, value)?),
                "gid" => arguments.gid = Some(parse_id(name, value)?),
                "nfsport" => arguments.port = Some(parse_port(value)?),
                "mountport" => arguments.mount_port = Some(parse_port(value)?),
                "version" if value == "3" => {}
                "version" => return Err(format!("version={value}: filestone speaks NFSv3 only")),
                _ => {
                    return Err(format!(
                        "{name}={value}: filestone does not have this argument of URLs; it has uid, \
                         gid, nfsport, mountport and version=3"
                    ));
                }
            }
        }
        Ok(arguments)
    }
}

fn parse_id(name: &str, value: &str) -> Result<u32, String> {
    let id = value.parse();
    id.map_err(|_| {
        format!(
            "{name}={value}: expected a whole number from 0 to {}",
            u32::MAX
        )
    })
}

const EXPECTED: &str = "expected nfs://host[:port]/path or host:/path, \
    with an IPv6 address in brackets, such as nfs://[::1]:2049/export";

/// Reads `nfs://host[:port]/path` or `[user@]host:/path`.
pub fn parse(text: &str) -> Result<ParsedTarget, String> {
    match text.strip_prefix("nfs://") {
        Some(rest) => match rest.split_once('?') {
            Some((rest, arguments)) => Ok(ParsedTarget {
                arguments: Arguments::read(arguments)?,
                ..parse_url(rest)?
            }),
            None => parse_url(rest),
        },
        None => match text.split_once("://") {
            Some((scheme, rest)) if protocols::known().brings(scheme) => Ok(ParsedTarget {
                scheme: Some(scheme.into()),
                ..parse_url(rest)?
            }),
            Some(_) => Err(EXPECTED.into()),
            None => parse_mount_style(text, None),
        },
    }
}

/// Reads nct's `[user@]host[:path]`; without a path it is `/`.
pub fn parse_nct(text: &str) -> Result<ParsedTarget, String> {
    parse_mount_style(text, Some("/"))
}

fn parse_url(rest: &str) -> Result<ParsedTarget, String> {
    let (authority, path) = match rest.find('/') {
        Some(slash) => rest.split_at(slash),
        None => (rest, "/"),
    };
    let (host, after) = split_host(authority)?;
    let port = match after {
        "" => None,
        _ => Some(parse_port(after.strip_prefix(':').ok_or(EXPECTED)?)?),
    };
    Ok(ParsedTarget {
        scheme: None,
        host: host_of_url(host)?,
        port,
        path: path.into(),
        arguments: Arguments::default(),
    })
}

/// The host of a URL: the zone of a link-local address stands behind %25 (RFC 6874, section 2).
/// An address as other programs write it, with a bare %, is taken, too.
pub(super) fn host_of_url(host: &str) -> Result<String, String> {
    match host.split_once("%25") {
        Some((address, zone)) if address.contains(':') && !zone.is_empty() => {
            Ok(format!("{address}%{}", decoded(zone).ok_or(EXPECTED)?))
        }
        _ => Ok(host.into()),
    }
}

/// A part of a URL, with the bytes that stand as `%XX`; `None` if it is no text then.
pub(super) fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let (byte, after) = match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                ((digit(high)? << 4 | digit(low)?) as u8, after)
            }
            (b'%', _) => return None,
            _ => (*first, after),
        };
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

fn parse_mount_style(text: &str, default_path: Option<&str>) -> Result<ParsedTarget, String> {
    let (host, after) = split_host(text)?;
    let path = match (after.strip_prefix(':'), default_path) {
        (Some(path), _) if path.starts_with('/') => path,
        (Some(_), _) => return Err("the path must begin with /: host:/path".into()),
        (None, Some(path)) if after.is_empty() => path,
        (None, _) => return Err(EXPECTED.into()),
    };
    Ok(ParsedTarget {
        scheme: None,
        host: host.into(),
        port: None,
        path: path.into(),
        arguments: Arguments::default(),
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

    fn target(host: &str, port: Option<u16>, path: &str) -> Result<ParsedTarget, String> {
        Ok(ParsedTarget {
            scheme: None,
            host: host.into(),
            port,
            path: path.into(),
            arguments: Arguments::default(),
        })
    }

    #[test]
    fn arguments_of_libnfs_are_honoured_or_refused_by_name() {
        let read = |text: &str| parse(text).map(|target| (target.path, target.arguments));
        let all = "nfs://s/export/a?uid=7&gid=8&nfsport=2050&mountport=635&version=3";
        let arguments = Arguments {
            uid: Some(7),
            gid: Some(8),
            port: Some(2050),
            mount_port: Some(635),
        };
        assert_eq!(read(all), Ok(("/export/a".into(), arguments)));
        for (text, said) in [
            ("nfs://s/x?version=4", "version=4: filestone speaks NFSv3"),
            (
                "nfs://s/x?readahead=4096",
                "readahead=4096: filestone does not have",
            ),
            ("nfs://s/x?uid=-1", "uid=-1: expected a whole number"),
            ("nfs://s/x?nfsport=0", "\"0\" is not a port"),
            ("nfs://s/x?", "host:/path"),
            ("nfs://s/a?b", "host:/path"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(said), "{error}");
        }
        // A path of mount's notation is no URL.
        let path = parse("s:/a?uid=7").map(|target| target.path);
        assert_eq!(path.as_deref(), Ok("/a?uid=7"));
    }

    #[test]
    fn the_zone_of_an_address_is_decoded_in_urls() {
        for (text, host) in [
            ("nfs://[fe80::1%25eth0]:2049/x", "fe80::1%eth0"),
            ("nfs://[fe80::1%25a%2fb]/x", "fe80::1%a/b"),
            ("nfs://[fe80::1%eth0]/x", "fe80::1%eth0"),
            ("[fe80::1%25]:/x", "fe80::1%25"),
        ] {
            let parsed = parse(text).map(|target| target.host);
            assert_eq!(parsed.as_deref(), Ok(host), "{text}");
        }
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
