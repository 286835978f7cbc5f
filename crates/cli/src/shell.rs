//! Command lines of ours, to be pasted into a shell.

pub use filestone_workload::text::quoted;

/// The command line of these words behind `filestone`.
pub fn shell_line(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("filestone {}", words.join(" "))
}
