//! ^C and other signals that end an xtask early: its waits return at once, so that it stops the
//! processes that it started and removes its files on the way out, as after any error.

use anyhow::{Result, bail};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

/// The received signal, or 0.
static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Registers handlers for these signals. The second signal ends the process immediately.
pub fn listen() -> Result<()> {
    let is_second = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The order matters: at the first signal, the flag of the last line is not yet set.
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&is_second))?;
        flag::register(signal, Arc::clone(&is_second))?;
        flag::register_usize(signal, Arc::clone(&SIGNAL), signal as usize)?;
    }
    Ok(())
}

/// Returns the exit code of an interrupted xtask; `None` if no signal was received.
pub fn exit_code() -> Option<ExitCode> {
    let signal = SIGNAL.load(Ordering::Relaxed);
    (signal != 0).then(|| ExitCode::from(128_u8.saturating_add(signal as u8)))
}

/// Fails after a signal was received.
pub fn check() -> Result<()> {
    if exit_code().is_some() {
        bail!("told to end");
    }
    Ok(())
}
