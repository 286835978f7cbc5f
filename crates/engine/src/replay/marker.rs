//! The file by which a run knows `clients` again: who made it, and when.
//!
//! Its text is the same in every layer. Where a layer can see by other means
//! whether the run goes on (a lock that goes with the process), that counts more.

use std::path::Path;
use std::time::SystemTime;

/// The first words of each marker.
const MADE_BY: &str = "made by filestone";
/// In the marker of trees that were kept on purpose.
const GIVEN_UP: &str = "given up";
/// In the marker of a run that holds a lock on it as long as it goes on.
const LOCKED: &str = "locked";
/// More of a marker is not read.
pub const MARKER_MAX_BYTES: u32 = 4096;
/// A marker has so many bytes at least, so that the next text fits into its place. Half of what
/// is read: whoever adds a line by hand adds it where it is seen.
const PADDED_BYTES: usize = 2048;

/// What a run has left over, as its marker says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeftOver {
    /// The directory `clients` that was left.
    pub path: String,
    /// The host of the process that left it.
    pub host: Option<String>,
    /// That process.
    pub process: Option<u32>,
    /// When its run began (RFC 3339).
    pub started: Option<String>,
    is_given_up: bool,
    has_locked: bool,
}

/// What a run adds to its marker that holds a lock on it.
pub fn text_of_lock() -> String {
    format!("{LOCKED}\n")
}

/// The marker of a run of this process on `host`.
pub fn text(host: &str, is_given_up: bool) -> String {
    let remark = if is_given_up { GIVEN_UP } else { "" };
    let end = if is_given_up { "\n" } else { "" };
    format!(
        "{MADE_BY} {}\nhost: {host}\nprocess: {}\nstarted: {}\n{remark}{end}\
         If no run is going on, this directory was left over and can be removed.\n",
        env!("CARGO_PKG_VERSION"),
        std::process::id(),
        humantime::format_rfc3339_seconds(SystemTime::now()),
    )
}

/// A marker's text with blanks after it, which make it as long as all others.
pub fn padded(text: &str) -> String {
    let blanks = PADDED_BYTES.saturating_sub(text.len());
    let mut padded = String::from(text);
    if blanks > 0 {
        padded.extend(std::iter::repeat_n(' ', blanks - 1));
        padded.push('\n');
    }
    padded
}

impl LeftOver {
    /// What the marker in `path` says; `None` if filestone has not written it.
    pub fn read(path: String, text: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(text);
        let field = |name: &str| {
            let mut lines = text.lines();
            lines.find_map(|line| line.strip_prefix(name).map(str::to_owned))
        };
        text.starts_with(MADE_BY).then(|| Self {
            path,
            host: field("host: "),
            process: field("process: ").and_then(|number| number.parse().ok()),
            started: field("started: "),
            is_given_up: text.lines().any(|line| line == GIVEN_UP),
            has_locked: text.lines().any(|line| line == LOCKED),
        })
    }

    /// Whether its run holds a lock on the marker as long as it goes on.
    pub fn has_locked(&self) -> bool {
        self.has_locked
    }

    /// Whether its process is still there; `None` if that cannot be known, of one
    /// on another host than `host` and of one that the marker does not name.
    pub fn is_going_on(&self, host: &str) -> Option<bool> {
        if self.is_given_up {
            return Some(false);
        }
        let process = self
            .process
            .filter(|_| self.host.as_deref() == Some(host))?;
        Some(Path::new(&format!("/proc/{process}")).exists())
    }

    /// The process, in words.
    pub fn process_in_words(&self) -> String {
        match (self.process, &self.host) {
            (Some(process), Some(host)) => format!("process {process} on {host}"),
            (Some(process), None) => format!("process {process}"),
            (None, _) => "a process unknown".into(),
        }
    }

    /// When its run began, in words.
    pub fn started_in_words(&self) -> &str {
        self.started.as_deref().unwrap_or("at a time unknown")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> LeftOver {
        LeftOver::read("clients".into(), text.as_bytes()).expect("it is ours")
    }

    #[test]
    fn what_was_written_is_read_again() {
        let run = read(&text("here", false));
        assert_eq!(run.process, Some(std::process::id()));
        assert_eq!(run.host.as_deref(), Some("here"));
        assert!(run.started.is_some());
        assert_eq!(run.is_going_on("here"), Some(true));
        assert_eq!(read(&text("here", true)).is_going_on("here"), Some(false));
        assert_eq!(LeftOver::read(String::new(), b"made by somebody"), None);
    }

    #[test]
    fn one_text_fits_into_the_place_of_another() {
        let texts = [text("here", false), text("a-longer-name.of.a.host", true)];
        let padded = texts.map(|text| padded(&text));
        assert_eq!(padded.each_ref().map(String::len), [PADDED_BYTES; 2]);
        assert!(read(&padded[1]).is_given_up && !read(&padded[0]).is_given_up);
        assert_eq!(super::padded("").len(), PADDED_BYTES);
        let long = "x".repeat(3000);
        assert_eq!(super::padded(&long), long);
        // What somebody adds with an editor.
        assert!(read(&format!("{}given up\n", padded[0])).is_given_up);
    }

    #[test]
    fn whether_a_run_goes_on_is_only_known_of_a_process_of_this_host() {
        // Numbers of processes are below 2^22.
        let gone = "made by filestone 0\nhost: here\nprocess: 4294967295\n";
        assert_eq!(read(gone).is_going_on("here"), Some(false));
        assert_eq!(read(gone).is_going_on("there"), None);
        let nameless = "made by filestone 0\nhost: here\nprocess: x\n";
        assert_eq!(read(nameless).is_going_on("here"), None);
        assert_eq!(
            read("made by filestone 0\nprocess: 1\n").is_going_on("here"),
            None
        );
    }
}
