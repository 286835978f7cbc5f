//! What a file set is to be.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The files, directories and links that each client has for itself.
///
/// Two plans with the same file set find the same tree: nothing of it depends on the
/// seed of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FileSetPlan {
    /// Name of the set's directory in each target directory.
    pub name: String,
    /// Data files of each client.
    pub files_per_client: u32,
    /// How long they are.
    pub sizes: FileSizes,
    /// Symbolic links of each client that are always there.
    pub symbolic_links_per_client: u32,
    /// Names of each client that REMOVE, RENAME and RMDIR can take away at the start, per kind.
    pub spare_names_per_client: u32,
    /// READ, WRITE and whatever else goes to a data file stay within the first files whose
    /// lengths sum to so much, of all clients together; `None` for all files.
    pub working_set_bytes: Option<u64>,
    /// Which files are chosen how often.
    pub popularity: Popularity,
}

/// How long the data files of a set are. Drawn once, with a seed of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "distribution", rename_all = "kebab-case")]
pub enum FileSizes {
    /// nhfsstone's three classes: 50 % of 1 to 3 KiB, 47 % of 1 to 6 times 8 KiB, 3 % of 256 KiB.
    Nhfsstone,
    /// All the same.
    Fixed {
        /// Length of each file.
        bytes: u64,
    },
    /// Any length between two, all equally likely.
    Uniform {
        /// The shortest.
        min_bytes: u64,
        /// The longest.
        max_bytes: u64,
    },
    /// Log-normal, as file sizes are in the wild.
    LogNormal {
        /// Half of the files are shorter.
        median_bytes: u64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Some lengths, each with its weight.
    Classes {
        /// The lengths.
        classes: Vec<SizeClass>,
    },
}

/// One length among several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SizeClass {
    /// How often, relative to the others.
    pub weight: u64,
    /// How long.
    pub bytes: u64,
}

/// Which files are chosen how often.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Popularity {
    /// All equally.
    #[default]
    Uniform,
    /// The file of rank r in proportion to 1/r^exponent.
    Zipf {
        /// 1 is Zipf's law.
        exponent: f64,
    },
}

impl FileSetPlan {
    /// What a set is called where nothing else is asked for.
    pub const NAME_DEFAULT: &'static str = "filestone-set";
}
