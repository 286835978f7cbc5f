//! The error type for file sets.

use super::{CLASSES_MAX, FILES_MAX, LENGTH_MAX, OBJECTS_MAX};

/// Error in a [`FileSetPlan`](crate::plan::FileSetPlan), with the wrong value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FileSetError {
    /// The name is not valid for the set's directory.
    #[error("file set name {0:?}: is no name of a directory")]
    Name(String),
    /// The set has no files.
    #[error("a file set of no files")]
    NoFiles,
    /// The number of data files exceeds the limit.
    #[error("{0} files of each client: more than {FILES_MAX}")]
    TooManyFiles(u32),
    /// The number of objects exceeds the limit.
    #[error("{0} objects of all clients: more than {OBJECTS_MAX}")]
    TooManyObjects(u64),
    /// A file is longer than the limit.
    #[error("a file of {0} bytes: more than 1 TiB ({LENGTH_MAX})")]
    TooLong(u64),
    /// The sum of the lengths exceeds 64 bits.
    #[error("the lengths of all files sum up to more than 16 EiB")]
    TooManyBytes,
    /// The minimum exceeds the maximum.
    #[error("file sizes from {min_bytes} to {max_bytes} bytes: the first is the larger one")]
    Reversed {
        /// The minimum.
        min_bytes: u64,
        /// The maximum.
        max_bytes: u64,
    },
    /// The median is 0.
    #[error("log-normal file sizes with a median of 0 bytes")]
    Median,
    /// The standard deviation is not valid.
    #[error("log-normal file sizes with sigma {0}: it is from 0 to 16")]
    Sigma(f64),
    /// There are no classes, too many classes, or a class without weight.
    #[error("{0} classes of file sizes: there are 1 to {CLASSES_MAX}")]
    Classes(usize),
    /// The sum of the weights is 0 or too large.
    #[error("the weights of the file sizes sum up to {0}: 1 to 2^64 - 1 is possible")]
    Weights(u128),
    /// The exponent is not valid for Zipf's law.
    #[error("popularity by Zipf's law with exponent {0}: it is from 0 to 100")]
    Exponent(f64),
    /// The size is not a number of bytes.
    #[error("file size {0:?}: is no number of bytes")]
    Bytes(String),
    /// The weight is not a whole number.
    #[error("file size {0:?}: what follows the * is no whole number")]
    Weight(String),
    /// A median without a sigma.
    #[error("file size {0:?}: the median is not followed by a comma and sigma")]
    NoSigma(String),
}

impl FileSetError {
    /// Returns a description of valid values.
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
