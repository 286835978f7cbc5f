//! The marker: a file by which a run recognises a directory that filestone made, and its owner.
//!
//! All trees use the same format, so that runs over NFS and runs through a mount of the same export
//! recognise each other. This module also decides whether the owner still runs:
//!
//! | fact about the owner | state |
//! |---|---|
//! | another process holds a lock on the marker | running |
//! | the marker contains `given up` | over |
//! | the marker contains `locked`, and this process got the lock | over |
//! | it is this process, and this process got the lock | over |
//! | it ran on this host, and `/proc` has its process, begun at the same time | running |
//! | it ran on this host, and `/proc` does not have its process | over |
//! | anything else, such as a run on another host without locks | unknown |

use filestone_host::system;
use procfs::process::Process;
use std::path::Path;
use std::time::SystemTime;

/// The first words of each marker.
const MADE_BY: &str = "made by filestone";
/// Line in the marker of a directory that its owner has released.
const GIVEN_UP: &str = "given up";
/// Line in the marker of a run that holds a lock on it while it runs.
const LOCKED: &str = "locked";
/// Start of the line with the start time of the process, in clock ticks since the host started
/// (proc(5)). Process ids are reused, above all in containers; id and start time together are not.
const BEGAN: &str = "process began: ";
/// Maximum bytes that are read of a marker.
pub const MARKER_MAX_BYTES: u32 = 4096;
/// Minimum length of a marker, so that the next text fits into it in place. Half of the length that
/// is read, so that a line added by hand is read, too.
const PADDED_BYTES: usize = 2048;

/// Variable contents of a marker.
#[derive(Debug, Clone, Copy, Default)]
pub struct Marker<'a> {
    /// Whether the owner has released the directory.
    pub is_given_up: bool,
    /// Further lines: the spec of a file set.
    pub lines: &'a str,
}

/// Identity of a process, as stored in markers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// Name of its host.
    pub host: String,
    /// Process id on that host.
    pub process: u32,
    /// Start time in clock ticks since the host started, if it can be read.
    pub began: Option<u64>,
}

impl ProcessIdentity {
    /// Returns the identity of this process.
    pub fn this() -> Self {
        let process = std::process::id();
        Self {
            host: system::name(),
            process,
            began: began(process),
        }
    }
}

impl Marker<'_> {
    /// Returns the text of the marker. `is_locked`: this process has locked the marker.
    pub fn text(&self, is_locked: bool) -> String {
        let ProcessIdentity {
            host,
            process,
            began,
        } = ProcessIdentity::this();
        let version = env!("CARGO_PKG_VERSION");
        let mut text = format!("{MADE_BY} {version}\nhost: {host}\nprocess: {process}\n");
        if let Some(began) = began {
            text += &format!("{BEGAN}{began}\n");
        }
        let now = humantime::format_rfc3339_seconds(SystemTime::now());
        text += &format!("started: {now}\n");
        for (line, is_said) in [(GIVEN_UP, self.is_given_up), (LOCKED, is_locked)] {
            if is_said {
                text = text + line + "\n";
            }
        }
        text + "If no run is going on, this directory was left over and can be removed.\n"
            + self.lines
    }
}

/// Pads a marker's text with blanks to the common length, and to the `old_len` bytes of the text
/// that it overwrites: a line added there by a user must not be read again.
pub fn padded(text: &str, old_len: u64) -> String {
    let old_len = usize::try_from(old_len.min(MARKER_MAX_BYTES.into())).unwrap_or_default();
    let blanks = PADDED_BYTES.max(old_len).saturating_sub(text.len());
    let mut padded = String::from(text);
    if blanks > 0 {
        padded.extend(std::iter::repeat_n(' ', blanks - 1));
        padded.push('\n');
    }
    padded
}

/// Holder of the lock on a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockHolder {
    /// This process, through the descriptor that it has just opened.
    Us,
    /// Another descriptor, of another process or of this one.
    Other,
    /// Locks are not supported: over NFS nothing is locked, and some file systems have no locks.
    None,
}

/// State of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// The run is active.
    Alive,
    /// The run is over, or has released its directory.
    Exited,
    /// The state cannot be determined from this host.
    Unknown,
}

/// The run that wrote a marker, according to the marker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MarkerOwner {
    /// The marked directory.
    pub path: String,
    /// Name of its host.
    pub host: Option<String>,
    /// Process id.
    pub process: Option<u32>,
    /// Start time of its run (RFC 3339).
    pub started: Option<String>,
    /// Start time of its process, in clock ticks; missing in older markers.
    began: Option<u64>,
    is_given_up: bool,
    has_locked: bool,
}

impl MarkerOwner {
    /// Returns the owner from the marker text of the directory `path`; `None` if filestone has not
    /// written it.
    pub fn read(path: &str, text: &str) -> Option<Self> {
        let field = |name: &str| {
            let mut lines = text.lines();
            lines.find_map(|line| line.strip_prefix(name).map(str::to_owned))
        };
        text.starts_with(MADE_BY).then(|| Self {
            path: path.into(),
            host: field("host: "),
            process: field("process: ").and_then(|number| number.parse().ok()),
            started: field("started: "),
            began: field(BEGAN).and_then(|ticks| ticks.parse().ok()),
            is_given_up: text.lines().any(|line| line == GIVEN_UP),
            has_locked: text.lines().any(|line| line == LOCKED),
        })
    }

    /// Returns an unknown owner, which has not written its marker yet.
    pub fn unknown(path: &str) -> Self {
        let path = path.into();
        Self {
            path,
            ..Self::default()
        }
    }

    /// Returns the state of its run.
    pub fn liveness(&self, lock: LockHolder) -> Liveness {
        if lock == LockHolder::Other {
            return Liveness::Alive;
        }
        let is_free = lock == LockHolder::Us && (self.has_locked || self.is_this_process());
        if self.is_given_up || is_free {
            return Liveness::Exited;
        }
        match self.process {
            Some(process) if self.is_of_this_host() => self.liveness_of(process),
            _ => Liveness::Unknown,
        }
    }

    fn liveness_of(&self, process: u32) -> Liveness {
        let is_another = self
            .began
            .zip(began(process))
            .is_some_and(|(then, now)| then != now);
        if is_another || !Path::new(&format!("/proc/{process}")).exists() {
            return Liveness::Exited;
        }
        Liveness::Alive
    }

    fn is_of_this_host(&self) -> bool {
        self.host.as_deref() == Some(&system::name())
    }

    /// Returns whether the owner is this process, and has not released the directory.
    pub fn is_this_process(&self) -> bool {
        let is_this = self.process == Some(std::process::id()) && self.is_of_this_host();
        is_this && !self.is_given_up && self.liveness_of(std::process::id()) == Liveness::Alive
    }

    /// Returns whether the owner is this process, which may have released its directory. Older
    /// markers do not contain the start time of their process.
    pub fn is_process(&self, name: &ProcessIdentity) -> bool {
        let began = self.began.zip(name.began);
        self.host.as_ref() == Some(&name.host)
            && self.process == Some(name.process)
            && began.is_none_or(|(then, now)| then == now)
    }

    /// Returns a description of the process, such as "process 7 on host".
    pub fn process_in_words(&self) -> String {
        match (self.process, &self.host) {
            (Some(process), Some(host)) => format!("process {process} on {host}"),
            (Some(process), None) => format!("process {process}"),
            (None, _) => "a process unknown".into(),
        }
    }

    /// Returns the start time of its run as text.
    pub fn started_in_words(&self) -> &str {
        self.started.as_deref().unwrap_or("at a time unknown")
    }
}

/// Returns the start time of a process of this host; `None` if it cannot be read.
fn began(process: u32) -> Option<u64> {
    let process = Process::new(i32::try_from(process).ok()?).ok()?;
    process.stat().ok().map(|status| status.starttime)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> MarkerOwner {
        MarkerOwner::read("clients", text).expect("a marker of filestone")
    }

    fn of_process(number: &str) -> String {
        let host = system::name();
        format!("made by filestone 0\nhost: {host}\nprocess: {number}\n")
    }

    fn liveness(text: &str) -> Liveness {
        read(text).liveness(LockHolder::None)
    }

    #[test]
    fn what_was_written_is_read_again() {
        let marker = Marker::default();
        let owner = read(&marker.text(false));
        assert_eq!(owner.process, Some(std::process::id()));
        assert_eq!(owner.host, Some(system::name()));
        assert!(owner.started.is_some() && owner.began.is_some());
        assert!(owner.is_this_process());
        assert_eq!(liveness(&marker.text(false)), Liveness::Alive);
        let given_up = Marker {
            is_given_up: true,
            lines: "recipe: version 1\n",
        };
        assert_eq!(liveness(&given_up.text(true)), Liveness::Exited);
        assert!(given_up.text(true).ends_with(given_up.lines));
        assert_eq!(MarkerOwner::read("", "made by somebody"), None);
    }

    #[test]
    fn one_text_fits_into_the_place_of_another() {
        let texts = [of_process("1"), of_process("4194304") + "given up\n"];
        let padded = texts.map(|text| padded(&text, 0));
        assert_eq!(padded.each_ref().map(String::len), [PADDED_BYTES; 2]);
        assert!(read(&padded[1]).is_given_up && !read(&padded[0]).is_given_up);
        assert_eq!(super::padded("", 0).len(), PADDED_BYTES);
        let long = "x".repeat(3000);
        assert_eq!(super::padded(&long, 0), long);
        assert_eq!(super::padded("", 3000).len(), 3000);
        assert_eq!(super::padded("", u64::MAX).len(), MARKER_MAX_BYTES as usize);
        // A line that a user adds with an editor.
        assert!(read(&format!("{}given up\n", padded[0])).is_given_up);
    }

    #[test]
    fn whether_a_run_lives_is_only_known_of_a_process_of_this_host() {
        // Process ids are below 2^22.
        assert_eq!(liveness(&of_process("4294967295")), Liveness::Exited);
        assert_eq!(liveness(&of_process("x")), Liveness::Unknown);
        assert_eq!(
            liveness("made by filestone 0\nprocess: 1\n"),
            Liveness::Unknown
        );
        let elsewhere = "made by filestone 0\nhost: elsewhere.invalid\nprocess: 1\n";
        assert_eq!(liveness(elsewhere), Liveness::Unknown);
    }

    #[test]
    fn an_owner_is_one_process_of_one_host() {
        let owner = |text: &str| read(&format!("made by filestone 0\n{text}"));
        let name = |host: &str, process, began| ProcessIdentity {
            host: host.into(),
            process,
            began,
        };
        let lost = name("node3", 7, Some(42));
        assert!(owner("host: node3\nprocess: 7\nprocess began: 42\ngiven up\n").is_process(&lost));
        assert!(
            owner("host: node3\nprocess: 7\n").is_process(&lost),
            "an older marker"
        );
        for other in [
            "host: node3\nprocess: 7\nprocess began: 43\n",
            "host: node3\nprocess: 8\nprocess began: 42\n",
            "host: node4\nprocess: 7\nprocess began: 42\n",
            "process: 7\n",
            "",
        ] {
            assert!(!owner(other).is_process(&lost), "{other}");
        }
        let own = Marker::default().text(false);
        assert!(read(&own).is_process(&ProcessIdentity::this()));
        assert!(!MarkerOwner::unknown("clients").is_process(&name("", 0, None)));
    }

    #[test]
    fn a_number_that_was_given_to_another_process_is_not_taken_for_the_run() {
        // Process 1 always exists, and is not this one.
        let alive = of_process("1");
        assert_eq!(liveness(&alive), Liveness::Alive, "a marker of before");
        let began = began(1).expect("it is there");
        let same = format!("{alive}{BEGAN}{began}\n");
        assert_eq!(liveness(&same), Liveness::Alive);
        let other = format!("{alive}{BEGAN}{}\n", began + 1);
        assert_eq!(liveness(&other), Liveness::Exited);
    }

    #[test]
    fn a_lock_that_is_to_be_had_tells_only_of_a_run_that_has_locked() {
        let with = |text: &str, lock| read(text).liveness(lock);
        let alive = of_process("1");
        let has_locked = format!("{alive}{LOCKED}\n");
        assert_eq!(with(&has_locked, LockHolder::Us), Liveness::Exited);
        assert_eq!(with(&has_locked, LockHolder::Other), Liveness::Alive);
        assert_eq!(with(&alive, LockHolder::Us), Liveness::Alive);
        // This process can tell that its own runs are over.
        let own = Marker::default().text(false);
        assert_eq!(with(&own, LockHolder::Us), Liveness::Exited);
        let elsewhere = "made by filestone 0\nhost: elsewhere.invalid\nprocess: 1\n";
        assert_eq!(with(elsewhere, LockHolder::Us), Liveness::Unknown);
        let locked_elsewhere = format!("{elsewhere}{LOCKED}\n");
        assert_eq!(with(&locked_elsewhere, LockHolder::Us), Liveness::Exited);
    }
}
