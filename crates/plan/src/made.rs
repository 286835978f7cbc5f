//! The names that a run can create in its directory. Clean-up removes these names and no others:
//! another user may put files there during the run.
//!
//! Names follow rules: a probe numbers its files, a fleet has a prefix for each group, and the
//! compiled load contains the names that its lines create. A marker file records the rule, so that
//! a later run removes only the names of the run that was killed.
//!
//! Paths are relative to the run's directory, with slashes. Letters are compared
//! case-insensitively: SMB ignores case, and loads open `~DMTMP` by the name `~dmtmp`.

use crate::plan::FleetPlan;
use filestone_workload::load::Load;
use filestone_workload::load::created::{CLIENT, Created, fingerprint, with_placeholder};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Prefix of the rule in a marker file.
const LINE: &str = "names: ";
/// Maximum number of paths of foreign objects that are stored for the message.
const KEPT_MAX: usize = 3;

/// The names that a run can create in its directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeNames {
    rule: Rule,
    /// Range of the clients' numbers.
    clients: Range<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Rule {
    /// Any name: for layers that execute single actions without a load.
    Any,
    /// Names of a probe.
    Probe,
    /// Names of a fleet: `client<number>/<prefix>-<number>`.
    Fleet(BTreeSet<String>),
    /// Names that lines of loads create.
    Loads(Arc<Created>),
}

/// Objects that were not removed, because the run has not created them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// Number of objects; a directory counts once, without its content.
    pub count: u64,
    /// Paths of the first objects.
    pub paths: Vec<Box<[u8]>>,
}

impl Kept {
    /// Counts another object.
    pub fn add(&mut self, path: &[u8]) {
        self.count += 1;
        if self.paths.len() < KEPT_MAX {
            self.paths.push(path.into());
        }
    }

    /// Adds the objects of `other`.
    pub fn merge(&mut self, other: Self) {
        self.count += other.count;
        let room = KEPT_MAX.saturating_sub(self.paths.len());
        self.paths.extend(other.paths.into_iter().take(room));
    }

    /// Whether everything was removed.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, path) in self.paths.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{}", String::from_utf8_lossy(path))?;
        }
        match self.count.saturating_sub(self.paths.len() as u64) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

impl MadeNames {
    /// Returns the rule for all names.
    pub const fn any() -> Self {
        Self {
            rule: Rule::Any,
            clients: 0..u32::MAX,
        }
    }

    /// Returns the names of a probe with this number of clients.
    pub const fn of_probe(clients: u32) -> Self {
        Self {
            rule: Rule::Probe,
            clients: 0..clients,
        }
    }

    /// Returns the names of a fleet.
    pub fn of_fleet(fleet: &FleetPlan) -> Self {
        let prefixes = fleet.groups.iter().map(|group| group.prefix.to_lowercase());
        Self {
            rule: Rule::Fleet(prefixes.collect()),
            clients: 0..fleet.clients(),
        }
    }

    /// Returns the names that clients of these numbers create with these loads.
    pub fn of_loads(loads: &[Arc<Load>], clients: Range<u32>) -> Self {
        Self {
            rule: Rule::Loads(Arc::new(Created::of(loads))),
            clients,
        }
    }

    /// Whether the run can create an object at this path.
    pub fn has(&self, path: &[u8]) -> bool {
        match &self.rule {
            Rule::Any => true,
            Rule::Probe => self.is_of_probe(path),
            Rule::Fleet(prefixes) => self.is_of_fleet(prefixes, path),
            Rule::Loads(created) => self.is_of_loads(created, path),
        }
    }

    /// Whether the name is `client<n>`, `source<n>`, a letter with the client, the slot and the
    /// sequence in it, or a directory whose changes an SMB server reports.
    fn is_of_probe(&self, name: &[u8]) -> bool {
        let numbered = |head: &[u8]| self.number_after(name, head).is_some();
        numbered(b"client") || numbered(b"source") || self.is_numbered(name) || is_watched(name)
    }

    fn is_numbered(&self, name: &[u8]) -> bool {
        let Some((b'f', digits)) = name.split_first() else {
            return false;
        };
        let is_hexadecimal = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if digits.len() != 16 || !digits.iter().all(is_hexadecimal) {
            return false;
        }
        let digits = std::str::from_utf8(digits).ok();
        let number = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        // See `Probe::name`: the client is in the highest 20 bits.
        number.is_some_and(|number| number >> 44 < u64::from(self.clients.end))
    }

    fn number_after(&self, name: &[u8], head: &[u8]) -> Option<u32> {
        let (start, digits) = name.split_at_checked(head.len())?;
        let number = canonical(digits).filter(|_| start.eq_ignore_ascii_case(head))?;
        let number = u32::try_from(number).ok()?;
        self.clients.contains(&number).then_some(number)
    }

    fn is_of_fleet(&self, prefixes: &BTreeSet<String>, path: &[u8]) -> bool {
        let mut components = path.split(|byte| *byte == b'/');
        let client = components.next().unwrap_or_default();
        if self.number_after(client, b"client").is_none() {
            return false;
        }
        let (file, rest) = (components.next(), components.next());
        let is_of_group = |file: &[u8]| {
            let dash = file.iter().rposition(|byte| *byte == b'-');
            let (prefix, number) = file.split_at(dash.unwrap_or(0));
            let prefix = String::from_utf8_lossy(prefix).to_lowercase();
            canonical(number.get(1..).unwrap_or_default()).is_some() && prefixes.contains(&prefix)
        };
        rest.is_none() && file.is_none_or(is_of_group)
    }

    /// Whether a load creates the path. The names of a load are templates: a client's name in a
    /// path is replaced by the placeholder before the lookup.
    fn is_of_loads(&self, created: &Created, path: &[u8]) -> bool {
        if path.contains(&CLIENT) {
            return false;
        }
        let path = path.to_ascii_lowercase();
        if self.number_after(&path, b"client").is_some() || created.has(&path) {
            return true;
        }
        let mut tried = BTreeSet::new();
        let heads = path.windows(6).enumerate();
        for (at, _) in heads.filter(|(_, head)| *head == b"client") {
            let digits = path.get(at + 6..).unwrap_or_default().iter();
            let mut number = 0_u64;
            for (place, digit) in digits.take_while(|byte| byte.is_ascii_digit()).enumerate() {
                number = number.saturating_mul(10) + u64::from(digit - b'0');
                let is_one = u32::try_from(number).is_ok_and(|n| self.clients.contains(&n));
                if is_one && tried.insert(number) && created.has(&with_placeholder(&path, number)) {
                    return true;
                }
                // A number has no leading zeros.
                if number == 0 || place > 10 {
                    break;
                }
            }
        }
        false
    }

    /// Returns the line of a marker file that records the rule.
    pub fn line(&self) -> String {
        let Range { start, end } = self.clients;
        match &self.rule {
            Rule::Any => String::new(),
            Rule::Probe => format!("{LINE}probe {start} {end}\n"),
            Rule::Fleet(_) => format!("{LINE}fleet {:016x} {start} {end}\n", self.fingerprint()),
            Rule::Loads(created) => format!(
                "{LINE}load {:016x} {start} {end} {}\n",
                self.fingerprint(),
                created.loads()
            ),
        }
    }

    /// Returns a fingerprint of the rule. It is equal for all runs with the same names, whatever
    /// the number of clients.
    fn fingerprint(&self) -> u64 {
        match &self.rule {
            Rule::Any | Rule::Probe => 0,
            Rule::Fleet(prefixes) => {
                let prefixes: Vec<&str> = prefixes.iter().map(String::as_str).collect();
                fingerprint(prefixes.join("\n").as_bytes())
            }
            Rule::Loads(created) => created.fingerprint(),
        }
    }

    /// Returns the names of the run that wrote this marker file, if they follow the rule of this
    /// one. Marker files of older versions record no rule; then this one's applies. The error
    /// contains the rule in the marker file.
    pub fn recorded(&self, marker: &str) -> Result<Self, String> {
        let found = marker.lines().find_map(|line| line.strip_prefix(LINE));
        let (Some(line), false) = (found, self.rule == Rule::Any) else {
            return Ok(self.clone());
        };
        let mut words = line.splitn(5, ' ');
        let kind = words.next().unwrap_or_default();
        let own = self.line();
        let own_kind = own.strip_prefix(LINE).and_then(|own| own.split(' ').next());
        let same = match kind {
            "probe" => own_kind == Some(kind),
            _ => {
                let fingerprint = words.next();
                let of_own = format!("{:016x}", self.fingerprint());
                own_kind == Some(kind) && fingerprint == Some(of_own.as_str())
            }
        };
        let mut number = || words.next().and_then(|word| word.parse::<u32>().ok());
        match (same, number(), number()) {
            (true, Some(start), Some(end)) => Ok(Self {
                rule: self.rule.clone(),
                clients: start..end,
            }),
            _ => Err(match (kind, words.next()) {
                ("load", Some(loads)) => format!("a replay of {loads}"),
                ("fleet", _) => "a fleet with other groups".into(),
                _ => "another kind of run".into(),
            }),
        }
    }
}

/// Whether the path is `<client GUID>-<slot>`, or `file` or `file<n>` in it: see
/// `ClientState::own_path` of the SMB client.
fn is_watched(path: &[u8]) -> bool {
    let mut components = path.split(|byte| *byte == b'/');
    let directory = components.next().unwrap_or_default();
    let (file, rest) = (components.next(), components.next());
    let is_directory = directory.split_at_checked(32).is_some_and(|(guid, slot)| {
        let is_hexadecimal = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let slot = slot.strip_prefix(b"-").and_then(canonical);
        guid.iter().all(is_hexadecimal) && slot.is_some()
    });
    let is_file = |file: &[u8]| {
        let number = file.strip_prefix(b"file");
        number.is_some_and(|number| number.is_empty() || canonical(number).is_some())
    };
    is_directory && file.is_none_or(is_file) && rest.is_none()
}

/// Parses a number in the only form that filestone writes.
fn canonical(digits: &[u8]) -> Option<u64> {
    let is_shortest = digits.len() == 1 || digits.first() != Some(&b'0');
    if !is_shortest || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_workload::load::Compiler;

    fn load(text: &str) -> Arc<Load> {
        let mut compiler = Compiler::new("test.load");
        for line in text.lines() {
            compiler.line(line.as_bytes());
        }
        Arc::new(compiler.finish().expect("the load is right"))
    }

    const LOAD: &str = r#"
Mkdir "\clients\client1" *
Mkdir "\clients\client1\~DMTMP" *
NTCreateX "\clients\client1\~dmtmp\of_client1" 0x40 0x2 10 NT_STATUS_OK
NTCreateX "\clients\client1\only\looked\at" 0x40 0x1 11 *
Unlink "\clients\client1\never_made" 0x6 *
Mkdir "\clients\client1\a" *
NTCreateX "\clients\client1\a\file" 0x40 0x2 12 NT_STATUS_OK
Rename "\clients\client1\a" "\clients\client1\b" NT_STATUS_OK
NTCreateX "\clients\shared" 0x40 0x2 13 NT_STATUS_OK
"#;

    #[test]
    fn a_load_makes_the_names_that_its_lines_create_and_no_others() {
        let made = MadeNames::of_loads(&[load(LOAD)], 0..12);
        for own in [
            "client0",
            "client11",
            "CLIENT3",
            "client0/~DMTMP/of_client0",
            "client11/~dmtmp/OF_CLIENT11",
            "client0/a/file",
            // The directory was renamed.
            "client0/b",
            "client0/b/file",
            "shared",
        ] {
            assert!(made.has(own.as_bytes()), "{own}");
        }
        for other in [
            "",
            "client12",
            "client00",
            "client1x",
            "client0/thesis.doc",
            "client0/~dmtmp/of_client1",
            "client0/~dmtmp/of_client0/inside",
            "client0/never_made",
            "client0/only",
            "shared/inside",
            "client0/a/file2",
            "\0/a",
        ] {
            assert!(!made.has(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn random_strings_are_matched_by_their_sets() {
        let text = concat!(
            "RANDOMSTRING 1 \"/clients/client1/run[ab][0-9x]\"\n",
            "MKDIR3 \"$1\" *\n",
            "CREATE3 \"$1/file\" *\n",
        );
        let made = MadeNames::of_loads(&[load(text)], 0..2);
        for own in ["client0/runa0", "client1/runbx", "client1/runb9/file"] {
            // The set is three characters: 0, - and 9, and x.
            assert!(made.has(own.as_bytes()), "{own}");
        }
        for other in ["client0/runc0", "client0/runa00", "client0/runa0/other"] {
            assert!(!made.has(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn what_is_in_a_directory_of_random_name_has_its_next_name_after_a_rename() {
        let text = concat!(
            "RANDOMSTRING 1 \"/clients/client1/d[0-3]\"\n",
            "RANDOMSTRING 2 \"/clients/client1/e[0-3]\"\n",
            "MKDIR3 \"$1\" *\n",
            "CREATE3 \"$1/f\" *\n",
            "CREATE3 \"/clients/client1/d0/plain\" *\n",
            "RENAME3 \"$1\" \"$2\" *\n",
            "RENAME3 \"$2\" \"/clients/client1/last\" *\n",
            "RANDOMSTRING 3 \"/clients/client1/plain/r[0-3]\"\n",
            "CREATE3 \"$3\" *\n",
            "RENAME3 \"/clients/client1/plain\" \"/clients/client1/other\" *\n",
        );
        let made = MadeNames::of_loads(&[load(text)], 0..2);
        for own in [
            "client1/d3/f",
            "client0/e0/f",
            "client0/e3/plain",
            "client1/last/f",
            "client1/other/r0",
        ] {
            assert!(made.has(own.as_bytes()), "{own}");
        }
        for other in [
            "client0/e9/f",
            "client0/e0/g",
            "client0/f",
            "client0/last/f/f",
        ] {
            assert!(!made.has(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn probes_and_fleets_number_their_names() {
        let probe = MadeNames::of_probe(2);
        for own in [
            "client0",
            "client1",
            "source1",
            "f0000100000000fff",
            "90df1dd43c5da2de19f06efa5932c11a-0",
            "90df1dd43c5da2de19f06efa5932c11a-12/file",
            "90df1dd43c5da2de19f06efa5932c11a-12/file3",
        ] {
            assert!(probe.has(own.as_bytes()), "{own}");
        }
        for other in [
            "client2",
            "client01",
            "f0000200000000000",
            "file",
            "client0/x",
            "90df1dd43c5da2de19f06efa5932c11a",
            "90df1dd43c5da2de19f06efa5932c11-0",
            "90df1dd43c5da2de19f06efa5932c11a-0/letter",
        ] {
            assert!(!probe.has(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn the_rule_of_a_marker_counts_and_another_one_is_named() {
        let made = MadeNames::of_loads(&[load(LOAD)], 0..12);
        let earlier = MadeNames::of_loads(&[load(LOAD)], 0..2);
        let recorded = made.recorded(&earlier.line()).expect("the same load");
        assert!(recorded.has(b"client1") && !recorded.has(b"client2"));
        let marker_of_before = "made by filestone 0.1\n";
        assert_eq!(made.recorded(marker_of_before), Ok(made.clone()));
        let other = load("Mkdir \"\\clients\\client1\\other\" *\n");
        let other = MadeNames::of_loads(&[other], 0..2);
        let refused = other.recorded(&earlier.line());
        assert_eq!(refused, Err("a replay of test.load".into()));
        let refused = MadeNames::of_probe(1).recorded(&earlier.line());
        assert_eq!(refused, Err("a replay of test.load".into()));
        let probe = MadeNames::of_probe(1).recorded("x\nnames: probe 0 7\n");
        assert!(probe.is_ok_and(|probe| probe.has(b"client6")));
        assert!(made.recorded("names: load zz\n").is_err());
    }

    #[test]
    fn the_first_foreign_objects_are_named() {
        let mut kept = Kept::default();
        assert!(kept.is_empty());
        for name in ["a", "b", "c", "d", "e"] {
            kept.add(name.as_bytes());
        }
        assert_eq!(kept.to_string(), "a, b, c and 2 more");
    }
}
