//! Foreign text, such as names and content of records, printed without control characters, which a
//! terminal would execute.

/// Replaces control characters except the end of a line.
pub fn printable(text: &str) -> String {
    let shown = text.chars();
    shown
        .map(|c| {
            if matches!(c, '\n' | '\t') || !c.is_control() {
                c
            } else {
                '\u{fffd}'
            }
        })
        .collect()
}

/// Replaces control characters and ends of lines.
pub fn printable_line(text: &str) -> String {
    printable(text).replace('\n', "\u{fffd}")
}

/// Returns both ends of a long text that would otherwise hide other output.
pub fn excerpt(text: &str) -> String {
    const START: usize = 120;
    const END: usize = 60;
    let count = text.chars().count();
    if count <= START + END {
        return text.into();
    }
    let start: String = text.chars().take(START).collect();
    let end: String = text.chars().skip(count - END).collect();
    format!("{start} … {end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_told_nothing() {
        assert_eq!(
            printable("a\u{1b}[31m\u{9b}b\r\nc"),
            "a\u{fffd}[31m\u{fffd}b\u{fffd}\nc"
        );
        assert_eq!(printable_line("a\nb"), "a\u{fffd}b");
    }

    #[test]
    fn of_what_is_long_both_ends_are_shown() {
        assert_eq!(excerpt(&"é".repeat(180)), "é".repeat(180));
        let long = format!("{}z", "é".repeat(200_000));
        let shown = excerpt(&long);
        assert_eq!(shown.chars().count(), 183);
        assert!(shown.starts_with("éé") && shown.ends_with("éz"));
    }
}
