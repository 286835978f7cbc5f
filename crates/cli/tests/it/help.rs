//! `filestone help` from outside: commands, topics, and words that are neither.

use crate::support::{command, done, filestone, text};
use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;

fn printed(arguments: &[&str]) -> String {
    let output = done(arguments);
    assert!(output.stderr.is_empty());
    text(&output.stdout)
}

#[test]
fn help_alone_lists_commands_and_topics() {
    let shown = printed(&["help"]);
    assert!(shown.starts_with(&printed(&["--help"])));
    assert_eq!(shown, printed(&["help", "--"]));
    insta::assert_snapshot!(shown[printed(&["--help"]).len()..]);
    assert!(shown.lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn the_help_of_a_command_is_that_of_its_option() {
    for words in [
        &["probe"][..],
        &["fleet", "ctl"],
        &["compat", "dbench"],
        &["compat"],
        &["help"],
        &["run"],
    ] {
        let asked: Vec<&str> = ["help"].iter().chain(words).copied().collect();
        let option: Vec<&str> = words.iter().chain(&["--help"]).copied().collect();
        let shown = printed(&asked);
        assert!(shown.starts_with(&printed(&option)), "{words:?}: {shown}");
    }
    assert_eq!(
        printed(&["fleet", "help", "ctl"]),
        printed(&["help", "fleet", "ctl"])
    );
    let mix = printed(&["help", "mix"]);
    assert!(
        mix.ends_with("\nThe page of the reference: filestone help mix --page\n"),
        "{mix}"
    );
    assert!(printed(&["help", "mix", "--page"]).starts_with("`filestone mix`\n==============="));
    assert!(printed(&["help", "serve", "--page"]).starts_with("`filestone serve`\n"));
}

#[test]
fn topics_are_plain_text_in_a_pipe_and_as_wide_as_the_page() {
    insta::assert_snapshot!(printed(&["help", "percentiles"]));
    let gates = printed(&["help", "gates"]);
    assert!(gates.starts_with("Gates\n=====\n"), "{gates}");
    assert!(
        !gates.contains('\u{1b}') && !gates.contains("]("),
        "{gates}"
    );
    assert!(printed(&["help", "exit-codes"]).contains("  130  interrupted by ^C"));
    assert!(printed(&["help", "open", "loop"]).starts_with("open loop: operations are due"));
    let narrow = command(&["help", "limits"])
        .env("COLUMNS", "60")
        .output()
        .expect("it runs");
    assert!(
        text(&narrow.stdout)
            .lines()
            .all(|line| line.chars().count() <= 60)
    );
}

#[test]
fn a_word_that_is_no_topic_is_an_error_with_advice() {
    let long = "x".repeat(100_000);
    let mut all = String::new();
    for words in [
        &["gats"][..],
        &["percentils"],
        &["fleet", "ctll"],
        &["gates#nothing"],
        &["target-lost"],
        &[""],
        &["--page"],
        &["--pages", "mix"],
        &["completions", "--page"],
        &["-", "\u{1b}[2J"],
        &[&long],
    ] {
        let asked: Vec<&str> = ["help"].iter().chain(words).copied().collect();
        let output = filestone(&asked);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(output.stdout.is_empty());
        let said = text(&output.stderr);
        assert!(said.len() < 500, "{said}");
        let line = words.join(" ");
        let line = line.get(..40).unwrap_or(&line).escape_debug();
        all.push_str(&format!("$ filestone help {line}\n{said}\n"));
    }
    insta::assert_snapshot!(all);
    let mut bytes = command(&["help"]);
    let output = bytes
        .arg(OsStr::from_bytes(b"\xff\xfe"))
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with("error: \\xff\\xfe: is not valid UTF-8\n"));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = command(&["help", "glossary"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut out = child.stdout.take().expect("it is piped");
    out.read_exact(&mut [0; 2]).expect("two bytes");
    drop(out);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}

#[test]
fn completions_list_topics() {
    let script = printed(&["completions", "bash"]);
    assert!(
        script.contains(" percentiles ") || script.contains(" gates "),
        "bash"
    );
    assert!(printed(&["completions", "zsh"]).contains("gates"), "zsh");
}
