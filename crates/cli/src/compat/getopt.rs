//! Parses command lines like getopt_long and popt, for the ancestor programs with their tables of
//! options.
//!
//! Short options may be grouped (`-sS`, `-t10`); long options take `=value` or the next word and
//! may be abbreviated to an unambiguous prefix; `--` ends the options. The program that owns an
//! option checks its value.

/// Specification of an option of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionSpec {
    /// Letter of the short form.
    pub short: Option<char>,
    /// Name behind `--`; empty if there is no long form.
    pub long: &'static str,
    /// Placeholder of the value; empty if the option takes none.
    pub value: &'static str,
    /// Description; empty if the program's help omits the option.
    pub help: &'static str,
}

impl OptionSpec {
    /// Parses one line of a program's option table.
    fn of(line: &'static str) -> Self {
        let (shown, help) = line.split_once("  ").unwrap_or((line, ""));
        let (short, rest) = match shown.strip_prefix('-') {
            Some(rest) if !rest.starts_with('-') => {
                let mut letters = rest.chars();
                (
                    letters.next(),
                    letters.as_str().trim_start_matches([',', ' ']),
                )
            }
            _ => (None, shown),
        };
        let (long, value) = match rest.strip_prefix("--") {
            Some(long) => long.split_once('=').unwrap_or((long, "")),
            None => ("", rest),
        };
        Self {
            short,
            long,
            value,
            help: help.trim_start(),
        }
    }

    /// Whether a value follows.
    pub const fn takes_value(&self) -> bool {
        !self.value.is_empty()
    }

    /// Formats the option for help, as in `-t, --timelimit=SECONDS`.
    fn shown(&self) -> String {
        let Self { value, long, .. } = self;
        let short = self.short.map(|letter| format!("-{letter}"));
        match (short, *long, *value) {
            (Some(short), "", "") => short,
            (Some(short), "", value) => format!("{short} {value}"),
            (Some(short), long, "") => format!("{short}, --{long}"),
            (Some(short), long, value) => format!("{short}, --{long}={value}"),
            (None, long, "") => format!("    --{long}"),
            (None, long, value) => format!("    --{long}={value}"),
        }
    }
}

/// Permitted position of options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionOrder {
    /// Before and after arguments.
    Anywhere,
    /// Before the first argument.
    First,
}

/// An argument of a program, for help and man page.
#[derive(Debug)]
pub struct Argument {
    /// Name of the argument.
    pub name: &'static str,
    /// Description of the argument.
    pub help: &'static str,
}

/// A program with its options and arguments.
#[derive(Debug, Clone, Copy)]
pub struct ProgramSyntax {
    /// Name of the program in error messages.
    pub name: &'static str,
    /// Command lines, each printed behind `usage: `.
    pub usage: &'static [&'static str],
    /// Arguments of the program.
    pub arguments: &'static [Argument],
    /// Further text of its help.
    pub notes: &'static str,
    /// Options, one line each, as help prints them: `-t, --time=SECONDS`, two blanks and the
    /// description, which is missing if help omits the option.
    pub options: &'static str,
    /// Permitted position of its options.
    pub order: OptionOrder,
}

/// An option on a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedOption<'line> {
    /// Specification of the option.
    pub option: OptionSpec,
    /// Spelling on the command line, for messages.
    pub shown: String,
    /// Value; empty if the option takes none.
    pub value: &'line str,
}

/// Options and arguments of a command line, each in their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ParsedArguments<'line> {
    /// Options, which begin with `-`.
    pub given: Vec<ParsedOption<'line>>,
    /// Words that are not options, and all words behind `--`.
    pub arguments: Vec<&'line str>,
}

/// Width of a help text, in columns.
const WIDTH: usize = 80;
/// Width of the option column; a longer option has its own line.
const OPTION_WIDTH: usize = 28;

/// Formats a line of help: the option on the left, its explanation wrapped on the right.
fn explained(what: &str, explanation: &str) -> String {
    let mut text = String::new();
    let mut line = format!("  {what:<OPTION_WIDTH$}");
    if what.len() + 2 > OPTION_WIDTH {
        text = format!("  {what}\n");
        line = " ".repeat(OPTION_WIDTH + 2);
    }
    for word in explanation.split_whitespace() {
        if line.len() + word.len() > WIDTH {
            text.push_str(line.trim_end());
            text.push('\n');
            line = " ".repeat(OPTION_WIDTH + 2);
        }
        line.push_str(word);
        line.push(' ');
    }
    text.push_str(line.trim_end());
    text.push('\n');
    text
}

impl ProgramSyntax {
    /// Returns the options of the program.
    pub fn known(&self) -> impl Iterator<Item = OptionSpec> + use<> {
        let lines = self.options.lines().filter(|line| !line.is_empty());
        lines.map(OptionSpec::of)
    }

    /// Returns the help text, with every option that has a description.
    pub fn help(&self) -> String {
        let usage = self.usage.iter().map(|line| format!("usage: {line}\n"));
        let options = self.known().filter(|known| !known.help.is_empty());
        let options = options.map(|known| explained(&known.shown(), known.help));
        let arguments = self.arguments.iter();
        let arguments = arguments.map(|argument| explained(argument.name, argument.help));
        let text: String = usage.chain(options).chain(arguments).collect();
        text + self.notes
    }

    /// Parses a command line without the program's name; an error message is one line.
    pub fn read<'line>(&self, line: &'line [String]) -> Result<ParsedArguments<'line>, String> {
        let mut words = ParsedArguments::default();
        let mut rest = line.iter().map(String::as_str);
        while let Some(word) = rest.next() {
            if word == "--" {
                break;
            } else if let Some(long) = word.strip_prefix("--") {
                words.given.push(self.long(long, &mut rest)?);
            } else if word.len() > 1 && word.starts_with('-') {
                self.cluster(&word[1..], &mut rest, &mut words.given)?;
            } else {
                words.arguments.push(word);
                if self.order == OptionOrder::First {
                    break;
                }
            }
        }
        words.arguments.extend(rest);
        Ok(words)
    }

    fn long<'line>(
        &self,
        word: &'line str,
        rest: &mut impl Iterator<Item = &'line str>,
    ) -> Result<ParsedOption<'line>, String> {
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let option = self.named(name)?;
        let shown = format!("--{}", option.long);
        let value = match (option.takes_value(), attached) {
            (false, Some(_)) => return Err(format!("{shown} takes no value")),
            (false, None) => "",
            (true, Some(value)) => value,
            (true, None) => rest.next().ok_or_else(|| missing(&shown))?,
        };
        Ok(ParsedOption {
            option,
            shown,
            value,
        })
    }

    /// Finds an option by its name or an unambiguous prefix of it.
    fn named(&self, name: &str) -> Result<OptionSpec, String> {
        let options = || self.known().filter(|known| !known.long.is_empty());
        if let Some(known) = options().find(|known| known.long == name) {
            return Ok(known);
        }
        let mut begun = options().filter(|known| known.long.starts_with(name));
        match (begun.next(), begun.next()) {
            (Some(known), None) if !name.is_empty() => Ok(known),
            (Some(one), Some(other)) if !name.is_empty() => Err(format!(
                "--{name}: this may be --{} or --{}",
                one.long, other.long
            )),
            _ => Err(self.has_none(&format!("--{name}"))),
        }
    }

    /// Parses grouped short options such as `sSt10`.
    fn cluster<'line>(
        &self,
        text: &'line str,
        rest: &mut impl Iterator<Item = &'line str>,
        given: &mut Vec<ParsedOption<'line>>,
    ) -> Result<(), String> {
        for (place, letter) in text.char_indices() {
            let shown = format!("-{letter}");
            let option = self.known().find(|known| known.short == Some(letter));
            let option = option.ok_or_else(|| self.has_none(&shown))?;
            let value = match (option.takes_value(), &text[place + letter.len_utf8()..]) {
                (false, _) => "",
                (true, "") => rest.next().ok_or_else(|| missing(&shown))?,
                (true, attached) => attached,
            };
            given.push(ParsedOption {
                option,
                shown,
                value,
            });
            if option.takes_value() {
                break;
            }
        }
        Ok(())
    }

    fn has_none(&self, shown: &str) -> String {
        format!("{shown}: {} has no such option", self.name)
    }
}

fn missing(option: &str) -> String {
    format!("{option}: a value is missing")
}

/// Parses a whole number at the start of `text` and returns it with the rest: decimal, hexadecimal
/// behind `0x` and octal behind `0`, as C's strtoul reads it (C17, section 7.22.1.4).
pub fn leading_number(text: &str) -> Option<(u64, &str)> {
    let hexadecimal = text.strip_prefix("0x").or(text.strip_prefix("0X"));
    let (digits, radix) = match hexadecimal {
        Some(digits) if digits.starts_with(|first: char| first.is_ascii_hexdigit()) => (digits, 16),
        _ if text.starts_with('0') => (text, 8),
        _ => (text, 10),
    };
    let end = digits.find(|letter: char| !letter.is_digit(radix));
    let (number, rest) = digits.split_at(end.unwrap_or(digits.len()));
    Some((u64::from_str_radix(number, radix).ok()?, rest))
}

/// Parses a whole number in C's notation with nothing behind it.
pub fn number(text: &str) -> Option<u64> {
    leading_number(text)
        .filter(|(_, rest)| rest.is_empty())
        .map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: &str = "
-t, --time=SECONDS  how long it takes
--tds_max=N         threads
-s, --sync          synchronously
-q                  quietly, so that nothing is said of what was done and what was not
-z
";

    const IT: ProgramSyntax = ProgramSyntax {
        name: "it",
        usage: &["it [options] file"],
        arguments: &[Argument {
            name: "file",
            help: "what is read",
        }],
        notes: "Notes.\n",
        options: OPTIONS,
        order: OptionOrder::Anywhere,
    };

    #[test]
    fn help_is_made_of_the_options_and_has_80_columns() {
        let expected = "\
usage: it [options] file
  -t, --time=SECONDS          how long it takes
      --tds_max=N             threads
  -s, --sync                  synchronously
  -q                          quietly, so that nothing is said of what was done
                              and what was not
  file                        what is read
Notes.
";
        assert_eq!(IT.help(), expected);
    }

    fn read(order: OptionOrder, line: &str) -> Result<(String, String), String> {
        let program = ProgramSyntax { order, ..IT };
        let line: Vec<String> = line.split_whitespace().map(String::from).collect();
        let words = program.read(&line)?;
        let given = words.given.iter();
        let given = given.map(|given| format!("{}={}", given.shown, given.value));
        Ok((
            given.collect::<Vec<_>>().join(" "),
            words.arguments.join(" "),
        ))
    }

    #[test]
    fn options_are_read_as_getopt_long_reads_them() {
        let read = |line| read(OptionOrder::Anywhere, line);
        let said = |given: &str, arguments: &str| Ok((given.into(), arguments.into()));
        assert_eq!(
            read("-sqt10 a --ti 7 b"),
            said("-s= -q= -t=10 --time=7", "a b")
        );
        assert_eq!(read("--tds=4 -- -s --x"), said("--tds_max=4", "-s --x"));
        assert_eq!(read("- -t -1"), said("-t=-1", "-"));
        for (line, refusal) in [
            ("--t 1", "--t: this may be --time or --tds_max"),
            ("--sync=1", "--sync takes no value"),
            ("--time", "--time: a value is missing"),
            ("-t", "-t: a value is missing"),
            ("-sx", "-x: it has no such option"),
            ("--x", "--x: it has no such option"),
            ("--=1", "--: it has no such option"),
        ] {
            assert_eq!(read(line), Err(refusal.into()), "{line}");
        }
    }

    #[test]
    fn options_that_come_first_end_at_the_first_argument() {
        let expected = ("-s=".to_string(), "read -s --time".to_string());
        assert_eq!(read(OptionOrder::First, "-s read -s --time"), Ok(expected));
    }

    #[test]
    fn numbers_are_cs() {
        for (text, value) in [
            ("10", Some(10)),
            ("010", Some(8)),
            ("0x1F", Some(31)),
            ("0XfF", Some(255)),
            ("0", Some(0)),
            ("08", None),
            ("0x", None),
            ("-1", None),
            ("+1", None),
            ("", None),
            ("18446744073709551616", None),
        ] {
            assert_eq!(number(text), value, "{text}");
        }
        assert_eq!(leading_number("0x10k"), Some((16, "k")));
        assert_eq!(leading_number("0k"), Some((0, "k")));
        assert_eq!(leading_number("k"), None);
    }
}
