//! Credentials of clients, from files and the environment. The password passes from here into the
//! run, and nowhere else.

use crate::console;
use crate::error::Error;
use crate::options::password::PasswordOptions;
use filestone_plan::plan::TargetPlan;
use filestone_workload::password::Password;
use std::env::VarError;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Environment variable that contains a password.
pub const VARIABLE: &str = "FILESTONE_PASSWORD";
/// Maximum size of a password or a password file, in bytes.
const TEXT_MAX: u64 = 64 << 10;

/// Credentials of clients whose target names none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DefaultCredentials {
    /// Name of the user.
    pub user: Option<String>,
    /// Domain of the user.
    pub domain: Option<String>,
    password: Option<Password>,
    /// Option that contains the password; `None` for the environment.
    option: Option<&'static str>,
}

impl DefaultCredentials {
    /// Reads the credentials from the options and the environment.
    pub fn read(options: &PasswordOptions) -> Result<Self, Error> {
        if let Some(path) = &options.authentication_file {
            let mut read = of_lines(&read_secret(path)?, path)?;
            if read.password.is_none() {
                read.password = of_environment(std::env::var(VARIABLE))?;
            }
            return Ok(read);
        }
        let Some(path) = &options.password_file else {
            return Ok(Self {
                password: of_environment(std::env::var(VARIABLE))?,
                ..Self::default()
            });
        };
        let text = read_secret(path)?;
        let line = without_return(text.lines().next().unwrap_or_default());
        Ok(Self {
            password: Some(Password::new(line.into())),
            option: Some("--password-file"),
            ..Self::default()
        })
    }

    /// Adds the password from an option of another program's command line.
    pub fn given(self, password: Password, option: &'static str) -> Self {
        Self {
            password: Some(password),
            option: Some(option),
            ..self
        }
    }

    /// Returns the password for a run on these targets: their user must have one, and no other user
    /// may be named.
    pub fn password_for<'plan>(
        &self,
        targets: impl Iterator<Item = &'plan TargetPlan>,
    ) -> Result<Option<Password>, Error> {
        let mut users: Vec<&str> = targets.filter_map(TargetPlan::user).collect();
        users.dedup();
        let user = match (users.as_slice(), self.option) {
            ([], None) => return Ok(None),
            ([], Some(option)) => {
                return Err(Error::usage(format!("{option}: no target has a user"))
                    .with_help("name one in the target: smb://USER@HOST/SHARE"));
            }
            ([user], _) => *user,
            ([one, other, ..], _) => {
                return Err(Error::usage(format!(
                    "one password, but two users: {one} and {other}"
                ))
                .with_help("all targets of a run have the same user"));
            }
        };
        if let Some(own) = self.user.as_deref().filter(|own| !is_same_user(own, user)) {
            return Err(Error::usage(format!(
                "the target's user is {user}, and the password is that of {own}"
            ))
            .with_help("name the user once"));
        }
        let missing = || {
            Error::usage(format!("there is no password for the user {user}")).with_help(format!(
                "--password-file FILE, -A FILE or the environment variable {VARIABLE}; an empty \
                 file is an empty password"
            ))
        };
        self.password.clone().ok_or_else(missing).map(Some)
    }
}

/// Returns the password in the first line of a file, or in the environment, which a server requires
/// of its user.
pub fn password_of(file: Option<&Path>) -> Result<Option<Password>, Error> {
    let options = PasswordOptions {
        password_file: file.map(Path::to_path_buf),
        authentication_file: None,
    };
    DefaultCredentials::read(&options).map(|credentials| credentials.password)
}

/// Returns the password in the environment, if there is one.
fn of_environment(variable: Result<String, VarError>) -> Result<Option<Password>, Error> {
    match variable {
        Ok(text) => Ok(Some(Password::new(text))),
        Err(VarError::NotPresent) => Ok(None),
        // The value is not shown because it is a password.
        Err(VarError::NotUnicode(_)) => Err(Error::usage(format!(
            "{VARIABLE}: the password is not valid UTF-8"
        ))
        .with_help("use a password in UTF-8, in the variable or in --password-file FILE")),
    }
}

/// Returns the text of a file; a note is printed if other users can read the file.
fn read_secret(path: &Path) -> Result<String, Error> {
    let unreadable = |error: std::io::Error| Error::file(path, &error);
    let file = File::open(path).map_err(unreadable)?;
    let about = file.metadata().map_err(unreadable)?;
    if about.is_file() && about.permissions().mode() & 0o044 != 0 {
        let path = path.display();
        console::note(&format!(
            "{path}: other users can read this file; chmod 600 {path} keeps it from them"
        ));
    }
    let mut bytes = Vec::new();
    let read = file.take(TEXT_MAX + 1).read_to_end(&mut bytes);
    read.map_err(unreadable)?;
    let is_short = bytes.len() as u64 <= TEXT_MAX;
    let text = String::from_utf8(bytes).ok().filter(|_| is_short);
    let text = text.map(|text| match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => rest.to_owned(),
        None => text,
    });
    text.ok_or_else(|| {
        let path = path.display();
        Error::usage(format!("{path}: this is no file with a password"))
            .with_help("a short text in UTF-8")
    })
}

/// Byte order mark that Windows editors write at the start of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Removes a carriage return, which a last line without a line feed may still have.
fn without_return(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}

/// Parses the lines of Samba's `-A FILE` (smbclient(1)): spaces and the case of names are ignored,
/// those of a password are significant.
fn of_lines(text: &str, path: &Path) -> Result<DefaultCredentials, Error> {
    let mut credentials = DefaultCredentials {
        option: Some("-A"),
        ..DefaultCredentials::default()
    };
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() || line.trim_start().starts_with(['#', ';']) {
            continue;
        }
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        let value = without_return(value.trim_start_matches([' ', '\t']));
        let said = || Some(value.trim_end().to_string()).filter(|value| !value.is_empty());
        match name.trim().to_ascii_lowercase().as_str() {
            // An empty value is ignored and does not reset an earlier one.
            "username" => said()
                .iter()
                .for_each(|name| name_user(&mut credentials, name)),
            "domain" => credentials.domain = said().or(credentials.domain.take()),
            "password" => credentials.password = Some(Password::new(value.into())),
            // For Kerberos, which is not supported.
            "realm" => {}
            // The line is not shown because it may be a password.
            _ => {
                return Err(Error::usage(format!(
                    "{}:{number}: expected username, password or domain, and =",
                    path.display()
                )));
            }
        }
    }
    Ok(credentials)
}

/// Sets the user from a name. `DOMAIN\user` contains both; a separate line for the domain has
/// precedence. A UPN is used without change (MS-NLMP, section 3.3.2), without a separate domain.
fn name_user(credentials: &mut DefaultCredentials, name: &str) {
    let mut user = name;
    if let Some((domain, name)) = name.split_once('\\') {
        credentials.domain.get_or_insert_with(|| domain.into());
        user = name;
    }
    credentials.user = Some(user.into());
}

/// Whether both names belong to one user; one of them may be a UPN.
fn is_same_user(own: &str, other: &str) -> bool {
    let plain = |name: &str| name.split('@').next().map(str::to_owned);
    let is_upn = |name: &str| name.contains('@');
    own == other || is_upn(own) != is_upn(other) && plain(own) == plain(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_plan::plan::{LocalTarget, SmbTarget};

    fn target(user: Option<&str>) -> TargetPlan {
        let mut target = SmbTarget::new("fs", "bench");
        target.user = user.map(String::from);
        TargetPlan::Smb(target)
    }

    #[test]
    fn the_lines_of_a_file_are_those_of_samba() {
        let text = "# the bench's user\nUserName = anna \r\n domain=CORP\npassword =  a = b \n\n";
        let read = of_lines(text, Path::new("anna.auth")).expect("three lines");
        assert_eq!(read.user.as_deref(), Some("anna"));
        assert_eq!(read.domain.as_deref(), Some("CORP"));
        assert_eq!(read.password, Some(Password::new("a = b ".into())));
        let error = of_lines("username = a\nsecret\n", Path::new("f")).expect_err("no name");
        assert!(error.message.starts_with("f:2: ") && !error.message.contains("secret"));
    }

    #[test]
    fn users_are_named_as_windows_names_them() {
        for (text, user, domain) in [
            (
                "username = BENCH\\alice\r\npassword = x\r",
                "alice",
                Some("BENCH"),
            ),
            (
                "username = alice@bench.example\npassword = x",
                "alice@bench.example",
                None,
            ),
            (
                "domain = LAB\nusername = BENCH\\alice\npassword = x\r\n",
                "alice",
                Some("LAB"),
            ),
            (
                "username = BENCH\\alice\ndomain =\npassword = x\n",
                "alice",
                Some("BENCH"),
            ),
            (
                "domain = \nusername = BENCH\\alice\nusername =\npassword = x\n",
                "alice",
                Some("BENCH"),
            ),
        ] {
            let read = of_lines(text, Path::new("f")).expect("a user");
            assert_eq!(read.user.as_deref(), Some(user), "{text}");
            assert_eq!(read.domain.as_deref(), domain, "{text}");
            assert_eq!(read.password, Some(Password::new("x".into())), "{text}");
            for target in [Some(user), Some("alice")] {
                let target = self::target(target);
                assert!(read.password_for([target].iter()).is_ok(), "{text}");
            }
        }
    }

    #[test]
    fn a_password_that_is_not_text_is_named_and_not_shown() {
        use std::os::unix::ffi::OsStringExt;
        let variable = VarError::NotUnicode(std::ffi::OsString::from_vec(b"se\xffcret".to_vec()));
        let error = of_environment(Err(variable)).expect_err("it is not text");
        assert!(
            error.message.starts_with("FILESTONE_PASSWORD: ") && !error.message.contains("cret")
        );
    }

    #[test]
    fn a_mark_and_returns_are_no_part_of_a_password() {
        let path = std::env::temp_dir().join(format!("filestone-{}-pw", std::process::id()));
        for text in ["secret", "\u{feff}secret\r\n", "secret\r"] {
            std::fs::write(&path, text).expect("a file");
            let read = password_of(Some(&path)).expect("it is read");
            assert_eq!(read, Some(Password::new("secret".into())), "{text:?}");
        }
        std::fs::remove_file(&path).expect("it was there");
    }

    #[test]
    fn a_password_is_for_the_user_of_the_target() {
        let own = DefaultCredentials {
            user: Some("anna".into()),
            domain: None,
            password: Some(Password::new("secret".into())),
            option: Some("-A"),
        };
        let of = |credentials: &DefaultCredentials, targets: &[TargetPlan]| {
            credentials.password_for(targets.iter())
        };
        let [anna, ben, guest] = [Some("anna"), Some("ben"), None].map(target);
        assert_eq!(
            of(&own, &[anna.clone(), anna.clone()]),
            Ok(own.password.clone())
        );
        for targets in [
            vec![ben.clone()],
            vec![guest.clone()],
            vec![anna.clone(), ben],
        ] {
            let error = of(&own, &targets).expect_err("another's password");
            assert!(!format!("{error:?}").contains("secret"));
        }
        let nothing = DefaultCredentials::default();
        assert!(of(&nothing, &[anna]).is_err_and(|error| error.message.contains("anna")));
        let local = TargetPlan::Local(LocalTarget { directory: None });
        assert_eq!(of(&nothing, &[guest, local]), Ok(None));
    }
}
