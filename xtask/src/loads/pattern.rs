//! Matching of names with a pattern of FIND_FIRST, computed backwards: for each suffix of the
//! pattern the set of suffixes of the name that it matches (MS-FSCC 2.1.4.4).

/// Whether `pattern`, with the wildcards `*` and `<`, matches `name`.
pub fn means(pattern: &str, name: &str) -> bool {
    let name = name.to_ascii_lowercase().into_bytes();
    let last_period = name.iter().rposition(|byte| *byte == b'.');
    // reachable[n]: the pattern's rest matches the name's rest from n on.
    let mut reachable = vec![false; name.len() + 1];
    reachable[name.len()] = true;
    for wanted in pattern.to_ascii_lowercase().bytes().rev() {
        let mut before = vec![false; name.len() + 1];
        for from in 0..=name.len() {
            before[from] = match wanted {
                b'*' => reachable[from..].contains(&true),
                b'<' => {
                    let end = last_period.unwrap_or(name.len());
                    from <= end && reachable[from..=end].contains(&true)
                }
                _ => name.get(from) == Some(&wanted) && reachable[from + 1],
            };
        }
        reachable = before;
    }
    reachable[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_match_as_the_standard_says() {
        for (pattern, name, expected) in [
            ("*", "..", true),
            ("*.doc", "a.DOC", true),
            ("*.doc", "a.docx", false),
            ("<.tmp", "a.b.tmp", true),
            ("<.tmp", "a.tmp.b", false),
            ("a*.*", "abc.d", true),
            ("a.b", "a.b", true),
        ] {
            assert_eq!(means(pattern, name), expected, "{pattern} {name}");
        }
    }
}
