//! Protocols of this program: those of the engine, and those added by a program that uses this
//! command line.

use filestone_engine::Protocols;
use std::sync::OnceLock;

static KNOWN: OnceLock<Protocols> = OnceLock::new();

/// Registers the protocols. The first call counts, and must precede any parsing.
pub fn know(protocols: Protocols) {
    let _ = KNOWN.set(protocols);
}

/// Returns all protocols.
pub fn known() -> &'static Protocols {
    KNOWN.get_or_init(Protocols::default)
}
