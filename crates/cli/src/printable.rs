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
}
