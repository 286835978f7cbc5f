//! Inputs that a command line names and that are read from files: load files, mixes, plans and
//! records.

pub mod compared_runs;
pub mod credentials;
pub mod load_source;
pub mod loads;
pub mod mix_source;
pub mod record_file;
pub mod target_list;
