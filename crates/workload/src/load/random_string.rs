//! Random strings: text with a random character in place of every `[set]`.

use crate::random::{Generator, RngExt};

/// Number of slots: `$0` to `$9`.
pub(super) const SLOTS: usize = 10;
/// Maximum length of a random string.
const LONGEST: usize = 255;

/// Returns the reason why a text is not valid as a random string.
pub(super) fn fault(text: &[u8]) -> Option<&'static str> {
    let mut len = 0;
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'[' {
            match after.iter().position(|byte| *byte == b']') {
                None => return Some("has a \"[\" without its \"]\""),
                Some(0) => return Some("has an empty set \"[]\""),
                Some(end) => rest = after.get(end + 1..).unwrap_or_default(),
            }
        }
        len += 1;
    }
    match len {
        0 => Some("is empty"),
        len if len > LONGEST => Some("is longer than 255 characters"),
        _ => None,
    }
}

/// Generates a string.
pub(super) fn draw(text: &[u8], random: &mut Generator, out: &mut Vec<u8>) {
    out.clear();
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let set = (*first == b'[')
            .then(|| after.iter().position(|byte| *byte == b']'))
            .flatten()
            .and_then(|end| after.split_at_checked(end));
        match set {
            Some((set, end)) if !set.is_empty() => {
                let index = random.random_range(0..set.len());
                out.extend(set.get(index));
                rest = end.get(1..).unwrap_or_default();
            }
            _ => out.push(*first),
        }
    }
}

/// Returns the references to random strings in `text`: a `$` and a digit.
pub(super) fn slots(text: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    text.windows(2)
        .enumerate()
        .filter_map(|(at, pair)| match pair {
            [b'$', digit] if digit.is_ascii_digit() => Some((at, usize::from(digit - b'0'))),
            _ => None,
        })
}

/// Copies `text` with the random strings in place of `$0` to `$9`.
pub(super) fn substitute(text: &[u8], slots: &[Vec<u8>], out: &mut Vec<u8>) {
    out.clear();
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match (first, after.split_first()) {
            (b'$', Some((digit, tail))) if digit.is_ascii_digit() => {
                if let Some(slot) = slots.get(usize::from(digit - b'0')) {
                    out.extend_from_slice(slot);
                }
                rest = tail;
            }
            _ => out.push(*first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{RandomStream, stream};

    #[test]
    fn every_set_becomes_one_of_its_characters() {
        let mut random = stream(7, RandomStream::Script, 0);
        let mut out = Vec::new();
        for _ in 0..100 {
            draw(b"/test[01][-xyz].file", &mut random, &mut out);
            let text = String::from_utf8(out.clone()).expect("it is text");
            let rest = text.strip_prefix("/test").expect("the plain part is plain");
            assert!(rest.starts_with(['0', '1']) && rest[1..].starts_with(['-', 'x', 'y', 'z']));
            assert!(rest.ends_with(".file"));
        }
    }

    #[test]
    fn what_is_no_random_string_is_refused() {
        assert_eq!(fault(b"a[bc]d"), None);
        assert!(fault(b"a[bc").is_some());
        assert!(fault(b"a[]").is_some());
        assert!(fault(b"").is_some());
        assert!(fault(&[b'x'; 256]).is_some());
        assert_eq!(fault(&b"[0123456789]".repeat(255)), None);
    }

    #[test]
    fn only_a_dollar_and_a_digit_is_replaced() {
        let mut slots = vec![Vec::new(); SLOTS];
        slots[1] = b"one".to_vec();
        let mut out = Vec::new();
        substitute(b"/a$1/~$CHAP$", &slots, &mut out);
        assert_eq!(out, b"/aone/~$CHAP$");
        assert_eq!(
            super::slots(b"$1$x$9").collect::<Vec<_>>(),
            [(0, 1), (4, 9)]
        );
    }
}
