//! clap's errors in filestone's style: where, the value, the expected value; then the remedy.

mod correction;
mod other_tools;

use crate::ExitStatus;
use crate::console;
use crate::error::{Error, first_lower};
use crate::usage::correction::{correction, near};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error as _;
use std::ffi::OsString;

/// Prints help and version; converts everything else to an [`Error`].
///
/// `command` is the requested command, if it exists; `words` are those behind `filestone`.
pub fn explain(
    error: &clap::Error,
    command: Option<&str>,
    words: &[&str],
) -> Result<ExitStatus, Error> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            console::result(&error.render().ansi().to_string())?;
            Ok(ExitStatus::Done)
        }
        _ => Err(translate(error, command, words)),
    }
}

/// Returns the error about the first argument that is not UTF-8, where text is required.
pub fn not_utf8(arguments: &[OsString]) -> Error {
    let wrong = arguments.iter().find(|word| word.to_str().is_none());
    let shown = wrong.map_or_else(String::new, |word| {
        word.as_encoded_bytes().escape_ascii().to_string()
    });
    Error::usage(format!("{shown}: is not valid UTF-8"))
        .with_help("names of servers, shares and directories are taken as UTF-8")
}

fn translate(error: &clap::Error, command: Option<&str>, words: &[&str]) -> Error {
    let argument = context(error, ContextKind::InvalidArg).map(|text| name(&text));
    let value = context(error, ContextKind::InvalidValue);
    let what = match (error.kind(), argument, value) {
        (ErrorKind::ValueValidation, Some(argument), Some(value)) => {
            let reason = error.source().map_or_else(String::new, ToString::to_string);
            format!("{argument} {value}: {}", first_lower(&reason))
        }
        (ErrorKind::InvalidValue, Some(argument), Some(value)) => {
            if value.is_empty() {
                format!("{argument}: a value is missing")
            } else {
                format!("{argument} {value}: expected {}", valid_values(error))
            }
        }
        (ErrorKind::UnknownArgument, Some(argument), _) if argument.starts_with('-') => {
            format!("{argument}: there is no such option here")
        }
        (ErrorKind::UnknownArgument, Some(argument), _) => {
            format!("{argument}: one argument too many")
        }
        (ErrorKind::InvalidSubcommand, _, _) => format!(
            "\"{}\" is not a command of filestone",
            context(error, ContextKind::InvalidSubcommand).unwrap_or_default()
        ),
        (ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand, _, _) => {
            // clap renders the whole help instead, whose first line is different.
            format!("filestone {}: what to do is missing", words.join(" "))
        }
        (ErrorKind::MissingRequiredArgument, Some(argument), _) => {
            format!("{argument} is missing")
        }
        (ErrorKind::ArgumentConflict, Some(argument), _) => conflict(error, &argument),
        _ => first_paragraph(error),
    };
    Error {
        help: Some(advice(error, command, words)),
        ..Error::usage(what)
    }
}

/// Formats a conflict; an option that is given twice conflicts with itself.
fn conflict(error: &clap::Error, argument: &str) -> String {
    let prior = context(error, ContextKind::PriorArg).map(|text| name(&text));
    match prior.filter(|prior| !prior.is_empty()) {
        Some(prior) if prior == argument => format!("{argument}: given twice"),
        Some(prior) => format!("{argument} with {prior}: one excludes the other"),
        None => format!("{argument}: given twice, or together with what excludes it"),
    }
}

/// Returns the bare name of an argument: `--in-flight` for `--in-flight <N>`, `TARGET` for
/// `[TARGET]`.
pub fn name(argument: &str) -> String {
    let name = argument.split([' ', '=']).next().unwrap_or(argument);
    let name = name
        .split('[')
        .find(|part| !part.is_empty())
        .unwrap_or(name);
    name.trim_end_matches('.')
        .trim_matches(['<', '>', '[', ']'])
        .to_string()
}

/// Returns an item of an error's context.
pub fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(
            texts
                .iter()
                .map(|text| name(text))
                .collect::<Vec<_>>()
                .join(", "),
        ),
        _ => None,
    }
}

fn valid_values(error: &clap::Error) -> String {
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) if values.len() > 1 => {
            let (last, first) = values.split_last().expect("more than one value");
            format!("{} or {last}", first.join(", "))
        }
        Some(ContextValue::Strings(values)) => values.concat(),
        _ => "another value".into(),
    }
}

/// Returns a corrected command line to paste, or the help page to consult.
fn advice(error: &clap::Error, command: Option<&str>, words: &[&str]) -> String {
    if let Some(correction) = correction(words, error) {
        let why = match correction.reasons.as_slice() {
            [] => "did you mean".into(),
            [one, other] => format!("{one}; {other}"),
            reasons => reasons.join(";\n      "),
        };
        return format!("{why}:\n  {}", correction.lines.join("\n  "));
    }
    let word = context(error, ContextKind::InvalidValue)
        .or_else(|| context(error, ContextKind::InvalidSubcommand))
        .or_else(|| context(error, ContextKind::InvalidArg));
    if let Some(near) = word.and_then(|word| near(error, &name(&word))) {
        return format!("did you mean {near}?");
    }
    match command {
        Some(command) => format!("filestone {command} --help lists what there is"),
        None => "filestone --help lists what there is".into(),
    }
}

/// Returns clap's own message, for the kinds of error that it describes well enough.
fn first_paragraph(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.split("\n\n").next().unwrap_or_default();
    let text: Vec<&str> = text.split_whitespace().collect();
    let text = text.join(" ");
    text.strip_prefix("error: ").unwrap_or(&text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_usage_error_is_one_line_and_advice() {
        let lines = [
            "probe",
            "prob",
            "probe gtattr",
            "fleet addresses",
            "fleet addresses up",
            "fleet addresses upp",
            "probe read --io-size 12q",
            "probe read --io-size 0",
            "probe read --io-size 5G",
            "probe write --io-size 5G",
            "probe copy --io-size 5G",
            "probe null --offered 0",
            "probe null --offered fast",
            "probe null --arrivals poisson",
            "probe null --in-flight 0",
            "probe null --in-flight many",
            "probe null -j",
            "probe null --duration 0",
            "probe null --report-interval 250ms",
            "probe null --transport sctp",
            "probe null --inflight 3",
            "probe null --pin a",
            "probe null server",
            "probe null nfs://server:0/x",
            "probe null -j 1 -j 2",
            "replay --layer /srv/test",
            "replay --layer smb://server",
            "replay -c 0",
            "replay -c 100000",
            "replay --speed 0.1",
            "replay --speed nan",
            "replay -R 0",
            "replay -R 1MB --speed 2",
            "replay -R fast",
            "replay --trunc-io 0",
            "replay --on-mismatch ignore",
            "replay office mail",
            "mix --offered 0",
            "mix --arrivals bursts",
            "mix --slo fast",
            "mix --slo p99<2",
            "mix --slo p99<2ms --curve",
            "mix --curve --slo p99<2ms",
            "mix --slo p99<2ms --curve --points 3",
            "mix --points 3",
            "mix --curve --points 1",
            "mix --slo mean<1ms --precision 0",
            "mix --file-size big",
            "mix --popularity hot",
            "mix --file-set a/b",
            "mix --io-size 2M",
            "mix --access backwards",
            "mix /srv/test",
            "mix s:/x --layer local:/y",
            "serve --fault fire",
            "serve --bind here",
            "report x --format pdf",
            "completions fishy",
            "demo extra",
        ];
        let mut text = String::new();
        for line in lines {
            let arguments = ["filestone"].into_iter().chain(line.split_whitespace());
            let error = crate::command()
                .try_get_matches_from(arguments)
                .expect_err(line);
            let words: Vec<&str> = line.split_whitespace().collect();
            let error = translate(&error, crate::command_of(words.iter().copied()), &words);
            assert!(!error.message.contains('\n'), "{line}: {}", error.message);
            text.push_str(&format!(
                "$ filestone {line}\nerror: {}\nhelp: {}\n\n",
                error.message,
                error.help.as_deref().unwrap_or("-")
            ));
        }
        insta::assert_snapshot!(text);
    }
}
