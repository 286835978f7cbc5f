//! A list of targets in a file.

use crate::error::Error;
use crate::options::layer_targets::{self, LayerTargets};
use std::path::Path;

/// Reads the targets in a file, one per line.
pub fn read(path: &Path) -> Result<LayerTargets, Error> {
    let text = std::fs::read_to_string(path).map_err(|error| Error::file(path, &error))?;
    layer_targets::listed(&text)
        .map_err(|reason| Error::usage(format!("{}:{reason}", path.display())))
}
