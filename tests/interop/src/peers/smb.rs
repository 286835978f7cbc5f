//! Every SMB dialect, protection and account against one server: each combination must support
//! everything that filestone does, or be refused where the protocol does not have it.

use super::checks;
use super::fixture::{DIRECTORY, FILE};
use crate::record::Record;
use crate::samba::{GUEST_SHARE, USER, USER_SHARE};
use crate::scenario::Bed;
use crate::table;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

/// Time limit of all combinations on one server: three times their duration on a host with slow
/// system calls.
const TABLE_LIMIT: Duration = Duration::from_secs(480);

/// Operations, and the object of a share that each is called on.
pub const PROBES: &[(&str, &str)] = &[
    ("echo", ""),
    ("create", ""),
    ("read", FILE),
    ("write", ""),
    ("query-info", FILE),
    ("set-info", ""),
    ("query-directory", DIRECTORY),
    ("lock", ""),
    ("flush", ""),
    ("session-setup", ""),
    ("tree-connect", ""),
    ("notify", ""),
];

/// A dialect, with filestone's name and smbclient's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    pub name: &'static str,
    pub for_smbclient: &'static str,
    /// Whether the dialect supports encryption, which came with 3.0.
    encrypts: bool,
}

const fn dialect(name: &'static str, for_smbclient: &'static str, encrypts: bool) -> Dialect {
    Dialect {
        name,
        for_smbclient,
        encrypts,
    }
}

/// All dialects that filestone supports, oldest first.
pub const DIALECTS: &[Dialect] = &[
    dialect("2.0.2", "SMB2_02", false),
    dialect("2.1", "SMB2_10", false),
    dialect("3.0", "SMB3_00", true),
    dialect("3.0.2", "SMB3_02", true),
    dialect("3.1.1", "SMB3_11", true),
];

/// Protection of messages against reading or changing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    Unsigned,
    Signed,
    Encrypted,
}

impl Protection {
    const ALL: [Self; 3] = [Self::Unsigned, Self::Signed, Self::Encrypted];

    const fn name(self) -> &'static str {
        match self {
            Self::Unsigned => "unsigned",
            Self::Signed => "signed",
            Self::Encrypted => "encrypted",
        }
    }

    const fn option(self) -> &'static str {
        match self {
            Self::Unsigned => "",
            Self::Signed => "--sign required",
            Self::Encrypted => "--encrypt required",
        }
    }
}

/// Account of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Account {
    Guest,
    User,
}

/// Reports a server's view of a run.
pub trait ServerProbe {
    /// Makes a run with this combination and returns the server's description of it. Fails if it
    /// does not match the options of the run.
    fn watch(&self, way: &Way, place: &Place) -> Result<String>;
}

/// Address and capabilities of a server.
pub struct Place {
    /// Host, with the port if it is not the standard SMB port.
    pub authority: String,
    /// Supported dialects.
    pub dialects: &'static [Dialect],
    /// File with the password of [`USER`].
    pub password_file: PathBuf,
}

impl Place {
    /// Returns the target URL of an object in the share for this account.
    pub fn target(&self, account: Account, object: &str) -> String {
        let authority = &self.authority;
        let target = match account {
            Account::Guest => format!("smb://{authority}/{GUEST_SHARE}/{object}"),
            Account::User => format!("smb://{USER}@{authority}/{USER_SHARE}/{object}"),
        };
        target.trim_end_matches('/').to_owned()
    }
}

/// A combination of dialect, protection and account.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    pub dialect: Dialect,
    pub protection: Protection,
    pub account: Account,
}

impl Way {
    /// Returns all combinations with these dialects.
    pub fn all(dialects: &[Dialect]) -> Vec<Self> {
        let mut ways = Vec::new();
        for &dialect in dialects {
            for protection in Protection::ALL {
                for account in [Account::Guest, Account::User] {
                    ways.push(Self {
                        dialect,
                        protection,
                        account,
                    });
                }
            }
        }
        ways
    }

    /// Whether the protocol has this combination: a guest has no session key, so nothing can be
    /// signed or encrypted (MS-SMB2, 3.2.5.3.1).
    fn is_possible(&self) -> bool {
        match (self.account, self.protection) {
            (_, Protection::Unsigned) => true,
            (Account::Guest, _) => false,
            (Account::User, Protection::Signed) => true,
            (Account::User, Protection::Encrypted) => self.dialect.encrypts,
        }
    }

    /// Returns the options of filestone.
    pub fn options(&self, password_file: &Path) -> String {
        let protection = self.protection.option();
        let mut options = format!("--dialect {} {protection}", self.dialect.name);
        if self.account == Account::User {
            options += &format!(" --password-file {}", password_file.display());
        }
        options
    }
}

/// Results of all runs of a combination.
#[derive(Default)]
struct Row {
    probes: usize,
    mix: Option<f64>,
    load: Option<f64>,
}

impl Row {
    fn cells(&self) -> [String; 3] {
        let figure = |figure: Option<f64>| figure.map_or("–".to_owned(), table::thousands);
        [
            format!("{} of {}", self.probes, PROBES.len()),
            figure(self.mix),
            figure(self.load),
        ]
    }
}

/// Tests all combinations on a server. Returns whether each result was as expected.
pub fn ways(bed: &Bed, place: &Place, witness: &dyn ServerProbe) -> Result<bool> {
    let start = Instant::now();
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    for way in Way::all(place.dialects) {
        if start.elapsed() > TABLE_LIMIT {
            bail!(
                "the ways of {} take longer than {TABLE_LIMIT:?}",
                place.authority
            );
        }
        let name = [
            way.dialect.name.to_owned(),
            way.protection.name().to_owned(),
            format!("{:?}", way.account).to_lowercase(),
        ];
        let mut row = Row::default();
        let verdict = if way.is_possible() {
            witness
                .watch(&way, place)
                .and_then(|said| go(bed, place, &way, &mut row).map(|()| said))
        } else {
            is_refused(bed, place, &way)
        };
        let said = verdict.unwrap_or_else(|error| {
            wrong.push(format!("{}: {error:#}", name.join(" ")));
            "wrong".into()
        });
        let cells = row.cells().into_iter().chain([said]);
        rows.push(name.into_iter().chain(cells).collect());
    }
    let head = [
        "dialect",
        "protection",
        "as",
        "probes",
        "mix",
        "office",
        "server",
    ];
    println!();
    Ok(checks::is_right(&head, &rows, &wrong))
}

/// Runs every probe, the default mix and a load with one combination.
fn go(bed: &Bed, place: &Place, way: &Way, row: &mut Row) -> Result<()> {
    let options = way.options(&place.password_file);
    let count = bed.count;
    let mut wrong = Vec::new();
    for (operation, object) in PROBES {
        let target = place.target(way.account, object);
        let line = format!("{operation} {target} --count {count} --in-flight 4 {options}");
        match checks::evaluate(&bed.probe(&line)?, bed.count) {
            Ok(verdict) if verdict == "ok" => row.probes += 1,
            Ok(other) | Err(other) => wrong.push(format!("{operation}: {other}")),
        }
    }
    if let Some(first) = wrong.first() {
        bail!("{} of {} probes: {first}", wrong.len(), PROBES.len());
    }
    let target = place.target(way.account, "");
    row.mix = Some(mix(bed, &target, &options).context("the default mix")?);
    row.load = Some(load(bed, &target, &options).context("the load office")?);
    Ok(())
}

/// Runs the default mix and returns the number of successful operations; fails unless all succeed.
fn mix(bed: &Bed, target: &str, options: &str) -> Result<f64> {
    let line = format!(
        "mix {target} --offered 300 --duration 1s --clients 2 --remove-file-set --format json --no-calibrate \
         --timeout 10s {options}"
    );
    let record = Record::read(&bed.run(&line)?)?;
    let (scheduled, ok) = (
        record.number("/totals/ledger/scheduled")?,
        record.number("/totals/ledger/ok")?,
    );
    if ok != scheduled {
        bail!("{ok} of {scheduled} ok: {:?}", record.failures());
    }
    Ok(ok)
}

/// Runs one iteration of the load `office` and returns the number of operations; fails unless each
/// has the expected result.
fn load(bed: &Bed, target: &str, options: &str) -> Result<f64> {
    let line = format!("replay office --layer {target} --run-once --format json {options}");
    let record = Record::read(&bed.run(&line)?)?;
    let mismatches = record.number("/replay/mismatch_count")?;
    if mismatches > 0.0 {
        bail!(
            "{mismatches} mismatches: {:?}",
            record.list("/replay/mismatches")
        );
    }
    record.number("/totals/ledger/scheduled")
}

/// Checks that a combination that the protocol does not have ends before the measurement, with the
/// reason.
fn is_refused(bed: &Bed, place: &Place, way: &Way) -> Result<String> {
    let options = way.options(&place.password_file);
    let target = place.target(way.account, "");
    let output = bed.probe(&format!("echo {target} --count 10 {options}"))?;
    // A missing feature of the dialect is refused first.
    let lacks_encryption = way.protection == Protection::Encrypted && !way.dialect.encrypts;
    let word = match way.account {
        Account::Guest if !lacks_encryption => "guest",
        Account::Guest | Account::User => "encrypt",
    };
    says_why(&output, word)
}

/// Returns the first error of a run that did not start; it must contain this word.
fn says_why(output: &Output, word: &str) -> Result<String> {
    let said = String::from_utf8_lossy(&output.stderr);
    let error = said.lines().find_map(|line| line.strip_prefix("error: "));
    match (output.status.code(), error) {
        (Some(2 | 3), Some(error)) if error.contains(word) => Ok(format!("refused: {error}")),
        _ => bail!(
            "is not refused for that, but ended with {}: {said}",
            output.status
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_and_those_that_there_are() {
        let ways = Way::all(DIALECTS);
        assert_eq!(ways.len(), 30);
        let possible = ways.iter().filter(|way| way.is_possible());
        // As guest five; as the user five unsigned, five signed, three encrypted.
        assert_eq!(possible.count(), 18);
    }

    #[test]
    fn a_share_alone_has_no_slash_behind_it() {
        let place = Place {
            authority: "127.0.0.1:4451".into(),
            dialects: DIALECTS,
            password_file: PathBuf::from("/password"),
        };
        assert_eq!(
            place.target(Account::Guest, ""),
            "smb://127.0.0.1:4451/guest"
        );
        let file = place.target(Account::User, FILE);
        assert_eq!(file, "smb://bench@127.0.0.1:4451/users/file");
    }
}
