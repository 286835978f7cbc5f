//! The mixes of filestone's own, with where their figures come from.

use crate::mix_source;

/// A line per mix: its name, and its source.
pub fn render() -> String {
    let mut text = String::new();
    for (name, source) in mix_source::own() {
        text.push_str(&format!("{name:<16}{source}\n"));
    }
    text
}
