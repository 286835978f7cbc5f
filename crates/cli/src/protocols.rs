//! The protocols that this program knows: those of the engine, and what a program brings that
//! has this command line for its own.

use filestone_engine::Protocols;
use std::sync::OnceLock;

static KNOWN: OnceLock<Protocols> = OnceLock::new();

/// Knows these from now on. The first call counts, and must come before anything is parsed.
pub fn know(protocols: Protocols) {
    let _ = KNOWN.set(protocols);
}

/// All of them.
pub fn known() -> &'static Protocols {
    KNOWN.get_or_init(Protocols::default)
}
