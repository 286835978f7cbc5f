//! Share and login in the command lines of smbtorture and dbench. A password in them is never
//! shown: messages show a word only up to a `%`.

use super::ending::CommandLineError;
use crate::options::smb::{self, ShareLocation};
use filestone_workload::password::Password;

/// Login as given on a command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Login {
    /// User; `None` for a guest.
    pub user: Option<String>,
    /// Domain of the user.
    pub domain: Option<String>,
    /// Password of the user.
    pub password: Option<Password>,
}

impl Login {
    /// Parses `[DOMAIN/]USER[%PASSWORD]`, also with a backslash; a single `%` is a guest.
    pub fn read(text: &str) -> Self {
        let (name, password) = match text.split_once('%') {
            Some((name, password)) => (name, Some(password)),
            None => (text, None),
        };
        let (domain, user) = match name.split_once(['/', '\\']) {
            Some((domain, user)) => (Some(domain), user),
            None => (None, name),
        };
        let said = |text: &str| Some(text.to_string()).filter(|text| !text.is_empty());
        Self {
            user: said(user),
            domain: domain.and_then(said),
            password: password.map(|password| Password::new(password.into())),
        }
    }
}

/// Returns a word without a possible password.
pub fn shown(word: &str) -> &str {
    word.split('%').next().unwrap_or_default()
}

/// Parses `//HOST/SHARE`, also with backslashes; `code` is the program's exit code for an invalid
/// share.
pub fn share(word: &str, code: u8) -> Result<ShareLocation, CommandLineError> {
    let refusal = |what: String, help: &str| CommandLineError {
        message: what,
        help: Some(help.into()),
        code,
    };
    let expected = "expected //HOST/SHARE, with an IPv6 address in brackets";
    let word = word.replace('\\', "/");
    if let Some(why) = smb::password_in(&format!("smb:{word}")) {
        let what = "//HOST/SHARE: there is a password in it";
        return Err(refusal(what.into(), why));
    }
    let wrong = || refusal(format!("{}: this is no share", shown(&word)), expected);
    let rest = word.strip_prefix("//").ok_or_else(wrong)?;
    smb::parse(rest).map_err(|_| wrong())
}
