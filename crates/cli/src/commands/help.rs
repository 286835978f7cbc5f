//! `filestone help`: the help of a command, or a topic of the reference.

use crate::error::Error;
use crate::options::help::HelpOptions;
use crate::topics::{self, Lookup};
use crate::{ExitStatus, console, manual};
use filestone_report::sanitize::excerpt;
use std::ffi::OsString;

/// Prints the help of a command, a topic, or the list of both.
pub fn run(options: &HelpOptions) -> Result<ExitStatus, Error> {
    let words: Vec<&str> = options.words.iter().map(String::as_str).collect();
    let text = if words.is_empty() {
        list()
    } else {
        match command_help(&words) {
            Some(help) if !options.page => help,
            help => topic(&words, help.is_some())?,
        }
    };
    console::result(&text)?;
    Ok(ExitStatus::Done)
}

/// Converts `filestone fleet help ctl` to `filestone help fleet ctl`.
pub fn moved_first(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if !arguments.iter().skip(2).any(|word| word == "help") {
        return arguments;
    }
    let mut command = crate::command();
    for place in 1..arguments.len() {
        let word = arguments[place].to_string_lossy();
        if word == "help" && command.has_subcommands() {
            let help = arguments.remove(place);
            arguments.insert(1, help);
            break;
        }
        match command.find_subcommand(&*word) {
            Some(below) => command = below.clone(),
            None => break,
        }
    }
    arguments
}

fn list() -> String {
    format!(
        "{}\nTopics (filestone help TOPIC); headings and terms of the glossary are topics, too:\n{}",
        printed_by_option(&[]),
        topics::list()
    )
}

/// Returns the `--help` text of the command that the words name.
fn command_help(words: &[&str]) -> Option<String> {
    let command = crate::command();
    words
        .iter()
        .try_fold(&command, |above, word| above.find_subcommand(word))?;
    let help = match words {
        ["compat", name] => manual::ancestor(name)?.help(),
        _ => printed_by_option(words),
    };
    let topic = topics::of_command(words.first()?);
    let page =
        topic.map(|name| format!("\nThe page of the reference: filestone help {name} --page\n"));
    Some(help + &page.unwrap_or_default())
}

fn printed_by_option(words: &[&str]) -> String {
    let line = ["filestone"].iter().chain(words).chain(&["--help"]);
    let parsed = crate::command().try_get_matches_from(line);
    parsed.map_or_else(|help| help.render().ansi().to_string(), |_| String::new())
}

fn topic(words: &[&str], names_command: bool) -> Result<String, Error> {
    let word = words.join("-");
    match topics::lookup(&word) {
        Lookup::Found(topic) => {
            let mut text = topics::rendered(&topic.markdown, console::page().columns());
            if let Some(page) = topic.part_of {
                let flag = if is_command(page) { " --page" } else { "" };
                text.push_str(&format!("\nThe whole page: filestone help {page}{flag}\n"));
            }
            Ok(text)
        }
        Lookup::Several(topics) => {
            let lines: Vec<String> = topics
                .iter()
                .map(|topic| format!("\n  filestone help {topic}"))
                .collect();
            let what = format!(
                "{}: {} pages have a section of this name",
                excerpt(&word),
                topics.len()
            );
            Err(Error::usage(what).with_help(format!("choose one:{}", lines.concat())))
        }
        Lookup::Unknown if names_command => {
            let command = words.join(" ");
            let what = format!("{command}: the reference has no page about this command");
            Err(Error::usage(what)
                .with_help(format!("filestone help {command} lists what there is")))
        }
        Lookup::Unknown => Err(unknown(words, &word)),
    }
}

fn is_command(name: &str) -> bool {
    crate::command().find_subcommand(name).is_some()
}

fn unknown(words: &[&str], word: &str) -> Error {
    let commands = crate::command();
    let commands: Vec<String> = commands
        .get_subcommands()
        .map(|one| one.get_name().into())
        .collect();
    let is_command = words.len() > 1 && commands.iter().any(|name| name == words[0]);
    let page = word.split('#').next().unwrap_or_default();
    let help = match topics::near(page, &commands) {
        _ if is_command => format!("filestone help {} lists what there is", words[0]),
        Some(near) => format!("did you mean: filestone help {near}"),
        None => "filestone help lists commands and topics".into(),
    };
    let shown = excerpt(&words.join(" "));
    Error::usage(format!("\"{shown}\" is not a command and not a topic")).with_help(help)
}
