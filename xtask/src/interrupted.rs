//! ^C, and what else tells a chore to end early: what it waits for is over at once, so that it stops
//! what it started and removes what it made on its way out, as after any error.

use anyhow::{Result, bail};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

/// The signal that came, or 0.
static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Notes these signals from now on. The second one ends the chore where it is.
pub fn listen() -> Result<()> {
    let is_second = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first one finds what the last line is about not yet true.
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&is_second))?;
        flag::register(signal, Arc::clone(&is_second))?;
        flag::register_usize(signal, Arc::clone(&SIGNAL), signal as usize)?;
    }
    Ok(())
}

/// What a chore ends with that was told to end.
pub fn exit_code() -> Option<ExitCode> {
    let signal = SIGNAL.load(Ordering::Relaxed);
    (signal != 0).then(|| ExitCode::from(128_u8.saturating_add(signal as u8)))
}

/// An error once the chore was told to end.
pub fn check() -> Result<()> {
    if exit_code().is_some() {
        bail!("told to end");
    }
    Ok(())
}
