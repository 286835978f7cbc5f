//! Where a load is replayed, as the command line says it: `local:DIR`,
//! `tcp:HOST[:PORT]`, `nfs://host[:port]/path`, `smb://[user@]host[:port]/share`; several in turn with commas
//! between them, several of one layer for its clients to share with `+`.

use crate::options::smb::{self, ShareLocation};
use crate::options::target::{self, ParsedTarget};
use filestone_plan::plan::{LocalTarget, TcpTarget, bracketed};

/// A target of one layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayerTarget {
    /// A directory of this host.
    Local(LocalTarget),
    /// A peer over bare TCP.
    Tcp(TcpTarget),
    /// An NFSv3 server; `None` is the built-in one.
    Nfs3(Option<ParsedTarget>),
    /// A share of an SMB server.
    Smb(ShareLocation),
}

/// The targets of one layer, at least one; client i uses target i modulo their number.
pub type LayerTargets = Vec<LayerTarget>;

/// What one `--layer` names. A type of its own, since clap takes a `Vec` for a
/// repeated option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerList(pub Vec<LayerTargets>);

const EXPECTED: &str = "expected local:DIR, tcp:HOST[:PORT], nfs://host[:port]/path or \
    smb://[user@]host[:port]/share[/path]; local:, tcp:, nfs: and smb: alone mean a temporary directory and the built-in servers";

/// The beginnings of targets.
const SCHEMES: [&str; 4] = ["local:", "tcp:", "nfs:", "smb:"];

impl LayerTarget {
    /// What `--layer` calls its layer.
    pub const fn layer(&self) -> &'static str {
        match self {
            LayerTarget::Local(_) => "local",
            LayerTarget::Tcp(_) => "tcp",
            LayerTarget::Nfs3(_) => "nfs",
            LayerTarget::Smb(_) => "smb",
        }
    }
}

/// Reads a `--layer`.
pub fn parse(text: &str) -> Result<LayerList, String> {
    text.split(',')
        .map(layer)
        .collect::<Result<_, _>>()
        .map(LayerList)
}

fn layer(text: &str) -> Result<LayerTargets, String> {
    let layer: LayerTargets = targets(text)
        .into_iter()
        .map(single)
        .collect::<Result<_, _>>()?;
    match first_two_layers(&layer) {
        None => Ok(layer),
        Some([first, other]) => Err(format!(
            "\"{text}\" joins {first}: and {other}: with \"+\", which is for targets of one layer; \
             put a comma between layers"
        )),
    }
}

/// Two layers that targets are of, if they are not of one.
fn first_two_layers(targets: &[LayerTarget]) -> Option<[&'static str; 2]> {
    let first = targets.first()?.layer();
    let other = targets.iter().find(|other| other.layer() != first)?;
    Some([first, other.layer()])
}

/// Reads a list of targets of one layer, one a line; also `//server/share`, as smbtorture's.
/// Blank lines and those that begin with `#` are passed over.
pub fn listed(text: &str) -> Result<LayerTargets, String> {
    let mut layer = LayerTargets::new();
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let target = match line.strip_prefix("//") {
            Some(share) => smb::parse(share).map(LayerTarget::Smb),
            None => single(line),
        };
        layer.push(target.map_err(|reason| format!("{number}: {reason}"))?);
    }
    match first_two_layers(&layer) {
        _ if layer.is_empty() => Err("1: there is no target in it".into()),
        None => Ok(layer),
        Some([first, other]) => Err(format!(
            "1: a list has targets of one layer, and these are of {first}: and {other}:"
        )),
    }
}

/// Splits at every `+` behind which a target begins; any other belongs to a path.
fn targets(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (place, _) in text.match_indices('+') {
        let rest = &text[place + 1..];
        let is_share = smb::behind_scheme(rest).is_some();
        if is_share || SCHEMES.iter().any(|scheme| rest.starts_with(scheme)) {
            parts.push(&text[start..place]);
            start = place + 1;
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Reads a target of one layer.
pub fn single(text: &str) -> Result<LayerTarget, String> {
    if let Some(directory) = text.strip_prefix("local:") {
        let directory = (!directory.is_empty()).then(|| directory.to_string());
        return Ok(LayerTarget::Local(LocalTarget { directory }));
    }
    if let Some(peer) = text.strip_prefix("tcp:") {
        return peer_of(peer.strip_prefix("//").unwrap_or(peer)).map(LayerTarget::Tcp);
    }
    match text {
        "nfs:" => Ok(LayerTarget::Nfs3(None)),
        smb::BUILT_IN => Ok(LayerTarget::Smb(ShareLocation::built_in())),
        _ if text.starts_with("nfs://") => {
            target::parse(text).map(|target| LayerTarget::Nfs3(Some(target)))
        }
        _ if smb::behind_scheme(text).is_some() || text.starts_with("smb:") => {
            let rest = smb::behind_scheme(text).unwrap_or_default();
            smb::parse(rest).map(LayerTarget::Smb)
        }
        _ => Err(format!("\"{text}\" is no layer; {}", suggestion(text))),
    }
}

/// What a target without a layer may have meant.
fn suggestion(text: &str) -> String {
    if let Some(why) = smb::other_notation(text) {
        return why;
    }
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

/// A peer by its host and its port; the built-in one without a word.
pub fn peer_of(text: &str) -> Result<TcpTarget, String> {
    const EXPECTED: &str = "expected tcp:HOST[:PORT], with an IPv6 address in brackets, \
        such as tcp:[::1]:7003";
    if text.is_empty() {
        let (host, port) = (None, None);
        return Ok(TcpTarget { host, port });
    }
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
    Ok(TcpTarget {
        host: Some(host.into()),
        port,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nfs(host: &str, port: Option<u16>, path: &str) -> LayerTarget {
        LayerTarget::Nfs3(Some(ParsedTarget {
            scheme: None,
            host: host.into(),
            port,
            path: path.into(),
            arguments: Default::default(),
        }))
    }

    fn tcp(host: Option<&str>, port: Option<u16>) -> LayerTarget {
        let host = host.map(String::from);
        LayerTarget::Tcp(TcpTarget { host, port })
    }

    fn local(directory: Option<&str>) -> LayerTarget {
        let directory = directory.map(String::from);
        LayerTarget::Local(LocalTarget { directory })
    }

    #[test]
    fn every_layer_has_a_target_of_its_own_kind() {
        for (text, expected) in [
            ("local:", vec![vec![local(None)]]),
            ("local:/srv/c++/x", vec![vec![local(Some("/srv/c++/x"))]]),
            ("tcp:", vec![vec![tcp(None, None)]]),
            ("tcp:host:7003", vec![vec![tcp(Some("host"), Some(7003))]]),
            ("tcp:[::1]", vec![vec![tcp(Some("::1"), None)]]),
            ("nfs:", vec![vec![LayerTarget::Nfs3(None)]]),
            (
                "local:.,tcp:h,nfs://s:2050/x",
                vec![
                    vec![local(Some("."))],
                    vec![tcp(Some("h"), None)],
                    vec![nfs("s", Some(2050), "/x")],
                ],
            ),
            (
                "nfs://a/x+nfs://b/x",
                vec![vec![nfs("a", None, "/x"), nfs("b", None, "/x")]],
            ),
        ] {
            assert_eq!(parse(text), Ok(LayerList(expected)), "{text}");
        }
    }

    #[test]
    fn a_list_has_a_target_a_line() {
        let share = |share: &str| LayerTarget::Smb(smb::parse(share).expect(share));
        assert_eq!(
            listed("# shares\n//fs/a\n\n  smb://fs/b  \n"),
            Ok(vec![share("fs/a"), share("fs/b")])
        );
        for (text, line) in [
            ("\n#\n", "1: there is no target"),
            ("//fs/a\n//fs\n", "2: expected smb://"),
            ("//fs/a\nlocal:/x\n", "1: a list has targets of one layer"),
        ] {
            let reason = listed(text).expect_err(text);
            assert!(reason.starts_with(line), "{reason}");
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
            "smb://server",
            "local:/a,",
            "local:/a+nfs://s/x",
            "tcp:host:0",
            "tcp:::1",
            "tcp:[::1",
            "tcp::7003",
            "nfs://s:x/",
        ] {
            let reason = parse(wrong).expect_err(wrong);
            text.push_str(&format!("--layer {wrong}: {reason}\n"));
        }
        insta::assert_snapshot!(text);
    }
}
