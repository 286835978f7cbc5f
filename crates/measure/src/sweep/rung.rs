//! The rungs of a ladder.

use filestone_workload::operation::{OpKind, Stability};

/// A rung: an operation with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rung {
    /// Name of the rung.
    pub name: &'static str,
    /// Operation.
    pub operation: OpKind,
    /// Size in bytes of a read or write.
    pub size_bytes: Option<u32>,
    /// Stability of a write.
    pub stability: Option<Stability>,
}

const fn rung(name: &'static str, operation: OpKind) -> Rung {
    Rung {
        name,
        operation,
        size_bytes: None,
        stability: None,
    }
}

const fn read(name: &'static str, size_bytes: u32) -> Rung {
    Rung {
        size_bytes: Some(size_bytes),
        ..rung(name, OpKind::Read)
    }
}

const fn write(name: &'static str, stability: Stability) -> Rung {
    Rung {
        size_bytes: Some(4096),
        stability: Some(stability),
        ..rung(name, OpKind::Write)
    }
}

/// Table of all rungs, from the lowest.
pub const RUNGS: [Rung; 13] = [
    rung("null", OpKind::Null),
    rung("getattr", OpKind::GetAttr),
    rung("lookup", OpKind::Lookup),
    rung("access", OpKind::Access),
    read("read-1", 1),
    read("read-4K", 4096),
    read("read-128K", 128 << 10),
    write("write-unstable", Stability::Unstable),
    write("write-stable", Stability::FileSync),
    rung("commit", OpKind::Commit),
    rung("create", OpKind::Create),
    rung("remove", OpKind::Remove),
    rung("readdirplus", OpKind::ReadDirPlus),
];

impl Rung {
    /// Returns the rung with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        RUNGS.iter().find(|rung| rung.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_found_by_its_name() {
        for rung in &RUNGS {
            assert_eq!(Rung::named(rung.name), Some(rung));
        }
        assert_eq!(Rung::named("read"), None);
    }
}
