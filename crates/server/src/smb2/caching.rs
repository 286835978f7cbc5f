//! Oplocks and leases: what clients may keep in their caches, and how it is taken back (MS-SMB2,
//! sections 3.3.1.4, 3.3.4.6 and 3.3.4.7; MS-FSA, section 2.1.5.18).

use filestone_wire::smb2::create::ShareAccess;
use filestone_wire::smb2::oplock_break::{LeaseBreak, Notification, OplockBreak};
use filestone_wire::smb2::{AccessMask, FileId, LeaseFlags, LeaseState, OplockLevel, Status};

use super::held::{Caching, LeaseHeld, LeaseOwner};
use super::hub::{Hub, OpenFile};
use super::place::{Notice, Place};
use crate::tree::InodeNumber;

/// Who wants to open a file that others have open.
#[derive(Debug, Clone, Copy)]
pub struct Contender {
    pub access: AccessMask,
    pub share: ShareAccess,
    /// Whether its data are replaced.
    pub overwrites: bool,
    pub lease: Option<LeaseOwner>,
}

/// Opens with no other access than this do not take oplocks back, nor leases if READ_CONTROL is
/// among it: they look at nothing that is cached.
const LOOKS: AccessMask = AccessMask(
    AccessMask::READ_ATTRIBUTES.0 | AccessMask::WRITE_ATTRIBUTES.0 | AccessMask::SYNCHRONIZE.0,
);
const LOOKS_BESIDE_LEASE: AccessMask = LOOKS.with(AccessMask::READ_CONTROL);

impl Contender {
    fn only(&self, looks: AccessMask) -> bool {
        !self.overwrites && looks.contains(self.access)
    }
}

/// Why a file cannot be opened now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contention {
    /// A cache is being taken back.
    Wait,
    /// Never, with this.
    Refused(Status),
}

/// What an open asks to cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    Oplock(OplockLevel),
    Lease(LeaseAsked),
}

/// A lease that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseAsked {
    pub owner: LeaseOwner,
    pub state: LeaseState,
    pub epoch: u16,
    /// Whether epochs are told: a lease of version 2.
    pub has_epoch: bool,
}

/// What there is of a file besides an open that asks to cache.
struct Beside {
    /// Another open.
    is_any: bool,
    /// Another open that does more than a lease has to know of.
    is_any_at_work: bool,
    /// Another's oplock, of whatever level.
    has_oplocks: bool,
    /// Another's lease that keeps handles.
    keeps_handles: bool,
    /// Somebody may have written what nobody else has seen.
    is_exclusive: bool,
}

/// What it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Granted {
    pub caching: Caching,
    pub level: OplockLevel,
    pub state: LeaseState,
    pub flags: LeaseFlags,
    pub epoch: u16,
}

/// What is to be taken back, and from whom.
struct Takeback {
    place: Place,
    session_id: u64,
    notification: Notification,
}

/// An oplock whose holder has to be asked before another opens the file.
const fn is_exclusive(level: OplockLevel) -> bool {
    matches!(level, OplockLevel::EXCLUSIVE | OplockLevel::BATCH)
}

impl OpenFile {
    fn lease_mut(&mut self, owner: LeaseOwner) -> Option<&mut LeaseHeld> {
        self.leases.iter_mut().find(|lease| lease.owner == owner)
    }

    /// Forgets leases that no open has any more.
    pub fn drop_unused_leases(&mut self) -> Vec<LeaseOwner> {
        let holders = &self.holders;
        let is_unused = |lease: &mut LeaseHeld| {
            let caching = Caching::Lease(lease.owner);
            !holders.iter().any(|holder| holder.caching == caching)
        };
        let unused = self.leases.extract_if(.., is_unused);
        unused.map(|lease| lease.owner).collect()
    }

    /// Takes an oplock back down to `left`, unless that is under way.
    fn take_back_oplock(&mut self, index: usize, left: OplockLevel) -> Option<Takeback> {
        let holder = self.holders.get_mut(index)?;
        let Caching::Oplock { level, breaking } = &mut holder.caching else {
            return None;
        };
        if breaking.is_some() || *level == left {
            return None;
        }
        // Level II is given up without an answer.
        if is_exclusive(*level) {
            *breaking = Some(left);
        } else {
            *level = left;
        }
        let file_id = FileId {
            persistent: holder.open,
            volatile: holder.open,
        };
        Some(Takeback {
            place: holder.place,
            session_id: holder.session_id,
            notification: Notification::Oplock(OplockBreak {
                level: left,
                file_id,
            }),
        })
    }

    /// Takes a lease back down to `left`; if one is being taken back, once that is over.
    fn take_back_lease(&mut self, owner: LeaseOwner, left: LeaseState) -> Option<Takeback> {
        let caching = Caching::Lease(owner);
        // Of all opens with this lease, the last is the one whose connection is most likely there.
        let mut holders = self.holders.iter().rev();
        let holder = holders.find(|holder| holder.caching == caching)?;
        let (place, session_id) = (holder.place, holder.session_id);
        let lease = self.lease_mut(owner)?;
        if let Some(breaking) = lease.breaking {
            if !left.contains(breaking) {
                let before = lease.then.unwrap_or(breaking);
                lease.then = Some(LeaseState(before.0 & left.0));
            }
            return None;
        }
        if lease.state == left {
            return None;
        }
        let needs_answer = lease.state != LeaseState::READ_CACHING;
        let flags = if needs_answer {
            LeaseFlags::ACK_REQUIRED
        } else {
            LeaseFlags::NONE
        };
        lease.epoch = lease.epoch.wrapping_add(1);
        let current_state = lease.state;
        if needs_answer {
            lease.breaking = Some(left);
        } else {
            lease.state = left;
        }
        let new_epoch = if lease.has_epoch { lease.epoch } else { 0 };
        Some(Takeback {
            place,
            session_id,
            notification: Notification::Lease(LeaseBreak {
                new_epoch,
                flags,
                lease_key: owner.key,
                current_state,
                new_state: left,
                reason: 0,
                access_mask_hint: AccessMask::NONE,
                share_mask_hint: 0,
            }),
        })
    }

    /// What has to be taken back from one of the holders before `contender` may open the file,
    /// and whether that has to be waited for.
    fn contend_with(&mut self, index: usize, contender: &Contender) -> (Option<Takeback>, bool) {
        let Some(holder) = self.holders.get(index) else {
            return (None, false);
        };
        let excludes = holder.excludes(contender.access, contender.share);
        match holder.caching {
            Caching::Oplock { level, .. } if is_exclusive(level) => {
                if contender.only(LOOKS) || (excludes && level != OplockLevel::BATCH) {
                    return (None, false);
                }
                let left = if contender.overwrites {
                    OplockLevel::NONE
                } else {
                    OplockLevel::II
                };
                (self.take_back_oplock(index, left), true)
            }
            Caching::Oplock { .. } if contender.overwrites => {
                (self.take_back_oplock(index, OplockLevel::NONE), false)
            }
            Caching::Lease(owner) if contender.lease != Some(owner) => {
                self.contend_with_lease(owner, contender, excludes)
            }
            Caching::Oplock { .. } | Caching::Lease(_) | Caching::None => (None, false),
        }
    }

    fn contend_with_lease(
        &mut self,
        owner: LeaseOwner,
        contender: &Contender,
        excludes: bool,
    ) -> (Option<Takeback>, bool) {
        let Some(lease) = self.lease_mut(owner) else {
            return (None, false);
        };
        let state = lease.state;
        let is_breaking = lease.breaking.is_some();
        if excludes {
            if !state.contains(LeaseState::HANDLE_CACHING) {
                return (None, false);
            }
            let left = state.without(LeaseState::HANDLE_CACHING);
            return (self.take_back_lease(owner, left), true);
        }
        if contender.only(LOOKS_BESIDE_LEASE) {
            return (None, false);
        }
        let has_written = state.contains(LeaseState::WRITE_CACHING);
        let left = if contender.overwrites {
            LeaseState::NONE
        } else {
            state.without(LeaseState::WRITE_CACHING)
        };
        if left == state {
            return (None, is_breaking && has_written);
        }
        (self.take_back_lease(owner, left), has_written)
    }

    /// What others cache, and that there are any: all holders but those with the same lease.
    fn beside(&self, own: Option<LeaseOwner>) -> Beside {
        let own_caching = own.map(Caching::Lease);
        let others = || {
            let holders = self.holders.iter();
            holders.filter(|holder| Some(holder.caching) != own_caching)
        };
        let other_leases = || self.leases.iter().filter(|lease| Some(lease.owner) != own);
        let any_lease = |state| other_leases().any(|lease| lease.state.contains(state));
        let any_oplock = |wanted: fn(OplockLevel) -> bool| {
            others().any(|holder| match holder.caching {
                Caching::Oplock { level, .. } => wanted(level),
                Caching::Lease(_) | Caching::None => false,
            })
        };
        Beside {
            is_any: others().next().is_some(),
            is_any_at_work: others().any(|holder| !LOOKS_BESIDE_LEASE.contains(holder.access)),
            has_oplocks: any_oplock(|_| true),
            keeps_handles: any_lease(LeaseState::HANDLE_CACHING),
            is_exclusive: any_oplock(is_exclusive) || any_lease(LeaseState::WRITE_CACHING),
        }
    }

    fn grant_oplock(&self, asked: OplockLevel) -> Granted {
        let beside = self.beside(None);
        let level = match asked {
            _ if beside.is_exclusive || beside.keeps_handles => OplockLevel::NONE,
            OplockLevel::EXCLUSIVE | OplockLevel::BATCH if !beside.is_any => asked,
            OplockLevel::EXCLUSIVE | OplockLevel::BATCH | OplockLevel::II => OplockLevel::II,
            _ => OplockLevel::NONE,
        };
        let caching = match level {
            OplockLevel::NONE => Caching::None,
            level => Caching::Oplock {
                level,
                breaking: None,
            },
        };
        Granted {
            caching,
            level,
            state: LeaseState::NONE,
            flags: LeaseFlags::NONE,
            epoch: 0,
        }
    }

    fn grant_lease(&mut self, asked: LeaseAsked) -> Granted {
        let LeaseAsked {
            owner,
            state,
            epoch,
            has_epoch,
        } = asked;
        let beside = self.beside(Some(owner));
        let known = LeaseState(state.0 & 7);
        let mut allowed = if beside.is_exclusive || !known.contains(LeaseState::READ_CACHING) {
            LeaseState::NONE
        } else {
            known
        };
        if beside.is_any_at_work {
            allowed = allowed.without(LeaseState::WRITE_CACHING);
        }
        if beside.has_oplocks {
            allowed = allowed.without(LeaseState::HANDLE_CACHING);
        }
        let lease = self.lease_or_insert(LeaseHeld {
            owner,
            state: LeaseState::NONE,
            breaking: None,
            then: None,
            epoch,
            has_epoch,
        });
        let mut flags = LeaseFlags::NONE;
        if lease.breaking.is_some() {
            flags = LeaseFlags::BREAK_IN_PROGRESS;
        } else if allowed.contains(lease.state) && allowed != lease.state {
            lease.state = allowed;
            lease.epoch = lease.epoch.wrapping_add(1);
        }
        Granted {
            caching: Caching::Lease(owner),
            level: OplockLevel::LEASE,
            state: lease.state,
            flags,
            epoch: lease.epoch,
        }
    }

    fn lease_or_insert(&mut self, new: LeaseHeld) -> &mut LeaseHeld {
        let index = self
            .leases
            .iter()
            .position(|lease| lease.owner == new.owner);
        let index = index.unwrap_or_else(|| {
            self.leases.push(new);
            self.leases.len() - 1
        });
        &mut self.leases[index]
    }
}

impl Hub {
    fn notify(&mut self, takebacks: impl IntoIterator<Item = Takeback>) {
        for Takeback {
            place,
            session_id,
            notification,
        } in takebacks
        {
            let notice = Notice::Break {
                session_id,
                notification,
            };
            self.send(place, notice);
        }
    }

    /// Whether a file may be opened by `contender`; takes back what others cache if that is in
    /// its way.
    pub fn contend(
        &mut self,
        number: InodeNumber,
        contender: &Contender,
    ) -> Result<(), Contention> {
        let Some(file) = self.files.get_mut(&number) else {
            return Ok(());
        };
        if file.is_delete_pending() {
            return Err(Contention::Refused(Status::DELETE_PENDING));
        }
        let (mut takebacks, mut must_wait) = (Vec::new(), false);
        for index in 0..file.holders.len() {
            let (takeback, waits) = file.contend_with(index, contender);
            takebacks.extend(takeback);
            must_wait |= waits;
        }
        let mut holders = file.holders.iter();
        let is_excluded = holders.any(|holder| holder.excludes(contender.access, contender.share));
        self.notify(takebacks);
        if must_wait {
            Err(Contention::Wait)
        } else if is_excluded {
            Err(Contention::Refused(Status::SHARING_VIOLATION))
        } else {
            Ok(())
        }
    }

    /// A lease is of one file (section 3.3.5.9.8).
    pub fn check_lease(&self, owner: LeaseOwner, number: InodeNumber) -> Result<(), Status> {
        match self.lease_files.get(&owner) {
            Some(other) if *other != number => Err(Status::INVALID_PARAMETER),
            _ => Ok(()),
        }
    }

    /// Gives the open that was entered last what it may cache.
    pub fn grant(&mut self, number: InodeNumber, open: u64, asked: Asked) -> Option<Granted> {
        let file = self.files.get_mut(&number)?;
        let index = file.holders.iter().position(|holder| holder.open == open)?;
        let mut holder = file.holders.swap_remove(index);
        let granted = match asked {
            Asked::Oplock(level) => file.grant_oplock(level),
            Asked::Lease(lease) => file.grant_lease(lease),
        };
        holder.caching = granted.caching;
        file.holders.push(holder);
        if let Caching::Lease(owner) = granted.caching {
            self.lease_files.insert(owner, number);
        }
        Some(granted)
    }

    /// The data of a file were changed by an open: what others have read is old.
    pub fn changed(&mut self, number: InodeNumber, open: u64) {
        let Some(file) = self.files.get_mut(&number) else {
            return;
        };
        let own = file.holders.iter().find(|holder| holder.open == open);
        let own_lease = own.map(|holder| holder.caching);
        let mut takebacks = Vec::new();
        for index in 0..file.holders.len() {
            let holder = &file.holders[index];
            match holder.caching {
                // What is written is no longer what others have read; nor does the writer's own
                // level II outlast it (as Windows has it).
                Caching::Oplock { level, .. } if holder.open == open && is_exclusive(level) => {}
                Caching::Oplock { .. } => {
                    takebacks.extend(file.take_back_oplock(index, OplockLevel::NONE));
                }
                Caching::Lease(owner) if Some(Caching::Lease(owner)) != own_lease => {
                    takebacks.extend(file.take_back_lease(owner, LeaseState::NONE));
                }
                Caching::Lease(_) | Caching::None => {}
            }
        }
        self.notify(takebacks);
    }

    /// A client has let go of an oplock down to `level` (section 3.3.5.22.1).
    pub fn acknowledge_oplock(
        &mut self,
        number: InodeNumber,
        open: u64,
        new_level: OplockLevel,
    ) -> Result<(), Status> {
        let file = self.files.get_mut(&number).ok_or(Status::FILE_CLOSED)?;
        let mut holders = file.holders.iter_mut();
        let holder = holders.find(|holder| holder.open == open);
        let holder = holder.ok_or(Status::FILE_CLOSED)?;
        let Caching::Oplock { level, breaking } = &mut holder.caching else {
            return Err(Status::INVALID_OPLOCK_PROTOCOL);
        };
        let Some(left) = breaking.take() else {
            return Err(Status::INVALID_OPLOCK_PROTOCOL);
        };
        let is_allowed = new_level == left || new_level == OplockLevel::NONE;
        *level = if is_allowed {
            new_level
        } else {
            OplockLevel::NONE
        };
        self.wake(number);
        if is_allowed {
            Ok(())
        } else {
            Err(Status::INVALID_OPLOCK_PROTOCOL)
        }
    }

    /// A client has let go of a lease down to `state` (section 3.3.5.22.2).
    pub fn acknowledge_lease(
        &mut self,
        owner: LeaseOwner,
        state: LeaseState,
    ) -> Result<(), Status> {
        let number = self.lease_files.get(&owner).copied();
        let number = number.ok_or(Status::OBJECT_NAME_NOT_FOUND)?;
        let file = self.files.get_mut(&number);
        let file = file.ok_or(Status::OBJECT_NAME_NOT_FOUND)?;
        let lease = file.lease_mut(owner);
        let lease = lease.ok_or(Status::OBJECT_NAME_NOT_FOUND)?;
        let left = lease.breaking.ok_or(Status::UNSUCCESSFUL)?;
        if !left.contains(state) {
            return Err(Status::REQUEST_NOT_ACCEPTED);
        }
        lease.breaking = None;
        lease.state = state;
        let then = lease.then.take();
        let then = then.map(|left| LeaseState(left.0 & state.0));
        let takeback = then.and_then(|left| file.take_back_lease(owner, left));
        self.notify(takeback);
        self.wake(number);
        Ok(())
    }

    /// Takes what was to be given up for given up: its holders do not answer.
    pub fn give_up_breaks(&mut self, number: InodeNumber) {
        let Some(file) = self.files.get_mut(&number) else {
            return;
        };
        for holder in &mut file.holders {
            if let Caching::Oplock { level, breaking } = &mut holder.caching
                && breaking.take().is_some()
            {
                *level = OplockLevel::NONE;
            }
        }
        for lease in &mut file.leases {
            if lease.breaking.take().is_some() {
                lease.then = None;
                lease.state = LeaseState::NONE;
            }
        }
    }
}
