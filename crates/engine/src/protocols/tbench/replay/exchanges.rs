//! Messages for the actions of a load.

use filestone_wire::tbench::{Sizes, TbenchDialect, TbenchOperation};
use filestone_workload::load::{Generation, LoadAction};
use filestone_workload::only_in_nfs_loads;

/// Maps actions to message lengths.
#[derive(Debug)]
pub struct Exchanges {
    dialect: TbenchDialect,
    /// Length of the prefix of every name: the directory and a slash.
    prefix_len: u64,
}

impl Exchanges {
    /// Creates the mapping for load files of a generation.
    pub fn new(generation: Generation, prefix: &str) -> Self {
        let dialect = match generation {
            Generation::Dbench1 => TbenchDialect::One,
            Generation::Dbench2 => TbenchDialect::Two,
            Generation::Cifs | Generation::Nfs | Generation::Smb => TbenchDialect::Three,
        };
        // dbench 3 introduced the option for the directory; names were relative before.
        let prefix_len = match dialect {
            TbenchDialect::One | TbenchDialect::Two => 0,
            TbenchDialect::Three => prefix.len() as u64 + 1,
        };
        Self {
            dialect,
            prefix_len,
        }
    }

    /// Returns the lengths of both messages of an operation.
    pub fn sizes(&self, operation: TbenchOperation) -> Sizes {
        self.dialect.sizes(operation)
    }

    fn name(&self, path: &[u8]) -> u64 {
        self.prefix_len + path.len() as u64
    }

    /// Returns the tbench operation for an action; `None` if nothing is sent.
    pub fn operation(&self, action: &LoadAction<'_>) -> Option<TbenchOperation> {
        Some(match action {
            LoadAction::NtCreateX { path, .. }
            | LoadAction::Open { path, .. }
            | LoadAction::OpenX { path, .. } => TbenchOperation::Open {
                name: self.name(path),
            },
            LoadAction::Close { .. } => TbenchOperation::Close,
            LoadAction::ReadX { expected_len, .. } => TbenchOperation::Read {
                returned: *expected_len,
            },
            LoadAction::WriteX { len, .. } => TbenchOperation::Write { len: *len },
            LoadAction::Flush { .. } => TbenchOperation::Flush,
            LoadAction::LockX { .. } | LoadAction::UnlockX { .. } => TbenchOperation::Lock,
            LoadAction::Unlink { path } => TbenchOperation::Unlink {
                name: self.name(path),
            },
            LoadAction::Mkdir { path } | LoadAction::Rmdir { path } => TbenchOperation::Directory {
                name: self.name(path),
            },
            LoadAction::Rename { from, to } => TbenchOperation::Rename {
                from: self.name(from),
                to: self.name(to),
            },
            LoadAction::FindFirst {
                pattern, expected, ..
            } => TbenchOperation::FindFirst {
                name: self.name(pattern),
                entries: *expected,
            },
            LoadAction::QueryPathInformation { path, .. } => TbenchOperation::QueryPath {
                name: self.name(path),
            },
            LoadAction::QueryFileInformation { .. } => TbenchOperation::QueryFile,
            LoadAction::SetFileInformation { .. } => TbenchOperation::SetFile,
            LoadAction::QueryFsInformation { .. } => TbenchOperation::QueryFs,
            LoadAction::Deltree { .. }
            | LoadAction::ReadDirectoryPlus { .. }
            | only_in_nfs_loads!() => {
                return None;
            }
        })
    }
}

/// Returns the file data that an action moves, as counted by tbench: bytes written, and bytes read
/// according to the load file. Data written by an OpenX are not part of any message.
pub fn data_bytes(action: &LoadAction<'_>) -> u64 {
    match action {
        LoadAction::WriteX { len, .. } => *len,
        LoadAction::ReadX { expected_len, .. } => *expected_len,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request_len(generation: Generation, prefix: &str, action: &LoadAction<'_>) -> u64 {
        let exchanges = Exchanges::new(generation, prefix);
        let operation = exchanges.operation(action).unwrap();
        exchanges.sizes(operation).request
    }

    #[test]
    fn a_name_counts_with_the_directory_before_it() {
        let unlink = LoadAction::Unlink {
            path: b"clients/client0/a",
        };
        // ./clients/client0/a
        assert_eq!(request_len(Generation::Cifs, ".", &unlink), 43 + 2 * 19);
        assert_eq!(
            request_len(Generation::Cifs, "/mnt/x", &unlink),
            43 + 2 * 24
        );
        assert_eq!(request_len(Generation::Cifs, "", &unlink), 43 + 2 * 18);
    }

    #[test]
    fn names_of_older_loads_are_relative() {
        let stat = LoadAction::QueryPathInformation {
            path: b"CLIENTS/CLIENT0",
            level: 0,
        };
        assert_eq!(request_len(Generation::Dbench1, ".", &stat), 39 + 15);
        assert_eq!(request_len(Generation::Dbench2, ".", &stat), 41 + 15);
    }

    #[test]
    fn a_read_brings_what_the_load_file_says_came_back() {
        let read = LoadAction::ReadX {
            handle: 1,
            offset: 0,
            len: 4096,
            expected_len: 100,
        };
        let exchanges = Exchanges::new(Generation::Cifs, ".");
        let operation = exchanges.operation(&read).unwrap();
        assert_eq!(exchanges.sizes(operation).reply, 159);
        assert_eq!(data_bytes(&read), 100);
    }

    #[test]
    fn nothing_is_sent_for_a_tree_or_a_procedure_of_nfs() {
        let exchanges = Exchanges::new(Generation::Nfs, ".");
        for action in [
            LoadAction::Deltree { path: b"clients" },
            LoadAction::GetAttr { path: b"a" },
            LoadAction::FileSystemInfo,
        ] {
            assert_eq!(exchanges.operation(&action), None);
        }
    }
}
