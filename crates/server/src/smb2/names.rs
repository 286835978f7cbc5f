//! Names of SMB: paths with backslashes, patterns with wildcards.

use filestone_wire::smb2::Status;
use filestone_wire::smb2::codec::Text;

/// Longest path, in UTF-16 units.
const PATH_MAX: usize = 4096;
/// Longest name in the tree, in bytes.
const NAME_MAX: usize = 255;

/// A path from the share's root, component by component, in UTF-8. Empty for the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedSharePath(Vec<String>);

impl ParsedSharePath {
    /// Parses a path (MS-FSCC, sections 2.1.5 and 2.1.5.2).
    pub fn new(text: Text<'_>) -> Result<Self, Status> {
        if text.units().count() > PATH_MAX {
            return Err(Status::NAME_TOO_LONG);
        }
        let path: String = text.chars().collect();
        if path.is_empty() {
            return Ok(Self(Vec::new()));
        }
        // The unnamed data stream is what an open refers to anyway; there are no other streams.
        let path = path.strip_suffix("::$DATA").unwrap_or(&path);
        let path = path.strip_suffix('\\').unwrap_or(path);
        if path.starts_with('\\') {
            return Err(Status::INVALID_PARAMETER);
        }
        path.split('\\')
            .map(component)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Returns the last component, and the components before it; `None` for the root.
    pub fn split_last(&self) -> Option<(&str, &[String])> {
        let (last, before) = self.0.split_last()?;
        Some((last, before))
    }
}

fn component(name: &str) -> Result<String, Status> {
    let is_bad = |c: char| c < ' ' || matches!(c, '/' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
    match name {
        "" => Err(Status::OBJECT_NAME_INVALID),
        "." | ".." => Err(Status::OBJECT_PATH_SYNTAX_BAD),
        _ if name.contains(is_bad) => Err(Status::OBJECT_NAME_INVALID),
        _ if name.len() > NAME_MAX => Err(Status::OBJECT_NAME_INVALID),
        _ => Ok(name.into()),
    }
}

/// Returns an 8.3 name for a name that does not have that form (MS-FSCC, section 2.1.5.2.1).
/// Lookups do not accept it.
pub fn short_name(name: &str) -> Option<String> {
    let (base, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_short = |part: &str, most| {
        part.len() <= most
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    if is_short(base, 8) && is_short(extension, 3) && !base.is_empty() {
        return None;
    }
    let digest = name.bytes().fold(0x811c_9dc5_u32, |digest, byte| {
        (digest ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    Some(format!("F{:05X}~1", digest & 0xf_ffff))
}

/// Pattern for the names of a directory (MS-FSA, section 2.1.4.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern(Vec<char>);

impl NamePattern {
    /// Creates the pattern of a QUERY_DIRECTORY; an empty one matches everything.
    pub fn new(text: Text<'_>) -> Result<Self, Status> {
        if text.units().count() > NAME_MAX {
            return Err(Status::OBJECT_NAME_INVALID);
        }
        let units: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
        if units.is_empty() {
            return Ok(Self(vec!['*']));
        }
        if units.contains(&'\\') {
            return Err(Status::OBJECT_NAME_INVALID);
        }
        Ok(Self(units))
    }

    /// Returns whether a name matches, ignoring case. Takes time proportional to the product of
    /// both lengths: patterns are matched without backtracking.
    pub fn matches(&self, name: &str) -> bool {
        if self.0 == ['*'] {
            return true;
        }
        let name: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
        // Positions of the name that the part of the pattern processed so far can reach.
        let mut reached = vec![false; name.len() + 1];
        reached[0] = true;
        let last_dot = name.iter().rposition(|c| *c == '.');
        for wanted in &self.0 {
            reached = step(*wanted, &name, last_dot, &reached);
        }
        reached.last() == Some(&true)
    }
}

/// Returns the reachable positions of the name after one more character of the pattern.
fn step(wanted: char, name: &[char], last_dot: Option<usize>, before: &[bool]) -> Vec<bool> {
    let mut after = vec![false; before.len()];
    let mut is_open = false;
    for at in 0..before.len() {
        let came = before[at];
        let is_end = at == name.len();
        match wanted {
            '*' => {
                is_open |= came;
                after[at] |= is_open;
            }
            // DOS_STAR: up to the last dot, or everything if no dot follows.
            '<' => {
                is_open |= came;
                after[at] |= is_open;
                is_open &= last_dot != Some(at)
                    || name.get(at + 1..).is_some_and(|rest| rest.contains(&'.'));
            }
            // DOS_QM: a character, or nothing at a dot or the end.
            '>' => {
                if came && (is_end || name.get(at) == Some(&'.')) {
                    after[at] = true;
                } else if came {
                    after[at + 1] = true;
                }
            }
            // DOS_DOT: a dot, or the end.
            '"' => {
                if came && is_end {
                    after[at] = true;
                } else if came && name.get(at) == Some(&'.') {
                    after[at + 1] = true;
                }
            }
            '?' if came && !is_end => after[at + 1] = true,
            c if came && name.get(at) == Some(&c) => after[at + 1] = true,
            _ => {}
        }
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_apart_at_its_backslashes() {
        fn path(text: &str) -> Result<ParsedSharePath, Status> {
            ParsedSharePath::new(Text::from(text))
        }
        let names = |names: &[&str]| {
            Ok(ParsedSharePath(
                names.iter().map(ToString::to_string).collect(),
            ))
        };
        assert_eq!(path(""), names(&[]));
        assert_eq!(path("a\\b c\\ä"), names(&["a", "b c", "ä"]));
        assert_eq!(path("a\\"), names(&["a"]));
        assert_eq!(path("a::$DATA"), names(&["a"]));
        for (text, status) in [
            ("\\a", Status::INVALID_PARAMETER),
            ("a\\\\b", Status::OBJECT_NAME_INVALID),
            ("a\\..\\b", Status::OBJECT_PATH_SYNTAX_BAD),
            ("a:stream", Status::OBJECT_NAME_INVALID),
            ("a*", Status::OBJECT_NAME_INVALID),
            ("a/b", Status::OBJECT_NAME_INVALID),
        ] {
            assert_eq!(path(text), Err(status), "{text}");
        }
        let (long, deep) = ("a".repeat(256), "a\\".repeat(3000));
        assert!(path(&long).is_err() && path(&deep).is_err());
    }

    #[test]
    fn a_short_name_is_for_those_that_have_none() {
        assert_eq!(short_name("file0001"), None);
        assert_eq!(short_name("a.txt"), None);
        for long in ["torture_search.txt", "a.b.c", ".profile", "ä", "a.html"] {
            let short = short_name(long).unwrap();
            assert!(short.len() == 8 && short.ends_with("~1"), "{short}");
        }
    }

    /// The examples of MS-FSA, section 2.1.4.4, and of the documentation of RtlIsNameInExpression.
    #[test]
    fn a_pattern_matches_as_windows_has_it() {
        for (pattern, name, is_match) in [
            ("*", "anything", true),
            ("", "anything", true),
            ("*.txt", "A.TXT", true),
            ("*.txt", "a.txt.bak", false),
            ("a*b*c", "aXXbYYc", true),
            ("a*b*c", "aXXbYY", false),
            ("??", "ab", true),
            ("??", "a", false),
            ("a?c", "abc", true),
            ("file>>>>", "file1", true),
            ("file????", "file1", false),
            ("<.txt", "a.b.txt", true),
            ("a\"", "a", true),
            ("a\"", "a.", true),
            ("*\"*", "noext", true),
            ("Größe", "GRÖßE", true),
        ] {
            let found = NamePattern::new(Text::from(pattern)).unwrap().matches(name);
            assert_eq!(found, is_match, "{pattern} {name}");
        }
        let hostile = NamePattern::new(Text::from("*a".repeat(100).as_str())).unwrap();
        assert!(!hostile.matches(&"b".repeat(250)));
    }
}
