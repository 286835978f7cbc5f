//! RPC programs and their procedures.

/// A program and its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Program {
    /// The program number.
    pub number: u32,
    /// The program version.
    pub version: u32,
    /// The status of a server that is not ready and expects a retry, if the program has one. It
    /// comes first in the results of all procedures except NULL.
    pub busy: Option<u32>,
}

impl Program {
    /// Placeholder program for connection checks between calls.
    pub const ANY: Self = Self::new(0, 0);

    /// Creates a program without such a status.
    pub const fn new(number: u32, version: u32) -> Self {
        Self {
            number,
            version,
            busy: None,
        }
    }

    /// Creates a procedure of this program.
    pub const fn procedure(self, number: u32, name: &'static str) -> RpcProcedure {
        RpcProcedure {
            program: self,
            number,
            name,
        }
    }
}

/// A procedure: number, and name for error messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RpcProcedure {
    /// The procedure's program.
    pub program: Program,
    /// The procedure number.
    pub number: u32,
    /// The name in lower case.
    pub name: &'static str,
}

impl RpcProcedure {
    /// Placeholder that errors name between two calls.
    pub const NONE: Self = Program::ANY.procedure(0, "");

    /// Returns whether these results report that the server is not ready and expects a retry.
    #[inline]
    pub fn is_busy(&self, results: &[u8]) -> bool {
        let busy = self.program.busy;
        busy.is_some_and(|status| results.starts_with(&status.to_be_bytes()))
    }

    /// Returns the name as shown in errors.
    pub fn shown(&self) -> String {
        self.name.to_uppercase()
    }
}
