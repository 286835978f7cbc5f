//! Command line in the form of manual pages.
//!
//! The ancestors parse their command lines with separate tables; this module converts these tables
//! to options that a page can list.

use crate::command;
use crate::compat::getopt::{Argument, OptionSpec, ProgramSyntax};
use crate::compat::{dbench, nct, nhfsstone, smbtorture, tbench_srv};
use clap::{Arg, ArgAction, Command};

/// Options and arguments of the ancestors.
const ANCESTORS: [&ProgramSyntax; 6] = [
    &nct::command_line::PROGRAM,
    &dbench::command_line::DBENCH,
    &dbench::command_line::TBENCH,
    &tbench_srv::PROGRAM,
    &nhfsstone::command_line::PROGRAM,
    &smbtorture::command_line::PROGRAM,
];

/// Returns the whole command line, with the options of the ancestors.
pub fn manual() -> Command {
    let with_options = |ancestors: Command| {
        let all = ANCESTORS.iter();
        all.fold(ancestors, |ancestors, program| {
            ancestors.mut_subcommand(program.name, |own| page(&own, program))
        })
    };
    command().mut_subcommand("compat", with_options)
}

/// Returns the ancestor of this name.
pub(crate) fn ancestor(name: &str) -> Option<&'static ProgramSyntax> {
    ANCESTORS.into_iter().find(|program| program.name == name)
}

/// Adds the options of an ancestor to its command.
fn page(own: &Command, program: &ProgramSyntax) -> Command {
    let usage = program.usage.iter();
    let usage: Vec<String> = usage
        .map(|line| {
            format!(
                "filestone compat {}",
                line.split_whitespace().collect::<Vec<_>>().join(" ")
            )
        })
        .collect();
    let mut page = Command::new(program.name)
        .disable_help_flag(true)
        .about(own.get_about().cloned().unwrap_or_default())
        .override_usage(usage.join("\n"));
    let after = own.get_after_help().map(ToString::to_string);
    let notes = [program.notes.into(), after.unwrap_or_default()];
    let notes: Vec<String> = notes.into_iter().filter(|text| !text.is_empty()).collect();
    if !notes.is_empty() {
        page = page.after_help(notes.join("\n"));
    }
    let options = program.known().filter(|known| !known.help.is_empty());
    let arguments = program.arguments.iter();
    page.args(options.map(option)).args(arguments.map(argument))
}

fn option(known: OptionSpec) -> Arg {
    let short = known.short.map(String::from).unwrap_or_default();
    let arg = Arg::new(format!("{short}{}", known.long))
        .short(known.short)
        .help(known.help);
    let arg = match known.long {
        "" => arg,
        long => arg.long(long),
    };
    if known.takes_value() {
        arg.value_name(known.value).action(ArgAction::Set)
    } else {
        arg.action(ArgAction::SetTrue)
    }
}

fn argument(argument: &'static Argument) -> Arg {
    Arg::new(argument.name)
        .value_name(argument.name)
        .help(argument.help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_every_ancestor_lists_its_options_and_no_other() {
        let manual = manual();
        let ancestors = manual.find_subcommand("compat").expect("compat");
        for own in ancestors.get_subcommands() {
            let program = ANCESTORS.iter().find(|one| one.name == own.get_name());
            let program = program.expect("an ancestor's table");
            let known = program.known().filter(|one| !one.help.is_empty());
            let known: Vec<_> = known.map(|one| (one.short, one.long)).collect();
            let listed = own.get_arguments().filter(|arg| !arg.is_positional());
            let listed: Vec<_> = listed
                .map(|arg| (arg.get_short(), arg.get_long().unwrap_or_default()))
                .collect();
            assert_eq!(listed, known, "{}", program.name);
        }
        manual.debug_assert();
    }

    /// Returns the options in a help text: `--words`, and single letters behind `-`.
    fn options_named(help: &str) -> Vec<String> {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "-_?".contains(letter);
        let words = help.split(|letter: char| !is_part(letter));
        let words = words.map(|word| word.trim_end_matches('-'));
        let is_option = |word: &&str| match word.strip_prefix('-') {
            Some(rest) => {
                rest.len() == 1 || rest.strip_prefix('-').is_some_and(|it| !it.is_empty())
            }
            None => false,
        };
        words.filter(is_option).map(String::from).collect()
    }

    #[test]
    fn the_help_of_every_ancestor_names_its_options_and_no_other() {
        for program in ANCESTORS {
            let named = options_named(&program.help());
            for option in &named {
                let is_known = program
                    .known()
                    .any(|known| match option.strip_prefix("--") {
                        Some(long) => known.long == long,
                        None => known
                            .short
                            .is_some_and(|letter| option[1..] == letter.to_string()),
                    });
                assert!(is_known, "{}: {option}", program.name);
            }
            for known in program.known().filter(|known| !known.help.is_empty()) {
                let short = known.short.map(|letter| format!("-{letter}"));
                let long = (!known.long.is_empty()).then(|| format!("--{}", known.long));
                for option in short.into_iter().chain(long) {
                    assert!(named.contains(&option), "{}: {option}", program.name);
                }
            }
            assert!(program.help().lines().all(|line| line.len() <= 80));
        }
    }

    #[test]
    fn the_help_of_every_ancestor_has_the_text_of_its_page() {
        let in_a_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        for program in ANCESTORS {
            let help = in_a_line(&program.help());
            let page = page(&Command::new(program.name), program);
            for arg in page.get_arguments() {
                let text = in_a_line(&arg.get_help().map_or_else(String::new, ToString::to_string));
                let at = format!("{} {}", program.name, arg.get_id());
                assert!(!text.is_empty() && help.contains(&text), "{at}: {text}");
            }
        }
    }

    /// Removes command lines of other programs and of other commands from a help text.
    fn without_other_programs(help: &str) -> String {
        // The text behind -- belongs to another command.
        let own = help.lines().filter_map(|line| line.split(" -- ").next());
        let help = own.collect::<Vec<_>>().join("\n");
        let parts = help.split('`').step_by(2).collect::<Vec<_>>().concat();
        parts.replace("nfsstat -s |", "")
    }

    #[test]
    fn the_help_of_every_command_names_only_options_that_it_has() {
        let mut command = command();
        command.build();
        for own in command.get_subcommands_mut() {
            let (name, help) = (
                own.get_name().to_string(),
                own.render_long_help().to_string(),
            );
            if name == "compat" || name == "help" {
                continue;
            }
            for option in options_named(&without_other_programs(&help)) {
                let has = own
                    .get_arguments()
                    .any(|arg| match option.strip_prefix("--") {
                        Some(long) => arg.get_long() == Some(long),
                        None => arg
                            .get_short()
                            .is_some_and(|letter| option[1..] == letter.to_string()),
                    });
                assert!(has, "filestone {name} --help names {option}");
            }
        }
    }
}
