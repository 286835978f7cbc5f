//! References to docs/ in reports, for readers who have only the program.

/// Returns the command line that prints a section, for `docs/reference/page.md#section`.
pub fn help_line(page: &str) -> String {
    let file = page.rsplit_once('/').map_or(page, |(_, file)| file);
    format!("filestone help {}", file.replace(".md", ""))
}
