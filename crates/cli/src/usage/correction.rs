//! Correction of command lines: words of another benchmark and misspelt words are replaced, and
//! missing words added, until the command line can be parsed.

use crate::compat;
use crate::options::target;
use crate::usage::other_tools::{Equivalent, ForeignOption, foreign_operation, foreign_option};
use crate::usage::{context, name};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use filestone_report::shell::shell_line;
use filestone_workload::load::diagnostic::suggestion;
use filestone_workload::operation::OpKind;
use filestone_workload::quantity;

/// Maximum number of replacements; a command line that needs more belongs to another program
/// altogether.
const REPLACED_MAX: usize = 16;
/// Smallest size, in bytes, that is a file length: no call transfers that much.
const LONG: u64 = 16 << 20;

/// Corrected command lines, with reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// Short reasons, one line per replaced word.
    pub reasons: Vec<String>,
    /// Valid command lines, starting with `filestone` and quoted for the shell.
    pub lines: Vec<String>,
}

/// Words, the reasons for the replacements, and the number of repetitions.
#[derive(Debug, Clone, Default)]
struct Attempt {
    words: Vec<String>,
    reasons: Vec<String>,
}

/// Corrects the words behind `filestone`; `None` if there is no similar command line.
pub fn correction(words: &[&str], error: &clap::Error) -> Option<Correction> {
    let words = words.iter().map(ToString::to_string).collect();
    let attempt = Attempt {
        words,
        ..Attempt::default()
    };
    if let Some(lines) = target_alone(&attempt, error) {
        return Some(lines);
    }
    attempt.step(error)?.read()
}

fn parse(words: &[String]) -> Result<(), clap::Error> {
    let words = std::iter::once("filestone").chain(words.iter().map(String::as_str));
    match crate::command().try_get_matches_from(words) {
        Err(error) if error.kind() == ErrorKind::DisplayHelp => Ok(()),
        parsed => parsed.map(|_| ()),
    }
}

/// Handles `filestone nfs://server/export`, which lacks an operation or a mix.
fn target_alone(attempt: &Attempt, error: &clap::Error) -> Option<Correction> {
    let first = attempt.words.first()?;
    if error.kind() != ErrorKind::InvalidSubcommand || !is_target(first) {
        return None;
    }
    let lines = [&["probe", "getattr"][..], &["mix"]].map(|begin| {
        let begin = begin.iter().map(ToString::to_string);
        begin.chain(attempt.words.iter().cloned()).collect()
    });
    let mut lines = lines.into_iter().map(|words: Vec<String>| Attempt {
        words,
        ..Attempt::default()
    });
    let readable = lines.by_ref().map(Attempt::read);
    let lines: Vec<String> = readable.flatten().flat_map(|one| one.lines).collect();
    (!lines.is_empty()).then(|| Correction {
        reasons: vec!["say what to ask it: one operation, or a mix of them".into()],
        lines,
    })
}

fn is_target(word: &str) -> bool {
    word.contains(":/") && target::parse(word).is_ok()
}

/// Converts `host:/path` to `nfs://host/path`.
fn as_url(target: &str) -> String {
    if target.starts_with("nfs://") {
        target.into()
    } else {
        format!("nfs://{}", target.replacen(":/", "/", 1))
    }
}

impl Attempt {
    /// Replaces words until the command line can be parsed.
    fn read(mut self) -> Option<Correction> {
        for _ in 0..REPLACED_MAX {
            match parse(&self.words) {
                Ok(()) => return Some(self.finished()),
                Err(error) => self = self.step(&error)?,
            }
        }
        None
    }

    fn finished(self) -> Correction {
        let line = shell_line(&self.words);
        Correction {
            reasons: self.reasons,
            lines: vec![line],
        }
    }

    /// Replaces one word; `None` if no replacement is known.
    fn step(self, error: &clap::Error) -> Option<Self> {
        let command = self.words.first().cloned().unwrap_or_default();
        let argument = context(error, ContextKind::InvalidArg).map(|text| name(&text));
        match error.kind() {
            ErrorKind::InvalidSubcommand => self.with_command(&command, error),
            ErrorKind::UnknownArgument => {
                let word = argument?;
                match foreign_option(&word, &command) {
                    Some(option) => self.with_option(&word, &option),
                    None => self.with_near(&word, error),
                }
            }
            ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
                let value = context(error, ContextKind::InvalidValue)?;
                self.with_value(&argument?, &value, error)
            }
            ErrorKind::ArgumentConflict if argument.as_deref() == Some("--io-size") => {
                self.with_size()
            }
            _ => None,
        }
    }

    /// Replaces `--size`, which is the length of a file in fio and elbencho.
    fn with_size(mut self) -> Option<Self> {
        let operation = self.words.get(1).map(String::as_str);
        if operation.is_some_and(|word| word.eq_ignore_ascii_case("copy")) {
            return None;
        }
        let is_long = |value: &str| quantity::bytes(value).is_ok_and(|bytes| bytes >= LONG);
        let (mut places, mut long) = (0..self.words.len(), None);
        for place in places.by_ref() {
            let next = self.words.get(place + 1);
            let word = &self.words[place];
            let rest = word.strip_prefix("--io-size");
            long = match rest.or_else(|| word.strip_prefix("--size")) {
                Some("") => next
                    .filter(|next| is_long(next))
                    .map(|next| (next.clone(), 2)),
                Some(value) => {
                    let value = value.strip_prefix('=').filter(|value| is_long(value));
                    value.map(|value| (value.to_string(), 1))
                }
                None => None,
            };
            if long.is_some() {
                break;
            }
        }
        let ((value, count), place) = (long?, places.start - 1);
        let is_write = self
            .words
            .get(1)
            .is_some_and(|operation| operation.contains("write"));
        if is_write {
            let why = "--io-size is bytes per call, --file-size how long a file is";
            self.reasons.push(why.into());
            self.replace(place, count, &["--file-size", &value]);
        } else {
            let why = "--io-size is bytes per call; a file that is read is as long as it is";
            self.reasons.push(why.into());
            self.replace(place, count, &[]);
        }
        Some(self)
    }

    /// Replaces a first word that is not a filestone command: an operation, or another program's
    /// command.
    fn with_command(mut self, word: &str, error: &clap::Error) -> Option<Self> {
        let operation = OpKind::probed().find(|kind| kind.name() == word);
        if let Some(operation) = operation {
            self.reasons
                .push(format!("{word} is an operation of probe"));
            self.replace(0, 1, &["probe", operation.name()]);
        } else if compat::NAMES.contains(&word) {
            self.reasons
                .push(format!("{word}'s own command line comes behind compat"));
            self.replace(0, 1, &["compat", word]);
        } else if let Some(operation) = foreign_operation(word) {
            self.reasons.push(operation.reason.to_string());
            self.replace(0, 1, &operation.ours);
        } else {
            let near = near(error, word)?;
            self.replace(0, 1, &[&near]);
        }
        Some(self)
    }

    fn with_option(mut self, word: &str, option: &ForeignOption) -> Option<Self> {
        let place = self.place_of(word)?;
        let attached = self.words[place].split_once('=');
        let next = self
            .words
            .get(place + 1)
            .filter(|next| option.has_value && !next.starts_with('-'));
        let (value, count) = match (attached, next) {
            (Some((_, value)), _) => (Some(value.to_string()), 1),
            (None, Some(next)) => (Some(next.clone()), 2),
            (None, None) => (None, 1),
        };
        let command = self.words.first()?.clone();
        let what = match option.ours {
            Equivalent::Option(ours) | Equivalent::Words(ours) => format!("{word} is {ours} here"),
            Equivalent::Nothing => format!("{word} is left out"),
            Equivalent::Load | Equivalent::Operation | Equivalent::Target => word.into(),
        };
        self.reasons.push(format!("{what}: {}", option.reason));
        match option.ours {
            Equivalent::Option(ours) => self.replace(place, count, &[ours, &value?]),
            Equivalent::Words(ours) => {
                let words: Vec<&str> = ours.split(' ').collect();
                self.replace(place, count, &words);
            }
            Equivalent::Load => {
                let value: Vec<&str> = value.as_deref().into_iter().collect();
                self.replace(place, count, &value);
            }
            Equivalent::Operation => {
                self.replace(place, count, &[]);
                self.words.insert(1, value?);
            }
            Equivalent::Target => {
                let value = value?;
                match (is_target(&value), &*command) {
                    (true, "probe" | "mix") => self.replace(place, count, &[&value]),
                    (true, _) => self.replace(place, count, &["--layer", &as_url(&value)]),
                    (false, "mix" | "replay") => {
                        self.replace(place, count, &["--layer", &format!("local:{value}")]);
                    }
                    (false, _) => return None,
                }
            }
            Equivalent::Nothing => self.replace(place, count, &[]),
        }
        Some(self)
    }

    fn with_value(mut self, argument: &str, value: &str, error: &clap::Error) -> Option<Self> {
        let place = self.words.iter().position(|word| {
            word == value
                || word
                    .split_once('=')
                    .is_some_and(|(_, given)| given == value)
        })?;
        if argument == "OP"
            && let Some(operation) = foreign_operation(value)
        {
            self.reasons.push(operation.reason.to_string());
            self.replace(place, 1, &operation.ours[1..]);
            self.words[0] = operation.ours[0].into();
            return Some(self);
        }
        if argument == "--io-size" && self.words[0] == "probe" {
            return self.with_size();
        }
        let near = near(error, value)?;
        let word = self.words[place].replace(value, &near);
        self.replace(place, 1, &[&word]);
        Some(self)
    }

    /// Replaces a misspelt word.
    fn with_near(mut self, word: &str, error: &clap::Error) -> Option<Self> {
        let near = near(error, word)?;
        let place = self.place_of(word)?;
        let given = self.words[place].replacen(word, &near, 1);
        self.replace(place, 1, &[&given]);
        Some(self)
    }

    /// Returns the position of an option, alone or with its value attached.
    fn place_of(&self, option: &str) -> Option<usize> {
        let is_it = |given: &String| {
            let rest = given.strip_prefix(option);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        self.words.iter().position(is_it)
    }

    fn replace(&mut self, place: usize, count: usize, words: &[&str]) {
        let words = words.iter().map(ToString::to_string);
        self.words.splice(place..place + count, words);
    }
}

/// Returns clap's suggestion for `word`, if it is similar enough.
pub fn near(error: &clap::Error, word: &str) -> Option<String> {
    let kinds = [
        ContextKind::SuggestedArg,
        ContextKind::SuggestedValue,
        ContextKind::SuggestedSubcommand,
    ];
    let candidates = kinds.into_iter().filter_map(|kind| match error.get(kind)? {
        ContextValue::String(text) => Some(vec![name(text)]),
        ContextValue::Strings(texts) => Some(texts.clone()),
        _ => None,
    });
    let candidates: Vec<String> = candidates.flatten().collect();
    let bare = |text: &str| text.trim_start_matches('-').to_string();
    let is_near = |candidate: &&String| {
        suggestion(bare(word).as_bytes(), [&*bare(candidate)].into_iter()).is_some()
    };
    // The last of several candidates is the most similar, as in clap's own list.
    candidates.iter().rfind(is_near).cloned()
}

#[cfg(test)]
mod tests;
