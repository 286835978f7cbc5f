//! How the command lines of smbtorture and dbench name a share, and who logs on to it. A password on
//! them is shown nowhere: no message has more of a word than stands before a `%`.

use super::ending::CommandLineError;
use crate::options::smb::{self, Share};
use filestone_workload::password::Password;

/// Who logs on, as far as a command line says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Login {
    /// The user; a guest without one.
    pub user: Option<String>,
    /// Whose user that is.
    pub domain: Option<String>,
    /// The password.
    pub password: Option<Password>,
}

impl Login {
    /// `[DOMAIN/]USER[%PASSWORD]`, with a backslash, too; nothing but a `%` is a guest.
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

/// A word without what may be a password in it.
pub fn shown(word: &str) -> &str {
    word.split('%').next().unwrap_or_default()
}

/// `//HOST/SHARE`, with backslashes, too; `code` is the program's exit code for one that is none.
pub fn share(word: &str, code: u8) -> Result<Share, CommandLineError> {
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
