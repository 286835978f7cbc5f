//! Handling of ^C: the first one ends a run early and in order, the second one at once.

use crate::error::{Error, reason};
use crate::terminal_view::screen;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// 128 + SIGINT, the convention of shells.
pub const EXIT_CODE: u8 = 130;

/// Time after the first signal during which further ones are ignored as duplicates.
///
/// `timeout` sends its signal to the process and then to the group, so each of its children gets it
/// twice; that must not cost the record.
const SAME_SIGNAL: Duration = Duration::from_millis(500);

/// Interval between checks whether a view still uses the terminal.
const LOOK_EVERY: Duration = Duration::from_millis(50);

const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

/// Returns a flag that the first SIGINT or SIGTERM sets; a later one ends the process.
pub fn stop_flag() -> Result<Arc<AtomicBool>, Error> {
    let stop = Arc::new(AtomicBool::new(false));
    let armed = Arc::new(AtomicBool::new(false));
    for signal in SIGNALS {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .and_then(|_| {
                let code = i32::from(EXIT_CODE);
                signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(&armed))
            })
            .map_err(|error| unhandled(&error))?;
    }
    let mut signals = listen()?;
    // The thread sleeps until the first signal, or until the process ends.
    std::thread::spawn(move || {
        if signals.forever().next().is_none() {
            return;
        }
        std::thread::sleep(SAME_SIGNAL);
        if screen::is_shown() {
            give_terminal_back(&mut signals, &armed);
        }
        armed.store(true, Ordering::Relaxed);
    });
    Ok(stop)
}

/// While a view uses the terminal, a later signal does not end the process directly: the terminal
/// is restored first. Returns when the view ends without one.
fn give_terminal_back(signals: &mut Signals, armed: &AtomicBool) {
    signals.pending().for_each(drop);
    while screen::is_shown() {
        let Some(signal) = signals.pending().next() else {
            std::thread::sleep(LOOK_EVERY);
            continue;
        };
        screen::restore();
        armed.store(true, Ordering::Relaxed);
        // If the signal cannot be raised, the next ^C ends the process.
        let _ = signal_hook::low_level::raise(signal);
    }
}

/// Receives SIGINT and SIGTERM from its creation on; a second one ends the process.
///
/// Create it before the process announces that it is ready: a signal that arrives while handlers
/// are registered for the first time is lost.
pub struct Interruption {
    signals: Signals,
    stop: Arc<AtomicBool>,
}

impl Interruption {
    /// Registers the handlers.
    pub fn listen() -> Result<Self, Error> {
        Ok(Self {
            signals: listen()?,
            stop: stop_flag()?,
        })
    }

    /// Returns after the first signal, which may be one that arrived before.
    pub fn wait(mut self) {
        if !self.stop.load(Ordering::Relaxed) {
            self.signals.forever().next();
        }
    }
}

fn listen() -> Result<Signals, Error> {
    Signals::new(SIGNALS).map_err(|error| unhandled(&error))
}

fn unhandled(error: &std::io::Error) -> Error {
    Error::environment(format!("signals cannot be handled: {}", reason(error)))
}
