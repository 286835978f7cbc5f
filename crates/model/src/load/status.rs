//! Statuses as load files write them, and what they expect.
//!
//! Names and codes of NT statuses are those of MS-ERREF section 2.3.1.

use super::diagnostic::suggestion;
use super::expected::{Cause, Expected};
use super::number::c_number;
use super::verb::Family;

const PREFIX: &str = "NT_STATUS_";

/// Name without its prefix, code, and the reason if layers know it as one.
type NtStatus = (&'static str, u32, Cause);

const fn known(name: &'static str, code: u32, cause: Cause) -> NtStatus {
    (name, code, cause)
}

const fn other(name: &'static str, code: u32) -> NtStatus {
    (name, code, Cause::Other)
}

const STATUSES: &[NtStatus] = &[
    known("OBJECT_NAME_NOT_FOUND", 0xc000_0034, Cause::NotFound),
    known("OBJECT_PATH_NOT_FOUND", 0xc000_003a, Cause::NotFound),
    known("NO_SUCH_FILE", 0xc000_000f, Cause::NotFound),
    known("NOT_FOUND", 0xc000_0225, Cause::NotFound),
    known("OBJECT_NAME_COLLISION", 0xc000_0035, Cause::Exists),
    known("ACCESS_DENIED", 0xc000_0022, Cause::Denied),
    known("PRIVILEGE_NOT_HELD", 0xc000_0061, Cause::Denied),
    known("MEDIA_WRITE_PROTECTED", 0xc000_00a2, Cause::Denied),
    known("NOT_A_DIRECTORY", 0xc000_0103, Cause::NotDirectory),
    known("FILE_IS_A_DIRECTORY", 0xc000_00ba, Cause::IsDirectory),
    known("DIRECTORY_NOT_EMPTY", 0xc000_0101, Cause::NotEmpty),
    known("DISK_FULL", 0xc000_007f, Cause::NoSpace),
    known("QUOTA_EXCEEDED", 0xc000_0044, Cause::NoSpace),
    known("DISK_QUOTA_EXCEEDED", 0xc000_0802, Cause::NoSpace),
    known("LOCK_NOT_GRANTED", 0xc000_0055, Cause::Locked),
    known("FILE_LOCK_CONFLICT", 0xc000_0054, Cause::Locked),
    known("INVALID_HANDLE", 0xc000_0008, Cause::UnknownHandle),
    known("FILE_CLOSED", 0xc000_0128, Cause::UnknownHandle),
    other("UNSUCCESSFUL", 0xc000_0001),
    other("NOT_IMPLEMENTED", 0xc000_0002),
    other("INVALID_INFO_CLASS", 0xc000_0003),
    other("INFO_LENGTH_MISMATCH", 0xc000_0004),
    other("ACCESS_VIOLATION", 0xc000_0005),
    other("INVALID_PARAMETER", 0xc000_000d),
    other("NO_SUCH_DEVICE", 0xc000_000e),
    other("INVALID_DEVICE_REQUEST", 0xc000_0010),
    other("END_OF_FILE", 0xc000_0011),
    other("WRONG_VOLUME", 0xc000_0012),
    other("NO_MEDIA_IN_DEVICE", 0xc000_0013),
    other("MORE_PROCESSING_REQUIRED", 0xc000_0016),
    other("NO_MEMORY", 0xc000_0017),
    other("ALREADY_COMMITTED", 0xc000_0021),
    other("BUFFER_TOO_SMALL", 0xc000_0023),
    other("OBJECT_TYPE_MISMATCH", 0xc000_0024),
    other("NOT_LOCKED", 0xc000_002a),
    other("INVALID_PARAMETER_MIX", 0xc000_0030),
    other("OBJECT_NAME_INVALID", 0xc000_0033),
    other("PORT_DISCONNECTED", 0xc000_0037),
    other("OBJECT_PATH_INVALID", 0xc000_0039),
    other("OBJECT_PATH_SYNTAX_BAD", 0xc000_003b),
    other("DATA_OVERRUN", 0xc000_003c),
    other("DATA_ERROR", 0xc000_003e),
    other("CRC_ERROR", 0xc000_003f),
    other("SHARING_VIOLATION", 0xc000_0043),
    other("EA_TOO_LARGE", 0xc000_0050),
    other("NONEXISTENT_EA_ENTRY", 0xc000_0051),
    other("NO_EAS_ON_FILE", 0xc000_0052),
    other("EA_CORRUPT_ERROR", 0xc000_0053),
    other("DELETE_PENDING", 0xc000_0056),
    other("CTL_FILE_NOT_SUPPORTED", 0xc000_0057),
    other("LOGON_FAILURE", 0xc000_006d),
    other("ACCOUNT_RESTRICTION", 0xc000_006e),
    other("ACCOUNT_DISABLED", 0xc000_0072),
    other("RANGE_NOT_LOCKED", 0xc000_007e),
    other("INSUFFICIENT_RESOURCES", 0xc000_009a),
    other("MEDIA_CHECK", 0x8000_0020),
    other("PIPE_NOT_AVAILABLE", 0xc000_00ac),
    other("PIPE_BUSY", 0xc000_00ae),
    other("PIPE_DISCONNECTED", 0xc000_00b0),
    other("IO_TIMEOUT", 0xc000_00b5),
    other("NOT_SUPPORTED", 0xc000_00bb),
    other("BAD_NETWORK_PATH", 0xc000_00be),
    other("NETWORK_BUSY", 0xc000_00bf),
    other("INVALID_NETWORK_RESPONSE", 0xc000_00c3),
    other("UNEXPECTED_NETWORK_ERROR", 0xc000_00c4),
    other("NETWORK_NAME_DELETED", 0xc000_00c9),
    other("NETWORK_ACCESS_DENIED", 0xc000_00ca),
    other("BAD_DEVICE_TYPE", 0xc000_00cb),
    other("BAD_NETWORK_NAME", 0xc000_00cc),
    other("TOO_MANY_SESSIONS", 0xc000_00ce),
    other("REQUEST_NOT_ACCEPTED", 0xc000_00d0),
    other("NET_WRITE_FAULT", 0xc000_00d2),
    other("NOT_SAME_DEVICE", 0xc000_00d4),
    other("FILE_RENAMED", 0xc000_00d5),
    other("INVALID_OPLOCK_PROTOCOL", 0xc000_00e3),
    other("INTERNAL_ERROR", 0xc000_00e5),
    other("UNEXPECTED_IO_ERROR", 0xc000_00e9),
    other("DIRECTORY_IS_A_REPARSE_POINT", 0xc000_0281),
    other("FILE_CORRUPT_ERROR", 0xc000_0102),
    other("NAME_TOO_LONG", 0xc000_0106),
    other("FILES_OPEN", 0xc000_0107),
    other("CONNECTION_IN_USE", 0xc000_0108),
    other("TOO_MANY_OPENED_FILES", 0xc000_011f),
    other("CANCELLED", 0xc000_0120),
    other("CANNOT_DELETE", 0xc000_0121),
    other("FILE_DELETED", 0xc000_0123),
    other("INVALID_LEVEL", 0xc000_0148),
    other("PIPE_BROKEN", 0xc000_014b),
    other("IO_DEVICE_ERROR", 0xc000_0185),
    other("CONNECTION_DISCONNECTED", 0xc000_020c),
    other("CONNECTION_RESET", 0xc000_020d),
    other("TOO_MANY_NODES", 0xc000_020e),
    other("CONNECTION_REFUSED", 0xc000_0236),
    other("CONNECTION_ABORTED", 0xc000_0241),
    other("TOO_MANY_LINKS", 0xc000_0265),
    other("PATH_NOT_COVERED", 0xc000_0257),
    other("NETWORK_SESSION_EXPIRED", 0xc000_035c),
    other("BUFFER_OVERFLOW", 0x8000_0005),
    other("NO_MORE_FILES", 0x8000_0006),
    other("DEVICE_BUSY", 0x8000_0011),
    other("NO_MORE_EAS", 0x8000_0012),
    other("NO_MORE_ENTRIES", 0x8000_001a),
    other("STOPPED_ON_SYMLINK", 0x8000_002d),
];

/// Whether `word` has the form of a status, right or wrong.
pub(super) fn looks_like_status(word: &[u8]) -> bool {
    matches!(word, b"*" | b"SUCCESS" | b"ERROR")
        || word.starts_with(PREFIX.as_bytes())
        || word.starts_with(b"0x")
}

/// What a status expects of a verb of that family; `None` if it is none.
pub(super) fn expected(word: &[u8], family: Family) -> Option<Expected> {
    match word {
        b"*" => Some(Expected::Anything),
        b"SUCCESS" | b"NT_STATUS_OK" => Some(Expected::Success),
        b"ERROR" => Some(Expected::Failure(Cause::Other)),
        [b'0', b'x', ..] => {
            let code = u32::try_from(c_number(word).ok()?).ok()?;
            Some(match family {
                _ if code == 0 => Expected::Success,
                Family::Nfs => Expected::Number(code),
                Family::Cifs | Family::Either => Expected::Failure(cause_of(code)),
            })
        }
        _ => {
            let name = word.strip_prefix(PREFIX.as_bytes())?;
            STATUSES
                .iter()
                .find(|(known, ..)| known.as_bytes() == name)
                .map(|(_, _, cause)| Expected::Failure(*cause))
        }
    }
}

fn cause_of(code: u32) -> Cause {
    STATUSES
        .iter()
        .find(|(_, known, _)| *known == code)
        .map_or(Cause::Other, |(_, _, cause)| *cause)
}

/// Which of the NT statuses a line names. Several have the same cause; the first
/// one of a cause is the usual one and need not be kept.
pub(super) fn unusual(word: &[u8]) -> Option<u8> {
    let index = match word {
        [b'0', b'x', ..] => {
            let code = u32::try_from(c_number(word).ok()?).ok()?;
            STATUSES.iter().position(|(_, known, _)| *known == code)?
        }
        _ => {
            let name = word.strip_prefix(PREFIX.as_bytes())?;
            let named = |(known, ..): &NtStatus| known.as_bytes() == name;
            STATUSES.iter().position(named)?
        }
    };
    let (_, _, cause) = STATUSES.get(index)?;
    (usual(*cause) != Some(index)).then(|| u8::try_from(index).ok())?
}

fn usual(cause: Cause) -> Option<usize> {
    let is_known = cause != Cause::Other;
    let first = STATUSES.iter().position(|(_, _, other)| *other == cause);
    first.filter(|_| is_known)
}

/// The name of a status that [`unusual`] found, or of the usual one of that cause.
pub(super) fn name(unusual: Option<u8>, cause: Cause) -> Option<&'static str> {
    let index = unusual.map(usize::from).or_else(|| usual(cause))?;
    STATUSES.get(index).map(|(name, ..)| *name)
}

/// What to write instead of a status that is none.
pub(super) fn help(word: &[u8], family: Family) -> String {
    let meant = word
        .strip_prefix(PREFIX.as_bytes())
        .and_then(|name| suggestion(name, STATUSES.iter().map(|(name, ..)| *name).chain(["OK"])))
        .map(|name| format!("{PREFIX}{name}"))
        .or_else(|| suggestion(word, ["SUCCESS", "ERROR"].into_iter()).map(str::to_owned));
    if let Some(meant) = meant {
        return format!("did you mean {meant}?");
    }
    match family {
        Family::Nfs => "a line ends with 0x and the NFSv3 status, 0x0 for success, or * for any",
        Family::Cifs | Family::Either => {
            "a line ends with NT_STATUS_… (NT_STATUS_OK for success), 0x…, SUCCESS, ERROR or *"
        }
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_unique() {
        for (number, (name, code, _)) in STATUSES.iter().enumerate() {
            let rest = STATUSES.iter().skip(number + 1);
            assert!(rest.clone().all(|(other, ..)| other != name), "{name}");
            assert!(rest.clone().all(|(_, other, _)| other != code), "{name}");
        }
    }

    #[test]
    fn words_and_codes_expect_the_same() {
        let cifs = |word: &str| expected(word.as_bytes(), Family::Cifs);
        let not_found = Some(Expected::Failure(Cause::NotFound));
        assert_eq!(cifs("NT_STATUS_OK"), Some(Expected::Success));
        assert_eq!(cifs("0x00000000"), Some(Expected::Success));
        assert_eq!(cifs("SUCCESS"), Some(Expected::Success));
        assert_eq!(cifs("NT_STATUS_OBJECT_NAME_NOT_FOUND"), not_found);
        assert_eq!(cifs("0xc0000034"), not_found);
        assert_eq!(cifs("0xc0ffee"), Some(Expected::Failure(Cause::Other)));
        assert_eq!(cifs("ERROR"), Some(Expected::Failure(Cause::Other)));
        assert_eq!(cifs("*"), Some(Expected::Anything));
        assert_eq!(cifs("NT_STATUS_BANANA"), None);
        assert_eq!(cifs("0xfffffffff"), None);
        assert_eq!(cifs("17"), None);
    }

    #[test]
    fn statuses_of_one_cause_are_told_apart() {
        let told = |word: &str| {
            let expected = expected(word.as_bytes(), Family::Cifs);
            let Some(Expected::Failure(cause)) = expected else {
                return None;
            };
            name(unusual(word.as_bytes()), cause)
        };
        for (known, code, _) in STATUSES {
            assert_eq!(told(&format!("{PREFIX}{known}")), Some(*known));
            assert_eq!(told(&format!("0x{code:08x}")), Some(*known));
        }
        assert_eq!(told("ERROR"), None);
        assert_eq!(told("0xc0ffee"), None);
        assert_eq!(unusual(b"NT_STATUS_OBJECT_NAME_NOT_FOUND"), None);
        assert!(u8::try_from(STATUSES.len()).is_ok());
    }

    #[test]
    fn codes_of_nfs_are_numbers_of_rfc_1813() {
        assert_eq!(expected(b"0x2", Family::Nfs), Some(Expected::Number(2)));
        assert_eq!(expected(b"0x0", Family::Nfs), Some(Expected::Success));
    }

    #[test]
    fn a_misspelt_status_is_guessed() {
        let help = help(b"NT_STATUS_OBJECT_NAME_NOT_FUOND", Family::Cifs);
        assert_eq!(help, "did you mean NT_STATUS_OBJECT_NAME_NOT_FOUND?");
    }
}
