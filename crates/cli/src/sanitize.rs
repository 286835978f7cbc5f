//! Text that others wrote, such as names and what records hold, shown without its control
//! characters: a terminal would obey them.

/// The text with anything in the place of a control character but the end of a line.
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

/// The same in one line.
pub fn printable_line(text: &str) -> String {
    printable(text).replace('\n', "\u{fffd}")
}

/// What of a long text is shown where it is in the way: both its ends.
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
