//! Protocols of this program: those of the engine, and those added by a program that uses this
//! command line.

use filestone_engine::Protocols;
use filestone_plan::plan::TargetPlan;
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

/// Returns the options that are needed to reach a target again, apart from its name.
pub fn options_besides(target: &TargetPlan) -> Vec<String> {
    let mut words = Vec::new();
    let Some(target) = target.nfs3() else {
        return words;
    };
    if let Some(port) = target.mount_port {
        words.extend(["--mount-port".into(), port.to_string()]);
    }
    if target.reserved_port {
        words.push("--reserved-port".into());
    }
    words
}
