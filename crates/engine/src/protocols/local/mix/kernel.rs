//! The kernel's counters of NFS calls: locating and reading them.
//!
//! Counters per mount (`/proc/self/mountstats`) cover only that mount. Without them, the counters
//! of the whole host (`/proc/net/rpc/nfs`) are used, which include all other NFS traffic, as in
//! nhfsstone.

use super::error::MountError;
use super::mounted::Mounted;
use crate::time::Time;
use filestone_host::control::check_cancelled;
use filestone_host::error::RunError;
use filestone_plan::mix::{Counters, MixError, counters};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Observation time of background traffic before the run, as in nhfsstone.
const BACKGROUND_SECONDS: u64 = 2;

/// Counters of some mounts, or of the whole host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kernel {
    file: PathBuf,
    /// Empty for the whole host.
    mount_points: Vec<String>,
}

impl Kernel {
    /// Returns the counters of each distinct mount, or of the whole host if the kernel has no
    /// counters per mount, and for each of `mounts` the index of its counters.
    pub fn of_mounts(
        proc_root: &Path,
        mounts: &[Mounted],
    ) -> Result<(Vec<Kernel>, Vec<usize>), RunError> {
        let mut points: Vec<&str> = Vec::new();
        let mut places = Vec::new();
        for mounted in mounts {
            let point = mounted.mount_point.as_str();
            let known = points.iter().position(|known| *known == point);
            places.push(known.unwrap_or(points.len()));
            if known.is_none() {
                points.push(point);
            }
        }
        let of_mounts: Vec<Kernel> = points
            .iter()
            .map(|point| Kernel {
                file: proc_root.join("self/mountstats"),
                mount_points: vec![(*point).to_owned()],
            })
            .collect();
        if of_mounts.iter().all(|kernel| kernel.read().is_ok()) {
            return Ok((of_mounts, places));
        }
        let of_host = Kernel {
            file: proc_root.join("net/rpc/nfs"),
            mount_points: Vec::new(),
        };
        of_host.read()?;
        Ok((vec![of_host], vec![0; mounts.len()]))
    }

    /// Combines all `kernels`.
    pub fn together(kernels: &[Kernel]) -> Option<Kernel> {
        let first = kernels.first()?;
        let mount_points = kernels.iter().flat_map(|kernel| &kernel.mount_points);
        Some(Kernel {
            file: first.file.clone(),
            mount_points: mount_points.cloned().collect(),
        })
    }

    /// Returns the source of the counters, for the record.
    pub fn source(&self) -> String {
        let file = self.file.display();
        match self.mount_points.as_slice() {
            [] => format!("{file}, of the whole host"),
            points => format!("{file}, of {}", points.join(", ")),
        }
    }

    /// Returns the calls since the kernel began to count.
    pub fn read(&self) -> Result<Counters, RunError> {
        let text = std::fs::read_to_string(&self.file).map_err(|source| RunError::System {
            what: format!("read {}", self.file.display()),
            source,
        })?;
        if self.mount_points.is_empty() {
            return counters::of_rpc_nfs(&text).map_err(unreadable);
        }
        let mut sum = Counters::default();
        for point in &self.mount_points {
            let of_mount = counters::of_mountstats(&text, point).map_err(unreadable)?;
            sum = sum.plus(&of_mount);
        }
        Ok(sum)
    }

    /// Measures the calls per second of other processes; an error if there are too many.
    pub fn background(
        &self,
        max_per_s: u32,
        stop: &AtomicBool,
        time: &impl Time,
    ) -> Result<f64, RunError> {
        let began = time.now();
        let before = self.read()?;
        time.wait(began.after_nanos(BACKGROUND_SECONDS * 1_000_000_000));
        check_cancelled(stop)?;
        let calls = self.read()?.since(&before).total;
        let per_s = calls as f64 / (time.now().nanos_since(began) as f64 / 1e9);
        if calls <= u64::from(max_per_s) * BACKGROUND_SECONDS {
            return Ok(per_s);
        }
        let source = self.source();
        Err(MountError::Background {
            per_s,
            seen: format!("{source} grew by {calls} calls in {BACKGROUND_SECONDS} s without us"),
        }
        .into())
    }
}

fn unreadable(error: MixError) -> RunError {
    MountError::Counters {
        what: error.to_string(),
        help: error.help,
    }
    .into()
}
