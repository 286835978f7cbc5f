//! Oplock, lease and durable-handle requests of a run's clients, by dialect, and the results of
//! handles that survive their connection (MS-SMB2, sections 3.2.4.3.5 to 3.2.4.3.9 and 3.2.4.4).

use super::link::SmbCallHandle;
use super::open_contexts::{DurableHandleId, OpenContexts, Oplock};
use super::requests::{CreateParams, CreateResult};
use crate::client::call_slot::{ActionError, ActionResult};
use filestone_measure::measure::run_record::DurableHandles;
use filestone_plan::plan::SmbOplock;
use filestone_wire::smb2::{Dialect, FileId, LeaseKey};
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Durable handles of all clients of a run.
#[derive(Debug, Default)]
pub struct DurableCounts {
    asked: AtomicU64,
    granted: AtomicU64,
    reclaimed: AtomicU64,
    gone: AtomicU64,
}

impl DurableCounts {
    /// Returns the current counts.
    pub fn read(&self) -> DurableHandles {
        DurableHandles {
            requested: self.asked.load(Ordering::Relaxed),
            granted: self.granted.load(Ordering::Relaxed),
            reclaimed: self.reclaimed.load(Ordering::Relaxed),
            lost: self.gone.load(Ordering::Relaxed),
        }
    }
}

/// Oplock, lease and durable-handle settings for every open of a run.
#[derive(Debug, Clone, Default)]
pub struct HandlePolicy {
    /// Oplock or lease of opened files.
    pub oplock: SmbOplock,
    /// Whether long-lived opens request durable handles.
    pub is_durable: bool,
    /// Seed of lease keys and CreateGuids, unique to the run.
    pub seed: u128,
    /// Counts of durable handles.
    pub counts: Arc<DurableCounts>,
}

impl HandlePolicy {
    /// Returns the create contexts of an open that is closed at once.
    pub fn asking(&self, dialect: Dialect, path: &str) -> OpenContexts {
        let has_leases = dialect.0 > Dialect::SMB_2_0_2.0;
        let oplock = match self.oplock {
            SmbOplock::None => Oplock::None,
            SmbOplock::Batch => Oplock::Batch,
            SmbOplock::Lease if dialect.0 >= Dialect::SMB_3_0.0 => Oplock::LeaseV2(self.key(path)),
            SmbOplock::Lease if has_leases => Oplock::Lease(self.key(path)),
            // A durable handle needs an oplock or a lease.
            SmbOplock::Lease if self.is_durable => Oplock::Batch,
            SmbOplock::Lease => Oplock::None,
        };
        OpenContexts {
            oplock,
            ..OpenContexts::NOTHING
        }
    }

    /// Returns the create contexts of an open that stays.
    pub fn asking_to_stay(&self, dialect: Dialect, path: &str) -> OpenContexts {
        let asking = self.asking(dialect, path);
        if !self.is_durable || asking.oplock == Oplock::None {
            return asking;
        }
        let number = self.counts.asked.fetch_add(1, Ordering::Relaxed);
        let durability = if dialect.0 >= Dialect::SMB_3_0.0 {
            let guid = self.seed.wrapping_add(number.into());
            DurableHandleId::V2(guid.to_le_bytes())
        } else {
            DurableHandleId::V1
        };
        OpenContexts {
            durability: Some(durability),
            ..asking
        }
    }

    /// Returns the key of a client's lease of a file. All opens of a file share one lease, and a
    /// lease belongs to one file (section 3.3.5.9.8). File names are case-insensitive.
    fn key(&self, path: &str) -> LeaseKey {
        let half = |seed: u64| {
            let mut hasher = DefaultHasher::new();
            hasher.write_u64(seed);
            for byte in path.bytes() {
                hasher.write_u8(byte.to_ascii_lowercase());
            }
            hasher.finish()
        };
        let (high, low) = (half((self.seed >> 64) as u64), half(self.seed as u64));
        (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
    }

    /// Sends CREATE for an open that stays; the result includes the data for a reclaim, if the
    /// server granted durability.
    pub async fn open(
        &self,
        link: SmbCallHandle,
        opening: &CreateParams<'_>,
    ) -> ActionResult<CreateResult> {
        let opened = link.open(opening).await?;
        let is_granted = opened.is_durable && opening.asking.durability.is_some();
        self.counts
            .granted
            .fetch_add(u64::from(is_granted), Ordering::Relaxed);
        Ok(opened)
    }

    /// Returns the counts of durable handles, if they are enabled.
    pub fn handles(&self) -> Option<DurableHandles> {
        self.is_durable.then(|| self.counts.read())
    }

    /// Reclaims a handle from a lost connection; returns `None` if the server no longer has it.
    pub async fn reclaim(
        &self,
        link: SmbCallHandle,
        opening: &CreateParams<'_>,
        file_id: FileId,
    ) -> ActionResult<Option<FileId>> {
        let asking = OpenContexts {
            reclaims: Some(file_id),
            ..opening.asking
        };
        let (count, reclaimed) = match link.open(&opening.asking(asking)).await {
            Ok(opened) => (&self.counts.reclaimed, Some(opened.file_id)),
            // STATUS_OBJECT_NAME_NOT_FOUND by the specification; for any status, the following open
            // reports the problem.
            Err(ActionError::Status(_)) => (&self.counts.gone, None),
            Err(lost) => return Err(lost),
        };
        count.fetch_add(1, Ordering::Relaxed);
        Ok(reclaimed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeping(oplock: SmbOplock, is_durable: bool) -> HandlePolicy {
        HandlePolicy {
            oplock,
            is_durable,
            seed: 0x0123_4567_89ab_cdef_0011_2233_4455_6677,
            ..HandlePolicy::default()
        }
    }

    #[test]
    fn a_dialect_has_leases_and_durable_handles_of_its_own() {
        let leasing = keeping(SmbOplock::Lease, true);
        let of = |dialect| leasing.asking_to_stay(dialect, "a");
        let oldest = of(Dialect::SMB_2_0_2);
        assert_eq!(oldest.oplock, Oplock::Batch);
        assert_eq!(oldest.durability, Some(DurableHandleId::V1));
        let old = of(Dialect::SMB_2_1);
        assert!(matches!(old.oplock, Oplock::Lease(_)));
        assert_eq!(old.durability, Some(DurableHandleId::V1));
        let new = of(Dialect::SMB_3_0);
        assert!(matches!(new.oplock, Oplock::LeaseV2(_)));
        assert!(matches!(new.durability, Some(DurableHandleId::V2(_))));
        assert_ne!(new.durability, of(Dialect::SMB_3_1_1).durability);
        let not = keeping(SmbOplock::Lease, false).asking_to_stay(Dialect::SMB_2_0_2, "a");
        assert_eq!(not, OpenContexts::NOTHING);
        assert_eq!(leasing.counts.read().requested, 4);
    }

    #[test]
    fn a_lease_is_of_one_file() {
        let leasing = keeping(SmbOplock::Lease, false);
        let of = |path| leasing.asking(Dialect::SMB_3_1_1, path).oplock;
        assert_eq!(of("dir\\File"), of("dir\\file"));
        assert_ne!(of("dir\\file"), of("dir\\file2"));
    }
}
