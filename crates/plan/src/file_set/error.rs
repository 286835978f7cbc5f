//! Why a file set cannot be as it was asked for, in words.

use super::{CLASSES_MAX, FILES_MAX, LENGTH_MAX, OBJECTS_MAX};

/// What is wrong with a [`FileSetPlan`](crate::plan::FileSetPlan), with which value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FileSetError {
    /// The set's directory cannot be called so.
    #[error("file set name {0:?}: is no name of a directory")]
    Name(String),
    /// There is nothing to read.
    #[error("a file set of no files")]
    NoFiles,
    /// More data files than are made.
    #[error("{0} files of each client: more than {FILES_MAX}")]
    TooManyFiles(u32),
    /// More objects than are kept track of.
    #[error("{0} objects of all clients: more than {OBJECTS_MAX}")]
    TooManyObjects(u64),
    /// A file longer than any that is made.
    #[error("a file of {0} bytes: more than 1 TiB ({LENGTH_MAX})")]
    TooLong(u64),
    /// The sum of the lengths is more than 64 bits hold.
    #[error("the lengths of all files sum up to more than 16 EiB")]
    TooManyBytes,
    /// The shortest is longer than the longest.
    #[error("file sizes from {min_bytes} to {max_bytes} bytes: the first is the larger one")]
    Reversed {
        /// The shortest.
        min_bytes: u64,
        /// The longest.
        max_bytes: u64,
    },
    /// Half of the files cannot be shorter than nothing.
    #[error("log-normal file sizes with a median of 0 bytes")]
    Median,
    /// Not a standard deviation.
    #[error("log-normal file sizes with sigma {0}: it is from 0 to 16")]
    Sigma(f64),
    /// No class, too many, or none that is ever drawn.
    #[error("{0} classes of file sizes: there are 1 to {CLASSES_MAX}")]
    Classes(usize),
    /// No class has a weight, or together they have too much.
    #[error("the weights of the file sizes sum up to {0}: 1 to 2^64 - 1 is possible")]
    Weights(u128),
    /// Not an exponent of Zipf's law.
    #[error("popularity by Zipf's law with exponent {0}: it is from 0 to 100")]
    Exponent(f64),
    /// A size that is no number of bytes.
    #[error("file size {0:?}: is no number of bytes")]
    Bytes(String),
    /// A weight that is no whole number.
    #[error("file size {0:?}: what follows the * is no whole number")]
    Weight(String),
    /// A median without a sigma.
    #[error("file size {0:?}: the median is not followed by a comma and sigma")]
    NoSigma(String),
}

impl FileSetError {
    /// What would have been right.
    pub fn help(&self) -> &'static str {
        match self {
            FileSetError::Name(_) => {
                "a name has 1 to 255 bytes without a slash and is neither . nor .."
            }
            FileSetError::NoFiles => "give each client one file at least",
            FileSetError::TooManyFiles(_) | FileSetError::TooManyObjects(_) => {
                "ask for fewer files, or fewer clients"
            }
            FileSetError::TooLong(_) | FileSetError::TooManyBytes => {
                "ask for shorter files, or fewer"
            }
            FileSetError::Exponent(_) => "1 is Zipf's law; 0 makes all files equally popular",
            FileSetError::Reversed { .. }
            | FileSetError::Median
            | FileSetError::Sigma(_)
            | FileSetError::Classes(_)
            | FileSetError::Weights(_)
            | FileSetError::Bytes(_)
            | FileSetError::Weight(_)
            | FileSetError::NoSigma(_) => {
                "file sizes are nhfsstone, 64K, 4K..1M, lognormal:16K,1.5 or \
                 1K*50,8K*40,256K*10 (each size with its weight); K, M, G and T are powers of 1024"
            }
        }
    }
}
