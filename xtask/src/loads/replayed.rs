//! Checks each line of a load against a tree in memory that the lines themselves build. The module
//! is independent of the generator and of the compiler of load files: its small parser of the
//! grammar makes it a separate check.

use super::pattern;
use super::statistics::LoadStatistics;
use anyhow::{Context, Result, bail, ensure};
use std::collections::{BTreeMap, BTreeSet};

const OK: &str = "NT_STATUS_OK";
const NAME_NOT_FOUND: &str = "NT_STATUS_OBJECT_NAME_NOT_FOUND";
const PATH_NOT_FOUND: &str = "NT_STATUS_OBJECT_PATH_NOT_FOUND";
const NO_SUCH_FILE: &str = "NT_STATUS_NO_SUCH_FILE";
const HOME: &str = r"\clients\client1";
/// Largest number in a load: dbench 4 stores numbers in an `int`.
const NUMBER_MOST: u64 = i32::MAX as u64;
/// Size of dbench's line buffer.
const LINE_LONGEST: usize = 1022;
/// Largest transfer: tbench's server ends at a message of 70,000 bytes.
const TRANSFER_MOST: u64 = 65_536;

/// Object at a path: length of a file, or `None` for a directory.
type Node = Option<u64>;

#[derive(Default)]
struct Replay {
    tree: BTreeMap<String, Node>,
    open: BTreeMap<u64, String>,
    locks: BTreeSet<(u64, u64, u64)>,
    live: u64,
    statistics: LoadStatistics,
}

/// Counts a load whose lines are all correct; the error names a wrong line.
pub fn replay(text: &str) -> Result<LoadStatistics> {
    let mut replay = Replay::default();
    replay.tree.insert(String::new(), None);
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.starts_with('#') {
            ensure!(lines.is_empty(), "line {}: a comment below", index + 1);
            continue;
        }
        lines.push(line);
        replay
            .line(line)
            .with_context(|| format!("line {}: {line}", index + 1))?;
    }
    let clean = format!(r#"Deltree "{HOME}" {OK}"#);
    ensure!(
        lines.first() == Some(&clean.as_str()),
        "does not begin clean"
    );
    ensure!(lines.last() == Some(&clean.as_str()), "does not end clean");
    ensure!(
        lines.get(1) == Some(&format!(r#"Mkdir "\clients" {OK}"#).as_str()),
        "does not make the directory of all clients"
    );
    ensure!(replay.open.is_empty(), "open: {:?}", replay.open);
    ensure!(replay.locks.is_empty(), "locked: {:?}", replay.locks);
    ensure!(replay.live == 0, "{} bytes are left", replay.live);
    Ok(replay.statistics)
}

/// Splits a line into verb, arguments and status; quotation marks enclose a path.
fn tokens(line: &str) -> Result<Vec<&str>> {
    let mut tokens = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let (token, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (token, after) = quoted.split_once('"').context("an open quote")?;
                (token, after.strip_prefix(' ').unwrap_or(after))
            }
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        tokens.push(token);
        rest = after;
    }
    Ok(tokens)
}

fn number(token: &str) -> Result<u64> {
    let number = match token.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16)?,
        None => token.parse()?,
    };
    ensure!(number <= NUMBER_MOST, "{number} is too large");
    Ok(number)
}

/// Returns the key of a path. Names are case-insensitive.
fn key(path: &str) -> Result<String> {
    ensure!(
        path == r"\clients" || path == HOME || path.starts_with(r"\clients\client1\"),
        "{path} is not the client's own"
    );
    Ok(path.to_ascii_lowercase())
}

fn parent(key: &str) -> &str {
    key.rsplit_once('\\').map_or("", |(parent, _)| parent)
}

impl Replay {
    fn line(&mut self, line: &str) -> Result<()> {
        ensure!(line.len() <= LINE_LONGEST, "the line is too long");
        let tokens = tokens(line)?;
        let (Some((verb, arguments)), Some(status)) = (tokens.split_first(), tokens.last()) else {
            bail!("an empty line");
        };
        let arguments = &arguments[..arguments.len().saturating_sub(1)];
        let expected = self.execute(verb, arguments)?;
        ensure!(*status == expected, "gives {expected}");
        self.statistics.add(verb, status);
        self.note();
        Ok(())
    }

    /// Changes the tree like the operation and returns its status.
    fn execute(&mut self, verb: &str, arguments: &[&str]) -> Result<&'static str> {
        Ok(match (verb, arguments) {
            ("Deltree", [path]) => self.deltree(&key(path)?),
            ("Mkdir", [path]) => self.mkdir(&key(path)?)?,
            ("NTCreateX", [path, options, disposition, handle]) => self.create(
                &key(path)?,
                number(options)?,
                number(disposition)?,
                number(handle)?,
            )?,
            ("Close", [handle]) => {
                let path = self.open.remove(&number(handle)?);
                path.context("no such handle")?;
                OK
            }
            ("ReadX" | "WriteX", [handle, offset, len, done]) => {
                ensure!(len == done, "not all of it is done");
                self.transfer(verb, number(handle)?, number(offset)?, number(len)?)?
            }
            ("LockX" | "UnlockX", [handle, offset, len]) => {
                self.lock(verb, number(handle)?, number(offset)?, number(len)?)?
            }
            ("Flush", [handle]) => self.len_of(number(handle)?).map(|_| OK)?,
            ("QUERY_FILE_INFORMATION" | "SET_FILE_INFORMATION", [handle, _]) => {
                let path = self.open.get(&number(handle)?);
                path.context("no such handle")?;
                OK
            }
            ("QUERY_FS_INFORMATION", [_]) => OK,
            ("QUERY_PATH_INFORMATION", [path, _]) => self.look(&key(path)?),
            ("FIND_FIRST", [path, _, most, found]) => {
                self.find(&key(path)?, number(most)?, number(found)?)?
            }
            ("Unlink", [path, _]) => self.unlink(&key(path)?)?,
            ("Rename", [from, to]) => self.rename(&key(from)?, &key(to)?)?,
            _ => bail!("unknown, or with other arguments"),
        })
    }

    /// Returns the status of a lookup of a path.
    fn look(&self, path: &str) -> &'static str {
        match (
            self.tree.contains_key(path),
            self.tree.get(parent(path)) == Some(&None),
        ) {
            (true, _) => OK,
            (false, true) => NAME_NOT_FOUND,
            (false, false) => PATH_NOT_FOUND,
        }
    }

    fn deltree(&mut self, path: &str) -> &'static str {
        let below = format!("{path}\\");
        let live = &mut self.live;
        self.tree.retain(|key, node| {
            let goes = key == path || key.starts_with(&below);
            if goes {
                *live -= node.unwrap_or(0);
            }
            !goes
        });
        OK
    }

    fn mkdir(&mut self, path: &str) -> Result<&'static str> {
        ensure!(self.look(path) == NAME_NOT_FOUND, "cannot be made");
        self.put(path, None);
        Ok(OK)
    }

    fn create(
        &mut self,
        path: &str,
        options: u64,
        disposition: u64,
        handle: u64,
    ) -> Result<&'static str> {
        ensure!(handle > 0, "dbench has no handle 0");
        ensure!(!self.open.contains_key(&handle), "the handle is in use");
        let found = self.look(path);
        let wants_directory = options & 1 != 0;
        match (disposition, found) {
            (1, OK) | (5, OK) => {}
            (1, _) => return Ok(found),
            (2, NAME_NOT_FOUND) => {
                self.put(path, (!wants_directory).then_some(0));
            }
            _ => bail!("disposition {disposition} of what gives {found}"),
        }
        let node = self.tree.get_mut(path).context("nothing there")?;
        ensure!(node.is_none() == wants_directory, "the wrong kind");
        if let (5, Some(len)) = (disposition, node.as_mut()) {
            self.live -= std::mem::take(len);
        }
        self.open.insert(handle, path.to_owned());
        Ok(OK)
    }

    fn put(&mut self, path: &str, node: Node) {
        self.tree.insert(path.to_owned(), node);
        let below = path.strip_prefix(HOME).unwrap_or("");
        let depth = below.matches('\\').count() as u64;
        self.statistics.depth_most = self.statistics.depth_most.max(depth);
    }

    fn len_of(&mut self, handle: u64) -> Result<&mut u64> {
        let path = self.open.get(&handle).context("no such handle")?;
        let node = self.tree.get_mut(path).context("the file is gone")?;
        node.as_mut().context("a directory")
    }

    fn transfer(&mut self, verb: &str, handle: u64, offset: u64, len: u64) -> Result<&'static str> {
        ensure!((1..=TRANSFER_MOST).contains(&len), "{len} bytes at once");
        let end = offset + len;
        ensure!(end <= NUMBER_MOST, "{end} is too far");
        let file = self.len_of(handle)?;
        if verb == "ReadX" {
            ensure!(end <= *file, "beyond the file's {file} bytes");
            self.statistics.bytes_read += len;
        } else {
            let grown = end.saturating_sub(*file);
            *file += grown;
            self.statistics.file_longest = self.statistics.file_longest.max(*self.len_of(handle)?);
            self.live += grown;
            self.statistics.bytes_written += len;
        }
        Ok(OK)
    }

    fn lock(&mut self, verb: &str, handle: u64, offset: u64, len: u64) -> Result<&'static str> {
        self.len_of(handle)?;
        let range = (handle, offset, len);
        if verb == "LockX" {
            ensure!(self.locks.insert(range), "locked already");
        } else {
            ensure!(self.locks.remove(&range), "not locked");
        }
        Ok(OK)
    }

    fn find(&self, path: &str, most: u64, found: u64) -> Result<&'static str> {
        let (directory, wanted) = path.rsplit_once('\\').context("no directory")?;
        ensure!(self.tree.get(directory) == Some(&None), "no such directory");
        let names = self.tree.keys().filter(|key| parent(key) == directory);
        let names = names.map(|key| &key[directory.len() + 1..]);
        let matching = names
            .chain([".", ".."])
            .filter(|name| pattern::means(wanted, name))
            .count() as u64;
        ensure!(found == matching.min(most), "finds {matching}");
        Ok(if matching == 0 { NO_SUCH_FILE } else { OK })
    }

    fn closed_file(&self, path: &str) -> Result<u64> {
        ensure!(!self.open.values().any(|open| open == path), "it is open");
        let node = self.tree.get(path).context("nothing there")?;
        node.context("a directory")
    }

    fn unlink(&mut self, path: &str) -> Result<&'static str> {
        self.live -= self.closed_file(path)?;
        self.tree.remove(path);
        Ok(OK)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<&'static str> {
        let len = self.closed_file(from)?;
        ensure!(self.look(to) == NAME_NOT_FOUND, "the new name is taken");
        self.tree.remove(from);
        self.put(to, Some(len));
        Ok(OK)
    }

    /// Updates the maxima.
    fn note(&mut self) {
        let directories = self.tree.values().filter(|node| node.is_none()).count() as u64;
        let statistics = &mut self.statistics;
        statistics.live_most = statistics.live_most.max(self.live);
        // The root and the directory of all clients do not belong to the client.
        statistics.directories_most = statistics
            .directories_most
            .max(directories.saturating_sub(2));
        statistics.files_most = statistics
            .files_most
            .max(self.tree.len() as u64 - directories);
        statistics.open_most = statistics.open_most.max(self.open.len() as u64);
    }
}
