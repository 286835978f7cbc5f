//! Wildcards in names of a FIND_FIRST, by the rules of Windows.
//!
//! [MS-FSA] section 2.1.4.4, "Algorithm for Determining if a FileName Is in an
//! Expression", with the characters of [MS-FSCC] section 2.1.4.4:
//!
//! - `*` any number of characters, including none;
//! - `?` exactly one character, including a period;
//! - `<` DOS_STAR: any number of characters, including none, but not the last period;
//! - `>` DOS_QM: one character that is not a period; before a period and at the end of the name
//!   also nothing;
//! - `"` DOS_DOT: a period, or nothing at the end of the name.
//!
//! Names are bytes here. Case is ignored for the letters A to Z only: other case mappings depend on
//! the server's code page, which a load file does not contain.

/// Whether the name has a wildcard.
pub fn has_wildcards(name: &[u8]) -> bool {
    name.iter().any(|byte| is_wildcard(*byte))
}

const fn is_wildcard(byte: u8) -> bool {
    matches!(byte, b'*' | b'?' | b'<' | b'>' | b'"')
}

/// Whether `name`, one component of a path, matches `pattern`.
///
/// Takes time proportional to the product of the two lengths at worst, for any pattern. Patterns of
/// up to 63 bytes need no heap memory.
pub fn matches(pattern: &[u8], name: &[u8]) -> bool {
    if pattern == b"*" {
        return true;
    }
    if !ends_alike(pattern, name) {
        return false;
    }
    const SHORT: usize = 64;
    if pattern.len() < SHORT {
        walk(pattern, name, &mut [false; SHORT], &mut [false; SHORT])
    } else {
        let places = pattern.len() + 1;
        walk(
            pattern,
            name,
            &mut vec![false; places],
            &mut vec![false; places],
        )
    }
}

/// Whether the name ends with the pattern's text after the last wildcard. Most names of a directory
/// already fail here.
fn ends_alike(pattern: &[u8], name: &[u8]) -> bool {
    let start = pattern
        .iter()
        .rposition(|byte| is_wildcard(*byte))
        .map_or(0, |last| last + 1);
    let ending = pattern.get(start..).unwrap_or_default();
    let Some(split) = name.len().checked_sub(ending.len()) else {
        return false;
    };
    (start > 0 || split == 0)
        && name
            .get(split..)
            .is_some_and(|tail| tail.eq_ignore_ascii_case(ending))
}

/// Follows all matches of the pattern at once: `here` marks the positions in it that are reachable
/// with the characters up to now.
fn walk(pattern: &[u8], name: &[u8], here: &mut [bool], after: &mut [bool]) -> bool {
    let (mut here, mut after) = (here, after);
    let last_period = name.iter().rposition(|byte| *byte == b'.');
    set(here, 0);
    for (position, character) in name.iter().enumerate() {
        after.fill(false);
        let is_last_period = last_period == Some(position);
        for (place, expected) in pattern.iter().enumerate() {
            if here.get(place) != Some(&true) {
                continue;
            }
            // To the next position without a character, to it with this one, or stay with this one.
            let (skip, take, stay) = match expected {
                b'*' => (true, false, true),
                b'<' => (true, false, !is_last_period),
                b'>' => (*character == b'.', *character != b'.', false),
                b'"' => (false, *character == b'.', false),
                b'?' => (false, true, false),
                literal => (false, literal.eq_ignore_ascii_case(character), false),
            };
            if skip {
                set(here, place + 1);
            }
            if take {
                set(after, place + 1);
            }
            if stay {
                set(after, place);
            }
        }
        std::mem::swap(&mut here, &mut after);
    }
    reaches_the_end(pattern, here)
}

/// Whether only wildcards are left that may match nothing.
fn reaches_the_end(pattern: &[u8], here: &mut [bool]) -> bool {
    for (place, expected) in pattern.iter().enumerate() {
        if here.get(place) == Some(&true) && matches!(expected, b'*' | b'<' | b'>' | b'"') {
            set(here, place + 1);
        }
    }
    here.get(pattern.len()) == Some(&true)
}

fn set(places: &mut [bool], place: usize) {
    if let Some(reached) = places.get_mut(place) {
        *reached = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, cases: &[(&str, bool)]) {
        for (name, expected) in cases {
            assert_eq!(
                matches(pattern.as_bytes(), name.as_bytes()),
                *expected,
                "{pattern} against {name:?}"
            );
        }
    }

    #[test]
    fn a_star_stands_for_anything() {
        check(
            "*",
            &[("a", true), (".", true), ("..", true), ("a.b.c", true)],
        );
        check("*.*", &[("a.b", true), (".", true), ("a", false)]);
        check(
            "FILLER.*",
            &[
                ("filler.000", true),
                ("FILLER.", true),
                ("filler", false),
                ("xfiller.0", false),
            ],
        );
        check(
            "a*b*c",
            &[("abc", true), ("aXbYbc", true), ("aXbYbcd", false)],
        );
    }

    #[test]
    fn a_question_mark_stands_for_exactly_one() {
        check("a?c", &[("abc", true), ("a.c", true), ("ac", false)]);
        check("???", &[("abc", true), ("ab", false), ("abcd", false)]);
    }

    #[test]
    fn a_dos_star_stops_before_the_last_period() {
        check(
            "<.JNK",
            &[
                ("a.jnk", true),
                ("a.b.jnk", true),
                (".jnk", true),
                ("a.jnk.x", false),
                ("jnk", false),
                (".", false),
                ("..", false),
            ],
        );
        // A client's conversion of "*.": names without an extension.
        check("<", &[("readme", true), ("readme.txt", false), ("", true)]);
        check("<b", &[("ab", true), ("a.b", false)]);
        check("*<b", &[("a.b", true)]);
        check("<.<x", &[("a.b.cx", true), ("cx", false)]);
    }

    #[test]
    fn a_dos_question_mark_may_stand_for_nothing_before_a_period() {
        check(
            ">>>.txt",
            &[("a.txt", true), ("abc.txt", true), ("abcd.txt", false)],
        );
        check(
            "a>>",
            &[("a", true), ("abc", true), ("abcd", false), ("a.b", false)],
        );
    }

    #[test]
    fn a_dos_dot_may_stand_for_nothing_at_the_end() {
        check("a\"", &[("a", true), ("a.", true), ("ab", false)]);
        check("a\"b", &[("a.b", true), ("ab", false)]);
        check("<\"*", &[("a", true), ("a.b", true), ("a.b.c", true)]);
        check(
            ">>>>>>>>\">>>",
            &[("a", true), ("a.b", true), ("a.b.c", false)],
        );
    }

    #[test]
    fn without_wildcards_only_the_name_itself_matches() {
        check(
            "Name",
            &[("nAME", true), ("names", false), ("a name", false)],
        );
        check("", &[("", true), ("a", false)]);
        assert!(!has_wildcards(b"~dmtmp"));
        assert!(has_wildcards(b"<.JNK"));
        // Letters beyond A to Z differ by case.
        check("\u{e4}", &[("\u{e4}", true), ("\u{c4}", false)]);
    }

    #[test]
    fn long_patterns_end_in_time() {
        let pattern = "*a".repeat(500) + "b";
        assert!(!matches(pattern.as_bytes(), &[b'a'; 255]));
        let mut name = vec![b'a'; 700];
        name.push(b'b');
        assert!(matches(pattern.as_bytes(), &name));
    }
}
