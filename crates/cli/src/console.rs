//! Terminal output: results on standard output; progress, caveats and errors on standard error.
//! Colours are used only on a terminal (`NO_COLOR` disables them).
//!
//! A write error ends only the printing: a run continues to its clean-up. The exit code reports the
//! error at the end ([`failure`]).

use crate::advice;
use crate::error::{Error, reason};
use anstyle::{AnsiColor, Style};
use filestone_host::error::ErrorCategory;
use filestone_measure::measure::{Caveat, RunRecord};
use filestone_report::document::page::PageWidth;
use filestone_report::error::error_text;
use filestone_report::parts::gates;
use filestone_report::sanitize::printable;
use std::io::{self, IsTerminal as _, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// State of standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StdoutState {
    /// Standard output accepts data.
    Present,
    /// Standard output is closed: the other end of the pipe was closed, as `head` does, or writing
    /// failed.
    Gone,
}

/// State of standard output: closed by its reader, or failed with an error.
static ENDED: Mutex<Option<Option<Error>>> = Mutex::new(None);

/// Returns the error of standard output, unless its reader closed it.
pub fn failure() -> Option<Error> {
    ended().clone().flatten()
}

fn ended() -> MutexGuard<'static, Option<Option<Error>>> {
    ENDED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the page for results: `$COLUMNS` wide if that is set, otherwise as wide as the terminal;
/// output to a file or a program has the default width.
pub fn page() -> PageWidth {
    let columns = std::env::var("COLUMNS").ok();
    let said = columns.and_then(|columns| columns.parse().ok());
    let of_terminal = || {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        Some(usize::from(size.ws_col))
    };
    match said.or_else(of_terminal) {
        None | Some(0) => PageWidth::default(),
        Some(columns) => PageWidth::of(columns),
    }
}

/// Output in order of printing while a view uses the terminal; `None` if output is printed at once.
static HELD: Mutex<Option<Vec<Held>>> = Mutex::new(None);

/// Output that waits to be printed.
enum Held {
    /// For standard output.
    Result(String),
    /// For standard error.
    Aside(String),
}

fn held() -> MutexGuard<'static, Option<Vec<Held>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Holds terminal output back until [`release`], while a view uses the terminal.
pub fn hold() {
    held().get_or_insert_default();
}

/// Prints the output that was held back, and further output at once.
pub fn release() {
    let waiting = held().take();
    for text in waiting.into_iter().flatten() {
        // A write error is ignored if the terminal is gone.
        match text {
            Held::Result(text) => drop(result(&text)),
            Held::Aside(text) => aside(&text),
        }
    }
}

/// Holds this output back if a view uses the terminal, and returns whether it did.
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
pub fn result(text: &str) -> Result<StdoutState, Error> {
    // Output that does not go to the terminal need not wait.
    if io::stdout().is_terminal() && is_held(|| Held::Result(text.into())) {
        return Ok(StdoutState::Present);
    }
    let mut ended = ended();
    if ended.is_some() {
        return Ok(StdoutState::Gone);
    }
    let mut out = anstream::stdout().lock();
    let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) else {
        return Ok(StdoutState::Present);
    };
    let is_closed = error.kind() == io::ErrorKind::BrokenPipe;
    let why = || Error::environment(format!("standard output: {}", reason(&error)));
    *ended = Some((!is_closed).then(why));
    Ok(StdoutState::Gone)
}

const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default().bold();

fn tell(style: Style, label: &str, text: &str) {
    aside(&format!("{style}{label}:{style:#} {}\n", printable(text)));
}

/// Prints an error and its help.
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

/// Prints a help line.
pub fn help(text: &str) {
    tell(GREEN, "help", text);
}

/// Prints a note, which is neither a result nor an error.
pub fn note(text: &str) {
    tell(GREEN, "note", text);
}

/// Prints a warning.
pub fn warning(text: &str) {
    tell(YELLOW, "warning", text);
}

/// Prints the caveats of a run.
pub fn caveats(record: &RunRecord) {
    for caveat in &record.caveats {
        caveat_with(caveat, advice::of(caveat, record).as_deref());
    }
}

/// Prints a caveat that does not belong to a run.
pub fn caveat(caveat: &Caveat) {
    caveat_with(caveat, caveat.sentence().1);
}

/// Prints a caveat with advice.
pub fn caveat_with(caveat: &Caveat, advice: Option<&str>) {
    let (what, _) = caveat.sentence();
    match what.strip_prefix("internal error: ") {
        Some(what) => tell(RED, "internal error", &error_text(what)),
        None => tell(YELLOW, "caveat", &error_text(&what)),
    }
    if let Some(advice) = advice {
        help(advice);
    }
}

/// Prints the failed gates, for formats whose report does not.
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
    // A write error of standard error cannot be reported.
    let _ = anstream::stderr().write_all(text.as_bytes());
}
