//! Text of a picture: escaped for XML, and cut to the available width.
//!
//! The width of a letter depends on the reader's font, so widths are estimated conservatively, from
//! DejaVu Sans, the widest of the usual fonts.

/// Base size of all text.
pub const SIZE: f64 = 13.0;
/// Maximum number of letters; names come from records and may have any length.
const LETTERS_MAX: usize = 400;

/// Escapes text so that it cannot leave its element.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars().map(visible) {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Replaces letters that would affect text outside the element, for callers that escape the text
/// themselves.
pub fn legible(text: &str) -> String {
    text.chars().map(visible).collect()
}

/// Replaces a character if necessary. XML 1.0 cannot represent control characters and two others
/// (section 2.2); characters that change the direction of writing would affect the text around
/// them, too.
fn visible(letter: char) -> char {
    match letter {
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => ' ',
        letter if letter.is_control() => ' ',
        letter => letter,
    }
}

/// Returns the maximum width of text, in pixels.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().map(share_of_size).sum::<f64>() * size
}

const fn share_of_size(letter: char) -> f64 {
    match letter {
        ' ' | '.' | ',' | ':' | ';' | 'i' | 'j' | 'l' | '|' | '\'' => 0.33,
        'f' | 't' | 'r' | '(' | ')' | '/' | '-' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 1.0,
        'A'..='Z' | '<' | '>' | '+' | '=' | '±' | '−' => 0.8,
        '\0'..='\u{2e7f}' => 0.64,
        // Scripts whose letters are as wide as they are high.
        _ => 1.1,
    }
}

/// Cuts `text` to the available width.
pub fn fitted(text: &str, room: f64, size: f64) -> String {
    let text: String = text.chars().take(LETTERS_MAX).collect();
    if width(&text, size) <= room {
        return text;
    }
    let mut used = share_of_size('…') * size;
    let kept = text.chars().take_while(|letter| {
        used += share_of_size(*letter) * size;
        used <= room
    });
    let kept: String = kept.collect();
    format!("{}…", kept.trim_end())
}

/// Wraps `text` into lines that fit, `lines_max` at most.
pub fn wrapped(text: &str, room: f64, size: f64, lines_max: usize) -> Vec<String> {
    let text: String = text.chars().take(LETTERS_MAX * lines_max).collect();
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let is_last = lines.len() == lines_max;
        match lines.last_mut() {
            Some(line) if is_last || width(&format!("{line} {word}"), size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    let lines = lines.iter().map(|line| fitted(line, room, size));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_out_of_its_element() {
        assert_eq!(
            escaped("</text><a b=\"c\" d='e'>&\u{1}\u{ffff}\u{202e}"),
            "&lt;/text&gt;&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp; \u{fffd} "
        );
    }

    #[test]
    fn text_is_cut_where_its_room_ends() {
        assert_eq!(fitted("short", 200.0, 13.0), "short");
        let long = fitted(&"x".repeat(100_000), 100.0, 13.0);
        assert!(width(&long, 13.0) <= 100.0 && long.ends_with('…'), "{long}");
        assert!(long.chars().count() > 10, "{long}");
    }

    #[test]
    fn lines_break_between_words_and_the_last_is_cut() {
        let lines = wrapped("aa bb cc dd ee ff gg hh", 40.0, 10.0, 2);
        assert_eq!(lines, ["aa bb", "cc dd…"]);
        assert_eq!(wrapped("one two", 500.0, 10.0, 2), ["one two"]);
        assert!(wrapped("", 500.0, 10.0, 2).is_empty());
    }
}
