//! Statuses in load files, and the expected results that they represent.
//!
//! Names and codes of NT statuses are those of MS-ERREF section 2.3.1, from the crate `wire`.

use super::diagnostic::suggestion;
use super::expected::Expected;
use super::number::c_number;
use super::verb::VerbSet;
use filestone_wire::smb2;

const PREFIX: &str = "NT_STATUS_";

/// Prefix in load files before the standard's `STATUS_…`.
const NT: &str = "NT_";

/// Returns the names of statuses without `STATUS_`, which follow [`PREFIX`] in load files.
fn names() -> impl Iterator<Item = &'static str> + Clone {
    let named = smb2::Status::NAMED
        .iter()
        .filter_map(|status| status.name());
    named.filter_map(|name| name.strip_prefix("STATUS_"))
}

/// Returns the NT status that a word names.
fn nt_status(word: &[u8]) -> Option<smb2::Status> {
    smb2::Status::from_name(str::from_utf8(word).ok()?.strip_prefix(NT)?)
}

/// Returns an NT status as in load files.
pub(super) fn name(number: u32) -> String {
    match smb2::Status(number).name() {
        Some(name) => format!("{NT}{name}"),
        None => format!("NT status {number:#010x}"),
    }
}

/// Whether `word` has the form of a status, valid or not.
pub(super) fn looks_like_status(word: &[u8]) -> bool {
    matches!(word, b"*" | b"SUCCESS" | b"ERROR")
        || word.starts_with(PREFIX.as_bytes())
        || word.starts_with(b"0x")
}

/// Returns the expected result for a status of a verb of that family; `None` if the word is not a
/// status.
pub(super) fn expected(word: &[u8], family: VerbSet) -> Option<Expected> {
    match word {
        b"*" => Some(Expected::Anything),
        b"SUCCESS" | b"NT_STATUS_OK" => Some(Expected::Success),
        b"ERROR" => Some(Expected::Failure),
        [b'0', b'x', ..] => {
            let code = u32::try_from(c_number(word).ok()?).ok()?;
            Some(match family {
                _ if code == 0 => Expected::Success,
                VerbSet::Nfs => Expected::Number(code),
                VerbSet::Cifs | VerbSet::Smb | VerbSet::Either => Expected::Nt(code),
            })
        }
        _ => Some(match nt_status(word)? {
            smb2::Status::SUCCESS => Expected::Success,
            status => Expected::Nt(status.0),
        }),
    }
}

/// Returns a suggestion for an invalid status.
pub(super) fn help(word: &[u8], family: VerbSet) -> String {
    let meant = word
        .strip_prefix(PREFIX.as_bytes())
        .and_then(|name| suggestion(name, names().chain(["OK"])))
        .map(|name| format!("{PREFIX}{name}"))
        .or_else(|| suggestion(word, ["SUCCESS", "ERROR"].into_iter()).map(str::to_owned));
    if let Some(meant) = meant {
        return format!("did you mean {meant}?");
    }
    match family {
        VerbSet::Nfs => "a line ends with 0x and the NFSv3 status, 0x0 for success, or * for any",
        VerbSet::Smb => "a line ends with SUCCESS, ERROR, * or NT_STATUS_…",
        VerbSet::Cifs | VerbSet::Either => {
            "a line ends with NT_STATUS_… (NT_STATUS_OK for success), 0x…, SUCCESS, ERROR or *"
        }
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_codes_expect_the_same() {
        let cifs = |word: &str| expected(word.as_bytes(), VerbSet::Cifs);
        let not_found = Some(Expected::Nt(smb2::Status::OBJECT_NAME_NOT_FOUND.0));
        assert_eq!(cifs("NT_STATUS_OK"), Some(Expected::Success));
        assert_eq!(cifs("0x00000000"), Some(Expected::Success));
        assert_eq!(cifs("SUCCESS"), Some(Expected::Success));
        assert_eq!(cifs("NT_STATUS_OBJECT_NAME_NOT_FOUND"), not_found);
        assert_eq!(cifs("0xc0000034"), not_found);
        assert_eq!(cifs("0xc0ffee"), Some(Expected::Nt(0xc0_ffee)));
        assert_eq!(cifs("ERROR"), Some(Expected::Failure));
        assert_eq!(cifs("*"), Some(Expected::Anything));
        assert_eq!(cifs("NT_STATUS_BANANA"), None);
        assert_eq!(cifs("0xfffffffff"), None);
        assert_eq!(cifs("17"), None);
    }

    #[test]
    fn every_status_that_has_a_name_is_known_by_name_and_by_code() {
        for status in smb2::Status::NAMED {
            let told = name(status.0);
            let code = format!("0x{:08x}", status.0);
            let wanted = match *status {
                smb2::Status::SUCCESS => Expected::Success,
                status => Expected::Nt(status.0),
            };
            for word in [told, code] {
                assert_eq!(
                    expected(word.as_bytes(), VerbSet::Cifs),
                    Some(wanted),
                    "{word}"
                );
            }
        }
        assert_eq!(name(0xc0ffee), "NT status 0x00c0ffee");
    }

    #[test]
    fn codes_of_nfs_are_numbers_of_rfc_1813() {
        assert_eq!(expected(b"0x2", VerbSet::Nfs), Some(Expected::Number(2)));
        assert_eq!(expected(b"0x0", VerbSet::Nfs), Some(Expected::Success));
    }

    #[test]
    fn a_misspelt_status_is_guessed() {
        let help = help(b"NT_STATUS_OBJECT_NAME_NOT_FUOND", VerbSet::Cifs);
        assert_eq!(help, "did you mean NT_STATUS_OBJECT_NAME_NOT_FOUND?");
    }
}
