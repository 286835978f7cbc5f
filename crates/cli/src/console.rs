//! The terminal: results on standard output; progress, caveats and errors on
//! standard error. Colours only where a person sees them (`NO_COLOR` turns them off).
//!
//! Output that cannot be written ends printing and nothing else: a run goes on to its clean-up. The
//! exit code tells of it at the end ([`failure`]).

use crate::advice;
use crate::error::{Error, in_our_form, reason};
use crate::report::parts::gates;
use crate::report::parts::page::Page;
use crate::sanitize::printable;
use anstyle::{AnsiColor, Style};
use filestone_engine::ErrorCategory;
use filestone_measure::measure::{Caveat, RunRecord};
use std::io::{self, IsTerminal as _, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether standard output still takes what we write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// It may be read.
    Present,
    /// It takes no more: the other end of the pipe was closed, as `head` does, or it failed.
    Gone,
}

/// Whether standard output was closed by its reader, and why else it failed.
static ENDED: Mutex<Option<Option<Error>>> = Mutex::new(None);

/// Why standard output could not be written, unless its reader had seen enough.
pub fn failure() -> Option<Error> {
    ended().clone().flatten()
}

fn ended() -> MutexGuard<'static, Option<Option<Error>>> {
    ENDED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The page that results are printed on: `$COLUMNS` wide where that is set, else as wide as the
/// terminal; what goes to a file or a program has the usual width.
pub fn page() -> Page {
    let columns = std::env::var("COLUMNS").ok();
    let said = columns.and_then(|columns| columns.parse().ok());
    let of_terminal = || {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        Some(usize::from(size.ws_col))
    };
    match said.or_else(of_terminal) {
        None | Some(0) => Page::default(),
        Some(columns) => Page::of(columns),
    }
}

/// What is printed while a view has the terminal, in order; none where it is printed at once.
static HELD: Mutex<Option<Vec<Held>>> = Mutex::new(None);

/// What waits to be printed.
enum Held {
    /// On standard output.
    Result(String),
    /// On standard error.
    Aside(String),
}

fn held() -> MutexGuard<'static, Option<Vec<Held>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps what is printed on the terminal until [`release`]: something else has it.
pub fn hold() {
    held().get_or_insert_default();
}

/// Prints what was kept, and from now on at once.
pub fn release() {
    let waiting = held().take();
    for text in waiting.into_iter().flatten() {
        // A terminal that is gone is nothing to fail for.
        match text {
            Held::Result(text) => drop(result(&text)),
            Held::Aside(text) => aside(&text),
        }
    }
}

/// Keeps this, if something else has the terminal; whether it does.
fn is_held(text: impl FnOnce() -> Held) -> bool {
    let mut held = held();
    match &mut *held {
        Some(waiting) => {
            waiting.push(text());
            true
        }
        None => false,
    }
}

/// Writes a result to standard output, unless that has failed before.
pub fn result(text: &str) -> Result<Reader, Error> {
    // What goes elsewhere is in nothing's way.
    if io::stdout().is_terminal() && is_held(|| Held::Result(text.into())) {
        return Ok(Reader::Present);
    }
    let mut ended = ended();
    if ended.is_some() {
        return Ok(Reader::Gone);
    }
    let mut out = anstream::stdout().lock();
    let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) else {
        return Ok(Reader::Present);
    };
    let is_closed = error.kind() == io::ErrorKind::BrokenPipe;
    let why = || Error::environment(format!("standard output: {}", reason(&error)));
    *ended = Some((!is_closed).then(why));
    Ok(Reader::Gone)
}

const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default().bold();

fn tell(style: Style, label: &str, text: &str) {
    aside(&format!("{style}{label}:{style:#} {}\n", printable(text)));
}

/// Says what went wrong and what to do.
pub fn error(error: &Error) {
    let label = match error.category {
        ErrorCategory::Internal => "internal error",
        ErrorCategory::Usage
        | ErrorCategory::Target
        | ErrorCategory::Environment
        | ErrorCategory::Interruption => "error",
    };
    tell(RED, label, &error.message);
    if let Some(text) = &error.help {
        help(text);
    }
}

/// Says what to do next.
pub fn help(text: &str) {
    tell(GREEN, "help", text);
}

/// Says something that is neither a result nor wrong.
pub fn note(text: &str) {
    tell(GREEN, "note", text);
}

/// Says what may be in the way of what was asked for.
pub fn warning(text: &str) {
    tell(YELLOW, "warning", text);
}

/// Says why the numbers of a run should be doubted.
pub fn caveats(record: &RunRecord) {
    for caveat in &record.caveats {
        caveat_with(caveat, advice::of(caveat, record).as_deref());
    }
}

/// The same of what was not found in a run.
pub fn caveat(caveat: &Caveat) {
    caveat_with(caveat, caveat.sentence().1);
}

/// A reason to doubt numbers, and what to do about it.
pub fn caveat_with(caveat: &Caveat, advice: Option<&str>) {
    let (what, _) = caveat.sentence();
    match what.strip_prefix("internal error: ") {
        Some(what) => tell(RED, "internal error", &in_our_form(what)),
        None => tell(YELLOW, "caveat", &in_our_form(&what)),
    }
    if let Some(advice) = advice {
        help(advice);
    }
}

/// Says which gates fail, where the report does not.
pub fn failed_gates(record: &RunRecord) {
    let gates = gates::facts(record).into_iter();
    let failed = gates.filter(|(name, _)| *name == gates::FAILS);
    failed.for_each(|(name, text)| tell(RED, name, &text));
}

/// Writes a row or a line to standard error.
pub fn aside(text: &str) {
    if is_held(|| Held::Aside(text.into())) {
        return;
    }
    // There is nowhere to say that standard error is gone.
    let _ = anstream::stderr().write_all(text.as_bytes());
}
