//! Command line of nct, parsed like the original.
//!
//! Options come first, as in getopt (`-d10`, `-d 10`, `-vd10`, `--dur=10`); the first word that is
//! not an option is the command, which has its own options and arguments. Numbers are in C's
//! notation (`10`, `0xa`, `012`) and take suffixes: lower-case letters are powers of 1024,
//! upper-case ones powers of 1000, `b` is 512 and `w` the size of an int.

use crate::compat::getopt::{Argument, OptionOrder, ProgramSyntax, leading_number};
use crate::options::target::{self, ParsedTarget};

/// Action that the command line requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NctRequest {
    /// Usage of nct or of a command (`-h`).
    Help(Option<NctCommand>),
    /// Print the version (`-V`).
    Version,
    /// Run one of the measuring commands.
    Measure(Measure),
    /// The interactive shell.
    Shell,
}

/// nct's commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NctCommand {
    /// NFSPROC3_NULL.
    Null,
    /// NFSPROC3_GETATTR of one object.
    GetAttr,
    /// NFSPROC3_READ of one file.
    Read,
    /// An interactive prompt with `help`.
    Shell,
}

const OPTIONS: &str = "
-d, --duration=TIME    how long each job goes on: seconds, or with s, m, h, d, w, y or c; with \
    0, each job makes one request (default: 60)
-h, --help             print this help
-j, --jobs_max=JOBS    requests in flight (default: 1)
-m, --mark=SECONDS     print a status row every so many seconds (default: 0, none)
-o, --outdir=DIR       write results into DIR, beside what is there, and print a summary
-p, --port=PORT        port of the NFS server (default: 2049)
-T, --term=TERM        gnuplot terminal, and extension of the graphs (default: png)
-t, --tds_max=THREADS  reply threads: workers of filestone, among which the jobs are shared out, \
    each with connections of its own (default: 1)
-V, --version          print the version
-v                     say more
";

/// nct, with its help.
pub const PROGRAM: ProgramSyntax = ProgramSyntax {
    name: "nct",
    usage: &[
        "nct [-v] [-d duration] [-j jobs] [-m mark] [-o dir] [-p port]\n           \
         [-T term] [-t threads] command [args...]",
        "nct -h | -V",
    ],
    arguments: &[
        Argument {
            name: "command",
            help: "getattr, null, read or shell",
        },
        Argument {
            name: "args",
            help: "what it works on: [user@]host[:path]; read takes the bytes of a READ, too \
                   (default: 4096)",
        },
    ],
    notes: "Numbers may be hexadecimal (0x10) or octal (010), and end in k, m, g (powers of\n\
            1024) or K, M, G (powers of 1000). TXMB and RXMB are 2^20 bytes, as nct meant\n\
            them.\n",
    options: OPTIONS,
    order: OptionOrder::First,
};

/// A measuring command with its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    /// Command to run.
    pub command: NctCommand,
    /// Target to measure.
    pub target: ParsedTarget,
    /// Bytes per READ.
    pub length: u32,
    /// Options before the command.
    pub options: NctOptions,
}

/// Options before the command; `-v` may also follow it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NctOptions {
    /// Duration (`-d`), in seconds; with 0, each job makes one request.
    pub duration: u64,
    /// Requests in flight (`-j`); with 0, no request is sent.
    pub jobs: u32,
    /// Seconds per row (`-m`); 0 prints none.
    pub mark: u64,
    /// `-o`.
    pub directory: Option<String>,
    /// `-p`.
    pub port: u16,
    /// `-T`.
    pub terminal: String,
    /// Number of reply threads (`-t`).
    pub threads: u32,
    /// Number of `-v` options.
    pub verbosity: u32,
}

impl Default for NctOptions {
    fn default() -> Self {
        Self {
            duration: 60,
            jobs: 1,
            mark: 0,
            directory: None,
            port: 2049,
            terminal: "png".into(),
            threads: 1,
            verbosity: 0,
        }
    }
}

/// Maximum number of reply threads; nct applies it without a message.
const THREADS_MAX: u32 = 128;
/// Size of nct's request pool, beyond which it deadlocks.
const JOBS_MAX: u64 = 1024;

/// Parses nct's command line; an error is one line in filestone's style.
pub fn parse(arguments: &[String]) -> Result<NctRequest, String> {
    let words = PROGRAM.read(arguments)?;
    let mut options = NctOptions::default();
    let (mut is_help, mut is_version) = (false, false);
    for given in &words.given {
        match given.option.short {
            Some('h') => is_help = true,
            Some('V') => is_version = true,
            letter => options
                .set(letter.unwrap_or_default(), given.value)
                .map_err(|expected| format!("{} {}: {expected}", given.shown, given.value))?,
        }
    }
    match words.arguments.split_first() {
        _ if is_help => Ok(NctRequest::Help(None)),
        _ if is_version => Ok(NctRequest::Version),
        Some((word, rest)) => command(options, word, rest),
        None => Err("nct: a command is missing; expected null, getattr, read or shell".into()),
    }
}

impl NctOptions {
    fn set(&mut self, letter: char, value: &str) -> Result<(), String> {
        match letter {
            'v' => self.verbosity += 1,
            'd' => self.duration = seconds(value).ok_or(DURATION)?,
            'j' => {
                self.jobs = number(value)
                    .filter(|jobs| *jobs <= JOBS_MAX)
                    .ok_or("expected a number of jobs up to 1024")?
                    as u32;
            }
            'm' => self.mark = number(value).filter(|time| *time <= 3600).ok_or(MARK)?,
            'o' => self.directory = Some(value.into()),
            'p' => {
                self.port = number(value)
                    .and_then(|port| u16::try_from(port).ok())
                    .filter(|port| *port > 0)
                    .ok_or("expected a port from 1 to 65535")?;
            }
            'T' => {
                let is_plain = value.chars().all(|letter| letter.is_ascii_alphanumeric());
                if value.is_empty() || !is_plain {
                    return Err("expected a gnuplot terminal such as png or svg".into());
                }
                self.terminal = value.into();
            }
            _ => {
                let threads = number(value)
                    .filter(|threads| *threads > 0)
                    .ok_or(THREADS)?;
                self.threads = threads.min(u64::from(THREADS_MAX)) as u32;
            }
        }
        Ok(())
    }
}

const DURATION: &str = "expected seconds, or a number with s, m, h, d, w, y or c";
const MARK: &str = "expected seconds from 0 to 3600";
const THREADS: &str = "expected a number of threads from 1 to 128";

fn command(mut options: NctOptions, word: &str, rest: &[&str]) -> Result<NctRequest, String> {
    let command = match word {
        "null" => NctCommand::Null,
        "getattr" => NctCommand::GetAttr,
        "read" => NctCommand::Read,
        "shell" => NctCommand::Shell,
        _ => {
            return Err(format!(
                "nct has no command \"{word}\"; expected null, getattr, read or shell"
            ));
        }
    };
    let mut positional = Vec::new();
    let mut is_help = false;
    for word in rest {
        match word.strip_prefix('-') {
            Some("-help") => is_help = true,
            Some(letters) if !letters.is_empty() && positional.is_empty() => {
                for letter in letters.chars() {
                    match letter {
                        'v' => options.verbosity += 1,
                        'h' => is_help = true,
                        _ => return Err(format!("-{letter}: this command has no such option")),
                    }
                }
            }
            _ => positional.push(*word),
        }
    }
    if is_help {
        return Ok(NctRequest::Help(Some(command)));
    }
    if command == NctCommand::Shell {
        return Ok(NctRequest::Shell);
    }
    measure(options, command, &positional).map(NctRequest::Measure)
}

fn measure(
    options: NctOptions,
    command: NctCommand,
    positional: &[&str],
) -> Result<Measure, String> {
    let (target, length) = match (command, positional) {
        (_, [target]) => (target, None),
        (NctCommand::Read, [target, length]) => (target, Some(*length)),
        (_, []) => return Err("the target is missing; expected [user@]host[:path]".into()),
        (NctCommand::Read, [_, _, extraneous, ..]) | (_, [_, extraneous, ..]) => {
            return Err(format!("extraneous argument \"{extraneous}\""));
        }
    };
    Ok(Measure {
        command,
        target: target::parse_nct(target).map_err(|expected| {
            format!(
                "{target}: {}",
                expected.replace("nfs://host[:port]/path or ", "")
            )
        })?,
        length: length.map_or(Ok(4096), read_length)?,
        options,
    })
}

fn read_length(text: &str) -> Result<u32, String> {
    // nct aborts one message header short of 256 KiB; the whole 256 KiB work here.
    const LENGTHS: std::ops::RangeInclusive<u64> = 512..=262_144;
    match number(text) {
        Some(length) if LENGTHS.contains(&length) => Ok(length as u32),
        _ => Err(format!(
            "{text}: expected a length from 512 to 256k bytes (k is 1024, K is 1000)"
        )),
    }
}

/// Parses a number with nct's suffix.
fn number(text: &str) -> Option<u64> {
    let (number, suffix) = leading_number(text)?;
    let mut suffix = suffix.chars();
    let factor = match suffix.next() {
        None => 1,
        Some('b') => 512,
        Some('w') => 4,
        Some(letter) => {
            let power = 1 + "kmgtp".find(letter.to_ascii_lowercase())? as u32;
            let base: u64 = if letter.is_ascii_lowercase() {
                1024
            } else {
                1000
            };
            base.pow(power)
        }
    };
    match suffix.next() {
        None => number.checked_mul(factor),
        Some(_) => None,
    }
}

/// Parses a number of seconds, minutes, hours, days, weeks, years or centuries.
fn seconds(text: &str) -> Option<u64> {
    const YEAR: u64 = 365 * 86_400;
    let (number, unit) = leading_number(text)?;
    let factor = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        "y" => YEAR,
        "c" => 100 * YEAR,
        _ => return None,
    };
    // The nanoseconds must fit 64 bits: 584 years.
    let seconds = number.checked_mul(factor)?;
    (seconds <= u64::MAX / 1_000_000_000).then_some(seconds)
}

#[cfg(test)]
mod tests;
