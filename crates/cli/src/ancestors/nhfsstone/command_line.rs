//! nhfsstone's own command line, read as nhfsstone 1.22 reads it.
//!
//! Options come first; letters may stand together, and a value is the next word or what stands
//! behind its letter (`-l 30`, `-vl 30`, `-l30`). The first word that does not begin with `-` is a directory,
//! and so is all that follows. Values must begin with a digit; nhfsstone passed over what came
//! behind the digits, which is refused here, as is what it divided by zero for.

use crate::ancestors::ending::Refusal;
use crate::ancestors::getopt::{Argument, Known, Order, Program};
use crate::options::limits::CLIENTS_MAX;
use crate::options::target::{self, Target};
use crate::report::nhfsstone::PROCEDURES_OF_NFSV2;
use filestone_model::operation::OpKind;
use std::path::PathBuf;

/// nhfsstone, as its help shows it.
pub const PROGRAM: Program = Program {
    name: "nhfsstone",
    usage: &[
        "nhfsstone [-v] [[-t secs] | [-c calls]] [-l load] [-p nprocs]\n                 \
         [-m mixfile] [dir]...",
    ],
    arguments: &[Argument {
        name: "dir",
        help: "where files are made, on a mounted server; or nfs://server/path or server:/path, \
               without a mount (default: .)",
    }],
    notes: "",
    options: "
-c calls    calls to make, of all processes together (default: 5000)
-h, --help  print this help
-l load     calls per second, of all processes together (default: 30)
-m mixfile  nfsstat's output, whose mix is generated (default: a mix of its own)
-p nprocs   processes, each with its own files (default: 7)
-T opnum
-t secs     make as many calls as are due in that time; -c comes before it
-v          print a table of the operations, too
",
    order: Order::First,
};

/// nhfsstone's exit code for everything that is wrong. A run that it calls invalid ends with 0.
const FAILURE: u8 = 1;

const CALLS_DEFAULT: u64 = 5000;
const LOAD_DEFAULT: u64 = 30;
const PROCESSES_DEFAULT: u32 = 7;
/// Largest `-c`, `-l` and `-t`, so that products fit 64 bits; nhfsstone's ints ended there.
const NUMBER_MAX: u64 = i32::MAX as u64;

/// What nhfsstone was asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// `-h` or `--help`, which is none of nhfsstone's.
    Help,
    /// Generate a load.
    Run(Run),
}

/// A load and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// How many calls, of all processes together: `-c`, or else `-t` times `-l`.
    pub calls: u64,
    /// `-l`: calls per second, of all processes together; at least 1.
    pub load: u64,
    /// `-p`: clients, each with its own files; at least 1.
    pub processes: u32,
    /// `-m`; `None` for nhfsstone's own mix.
    pub mix_file: Option<PathBuf>,
    /// `-T`: nothing but this.
    pub only: Option<OpKind>,
    /// Where: process i uses directory i modulo their number. Never empty, and all of one sort.
    pub directories: Vec<Directory>,
    /// `-v`.
    pub is_verbose: bool,
}

/// Where files are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Directory {
    /// A directory of this host, on which a server is mounted.
    Mounted(PathBuf),
    /// A directory of a server, without a mount, which nhfsstone did not know.
    Server(Target),
}

/// Options as they stand.
#[derive(Default)]
struct Options {
    calls: Option<u64>,
    seconds: Option<u64>,
    load: Option<u64>,
    processes: Option<u32>,
    mix_file: Option<PathBuf>,
    only: Option<OpKind>,
    is_verbose: bool,
    is_help: bool,
}

/// Reads a command line without the program's name.
pub fn parse(arguments: &[String]) -> Result<Request, Refusal> {
    let mut options = Options::default();
    let mut rest = arguments.iter();
    let mut directories = Vec::new();
    while let Some(word) = rest.next() {
        match word.strip_prefix('-') {
            Some("-help") => options.is_help = true,
            Some("-") => break,
            Some(letters) => options.cluster(letters, &mut rest)?,
            None => {
                directories.push(word.as_str());
                break;
            }
        }
    }
    if options.is_help {
        return Ok(Request::Help);
    }
    directories.extend(rest.map(String::as_str));
    options.run(&directories).map(Request::Run)
}

/// Whether what stands behind the letter of an option is its value: not if all of it are
/// letters of further options, whose values follow as words of their own.
fn is_value(behind: &str) -> bool {
    let has_option = |letter: char| PROGRAM.known().any(|known| known.short == Some(letter));
    !behind.chars().all(has_option)
}

fn refusal(what: impl Into<String>, help: impl Into<String>) -> Refusal {
    Refusal {
        what: what.into(),
        help: Some(help.into()),
        code: FAILURE,
    }
}

/// In nhfsstone's words.
fn illegal(name: &str, value: &str, expected: &str) -> Refusal {
    refusal(
        format!("illegal {name} value {value}"),
        format!("expected {expected}"),
    )
}

fn number(name: &str, value: &str, least: u64, most: u64) -> Result<u64, Refusal> {
    let is_number = value.starts_with(|first: char| first.is_ascii_digit());
    let number = value.parse().ok().filter(|_| is_number);
    let number = number.filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| {
        let expected = format!("a whole number from {least} to {most}");
        illegal(name, value, &expected)
    })
}

impl Options {
    /// Reads one word of options such as `vl`, whose values are the next words, or `l30`.
    fn cluster<'line>(
        &mut self,
        letters: &str,
        rest: &mut impl Iterator<Item = &'line String>,
    ) -> Result<(), Refusal> {
        for (place, letter) in letters.char_indices() {
            let option = PROGRAM.known().find(|known| known.short == Some(letter));
            match option.as_ref().map(Known::takes_value) {
                Some(true) => {
                    let behind = &letters[place + letter.len_utf8()..];
                    if is_value(behind) {
                        return self.set(letter, behind);
                    }
                    let value = rest.next().ok_or_else(|| {
                        let what = format!("-{letter}: a value is missing");
                        refusal(what, "it is the word behind the option")
                    })?;
                    self.set(letter, value)?;
                }
                Some(false) if letter == 'v' => self.is_verbose = true,
                Some(false) => self.is_help = true,
                None => {
                    let what = format!("-{letter}: nhfsstone has no such option");
                    return Err(refusal(
                        what,
                        "filestone as nhfsstone -h shows its command line",
                    ));
                }
            }
        }
        Ok(())
    }

    fn set(&mut self, letter: char, value: &str) -> Result<(), Refusal> {
        match letter {
            'c' => self.calls = Some(number("calls", value, 0, NUMBER_MAX)?),
            'l' => self.load = Some(number("load", value, 1, NUMBER_MAX)?),
            'p' => self.processes = Some(number("procs", value, 1, CLIENTS_MAX.into())? as u32),
            't' => self.seconds = Some(number("time", value, 0, NUMBER_MAX)?),
            'T' => self.only = Some(test_operation(value)?),
            _ => self.mix_file = Some(value.into()),
        }
        Ok(())
    }

    fn run(self, directories: &[&str]) -> Result<Run, Refusal> {
        let load = self.load.unwrap_or(LOAD_DEFAULT);
        // To nhfsstone, 0 calls and 0 seconds are as good as not given.
        let calls = self.calls.filter(|calls| *calls > 0);
        let in_time = self.seconds.filter(|seconds| *seconds > 0);
        let in_time = in_time.map(|seconds| seconds * load);
        let directories = match directories {
            [] => &["."],
            directories => directories,
        };
        let directories = directories.iter().map(|text| directory(text));
        let directories: Vec<Directory> = directories.collect::<Result<_, _>>()?;
        let is_mounted = |directory: &Directory| matches!(directory, Directory::Mounted(_));
        let mounted = directories.iter().filter(|one| is_mounted(one)).count();
        if mounted > 0 && mounted < directories.len() {
            return Err(refusal(
                "some directories are mounted and some are named by their server",
                "name all of them in one way: the two are measured differently",
            ));
        }
        Ok(Run {
            calls: calls.or(in_time).unwrap_or(CALLS_DEFAULT),
            load,
            processes: self.processes.unwrap_or(PROCESSES_DEFAULT),
            mix_file: self.mix_file,
            only: self.only,
            directories,
            is_verbose: self.is_verbose,
        })
    }
}

/// `-T`: the number of a procedure of NFSv2.
fn test_operation(value: &str) -> Result<OpKind, Refusal> {
    let last = PROCEDURES_OF_NFSV2.len() as u64 - 1;
    let place = number("test", value, 0, last)? as usize;
    match PROCEDURES_OF_NFSV2.get(place) {
        Some((_, Some(kind))) => Ok(*kind),
        Some((name, None)) => {
            let expected = format!("a procedure that NFSv3 has, too; {value} is {name}");
            Err(illegal("test", value, &expected))
        }
        None => Err(illegal("test", value, "a procedure of NFSv2")),
    }
}

/// A path, unless it begins as a server does: `nfs://` or `host:/`. One that is meant for a path
/// all the same can be given as `./host:/`.
fn directory(text: &str) -> Result<Directory, Refusal> {
    let host = text.split_once(":/").map(|(host, _)| host);
    if text.is_empty() {
        return Err(refusal(
            "the name of a directory is empty",
            "expected a path",
        ));
    }
    if host.is_none_or(|host| host.is_empty() || host.contains('/')) {
        return Ok(Directory::Mounted(text.into()));
    }
    let target = target::parse(text);
    let target = target.map_err(|expected| refusal(format!("{text}: {expected}"), USE_A_PATH))?;
    Ok(Directory::Server(target))
}

const USE_A_PATH: &str = "a directory of this host is named by a path such as ./a:/b";

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<Request, Refusal> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        parse(&words)
    }

    fn run_of(line: &str) -> Run {
        match parse_line(line) {
            Ok(Request::Run(run)) => run,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn refused(line: &str) -> Refusal {
        match parse_line(line) {
            Err(refusal) => refusal,
            Ok(request) => panic!("{line}: {request:?}"),
        }
    }

    #[test]
    fn defaults_are_nhfsstones() {
        let expected = Run {
            calls: 5000,
            load: 30,
            processes: 7,
            mix_file: None,
            only: None,
            directories: vec![Directory::Mounted(".".into())],
            is_verbose: false,
        };
        assert_eq!(run_of(""), expected);
    }

    #[test]
    fn letters_may_stand_together_and_values_are_the_next_words() {
        let run = run_of("-vlp 100 3 -m mix.txt -c 900 /mnt/a -v /mnt/b");
        assert!(run.is_verbose);
        assert_eq!((run.load, run.processes, run.calls), (100, 3, 900));
        assert_eq!(run.mix_file, Some("mix.txt".into()));
        let directories = ["/mnt/a", "-v", "/mnt/b"];
        assert_eq!(
            run.directories,
            directories.map(|path| Directory::Mounted(path.into()))
        );
        assert_eq!(
            run_of("-- -v").directories,
            [Directory::Mounted("-v".into())]
        );
    }

    #[test]
    fn a_time_is_so_many_calls_unless_calls_are_given() {
        assert_eq!(run_of("-t 60").calls, 1800);
        assert_eq!(run_of("-t 60 -l 2000").calls, 120_000);
        assert_eq!(run_of("-t 60 -c 10").calls, 10);
        assert_eq!(run_of("-c 0 -t 0").calls, 5000);
        assert_eq!(
            run_of("-t 2147483647 -l 2147483647").calls,
            NUMBER_MAX * NUMBER_MAX
        );
    }

    #[test]
    fn values_must_be_numbers_and_the_words_are_nhfsstones() {
        for (line, what) in [
            ("-c ten", "illegal calls value ten"),
            ("-l -3", "illegal load value -3"),
            ("-l 0", "illegal load value 0"),
            ("-l +3", "illegal load value +3"),
            ("-l 30x", "illegal load value 30x"),
            ("-p 0", "illegal procs value 0"),
            ("-p x", "illegal procs value x"),
            ("-t 1.5", "illegal time value 1.5"),
            ("-T 18", "illegal test value 18"),
            ("-T root", "illegal test value root"),
            (
                "-c 99999999999999999999",
                "illegal calls value 99999999999999999999",
            ),
        ] {
            assert_eq!(refused(line).what, what);
        }
        assert_eq!(refused("-l").what, "-l: a value is missing");
        assert_eq!(refused("-l").code, 1);
        assert!(refused("-x").what.contains("no such option"));
    }

    #[test]
    fn a_value_may_stand_behind_its_letter() {
        let run = run_of("-vl30 -c100 -p2 -mmix.txt -t60 /mnt");
        assert!(run.is_verbose);
        assert_eq!((run.load, run.calls, run.processes), (30, 100, 2));
        assert_eq!(run.mix_file, Some("mix.txt".into()));
        assert_eq!(refused("-l30x").what, "illegal load value 30x");
        assert_eq!(run_of("-T17").only, Some(OpKind::FsStat));
    }

    #[test]
    fn one_operation_is_named_by_its_number_in_nfsv2() {
        assert_eq!(run_of("-T 0").only, Some(OpKind::Null));
        assert_eq!(run_of("-T 4").only, Some(OpKind::Lookup));
        assert_eq!(run_of("-T 17").only, Some(OpKind::FsStat));
        let help = refused("-T 7").help.unwrap_or_default();
        assert!(help.ends_with("7 is wrcache"), "{help}");
    }

    #[test]
    fn a_directory_may_be_one_of_a_server() {
        let target = |host: &str, port, path: &str| {
            Directory::Server(Target {
                scheme: None,
                host: host.into(),
                port,
                path: path.into(),
            })
        };
        assert_eq!(
            run_of("nfs://srv:2050/x srv:/y [::1]:/z").directories,
            [
                target("srv", Some(2050), "/x"),
                target("srv", None, "/y"),
                target("::1", None, "/z"),
            ]
        );
        for path in ["./a:/b", "/a:/b", ":/b", "a:b"] {
            let mounted = [Directory::Mounted(path.into())];
            assert_eq!(run_of(path).directories, mounted);
        }
        assert!(
            refused("smb://srv/share")
                .what
                .starts_with("smb://srv/share: expected nfs://")
        );
        assert!(
            refused("/mnt srv:/x")
                .what
                .starts_with("some directories are mounted")
        );
    }

    #[test]
    fn the_help_names_every_option_but_the_hidden_one() {
        let help = PROGRAM.help();
        for letter in ['c', 'l', 'm', 'p', 't', 'v'] {
            assert!(help.contains(&format!("\n  -{letter} ")), "{letter}");
        }
        assert!(!help.contains("-T"), "{help}");
    }

    #[test]
    fn help_comes_before_everything() {
        assert_eq!(parse_line("-h"), Ok(Request::Help));
        assert_eq!(parse_line("-v --help"), Ok(Request::Help));
    }
}
