//! What takes calls, as the command line says it: a server with paths, or a share.

use super::smb::{self, Share};
use super::target::{self, Target};

/// What takes calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallTarget {
    /// An NFS server, or one of a protocol that is brought.
    Server(Target),
    /// A share of an SMB server.
    Share(Share),
}

/// Reads any of them.
pub fn parse(text: &str) -> Result<CallTarget, String> {
    if text == smb::BUILT_IN {
        return Ok(CallTarget::Share(Share::built_in()));
    }
    match text.strip_prefix(smb::SCHEME) {
        Some(rest) => smb::parse(rest).map(CallTarget::Share),
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
        let built_in = parse("smb:");
        assert!(matches!(built_in, Ok(CallTarget::Share(share)) if share.host.is_none()));
        assert!(matches!(parse("fs:/x"), Ok(CallTarget::Server(_))));
    }
}
