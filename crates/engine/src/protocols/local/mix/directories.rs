//! The directories of a mix, with their mounts and call counters.

use super::error::MountError;
use super::kernel::Kernel;
use super::mounted::{self, Mounted};
use crate::protocols::local::tree::{self, LocalTree};
use filestone_host::error::RunError;
use filestone_measure::measure::run_record::Target;
use filestone_plan::file_set::FileSetSpec;
use filestone_plan::plan::{FileSetPlan, LeftoverPolicy, MixPlan, Plan, TargetPlan};
use filestone_plan::plan::{MixPlanError, PlanError};
use filestone_setup::workspace::set_directory::{OnSpecMismatch, SetDirectory};
use filestone_setup::workspace::{Purpose, set_removal};
use rustix::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// A file set in a directory of this host.
pub(super) type Claim = SetDirectory<OwnedFd>;

/// The directories under test.
pub(super) struct Directories {
    paths: Vec<PathBuf>,
    /// Mount of each directory; empty without feedback if it cannot be determined.
    mounts: Vec<Mounted>,
    /// Call counters of each mount; empty without feedback.
    pub kernels: Vec<Kernel>,
    /// Index of the counters of each directory.
    kernel_of: Vec<usize>,
}

impl Directories {
    pub fn find(plan: &Plan, mix: &MixPlan) -> Result<Self, RunError> {
        let proc_root = mix.local.proc_root.as_deref().unwrap_or("/proc");
        let proc_root = Path::new(proc_root);
        let targets = std::iter::once(&plan.target).chain(&mix.more_targets);
        let paths = targets.map(path_of).collect::<Result<Vec<_>, _>>()?;
        let mounts = paths.iter().map(|at| mounted::find(proc_root, at));
        if !mix.local.feedback {
            return Ok(Self {
                mounts: mounts.collect::<Result<_, _>>().unwrap_or_default(),
                kernels: Vec::new(),
                kernel_of: vec![0; paths.len()],
                paths,
            });
        }
        let mounts = mounts.collect::<Result<Vec<_>, _>>()?;
        for (mounted, at) in mounts.iter().zip(&paths) {
            mounted::must_be_nfs(mounted, at)?;
        }
        let (kernels, kernel_of) = Kernel::of_mounts(proc_root, &mounts)?;
        Ok(Self {
            paths,
            mounts,
            kernels,
            kernel_of,
        })
    }

    pub fn claim(&self, mix: &MixPlan) -> Result<Vec<Claim>, RunError> {
        let claims = self.paths.iter();
        claims
            .map(|at| claim(at, &mix.file_set, mix.left_over))
            .collect()
    }

    /// Whether files can be read and written past the client's cache: only NFS allows this for any
    /// length and offset.
    pub fn is_direct(&self) -> bool {
        !self.mounts.is_empty() && self.mounts.iter().all(mounted::is_nfs)
    }

    /// Whether a mount is of NFSv4.
    pub fn is_v4(&self, mount: usize) -> bool {
        let mut mounts = self.mounts.iter().zip(&self.kernel_of);
        mounts.any(|(mounted, of)| *of == mount && mounted.file_system == "nfs4")
    }

    pub fn target(&self) -> Target {
        let directories = self.paths.iter().map(|at| at.display().to_string());
        let sources = self
            .mounts
            .iter()
            .map(|mounted| format!("{} on {}", mounted.file_system, mounted.mount_point));
        Target {
            address: "local".into(),
            local: !self.mounts.iter().any(mounted::is_nfs),
            export: directories.collect::<Vec<_>>().join(", "),
            walked: sources.collect::<Vec<_>>().join(", "),
            object: "directory".into(),
            mounts: each_once(&self.mounts),
            ..Target::default()
        }
    }

    /// Returns the mount of each client as an index of the counters, or 0 without feedback.
    pub fn mounts_of_clients(&self, clients: u32) -> Vec<usize> {
        let mounts = self.kernel_of.iter().cycle();
        mounts.copied().take(clients as usize).collect()
    }
}

fn each_once(mounts: &[Mounted]) -> Vec<Mounted> {
    let mut each: Vec<Mounted> = Vec::new();
    for mounted in mounts {
        if !each.contains(mounted) {
            each.push(mounted.clone());
        }
    }
    each
}

/// Claims the set of `plan` in a directory.
fn claim(
    directory: &Path,
    plan: &FileSetPlan,
    left_over: LeftoverPolicy,
) -> Result<Claim, RunError> {
    let target = tree::open(directory, Purpose::FileSet)?;
    let other = match left_over {
        LeftoverPolicy::Remove => OnSpecMismatch::RemoveLeftOver,
        LeftoverPolicy::Refuse | LeftoverPolicy::RemoveIfOver => OnSpecMismatch::Refuse,
    };
    let (tree, recipe) = (&mut LocalTree, FileSetSpec::of(plan));
    let (claim, is_left_over) = SetDirectory::claim(tree, target, &plan.name, &recipe, other)?;
    if is_left_over {
        set_removal::empty(tree, &claim.directory)?;
        claim.enter_recipe(tree, &recipe)?;
    }
    Ok(claim)
}

fn path_of(target: &TargetPlan) -> Result<PathBuf, RunError> {
    let TargetPlan::Local(local) = target else {
        return Err(RunError::Internal(
            "a target of the mix is no directory".into(),
        ));
    };
    let Some(path) = &local.directory else {
        return Err(PlanError::Mix(MixPlanError::Target(target.to_string())).into());
    };
    let found = std::fs::canonicalize(path).map_err(|source| MountError::NoDirectory {
        path: path.clone(),
        source,
    });
    Ok(found?)
}
