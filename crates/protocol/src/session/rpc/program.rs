//! What is called: programs and their procedures.

/// A program and a version of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Program {
    /// Its number.
    pub number: u32,
    /// Its version.
    pub version: u32,
    /// The status by which it says that it is not ready and wants to be asked again, if it has
    /// one: it comes first in the results of all its procedures but NULL.
    pub busy: Option<u32>,
}

impl Program {
    /// What is called between calls, to see whether a connection lasts.
    pub const ANY: Self = Self::new(0, 0);

    /// A program without such a status.
    pub const fn new(number: u32, version: u32) -> Self {
        Self {
            number,
            version,
            busy: None,
        }
    }

    /// A procedure of this program.
    pub const fn procedure(self, number: u32, name: &'static str) -> RpcProcedure {
        RpcProcedure {
            program: self,
            number,
            name,
        }
    }
}

/// A procedure, by number and by the name that errors call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RpcProcedure {
    /// Whose it is.
    pub program: Program,
    /// On the wire.
    pub number: u32,
    /// In lower case.
    pub name: &'static str,
}

impl RpcProcedure {
    /// What errors name between two calls.
    pub const NONE: Self = Program::ANY.procedure(0, "");

    /// Whether these results say that the server is not ready and wants to be asked again.
    #[inline]
    pub fn is_busy(&self, results: &[u8]) -> bool {
        let busy = self.program.busy;
        busy.is_some_and(|status| results.starts_with(&status.to_be_bytes()))
    }

    /// As an error names it.
    pub fn shown(&self) -> String {
        self.name.to_uppercase()
    }
}
