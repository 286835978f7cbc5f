//! Where a load is replayed, as the command line says it: `local:DIR`,
//! `tcp:HOST[:PORT]`, `nfs://host[:port]/path`; several in turn with commas
//! between them, several of one layer for its clients to share with `+`.

use crate::options::target::{self, Target};
use filestone_model::plan::bracketed;

/// The targets of one layer; client i uses target i modulo their number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayerTargets {
    /// Directories of this host; `None` is a fresh temporary one.
    Local(Vec<Option<String>>),
    /// Peers over bare TCP; `None` is the built-in one.
    Tcp(Vec<Option<Peer>>),
    /// NFSv3 servers; `None` is the built-in one.
    Nfs3(Vec<Option<Target>>),
}

/// A peer over bare TCP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// Name or address, without brackets.
    pub host: String,
    /// Its port, if it was given.
    pub port: Option<u16>,
}

/// What one `--on` names. A type of its own, since clap takes a `Vec` for a
/// repeated option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerList(pub Vec<LayerTargets>);

const EXPECTED: &str = "expected local:DIR, tcp:HOST[:PORT] or nfs://host[:port]/path; \
    local:, tcp: and nfs: alone mean a temporary directory and the built-in servers";

/// The beginnings of targets.
const SCHEMES: [&str; 4] = ["local:", "tcp:", "nfs:", "smb:"];

impl LayerTargets {
    /// What `--on` calls the layer.
    pub const fn name(&self) -> &'static str {
        match self {
            LayerTargets::Local(_) => "local",
            LayerTargets::Tcp(_) => "tcp",
            LayerTargets::Nfs3(_) => "nfs",
        }
    }
}

/// Reads a `--on`.
pub fn parse(text: &str) -> Result<LayerList, String> {
    text.split(',')
        .map(layer)
        .collect::<Result<_, _>>()
        .map(LayerList)
}

fn layer(text: &str) -> Result<LayerTargets, String> {
    let mut all: Option<LayerTargets> = None;
    for one in targets(text) {
        let next = single(one)?;
        match (&mut all, next) {
            (None, next) => all = Some(next),
            (Some(LayerTargets::Local(some)), LayerTargets::Local(more)) => some.extend(more),
            (Some(LayerTargets::Tcp(some)), LayerTargets::Tcp(more)) => some.extend(more),
            (Some(LayerTargets::Nfs3(some)), LayerTargets::Nfs3(more)) => some.extend(more),
            (Some(first), next) => {
                return Err(format!(
                    "\"{text}\" joins {}: and {}: with \"+\", which is for targets of one layer; \
                     put a comma between layers",
                    first.name(),
                    next.name(),
                ));
            }
        }
    }
    all.ok_or_else(|| EXPECTED.into())
}

/// Splits at every `+` behind which a target begins; any other belongs to a path.
fn targets(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (place, _) in text.match_indices('+') {
        let rest = &text[place + 1..];
        if SCHEMES.iter().any(|scheme| rest.starts_with(scheme)) {
            parts.push(&text[start..place]);
            start = place + 1;
        }
    }
    parts.push(&text[start..]);
    parts
}

fn single(text: &str) -> Result<LayerTargets, String> {
    if let Some(directory) = text.strip_prefix("local:") {
        let directory = (!directory.is_empty()).then(|| directory.to_string());
        return Ok(LayerTargets::Local(vec![directory]));
    }
    if let Some(peer) = text.strip_prefix("tcp:") {
        let peer = peer.strip_prefix("//").unwrap_or(peer);
        return Ok(LayerTargets::Tcp(vec![if peer.is_empty() {
            None
        } else {
            Some(peer_of(peer)?)
        }]));
    }
    match text {
        "nfs:" => Ok(LayerTargets::Nfs3(vec![None])),
        _ if text.starts_with("nfs://") => {
            target::parse(text).map(|target| LayerTargets::Nfs3(vec![Some(target)]))
        }
        _ if text.starts_with("smb:") => {
            Err("smb: is not there yet; local:, tcp: and nfs: are".into())
        }
        _ => Err(format!("\"{text}\" is no layer; {}", suggestion(text))),
    }
}

/// What a target without a layer may have meant.
fn suggestion(text: &str) -> String {
    if text.starts_with(['/', '.', '~']) {
        return format!("did you mean local:{text}? {EXPECTED}");
    }
    let looks_mounted = target::parse(text);
    match looks_mounted {
        Ok(target) => format!(
            "did you mean nfs://{}{}? {EXPECTED}",
            bracketed(&target.host),
            target.path
        ),
        Err(_) => EXPECTED.into(),
    }
}

fn peer_of(text: &str) -> Result<Peer, String> {
    const EXPECTED: &str = "expected tcp:HOST[:PORT], with an IPv6 address in brackets, \
        such as tcp:[::1]:7003";
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']').ok_or(EXPECTED)?;
            match after.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None if after.is_empty() => (host, None),
                None => return Err(EXPECTED.into()),
            }
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    if host.is_empty() || host.contains(|letter: char| letter.is_whitespace() || letter == '/') {
        return Err(EXPECTED.into());
    }
    let port = match port {
        // An IPv6 address without brackets has more colons.
        Some(port) if port.contains(':') => return Err(EXPECTED.into()),
        Some(port) => Some(crate::options::values::port(port)?),
        None => None,
    };
    Ok(Peer {
        host: host.into(),
        port,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nfs(host: &str, port: Option<u16>, path: &str) -> Option<Target> {
        Some(Target {
            scheme: None,
            host: host.into(),
            port,
            path: path.into(),
        })
    }

    fn peer(host: &str, port: Option<u16>) -> Option<Peer> {
        Some(Peer {
            host: host.into(),
            port,
        })
    }

    #[test]
    fn every_layer_has_a_target_of_its_own_kind() {
        for (text, expected) in [
            ("local:", vec![LayerTargets::Local(vec![None])]),
            (
                "local:/srv/c++/x",
                vec![LayerTargets::Local(vec![Some("/srv/c++/x".into())])],
            ),
            ("tcp:", vec![LayerTargets::Tcp(vec![None])]),
            (
                "tcp:host:7003",
                vec![LayerTargets::Tcp(vec![peer("host", Some(7003))])],
            ),
            (
                "tcp:[::1]",
                vec![LayerTargets::Tcp(vec![peer("::1", None)])],
            ),
            ("nfs:", vec![LayerTargets::Nfs3(vec![None])]),
            (
                "local:.,tcp:h,nfs://s:2050/x",
                vec![
                    LayerTargets::Local(vec![Some(".".into())]),
                    LayerTargets::Tcp(vec![peer("h", None)]),
                    LayerTargets::Nfs3(vec![nfs("s", Some(2050), "/x")]),
                ],
            ),
            (
                "nfs://a/x+nfs://b/x",
                vec![LayerTargets::Nfs3(vec![
                    nfs("a", None, "/x"),
                    nfs("b", None, "/x"),
                ])],
            ),
        ] {
            assert_eq!(parse(text), Ok(LayerList(expected)), "{text}");
        }
    }

    #[test]
    fn what_is_no_layer_says_what_would_be() {
        let mut text = String::new();
        for wrong in [
            "",
            "/srv/test",
            "server:/export",
            "tpc:host",
            "smb://server/share",
            "local:/a,",
            "local:/a+nfs://s/x",
            "tcp:host:0",
            "tcp:::1",
            "tcp:[::1",
            "tcp::7003",
            "nfs://s:x/",
        ] {
            let reason = parse(wrong).expect_err(wrong);
            text.push_str(&format!("--on {wrong}: {reason}\n"));
        }
        insta::assert_snapshot!(text);
    }
}
