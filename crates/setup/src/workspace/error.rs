//! Errors of claiming, populating and removing a directory.

use super::marker::MarkerOwner;
use filestone_host::error::{AreaError, ErrorCategory};
use filestone_host::exhaustion::is_exhausted;
use filestone_plan::made::Kept;
use rustix::io::Errno;

/// Purpose of a claimed directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A load is replayed in it.
    Replay,
    /// A mix stores its file set in it.
    FileSet,
    /// A probe changes objects in it.
    Probe,
    /// A run writes its results into it.
    Results,
}

/// Error of claiming, populating or removing a directory. The user can correct all of them, except
/// those of a server that is gone or lists names that do not exist.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// The owner's run is still active.
    #[error("{}: another run is using {} ({})", .owner.path, used(*.purpose), .owner.process_in_words())]
    InUse {
        /// Owner of the directory.
        owner: MarkerOwner,
        /// Purpose of the directory.
        purpose: Purpose,
    },
    /// This run itself has claimed the directory, under the name of another of its targets.
    #[error("{path}: this run works there already: another of its targets is the same directory")]
    Twice {
        /// The second path of the directory.
        path: String,
    },
    /// The owner's run is over.
    #[error("{}: was left over by {}, whose run began {}", .owner.path, .owner.process_in_words(), .owner.started_in_words())]
    Stale {
        /// Owner of the directory.
        owner: MarkerOwner,
    },
    /// The state of the owner's run is unknown.
    #[error("{}: {}left over, or in use, by {}, whose run began {}", .owner.path, unknown(*.purpose), .owner.process_in_words(), .owner.started_in_words())]
    Unknown {
        /// Owner of the directory.
        owner: MarkerOwner,
        /// Purpose of the directory.
        purpose: Purpose,
    },
    /// The object has no marker of filestone.
    #[error("{path}: {}: nothing has been touched", if *.is_directory { "was not made by filestone" } else { "is no directory" })]
    Foreign {
        /// Path of the object.
        path: String,
        /// Purpose of the directory.
        purpose: Purpose,
        /// Whether the object is a directory.
        is_directory: bool,
    },
    /// The directory to read does not exist.
    #[error("{path}: there is no such directory, and a run that only reads makes none")]
    NothingToRead {
        /// Path of the directory.
        path: String,
    },
    /// A file set contains an object that filestone has not made.
    #[error("{path}: was not made by filestone: it has not been touched")]
    ForeignContent {
        /// Path of the object.
        path: String,
    },
    /// A directory of a file set still contains an object that filestone has not made.
    #[error("{path}: {}", kept(.inside.as_deref()))]
    NotEmpty {
        /// Path of the directory.
        path: String,
        /// Path of the object in it, if it still exists.
        inside: Option<String>,
    },
    /// A directory of a run still contains objects that the run has not made.
    #[error("{path}: not removed: filestone has not made {kept}")]
    Foreigners {
        /// Path of the directory.
        path: String,
        /// The objects, relative to the directory.
        kept: Kept,
        /// Purpose of the directory.
        purpose: Purpose,
    },
    /// A left-over directory contains names other than those that this run makes.
    #[error("{path}: {by} has left it over: nothing has been removed")]
    OtherNames {
        /// Path of the directory.
        path: String,
        /// The run that left it.
        by: String,
    },
    /// An object of a file set has changed its type.
    #[error("{path}: is no {expected} any more: it was not filestone that changed it")]
    Changed {
        /// Path of the object.
        path: String,
        /// The expected type.
        expected: &'static str,
    },
    /// The directory is a file set of another spec.
    #[error("{path}: is a file set of another recipe")]
    OtherRecipe {
        /// Path of the file set.
        path: String,
    },
    /// Another run claimed the directory at the same time.
    #[error("{path}: another run was faster")]
    Overtaken {
        /// Path of the directory.
        path: String,
    },
    /// Another run has taken the directory over.
    #[error("{path}: does not belong to this run any more: it has not been removed")]
    NotOwned {
        /// Path of the directory.
        path: String,
    },
    /// The listing of a directory does not end.
    #[error("{path}: {NEVER_EMPTY}")]
    NeverEmpty {
        /// Path of the directory.
        path: String,
        /// Purpose of the directory.
        purpose: Purpose,
    },
    /// A listing before the run does not end.
    #[error("{path}: {what}: the server does not come to the end of it")]
    Endless {
        /// Path of the directory.
        path: String,
        /// Description of the listing.
        what: String,
    },
    /// The server does not reply any more.
    #[error("{what}")]
    Lost {
        /// Text of the error.
        what: String,
    },
    /// The operating system refused an action.
    #[error("{path}: {}", describe(*.errno, .doing, *.purpose))]
    System {
        /// Path of the object.
        path: String,
        /// The attempted action.
        doing: &'static str,
        /// Error of the operating system.
        errno: Errno,
        /// Purpose of the directory.
        purpose: Purpose,
    },
    /// The directory could be opened, but no directory can be made in it, as in file systems that
    /// store no user files, such as /proc.
    #[error("{path}: no directory can be made in it")]
    NoFiles {
        /// Path of the directory.
        path: String,
    },
    /// The file system does not support extended attributes.
    #[error("{path}: the file system takes no extended attribute {name}: {errno}")]
    NoAttributes {
        /// Path of the file.
        path: String,
        /// Name of the attribute.
        name: &'static str,
        /// Error of the operating system.
        errno: Errno,
    },
    /// The file system does not support O_DIRECT.
    #[error("{path}: the file system opens no file with O_DIRECT: {errno}")]
    NoDirect {
        /// Path of the file.
        path: String,
        /// Error of the operating system.
        errno: Errno,
    },
    /// The contents of the directory cannot be removed.
    #[error("{path}: {why}")]
    NotRemoved {
        /// Path of the directory.
        path: String,
        /// Cause.
        why: String,
    },
}

/// Message for a directory that has been emptied too often.
pub(crate) const NEVER_EMPTY: &str = "never becomes empty: the server lists what it has removed, \
     or somebody else makes files in it";

fn kept(inside: Option<&str>) -> String {
    match inside {
        Some(path) => format!("there is something in it that filestone has not made: {path}"),
        None => "is not empty, and nothing is listed in it: a file in it is in use".into(),
    }
}

fn used(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Replay | Purpose::Probe | Purpose::Results => "it",
        Purpose::FileSet => "this file set",
    }
}

fn unknown(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Replay | Purpose::Probe | Purpose::Results => "",
        Purpose::FileSet => "this file set is ",
    }
}

fn describe(errno: Errno, doing: &str, purpose: Purpose) -> String {
    match (errno, purpose) {
        (Errno::NOENT, Purpose::Replay) => "there is no such directory".into(),
        (Errno::NOTDIR, Purpose::Replay) => "is not a directory".into(),
        (Errno::ACCESS | Errno::PERM, _) => format!("{doing} is not allowed"),
        (Errno::ROFS, _) => "the file system is mounted read-only".into(),
        (Errno::NOSPC | Errno::DQUOT, _) => {
            format!("{doing} failed: the file system is full ({errno})")
        }
        _ => format!("{doing} failed: {errno}"),
    }
}

impl ClaimError {
    /// Returns advice on how to correct the error.
    pub fn help(&self) -> &'static str {
        use Purpose::{FileSet, Replay, Results};
        match self {
            Self::InUse {
                purpose: FileSet, ..
            } => "wait for its end, or give the file set another name (--file-set) or directory",
            Self::InUse { .. } => "wait for its end, or use another directory",
            Self::Twice { .. } => "name each directory once, and more clients (-c) instead",
            Self::Stale { .. } => "remove it with --remove-leftover, which takes nothing else away",
            Self::Unknown {
                purpose: FileSet, ..
            } => {
                "if that run is over, remove it with --remove-leftover, or add a line \"given up\" to \
                 made-by-filestone in it; or give the file set another name (--file-set) or directory"
            }
            Self::Unknown {
                purpose: Results, ..
            } => "if that run is over, remove run.json.part in it; or name another directory",
            Self::Unknown { .. } => "if that run is not going on, remove it with --remove-leftover",
            Self::Foreign {
                purpose: FileSet, ..
            } => "move it away, or give the file set another name (--file-set) or directory",
            Self::Foreign { .. } => "move it away, or use another directory",
            Self::NothingToRead { .. } => {
                "leave one with --skip-cleanup and a --duration that ends before the load takes its \
                 tree away, or make one by hand"
            }
            Self::ForeignContent { .. } | Self::NotEmpty { .. } => {
                "move it away; the rest of the file set can be removed then"
            }
            Self::Foreigners { .. } => {
                "move that away; --remove-leftover removes the rest of the directory then"
            }
            Self::OtherNames { .. } => {
                "give --remove-leftover to the command that made it, which knows its names, or remove it by hand"
            }
            Self::Changed { .. } => "move it away, or remove the file set",
            Self::OtherRecipe { .. } => {
                "give this one a name of its own (--file-set), or remove that one with --remove-file-set \
                 and the options that made it"
            }
            Self::Overtaken { .. } => {
                "try again, or give the file set another name (--file-set) or directory"
            }
            Self::NotOwned { .. } => "did somebody change the file made-by-filestone in it?",
            Self::NeverEmpty {
                purpose: Replay, ..
            } => "remove it with --remove-leftover, or by hand",
            Self::NeverEmpty { .. } | Self::NotRemoved { .. } => "remove it by hand",
            Self::NoFiles { .. } => {
                "use a directory of a file system that keeps files, and that nobody is removing"
            }
            Self::NoAttributes { .. } => {
                "leave --xattr out, or use a file system that has user attributes"
            }
            Self::NoDirect { .. } => "leave --direct out, or use a file system on a device",
            Self::Endless { .. } => "name another directory, or ask for fewer files",
            Self::Lost { .. } => "is the server still there?",
            Self::System { errno, purpose, .. } => help_with(*errno, *purpose),
        }
    }
}

impl AreaError for ClaimError {
    fn category(&self) -> ErrorCategory {
        match self {
            Self::Lost { .. }
            | Self::Endless { .. }
            | Self::NeverEmpty { .. }
            | Self::NotRemoved { .. } => ErrorCategory::Target,
            Self::System {
                purpose: Purpose::Results,
                ..
            } => ErrorCategory::Environment,
            Self::System { errno, .. } if is_exhausted(*errno) => ErrorCategory::Environment,
            _ => ErrorCategory::Usage,
        }
    }

    fn help(&self) -> Option<String> {
        Some(self.help().into())
    }
}

fn help_with(errno: Errno, purpose: Purpose) -> &'static str {
    match (errno, purpose) {
        (Errno::NOENT, Purpose::Replay) => {
            "make it first; without a target, a fresh temporary directory is used"
        }
        (Errno::NOTDIR, Purpose::Replay) => "a load is replayed in a directory",
        (Errno::NOENT | Errno::NOTDIR, Purpose::FileSet) => {
            "the target of a mix is a directory that is there"
        }
        (Errno::ACCESS | Errno::PERM, _) => "the directory must be writable for who runs filestone",
        (Errno::ROFS, Purpose::Replay) => {
            "a load changes files; mount it read-write, or replay it with --read-only"
        }
        (Errno::ROFS, Purpose::FileSet) => "a mix changes files; mount it read-write",
        (Errno::NOSPC | Errno::DQUOT, Purpose::Replay) => "make room, or use another directory",
        (Errno::NOSPC | Errno::DQUOT, Purpose::FileSet) => {
            "make room, or ask for a smaller set (--files, --file-size)"
        }
        _ => "use another directory, or see what is wrong with this one",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_system_cannot_do_is_said_with_the_option_to_leave_out() {
        let path = || "/srv/test".into();
        let errno = Errno::INVAL;
        let name = "user.DosAttrib";
        for (error, option) in [
            (
                ClaimError::NoDirect {
                    path: path(),
                    errno,
                },
                "--direct",
            ),
            (
                ClaimError::NoAttributes {
                    path: path(),
                    name,
                    errno,
                },
                "--xattr",
            ),
        ] {
            let said = error.to_string();
            assert!(said.starts_with("/srv/test: the file system"), "{said}");
            assert!(error.help().contains(option));
        }
    }

    #[test]
    fn a_server_that_is_gone_is_no_mistake_of_the_user() {
        let what = "WRITE: no answer within 1s".into();
        assert_eq!(ClaimError::Lost { what }.category(), ErrorCategory::Target);
        let path = "/srv/test".into();
        let error = ClaimError::OtherRecipe { path };
        assert_eq!(error.category(), ErrorCategory::Usage);
    }

    #[test]
    fn a_run_of_which_it_is_not_known_whether_it_lives_is_left_to_the_user() {
        let owner = MarkerOwner::read("/d/clients", "made by filestone 0\nprocess: 1\n");
        let owner = owner.expect("a marker");
        let purpose = Purpose::Replay;
        let error = ClaimError::Unknown { owner, purpose };
        let said = error.to_string();
        assert!(said.contains("left over, or in use, by process"), "{said}");
        assert!(error.help().contains("--remove-leftover"));
    }
}
