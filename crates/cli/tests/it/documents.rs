//! What the documents tell people to type is something that the program understands.

use std::path::{Path, PathBuf};

/// Every page that is written for users.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md"), root.join("loads/README.md")];
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// The lines of a page's blocks of code, indented by four or between fences; a line that ends
/// in `\` goes on.
fn code_lines(page: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut is_fenced = false;
    let mut begun = String::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
            continue;
        }
        if !is_fenced && !line.starts_with("    ") {
            continue;
        }
        let line = line.trim().trim_start_matches("$ ");
        match line.strip_suffix('\\') {
            Some(part) => begun.push_str(part),
            None => lines.push(std::mem::take(&mut begun) + line),
        }
    }
    lines
}

/// The command lines of filestone among them: what comes before it (`taskset`, a pipe) and
/// after it (a pipe, a comment, a redirection) is the shell's. A synopsis is no command line.
fn command_lines(page: &str) -> Vec<Vec<String>> {
    code_lines(page)
        .iter()
        .filter(|line| !line.contains(['[', '…']) && !line.contains("..."))
        .flat_map(|line| shell_commands(line))
        .filter_map(|words| {
            let at = words.iter().position(|word| word == "filestone")?;
            let runs_it = words[..at].iter().all(|word| is_prefix(word));
            // `filestone 0.1.0` is what --version prints.
            let is_version = words
                .get(at + 1)
                .is_some_and(|word| word.starts_with(|first: char| first.is_ascii_digit()));
            (runs_it && !is_version).then(|| words[at..].to_vec())
        })
        .collect()
}

/// `taskset -c 0`, `sudo`, `VARIABLE=value` and the like, but no other program with its words.
fn is_prefix(word: &str) -> bool {
    let is_assignment = word.contains('=');
    ["sudo", "taskset", "-c", "time"].contains(&word)
        || is_assignment
        || word.chars().all(|c| c.is_ascii_digit() || c == ',')
}

fn shell_commands(line: &str) -> Vec<Vec<String>> {
    let words = shlex::split(line).unwrap_or_default();
    let mut commands = vec![Vec::new()];
    let mut is_file = false;
    for word in words {
        match word.as_str() {
            "|" | "&&" | "||" | ";" | "&" => commands.push(Vec::new()),
            ">" | "<" | "2>" | ">>" => is_file = true,
            _ if is_file => is_file = false,
            _ => commands.last_mut().expect("one at least").push(word),
        }
    }
    commands
}

fn understood(words: &[String]) -> Result<(), String> {
    filestone_cli::command()
        .try_get_matches_from(words)
        .map(|_| ())
        .map_err(|error| error.to_string())
}

#[test]
fn command_lines_are_found_in_what_is_around_them() {
    let page = "filestone in prose\n\n    nfsstat -s | filestone mix nfs://a/b --mix - # comment\n\
                \n    filestone probe OP [TARGET]\n```\n$ taskset -c 0 filestone demo > out\n\
                filestone replay 'a b' \\\n  -d 5s &\n```\n";
    assert_eq!(
        command_lines(page),
        [
            vec!["filestone", "mix", "nfs://a/b", "--mix", "-"],
            vec!["filestone", "demo"],
            vec!["filestone", "replay", "a b", "-d", "5s"],
        ]
    );
}

#[test]
fn every_command_line_of_the_documents_is_understood() {
    let mut found = 0;
    let mut wrong = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a page");
        for words in command_lines(&text) {
            found += 1;
            if let Err(error) = understood(&words) {
                wrong.push(format!("{}: {}\n{error}", page.display(), words.join(" ")));
            }
        }
    }
    assert!(found >= 20, "only {found} were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
