//! filestone command lines to paste into a shell.

use filestone_workload::text::quoted;

/// Returns the command line of these words behind `filestone`.
pub fn shell_line(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("filestone {}", words.join(" "))
}
