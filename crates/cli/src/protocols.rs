//! The protocols that this program knows: those of the engine, and what a program brings that
//! has this command line for its own.

use filestone_engine::Protocols;
use filestone_plan::plan::TargetPlan;
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

/// The options that reach a target again, besides its name.
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
