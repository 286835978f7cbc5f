//! ^C: the first one ends a run early and in order, the second one at once.

use crate::error::{Error, reason};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// 128 + SIGINT, as shells have it.
pub const EXIT_CODE: u8 = 130;

/// A flag that the first SIGINT or SIGTERM sets; the second ends the process.
pub fn stop_flag() -> Result<Arc<AtomicBool>, Error> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Actions run in the order of their registration: the shutdown comes
        // first, so it sees the flag of an earlier signal and not of this one.
        signal_hook::flag::register_conditional_shutdown(
            signal,
            i32::from(EXIT_CODE),
            Arc::clone(&stop),
        )
        .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
        .map_err(|error| {
            Error::environment(format!(
                "signal {signal} cannot be handled: {}",
                reason(&error)
            ))
        })?;
    }
    Ok(stop)
}

/// Waits for SIGINT or SIGTERM; a second one ends the process.
pub fn wait() -> Result<(), Error> {
    let stop = stop_flag()?;
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])
        .map_err(|error| Error::environment(format!("signals: {}", reason(&error))))?;
    if !stop.load(std::sync::atomic::Ordering::Relaxed) {
        let _ = signals.forever().next();
    }
    Ok(())
}
