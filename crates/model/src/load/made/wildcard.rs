//! Which names a search pattern means, as far as our loads use patterns.
//!
//! MS-FSCC section 2.1.4.4: `*` is any run of characters; `<` (DOS_STAR) is one
//! that ends before the name's last period. The quotation mark is left out, since
//! a load file cannot hold it, and so are `?` and `>`, which no load of ours uses.

/// Whether `pattern` means `name`; case does not count.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let last_period = name.rfind('.').unwrap_or(name.len());
    matches_from(pattern.as_bytes(), name.as_bytes(), 0, last_period)
}

fn matches_from(pattern: &[u8], name: &[u8], at: usize, last_period: usize) -> bool {
    let Some((first, rest)) = pattern.split_first() else {
        return at == name.len();
    };
    let furthest = match first {
        b'*' => name.len(),
        b'<' => last_period,
        letter => {
            return name
                .get(at)
                .is_some_and(|other| other.eq_ignore_ascii_case(letter))
                && matches_from(rest, name, at + 1, last_period);
        }
    };
    (at..=furthest).any(|next| matches_from(rest, name, next, last_period))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_match_as_the_standard_says() {
        assert!(matches("*", "anything.at.all"));
        assert!(matches("*.doc", "Report1.DOC"));
        assert!(!matches("*.doc", "Report1.docx"));
        assert!(matches("Report1.*", "Report1.bak"));
        assert!(matches("<.tmp", "a.b.tmp"));
        assert!(!matches("<.tmp", "a.tmp.b"));
        assert!(matches("*.tmp*", "a.tmp.b"));
        assert!(!matches("<.tmp", "tmp"));
        assert!(matches("*", ".."));
    }
}
