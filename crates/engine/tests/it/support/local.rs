//! A directory with a local layer in it.

use filestone_engine::protocols::local::replay::{LocalLayer, LocalOptions, LocalSite};
use filestone_engine::replay::{BlockingWorkDir, Layer, TreeCleanup, WorkDir};
use filestone_workload::load::action::{Disposition, OPTION_DIRECTORY};
use filestone_workload::load::{ActionStatus, LoadAction};
use std::path::PathBuf;

pub const ENOENT: u32 = 2;
pub const EAGAIN: u32 = 11;
pub const EEXIST: u32 = 17;
pub const EISDIR: u32 = 21;
pub const EINVAL: u32 = 22;
pub const ENOTEMPTY: u32 = 39;
pub const ELOOP: u32 = 40;

/// A directory of its own and client 0 in it.
pub struct Bench {
    pub site: LocalSite,
    pub layer: LocalLayer,
    pub data: Vec<u8>,
}

impl Bench {
    pub fn new(options: LocalOptions) -> Self {
        let site = LocalSite::temporary(options).unwrap();
        let layer = site.layer(0).unwrap();
        Self {
            site,
            layer,
            data: vec![0; 128 * 1024],
        }
    }

    /// What somebody else has put there goes too.
    pub fn release(self) {
        let directory = self.site.directory().to_owned();
        drop(self.layer);
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with("clients") {
                continue;
            }
            if path.is_dir() {
                std::fs::remove_dir_all(path).unwrap();
            } else {
                std::fs::remove_file(path).unwrap();
            }
        }
        self.site.release(TreeCleanup::Remove).unwrap();
        assert!(!directory.exists());
    }

    pub fn make_tree(&mut self) {
        assert_eq!(self.mkdir("clients/client0"), ActionStatus::Ok);
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.site.directory().join(name)
    }

    pub fn content(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub fn run(&mut self, action: LoadAction<'_>) -> ActionStatus {
        self.layer.execute(&action, &self.data).unwrap().status
    }

    pub fn open(&mut self, path: &str, disposition: Disposition, handle: u64) -> ActionStatus {
        self.run(LoadAction::NtCreateX {
            path: path.as_bytes(),
            options: 0x40,
            disposition,
            handle,
        })
    }

    pub fn open_directory(&mut self, path: &str, handle: u64) -> ActionStatus {
        self.run(LoadAction::NtCreateX {
            path: path.as_bytes(),
            options: OPTION_DIRECTORY,
            disposition: Disposition::Create,
            handle,
        })
    }

    pub fn read(&mut self, handle: u64, offset: u64, len: u64, expected_len: u64) -> ActionStatus {
        self.run(LoadAction::ReadX {
            handle,
            offset,
            len,
            expected_len,
        })
    }

    pub fn write(&mut self, handle: u64, offset: u64, len: u64) -> ActionStatus {
        self.run(LoadAction::WriteX {
            handle,
            offset,
            len,
            expected_len: len,
        })
    }

    pub fn query(&mut self, path: &str) -> ActionStatus {
        let path = path.as_bytes();
        self.run(LoadAction::QueryPathInformation { path, level: 1004 })
    }

    pub fn find(&mut self, pattern: &str) -> ActionStatus {
        self.run(LoadAction::FindFirst {
            pattern: pattern.as_bytes(),
            level: 260,
            max: 1366,
            expected: 0,
        })
    }

    pub fn mkdir(&mut self, path: &str) -> ActionStatus {
        let path = path.as_bytes();
        self.run(LoadAction::Mkdir { path })
    }

    pub fn rmdir(&mut self, path: &str) -> ActionStatus {
        let path = path.as_bytes();
        self.run(LoadAction::Rmdir { path })
    }

    pub fn unlink(&mut self, path: &str) -> ActionStatus {
        let path = path.as_bytes();
        self.run(LoadAction::Unlink { path })
    }

    pub fn deltree(&mut self, path: &str) -> ActionStatus {
        let path = path.as_bytes();
        self.run(LoadAction::Deltree { path })
    }

    pub fn rename(&mut self, from: &str, to: &str) -> ActionStatus {
        self.run(LoadAction::Rename {
            from: from.as_bytes(),
            to: to.as_bytes(),
        })
    }
}
