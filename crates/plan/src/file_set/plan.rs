//! Parameters of a file set.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// The files, directories and links that each client has for itself.
///
/// Two plans with the same file set use the same tree: it does not depend on the seed of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileSetPlan {
    /// Name of the set's directory in each target directory.
    pub name: String,
    /// Number of data files of each client.
    pub files_per_client: u32,
    /// Lengths of the data files.
    pub sizes: FileSizes,
    /// Number of permanent symbolic links of each client.
    pub symbolic_links_per_client: u32,
    /// Number of names of each client that REMOVE, RENAME and RMDIR can remove at the start, per
    /// kind.
    pub spare_names_per_client: u32,
    /// Size of the working set of all clients together: READ, WRITE and all other operations on
    /// data files use only the first files, up to this sum of lengths; `None` for all files.
    pub working_set_bytes: Option<u64>,
    /// Popularity of the files.
    pub popularity: Popularity,
}

/// Distribution of the lengths of data files. They are sampled once, with a separate seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "distribution", rename_all = "kebab-case")]
pub enum FileSizes {
    /// nhfsstone's three classes: 50 % of 1 to 3 KiB, 47 % of 1 to 6 times 8 KiB, 3 % of 256 KiB.
    Nhfsstone,
    /// One length for all files.
    Fixed {
        /// Length of each file, in bytes.
        bytes: u64,
    },
    /// Uniformly distributed lengths between two values.
    Uniform {
        /// The minimum length, in bytes.
        min_bytes: u64,
        /// The maximum length, in bytes.
        max_bytes: u64,
    },
    /// Log-normally distributed lengths, as in real file systems.
    LogNormal {
        /// Median of the lengths, in bytes.
        median_bytes: u64,
        /// Standard deviation of the natural logarithm of the lengths.
        sigma: f64,
    },
    /// Several fixed lengths, each with a weight.
    Classes {
        /// The lengths.
        classes: Vec<SizeClass>,
    },
}

/// A length and its weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SizeClass {
    /// Weight relative to the other lengths.
    pub weight: u64,
    /// Length in bytes.
    pub bytes: u64,
}

/// Popularity of files: how often each is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Popularity {
    /// Equal popularity of all files.
    #[default]
    Uniform,
    /// The popularity of the file of rank r is proportional to 1/r^exponent.
    Zipf {
        /// The exponent; 1 is Zipf's law.
        exponent: f64,
    },
}

impl FileSetPlan {
    /// Default name of a set.
    pub const NAME_DEFAULT: &'static str = "filestone-set";
}
