//! Converts `--param` to the command lines of a sweep's points: any option of the inner command that
//! takes a value can be swept, by its name.

use crate::error::Error;
use crate::options::sweep::Over;
use clap::{Arg, Command};
use filestone_measure::sweep::{SweepParameter, SweepValue, ValueKind};
use filestone_workload::load::diagnostic::suggestion;

/// Commands that can be swept.
const SWEPT: [&str; 4] = ["probe", "mix", "replay", "fleet"];
/// Maximum number of parameters; a table of more would be unreadable.
const PARAMETERS_MAX: usize = 2;
/// Help heading of output options, which cannot be swept.
const REPORT: &str = "Report";
/// The seed, which the sweep sets itself.
const SEED: &str = "seed";

/// Returns the swept parameters, checked against the options of the inner command.
pub fn parameters(over: &[Over], words: &[String]) -> Result<Vec<SweepParameter>, Error> {
    let command = command_of(words)?;
    if over.len() > PARAMETERS_MAX {
        return Err(Error::usage(format!(
            "--param {} times: a sweep has one parameter or two",
            over.len()
        )));
    }
    let options: Vec<&Arg> = over
        .iter()
        .map(|over| option(&over.key, &command))
        .collect::<Result<_, _>>()?;
    refuse_twice(&options)?;
    refuse_given(&options, words)?;
    let all = over.iter().zip(options);
    all.map(|(over, option)| parameter(over, option)).collect()
}

/// Returns clap's definition of the command behind `--`.
fn command_of(words: &[String]) -> Result<Command, Error> {
    let name = words.first().map_or("", String::as_str);
    let line = words.join(" ");
    let unknown = || {
        Error::usage(format!("{line}: this cannot be swept"))
            .with_help("behind -- stands a command line of probe, mix, replay or fleet")
    };
    let whole = crate::command();
    let found = whole.find_subcommand(name);
    let found = found.filter(|_| SWEPT.contains(&name));
    found.cloned().ok_or_else(unknown)
}

fn refuse_twice(options: &[&Arg]) -> Result<(), Error> {
    match options {
        [one, other] if one.get_id() == other.get_id() => Err(Error::usage(format!(
            "--param {}: given twice; its values are one list with commas",
            long_of(one)
        ))),
        _ => Ok(()),
    }
}

/// Rejects options behind `--` that the points or the sweep set themselves.
fn refuse_given(options: &[&Arg], words: &[String]) -> Result<(), Error> {
    let is_given = |key: &str| {
        let own = words.iter().filter_map(|word| word.strip_prefix("--"));
        own.into_iter()
            .any(|word| word.split('=').next() == Some(key))
    };
    if is_given(SEED) {
        return Err(Error::usage("--seed behind --: here it is sweep's")
            .with_help("all points have the seed of --seed before the --"));
    }
    let given = options.iter().find(|option| names(option).any(is_given));
    match given {
        None => Ok(()),
        Some(option) => Err(Error::usage(format!(
            "--{} behind --: --param gives its values",
            long_of(option)
        ))
        .with_help("leave it out")),
    }
}

fn parameter(over: &Over, option: &Arg) -> Result<SweepParameter, Error> {
    let of = |why: &str| Error::usage(format!("--param {}={}: {why}", over.key, over.values));
    SweepParameter::parse(long_of(option), kind_of(option), &over.values).map_err(|why| of(&why))
}

/// Returns the long name of an option that [`option`] found.
fn long_of(option: &Arg) -> &str {
    option.get_long().unwrap_or_default()
}

/// Returns the long names of an option, former ones included.
fn names(option: &Arg) -> impl Iterator<Item = &str> {
    let former = option.get_all_aliases().unwrap_or_default();
    option.get_long().into_iter().chain(former)
}

/// Returns the option of that name.
fn option<'command>(key: &str, command: &'command Command) -> Result<&'command Arg, Error> {
    let named = |arg: &&Arg| names(arg).any(|name| name == key);
    let found = command.get_arguments().find(named);
    let name = command.get_name();
    match found {
        Some(arg) if can_be_swept(arg) => Ok(arg),
        Some(arg) if arg.get_action().takes_values() => Err(Error::usage(format!(
            "--param {key}: --{key} does not say what {name} measures"
        ))),
        Some(_) => Err(Error::usage(format!(
            "--param {key}: --{key} takes no value, so there is nothing to go over"
        ))),
        None => {
            let names: Vec<&str> = command
                .get_arguments()
                .filter(|arg| can_be_swept(arg))
                .filter_map(Arg::get_long)
                .collect();
            let help = match suggestion(key.as_bytes(), names.iter().copied()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("filestone {name} --help lists its options"),
            };
            Err(
                Error::usage(format!("--param {key}: {name} has no option --{key}"))
                    .with_help(help),
            )
        }
    }
}

fn can_be_swept(arg: &Arg) -> bool {
    let is_report = arg.get_help_heading() == Some(REPORT);
    arg.get_action().takes_values() && !is_report && arg.get_long() != Some(SEED)
}

/// Returns the notation of an option's values, as described in its help.
fn kind_of(option: &Arg) -> ValueKind {
    if !option.get_possible_values().is_empty() {
        return ValueKind::Word;
    }
    let names = option.get_value_names().unwrap_or_default();
    match names.first().map_or("", |name| name.as_str()) {
        "BYTES" => ValueKind::Bytes,
        "TIME" => ValueKind::Time,
        "RATE" => ValueKind::Rate,
        _ => ValueKind::Number,
    }
}

/// Returns the command line of a point: its values directly follow the command.
pub fn line_of_point(
    words: &[String],
    parameters: &[SweepParameter],
    point: &[SweepValue],
) -> Vec<String> {
    let options = parameters.iter().zip(point);
    let options = options.map(|(parameter, value)| format!("--{}={}", parameter.name, value.text));
    let (command, rest) = words.split_at(1.min(words.len()));
    command
        .iter()
        .cloned()
        .chain(options)
        .chain(rest.iter().cloned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(String::from).collect()
    }

    fn read(over: &[&str], line: &str) -> Result<Vec<SweepParameter>, Error> {
        let over = over.iter().map(|text| {
            let (key, values) = text.split_once('=').expect("a key and values");
            Over {
                key: key.into(),
                values: values.into(),
            }
        });
        parameters(&over.collect::<Vec<_>>(), &words(line))
    }

    #[test]
    fn options_are_read_as_their_help_says() {
        for (over, line, kind) in [
            ("io-size=1,2", "probe read", ValueKind::Bytes),
            ("in-flight=1,2", "probe read", ValueKind::Number),
            ("offered=1k,2k", "mix", ValueKind::Rate),
            ("transport=tcp,udp", "probe read", ValueKind::Word),
            ("dialect=3.0,3.1.1", "probe read", ValueKind::Word),
            ("clients=1,2", "replay", ValueKind::Number),
            ("timeout=1s,2s", "probe null", ValueKind::Time),
            ("writers=1,2", "fleet", ValueKind::Number),
        ] {
            let found = read(&[over], line).expect(over);
            assert_eq!(found[0].kind, kind, "{over}");
        }
    }

    #[test]
    fn what_cannot_be_swept_says_so() {
        let shown = [
            (vec!["io-sice=1,2"], "probe read"),
            (vec!["nothing=1,2"], "probe read"),
            (vec!["random=1,2"], "probe read"),
            (vec!["output=a,b"], "probe read"),
            (vec!["seed=1,2"], "probe read"),
            (vec!["io-size=1..2:y"], "probe read"),
            (vec!["io-size=1,,2"], "probe read"),
            (vec!["io-size=1", "io-size=2"], "probe read"),
            (vec!["io-size=1", "clients=2", "in-flight=3"], "probe read"),
            (vec!["io-size=1,2"], "probe read --io-size 3"),
            (vec!["io-size=1,2"], "probe read --seed=3"),
            (vec!["io-size=1,2"], "serve"),
            (vec!["io-size=1,2"], "run plan.json"),
        ]
        .map(|(over, line)| {
            let error = read(&over, line).expect_err(line);
            let help = error.help.as_deref().unwrap_or("-");
            format!(
                "{} -- {line}\nerror: {}\nhelp: {help}\n",
                over.join(" "),
                error.message
            )
        });
        insta::assert_snapshot!(shown.join("\n"));
    }

    #[test]
    fn the_command_line_of_a_point_has_its_values() {
        let found = read(&["io-size=4K,8K", "transport=udp"], "probe read s:/x").expect("two");
        let point: Vec<SweepValue> = found.iter().map(|it| it.values[0].clone()).collect();
        let line = line_of_point(&words("probe read s:/x"), &found, &point);
        assert_eq!(
            line.join(" "),
            "probe --io-size=4096 --transport=udp read s:/x"
        );
    }
}
