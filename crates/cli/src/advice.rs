//! Advice that names only options of the command.

use filestone_measure::measure::{Caveat, RunRecord};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Long options of each command, including `--`. The whole command line is built once, because a
/// report may have dozens of texts.
static OPTIONS: LazyLock<BTreeMap<String, BTreeSet<String>>> = LazyLock::new(|| {
    let command = crate::command();
    let commands = command.get_subcommands().map(|own| {
        let long = own.get_arguments().filter_map(clap::Arg::get_long);
        let long = long.map(|long| format!("--{long}")).collect();
        (own.get_name().to_owned(), long)
    });
    commands.collect()
});

/// Returns the advice of a caveat for a reader of this record.
pub fn of(caveat: &Caveat, record: &RunRecord) -> Option<String> {
    let (_, general) = caveat.sentence();
    general.and_then(|general| fitting(general, record))
}

/// Reduces advice to the options of the record's command; `None` if no text is left.
fn fitting(advice: &str, record: &RunRecord) -> Option<String> {
    match OPTIONS.get(&record.plan.command) {
        Some(options) => without_others(advice, &|option| options.contains(option)),
        // An ancestor's command has the options of the ancestor, which its manual lists.
        None => Some(advice.to_owned()),
    }
}

/// Removes the parts of advice that name missing options: an option in parentheses is removed with
/// them, any other with its part of the sentence.
fn without_others(advice: &str, has: &impl Fn(&str) -> bool) -> Option<String> {
    let mut text = String::new();
    let mut rest = advice;
    while let Some((before, after)) = rest.split_once(" (") {
        let (inside, behind) = after.split_once(')').unwrap_or((after, ""));
        text.push_str(before);
        if names_only(inside, has) {
            text.push_str(&format!(" ({inside})"));
        }
        rest = behind;
    }
    text.push_str(rest);
    let parts = text.split("; ").filter_map(|part| {
        let items = part.split(", ").filter(|item| names_only(item, has));
        let items: Vec<&str> = items.collect();
        (!items.is_empty()).then(|| items.join(", "))
    });
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn names_only(text: &str, has: &impl Fn(&str) -> bool) -> bool {
    options_in(text).all(has)
}

/// Returns the long options that a text names, without that of cargo.
fn options_in(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|byte: char| !byte.is_ascii_lowercase() && byte != '-');
    words.filter(|word| word.starts_with("--") && word.len() > 2 && *word != "--release")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source files with the advice of caveats.
    const TEXTS: &[&str] = &[
        include_str!("../../measure/src/measure/caveat/load.rs"),
        include_str!("../../measure/src/measure/caveat/mod.rs"),
        include_str!("../../measure/src/measure/caveat/text.rs"),
    ];

    #[test]
    fn what_is_left_is_a_sentence() {
        let has = |option: &str| option == "--workers";
        for (advice, left) in [
            (
                "use more workers (--workers)",
                Some("use more workers (--workers)"),
            ),
            (
                "run longer (--duration) before quoting it",
                Some("run longer before quoting it"),
            ),
            (
                "leave a processor to the load generator, use --busy-poll, or lower the load",
                Some("leave a processor to the load generator, or lower the load"),
            ),
            (
                "see the table of errors; --expect STATUS names failures that are wanted",
                Some("see the table of errors"),
            ),
            ("build with --release", Some("build with --release")),
            (
                "allow more in flight (--in-flight); use --offered",
                Some("allow more in flight"),
            ),
            ("use --offered", None),
        ] {
            assert_eq!(without_others(advice, &has).as_deref(), left);
        }
    }

    /// Checks each text against the options of each command.
    #[test]
    fn no_advice_names_an_option_that_the_command_does_not_have() {
        let mut named = 0;
        for face in ["probe", "mix", "replay", "fleet"] {
            let mut record = filestone_report::fixtures::plain();
            record.plan.command = face.into();
            let options = &OPTIONS[face];
            assert!(options.len() > 10, "{face}");
            for text in TEXTS.iter().flat_map(|source| source.split('"')) {
                let fitting = fitting(text, &record).unwrap_or_default();
                let strange = options_in(&fitting).find(|option| !options.contains(*option));
                assert_eq!(strange, None, "{face}: {fitting}");
                named += options_in(&fitting).count();
            }
        }
        assert!(named > 20, "{named}");
    }
}
