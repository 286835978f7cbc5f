//! Message lengths of each operation.
//!
//! tbench took the lengths from the traffic of Windows clients of its time; names count double if
//! they were sent in UTF-16. There are three tables, one for each grammar of load files.

use super::{LengthError, TbenchExchange};

/// Version of the length table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TbenchDialect {
    /// tbench 1.0 to 1.3.
    One,
    /// tbench 2.0.
    Two,
    /// tbench 3 to 5.
    Three,
}

impl TbenchDialect {
    /// The dialects, oldest first.
    pub const ALL: [Self; 3] = [Self::One, Self::Two, Self::Three];
}

/// An operation that has messages. Names are represented by their length in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TbenchOperation {
    /// Removal of a file.
    Unlink {
        /// Length of its name.
        name: u64,
    },
    /// Creation or removal of a directory.
    Directory {
        /// Length of its name.
        name: u64,
    },
    /// Rename.
    Rename {
        /// Length of the old name.
        from: u64,
        /// Length of the new name.
        to: u64,
    },
    /// Open or creation of a file.
    Open {
        /// Length of its name.
        name: u64,
    },
    /// Close of a handle.
    Close,
    /// Write of file data.
    Write {
        /// Number of bytes.
        len: u64,
    },
    /// Read of file data.
    Read {
        /// Number of bytes returned.
        returned: u64,
    },
    /// Flush of a file.
    Flush,
    /// Locking or unlocking of a range.
    Lock,
    /// Query of the attributes of a name.
    QueryPath {
        /// Length of the name.
        name: u64,
    },
    /// Query of the attributes of a handle.
    QueryFile,
    /// Query of the attributes of a file system.
    QueryFs,
    /// Change of the attributes of a handle.
    SetFile,
    /// Query of the names that match a pattern.
    FindFirst {
        /// Length of the pattern.
        name: u64,
        /// Number of names returned.
        entries: u64,
    },
}

/// Lengths of both messages of an operation, without limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sizes {
    /// Length of the request.
    pub request: u64,
    /// Length of the reply.
    pub reply: u64,
}

impl Sizes {
    const fn new(request: u64, reply: u64) -> Self {
        Self { request, reply }
    }

    /// Returns the exchange with these lengths, if they are within the limits.
    pub const fn exchange(self) -> Result<TbenchExchange, LengthError> {
        TbenchExchange::new(self.request, self.reply)
    }
}

/// Returns `fixed` bytes and `count` pieces of `each`. Load files may contain any number: a sum
/// that does not fit 64 bits exceeds the limits anyway.
const fn plus(fixed: u64, count: u64, each: u64) -> u64 {
    fixed.saturating_add(count.saturating_mul(each))
}

impl TbenchDialect {
    /// Returns the message lengths of `operation`. An operation that an older tbench does not have
    /// has the lengths of a newer one.
    pub const fn sizes(self, operation: TbenchOperation) -> Sizes {
        match self {
            TbenchDialect::One => one(operation),
            TbenchDialect::Two => two(operation),
            TbenchDialect::Three => three(operation),
        }
    }
}

const fn one(operation: TbenchOperation) -> Sizes {
    match operation {
        TbenchOperation::QueryPath { name } => Sizes::new(plus(39, name, 1), 59),
        TbenchOperation::QueryFile
        | TbenchOperation::QueryFs
        | TbenchOperation::FindFirst { .. }
        | TbenchOperation::Flush
        | TbenchOperation::Unlink { .. }
        | TbenchOperation::Directory { .. }
        | TbenchOperation::Rename { .. }
        | TbenchOperation::Open { .. }
        | TbenchOperation::Close
        | TbenchOperation::Write { .. }
        | TbenchOperation::Read { .. }
        | TbenchOperation::Lock
        | TbenchOperation::SetFile => two(operation),
    }
}

const fn two(operation: TbenchOperation) -> Sizes {
    match operation {
        TbenchOperation::Unlink { .. } => Sizes::new(83, 39),
        TbenchOperation::Directory { name } => Sizes::new(plus(39, name, 1), 39),
        TbenchOperation::Rename { from, to } => {
            Sizes::new(plus(41, from.saturating_add(to), 1), 39)
        }
        TbenchOperation::Open { .. } => Sizes::new(111, 69),
        TbenchOperation::Close => Sizes::new(45, 39),
        TbenchOperation::Write { len } => Sizes::new(plus(51, len, 1), 41),
        TbenchOperation::Read { returned } => Sizes::new(55, plus(4, returned, 1)),
        TbenchOperation::Flush => Sizes::new(41, 39),
        TbenchOperation::QueryPath { name } => Sizes::new(plus(41, name, 1), 80),
        TbenchOperation::QueryFile | TbenchOperation::QueryFs => Sizes::new(41, 80),
        TbenchOperation::FindFirst { name, .. } => Sizes::new(plus(41, name, 1), 200),
        TbenchOperation::Lock | TbenchOperation::SetFile => three(operation),
    }
}

const fn three(operation: TbenchOperation) -> Sizes {
    match operation {
        TbenchOperation::Unlink { name } | TbenchOperation::Directory { name } => {
            Sizes::new(plus(43, name, 2), 39)
        }
        TbenchOperation::Rename { from, to } => {
            Sizes::new(plus(47, from.saturating_add(to), 2), 39)
        }
        TbenchOperation::Open { name } => Sizes::new(plus(74, name, 2), 87),
        TbenchOperation::Close => Sizes::new(47, 39),
        TbenchOperation::Write { len } => Sizes::new(plus(59, len, 1), 55),
        TbenchOperation::Read { returned } => Sizes::new(59, plus(59, returned, 1)),
        TbenchOperation::Flush => Sizes::new(41, 39),
        TbenchOperation::Lock => Sizes::new(51, 39),
        TbenchOperation::QueryPath { name } => Sizes::new(plus(55, name, 2), 71),
        TbenchOperation::QueryFile | TbenchOperation::QueryFs => Sizes::new(59, 71),
        TbenchOperation::SetFile => Sizes::new(71, 47),
        TbenchOperation::FindFirst { name, entries } => {
            Sizes::new(plus(59, name, 2), plus(39, entries, 90))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TbenchOperation::*;

    fn check(dialect: TbenchDialect, expected: &[(TbenchOperation, u64, u64)]) {
        for (operation, request, reply) in expected {
            assert_eq!(
                dialect.sizes(*operation),
                Sizes::new(*request, *reply),
                "{dialect:?} {operation:?}"
            );
        }
    }

    #[test]
    fn tbench_3_counts_names_double() {
        check(
            TbenchDialect::Three,
            &[
                (Unlink { name: 10 }, 63, 39),
                (Directory { name: 10 }, 63, 39),
                (Rename { from: 10, to: 5 }, 77, 39),
                (Open { name: 10 }, 94, 87),
                (Close, 47, 39),
                (Write { len: 4096 }, 4155, 55),
                (Read { returned: 4096 }, 59, 4155),
                (Flush, 41, 39),
                (Lock, 51, 39),
                (QueryPath { name: 10 }, 75, 71),
                (QueryFile, 59, 71),
                (QueryFs, 59, 71),
                (SetFile, 71, 47),
                (
                    FindFirst {
                        name: 10,
                        entries: 11,
                    },
                    79,
                    1029,
                ),
            ],
        );
    }

    #[test]
    fn tbench_2_does_not_know_how_long_names_it_opens_are() {
        check(
            TbenchDialect::Two,
            &[
                (Unlink { name: 10 }, 83, 39),
                (Directory { name: 10 }, 49, 39),
                (Rename { from: 10, to: 5 }, 56, 39),
                (Open { name: 10 }, 111, 69),
                (Close, 45, 39),
                (Write { len: 4096 }, 4147, 41),
                (Read { returned: 4096 }, 55, 4100),
                (Flush, 41, 39),
                (QueryPath { name: 10 }, 51, 80),
                (QueryFile, 41, 80),
                (QueryFs, 41, 80),
                (
                    FindFirst {
                        name: 10,
                        entries: 11,
                    },
                    51,
                    200,
                ),
                (Lock, 51, 39),
                (SetFile, 71, 47),
            ],
        );
    }

    #[test]
    fn tbench_1_differs_from_2_in_its_stat() {
        check(
            TbenchDialect::One,
            &[
                (QueryPath { name: 10 }, 49, 59),
                (Open { name: 10 }, 111, 69),
                (Write { len: 4 }, 55, 41),
                (Read { returned: 4 }, 55, 8),
                (Close, 45, 39),
                (Unlink { name: 1 }, 83, 39),
                (Rename { from: 1, to: 2 }, 44, 39),
            ],
        );
    }

    /// The 42,802 operations of the first client.txt, counted. The remainder of the bytes sent are
    /// its names, 33 bytes each on average.
    #[test]
    fn a_pass_of_the_first_load_moves_what_is_known_of_it() {
        let counted = [
            (961, Unlink { name: 0 }),
            (3624 + 2, Open { name: 0 }),
            (3617 + 2, Close),
            (25, Directory { name: 0 }),
            (195, Rename { from: 0, to: 0 }),
            (6393, QueryPath { name: 0 }),
            (23_287, Write { len: 0 }),
            (4698, Read { returned: 0 }),
        ];
        let (mut sent, mut received) = (94_701_582, 37_950_391);
        for (count, operation) in counted {
            let sizes = TbenchDialect::One.sizes(operation);
            sent += count * sizes.request;
            received += count * sizes.reply;
        }
        assert_eq!(received, 39_738_531);
        let names = 6393 + 25 + 2 * 195;
        assert_eq!((97_278_628 - sent) / names, 33);
    }

    #[test]
    fn numbers_of_any_size_end_out_of_bounds_and_not_around() {
        for dialect in TbenchDialect::ALL {
            for operation in [
                Write { len: u64::MAX },
                Read { returned: u64::MAX },
                Directory { name: u64::MAX },
                Rename {
                    from: u64::MAX,
                    to: u64::MAX,
                },
            ] {
                let sizes = dialect.sizes(operation);
                assert!(sizes.exchange().is_err(), "{dialect:?} {operation:?}");
            }
        }
        let many = FindFirst {
            name: 1,
            entries: u64::MAX / 2,
        };
        assert!(TbenchDialect::Three.sizes(many).exchange().is_err());
    }
}
