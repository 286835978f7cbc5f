//! Files and directories of packages.

use super::Release;
use anyhow::{Context, Result};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// Writes a file and creates its parent directories.
pub fn write(file: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(file, content))
        .with_context(|| format!("{}: cannot be written", file.display()))
}

/// Copies a file, or a directory with its content.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        let content =
            fs::read(from).with_context(|| format!("{}: cannot be read", from.display()))?;
        return write(to, content);
    }
    let entries =
        fs::read_dir(from).with_context(|| format!("{}: cannot be listed", from.display()))?;
    for entry in entries {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Returns all files under a directory, sorted.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in
        fs::read_dir(folder).with_context(|| format!("{}: cannot be listed", folder.display()))?
    {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Sets the time of the commit on `path` and everything below it, and permissions that do not
/// depend on the umask of this machine.
pub fn settle(release: &Release, path: &Path) -> Result<()> {
    let is_program =
        path.ends_with("filestone") && path.is_file() && !path.ends_with("completions/filestone");
    let is_script = path.extension().is_some_and(|extension| extension == "sh");
    let mode = if path.is_dir() || is_program || is_script {
        0o755
    } else {
        0o644
    };
    fs::set_permissions(path, Permissions::from_mode(mode))?;
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            settle(release, &entry?.path())?;
        }
    }
    // Last, because changes in a directory update its time.
    Ok(File::open(path)?.set_modified(UNIX_EPOCH + Duration::from_secs(release.time))?)
}
