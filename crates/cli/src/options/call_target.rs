//! What takes calls, as the command line says it: a server with paths, or a share.

use super::smb::{self, ShareLocation};
use super::target::{self, ParsedTarget};

/// What takes calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallTarget {
    /// An NFS server, or one of a protocol that is brought.
    Server(ParsedTarget),
    /// A share of an SMB server.
    Share(ShareLocation),
}

/// Reads any of them.
pub fn parse(text: &str) -> Result<CallTarget, String> {
    if text == smb::BUILT_IN {
        return Ok(CallTarget::Share(ShareLocation::built_in()));
    }
    if let Some(rest) = smb::behind_scheme(text) {
        return smb::parse(rest).map(CallTarget::Share);
    }
    match smb::other_notation(text) {
        Some(why) => Err(why),
        None => target::parse(text).map(CallTarget::Server),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_target_too() {
        assert!(matches!(
            parse("smb://anna@fs/bench"),
            Ok(CallTarget::Share(share)) if share.user.as_deref() == Some("anna")
        ));
        assert_eq!(parse("SMB://Fs/Bench"), parse("smb://Fs/Bench"));
        for other in ["//fs/bench/a b", r"\\fs\bench\a b", "cifs://fs/bench/a b"] {
            let why = parse(other).expect_err("no target");
            assert!(why.ends_with("did you mean smb://fs/bench/a%20b?"), "{why}");
        }
        let why = parse("//fs").expect_err("no share");
        assert!(why.contains("expected smb://"), "{why}");
        let built_in = parse("smb:");
        assert!(matches!(built_in, Ok(CallTarget::Share(share)) if share.host.is_none()));
        assert!(matches!(parse("fs:/x"), Ok(CallTarget::Server(_))));
    }
}
