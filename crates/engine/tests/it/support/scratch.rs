//! A temporary directory.

use filestone_plan::plan::{LocalTarget, TargetPlan};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory that is removed with all that is in it when it is dropped.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("filestone-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("the temporary directory can be written");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        let mut entries = std::fs::read_dir(&self.0).expect("it is there");
        entries.next().is_none()
    }

    pub fn target(&self) -> TargetPlan {
        local(&self.0)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A directory as a target.
pub fn local(path: &Path) -> TargetPlan {
    TargetPlan::Local(LocalTarget {
        directory: Some(path.to_string_lossy().into_owned()),
    })
}
