//! The built-in mixes: those of nhfsstone and of SPEC's file server benchmarks, and three of
//! filestone.
//!
//! docs/mixes.md prints the same tables with their sources; a test compares the two.

use super::Mix;
use crate::plan::MixCount;
use filestone_workload::operation::OpKind::{
    self, Access, Commit, Create, FsInfo, FsStat, GetAttr, Link, Lookup, MkDir, Read, ReadDir,
    ReadDirPlus, ReadLink, Remove, Rename, RmDir, SetAttr, SymLink, Write,
};

/// The default mix.
pub const DEFAULT: &str = "sfs2008";

/// A built-in mix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltInMix {
    /// Name on the command line.
    pub name: &'static str,
    /// Description in one sentence.
    pub about: &'static str,
    /// Source of the figures or, for filestone's mixes, their rationale.
    pub source: &'static str,
    /// Whether the figures were compared with that source, or with another that quotes it.
    pub verified: bool,
    percent: &'static [(OpKind, u64)],
}

/// nhfsstone's and LADDIS' mixes are for NFSv2; each of their operations has an equivalent in
/// NFSv3.
const MIXES: &[BuiltInMix] = &[
    BuiltInMix {
        name: "nhfsstone",
        about: "nhfsstone's own mix of 1989: software development, half of it by diskless clients",
        source: "Legato Systems, nhfsstone 1.14 and 1.22, the table in its source; NFSv2",
        verified: true,
        percent: SUN_1989,
    },
    BuiltInMix {
        name: "laddis",
        about: "SPEC SFS 1.0 and 1.1 (1993), 097.LADDIS: commonly given with the figures of nhfsstone",
        source: "Wittle and Keith, LADDIS: The Next Generation in NFS File Server Benchmarking, \
                 USENIX Summer 1993; NFSv2. The paper's table could not be compared",
        verified: false,
        percent: SUN_1989,
    },
    BuiltInMix {
        name: "sfs97-v2",
        about: "SPEC SFS 2.0 and 3.0 (1997, 2001), the workload for NFSv2",
        source: "SPEC SFS 2.0, 162.nfsv2: the default percentages in its source, sfs_2_ops.c 2.1 \
                 of 23 October 1997",
        verified: true,
        percent: &[
            (Lookup, 36),
            (GetAttr, 26),
            (Read, 14),
            (Write, 7),
            (ReadLink, 7),
            (ReadDir, 6),
            (SetAttr, 1),
            (Create, 1),
            (Remove, 1),
            (FsStat, 1),
        ],
    },
    BuiltInMix {
        name: "sfs97",
        about: "SPEC SFS 2.0 and 3.0 (1997, 2001), the workload for NFSv3",
        source: "SPEC SFS 3.0: M. Eisler, More on SPEC SFS 2008, April 2008, compares it with its \
                 successor; FSINFO from the defaults that a trace replayer made of SPEC's code kept",
        verified: true,
        percent: &[
            (Lookup, 27),
            (Read, 18),
            (GetAttr, 11),
            (Write, 9),
            (ReadDirPlus, 9),
            (ReadLink, 7),
            (Access, 7),
            (Commit, 5),
            (ReadDir, 2),
            (SetAttr, 1),
            (Create, 1),
            (Remove, 1),
            (FsStat, 1),
            (FsInfo, 1),
        ],
    },
    BuiltInMix {
        name: "sfs2008",
        about: "SPECsfs2008 (2008), the workload for NFSv3: averages of many sites of its time",
        source: "M. Eisler, More on SPEC SFS 2008, April 2008, whose table has all operations and \
                 sums to 100; SPEC's own user's guide could not be compared",
        verified: true,
        percent: &[
            (GetAttr, 26),
            (Lookup, 24),
            (Read, 18),
            (Access, 11),
            (Write, 10),
            (SetAttr, 4),
            (ReadDirPlus, 2),
            (ReadLink, 1),
            (ReadDir, 1),
            (Create, 1),
            (Remove, 1),
            (FsStat, 1),
        ],
    },
    BuiltInMix {
        name: "metadata",
        about: "names and attributes only: builds, mail folders and source trees without their data",
        source: "our own: sfs2008 without READ and WRITE, with names that come and go in pairs; \
                 the reason for each figure: filestone help mixes",
        verified: true,
        percent: &[
            (GetAttr, 30),
            (Lookup, 24),
            (Access, 14),
            (Create, 6),
            (Remove, 6),
            (SetAttr, 5),
            (ReadDirPlus, 5),
            (Rename, 3),
            (ReadLink, 2),
            (MkDir, 1),
            (RmDir, 1),
            (Link, 1),
            (SymLink, 1),
            (FsStat, 1),
        ],
    },
    BuiltInMix {
        name: "read-mostly",
        about: "files that are served and rarely changed: home pages, software, media",
        source: "our own: nine bytes are read for one that is written; the reason for each \
                 figure: filestone help mixes",
        verified: true,
        percent: &[
            (Read, 54),
            (GetAttr, 16),
            (Lookup, 10),
            (Access, 8),
            (Write, 6),
            (ReadDirPlus, 2),
            (Commit, 1),
            (SetAttr, 1),
            (Create, 1),
            (Remove, 1),
        ],
    },
    BuiltInMix {
        name: "write-mostly",
        about: "files that are written and rarely looked at: logs, backups, checkpoints",
        source: "our own: nine bytes are written for one that is read; the reason for each \
                 figure: filestone help mixes",
        verified: true,
        percent: &[
            (Write, 54),
            (GetAttr, 12),
            (Lookup, 8),
            (Commit, 7),
            (Read, 6),
            (Access, 5),
            (SetAttr, 3),
            (Create, 2),
            (Remove, 2),
            (ReadDirPlus, 1),
        ],
    },
];

/// 0 13 1 0 34 8 22 0 15 2 1 0 0 0 0 0 3 1, in the order of NFSv2's procedures.
const SUN_1989: &[(OpKind, u64)] = &[
    (Lookup, 34),
    (Read, 22),
    (Write, 15),
    (GetAttr, 13),
    (ReadLink, 8),
    (ReadDir, 3),
    (Create, 2),
    (SetAttr, 1),
    (Remove, 1),
    (FsStat, 1),
];

/// Returns the built-in mix of that name.
pub fn built_in(name: &str) -> Option<&'static BuiltInMix> {
    MIXES.iter().find(|mix| mix.name == name)
}

impl BuiltInMix {
    /// Returns the mix, with percentages as counts.
    pub fn mix(&self) -> Mix {
        Mix {
            calls: None,
            name: self.name.to_owned(),
            counts: MixCount::of(self.percent),
            left_out: Vec::new(),
            notes: vec![self.about.to_owned(), format!("source: {}", self.source)],
        }
    }
}

/// Returns the names, the oldest first.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    MIXES.iter().map(|mix| mix.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentages_of_each_mix_sum_to_100() {
        for name in names() {
            let mix = built_in(name).expect("it has a name").mix();
            assert_eq!(mix.sum(), 100, "{name}");
            assert_eq!(
                mix.to_plan_counts().len(),
                mix.counts.len(),
                "{name} has one twice"
            );
        }
    }

    #[test]
    fn the_default_is_built_in_and_verified() {
        assert!(built_in(DEFAULT).expect("it has a name").verified);
        assert_eq!(built_in("sfs2014"), None);
    }

    #[test]
    fn the_page_about_mixes_has_every_figure() {
        let page = include_str!("../../../../docs/mixes.md");
        for name in names() {
            let (_, chapter) = page
                .split_once(&format!("\n## `{name}`"))
                .expect("a chapter each");
            let chapter = chapter.split("\n## ").next().unwrap_or_default();
            for (kind, percent) in built_in(name).expect("it has a name").mix().percent_rows() {
                let row = format!("| {} | {percent} ", kind.name().to_uppercase());
                assert!(chapter.contains(&row), "{name} lacks {row}");
            }
        }
    }
}
