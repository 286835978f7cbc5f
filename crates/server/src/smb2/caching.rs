//! Oplocks and leases: granting and breaking of client caching (MS-SMB2, sections 3.3.4.6 and
//! 3.3.4.7). The rules are in `oplock_rules`.

use filestone_wire::smb2::create::ShareAccess;
use filestone_wire::smb2::oplock_break::{LeaseBreak, Notification, OplockBreak};
use filestone_wire::smb2::{AccessMask, FileId, LeaseFlags, LeaseState, OplockLevel, Status};

use super::connection_id::{ConnectionId, CrossConnectionEvent};
use super::held::{Breaking, CacheGrant, HeldLease, LeaseOwner};
use super::open_table::{GlobalOpenTable, OpenEntry, OpenFile};
use super::oplock_rules::{self, BreakResult, BreakTrigger, OtherOpens};
use crate::tree::InodeNumber;

/// Request to open a file that may have other opens.
#[derive(Debug, Clone, Copy)]
pub struct OpenRequest {
    pub access: AccessMask,
    pub share: ShareAccess,
    /// Whether the data are replaced.
    pub overwrites: bool,
    /// Whether the file is deleted when this open is closed.
    pub removes: bool,
    pub lease: Option<LeaseOwner>,
}

impl OpenRequest {
    fn only(&self, looks: AccessMask) -> bool {
        !self.overwrites && looks.contains(self.access)
    }

    fn caching(&self) -> Option<CacheGrant> {
        self.lease.map(CacheGrant::Lease)
    }

    /// Returns the break that this request triggers at `holder`: `None` if it only accesses
    /// attributes.
    fn opens(&self, holder: &OpenEntry) -> Option<BreakTrigger> {
        let looks = match holder.caching {
            CacheGrant::Lease(_) => oplock_rules::LOOKS_BESIDE_LEASE,
            CacheGrant::Oplock { .. } | CacheGrant::None => oplock_rules::LOOKS,
        };
        let opens = if self.overwrites {
            BreakTrigger::Overwrite
        } else {
            BreakTrigger::Open
        };
        (!self.only(looks)).then_some(opens)
    }
}

/// Reason why a file cannot be opened now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenConflict {
    /// A break is in progress.
    Wait,
    /// Refused with this status.
    Refused(Status),
}

/// Caching that an open requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedCaching {
    Oplock(OplockLevel),
    Lease(LeaseAsked),
}

/// A requested lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseAsked {
    pub owner: LeaseOwner,
    pub state: LeaseState,
    pub epoch: u16,
    /// Whether the lease has an epoch: version 2.
    pub has_epoch: bool,
}

/// Granted caching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Granted {
    pub caching: CacheGrant,
    pub level: OplockLevel,
    pub state: LeaseState,
    pub flags: LeaseFlags,
    /// Epoch of a lease of version 2; the version is that of the first request for the lease.
    pub epoch: Option<u16>,
}

/// A break: the holder, and the state that is left.
struct Takeback {
    place: ConnectionId,
    session_id: u64,
    notification: Notification,
}

/// A notification for a holder, if any, and whether its acknowledgement has to be waited for.
type Taken = (Option<Takeback>, bool);

impl OpenFile {
    fn lease_mut(&mut self, owner: LeaseOwner) -> Option<&mut HeldLease> {
        self.leases.iter_mut().find(|lease| lease.owner == owner)
    }

    fn caching_of(&self, open: u64) -> Option<CacheGrant> {
        let own = self.holders.iter().find(|holder| holder.open == open);
        own.map(|holder| holder.caching)
    }

    /// Removes leases without opens.
    pub fn drop_unused_leases(&mut self) -> Vec<LeaseOwner> {
        let holders = &self.holders;
        let is_unused = |lease: &mut HeldLease| {
            let caching = CacheGrant::Lease(lease.owner);
            !holders.iter().any(|holder| holder.caching == caching)
        };
        let unused = self.leases.extract_if(.., is_unused);
        unused.map(|lease| lease.owner).collect()
    }

    /// Breaks the caching of one holder to the extent that `deed` requires. `own` is the caching of
    /// the open that triggers it.
    fn take_back(&mut self, index: usize, deed: BreakTrigger, own: Option<CacheGrant>) -> Taken {
        match self.holders.get(index).map(|holder| holder.caching) {
            Some(CacheGrant::Oplock { .. }) => self.take_back_oplock(index, deed),
            Some(CacheGrant::Lease(owner)) if own != Some(CacheGrant::Lease(owner)) => {
                self.take_back_lease(owner, deed)
            }
            Some(CacheGrant::Lease(_) | CacheGrant::None) | None => (None, false),
        }
    }

    fn take_back_oplock(&mut self, index: usize, deed: BreakTrigger) -> Taken {
        let Some(holder) = self.holders.get_mut(index) else {
            return (None, false);
        };
        let CacheGrant::Oplock { level, breaking } = &mut holder.caching else {
            return (None, false);
        };
        let BreakResult { left, waits } = oplock_rules::oplock_after(*level, deed);
        if breaking.is_some() || *level == left {
            return (None, waits);
        }
        if oplock_rules::is_exclusive(*level) {
            *breaking = Some(left);
        } else {
            *level = left;
        }
        let file_id = FileId {
            persistent: holder.open,
            volatile: holder.open,
        };
        let takeback = Takeback {
            place: holder.place,
            session_id: holder.session_id,
            notification: Notification::Oplock(OplockBreak {
                level: left,
                file_id,
            }),
        };
        (Some(takeback), waits)
    }

    fn take_back_lease(&mut self, owner: LeaseOwner, deed: BreakTrigger) -> Taken {
        let Some(lease) = self.lease_mut(owner) else {
            return (None, false);
        };
        let BreakResult { left, waits } = oplock_rules::lease_after(lease.state, deed);
        if let Some(breaking) = &mut lease.breaking {
            breaking.finally = oplock_rules::lease_after(breaking.finally, deed).left;
            return (None, waits);
        }
        if lease.state == left {
            return (None, false);
        }
        // All steps of a break have the same epoch.
        lease.epoch = lease.epoch.wrapping_add(1);
        (self.ask_down(owner, left, left), waits)
    }

    /// Asks the holder of a lease to reduce it to `left`, and later to `finally` if that is less.
    fn ask_down(
        &mut self,
        owner: LeaseOwner,
        left: LeaseState,
        finally: LeaseState,
    ) -> Option<Takeback> {
        let caching = CacheGrant::Lease(owner);
        // Of all opens with this lease, the connection of the last one is most likely alive.
        let mut holders = self.holders.iter().rev();
        let holder = holders.find(|holder| holder.caching == caching)?;
        let (place, session_id) = (holder.place, holder.session_id);
        let lease = self.lease_mut(owner)?;
        let current_state = lease.state;
        let flags = if oplock_rules::lease_is_answered(current_state) {
            lease.breaking = Some(Breaking { left, finally });
            LeaseFlags::ACK_REQUIRED
        } else {
            lease.state = left;
            LeaseFlags::NONE
        };
        Some(Takeback {
            place,
            session_id,
            notification: Notification::Lease(LeaseBreak {
                new_epoch: lease.told_epoch().unwrap_or(0),
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

    /// Returns the caching of all holders with a different lease, and whether there are any.
    fn beside(&self, own: Option<LeaseOwner>) -> OtherOpens {
        let own_caching = own.map(CacheGrant::Lease);
        let others = || {
            let holders = self.holders.iter();
            holders.filter(|holder| Some(holder.caching) != own_caching)
        };
        let other_leases = || self.leases.iter().filter(|lease| Some(lease.owner) != own);
        let any_lease = |state| other_leases().any(|lease| lease.state.contains(state));
        let any_oplock = |wanted: fn(OplockLevel) -> bool| {
            others().any(|holder| match holder.caching {
                CacheGrant::Oplock { level, .. } => wanted(level),
                CacheGrant::Lease(_) | CacheGrant::None => false,
            })
        };
        let is_at_work = |holder: &OpenEntry| {
            holder.caching != CacheGrant::None
                || !oplock_rules::LOOKS_BESIDE_LEASE.contains(holder.access)
        };
        OtherOpens {
            is_any: others().next().is_some(),
            is_any_at_work: others().any(is_at_work),
            has_oplocks: any_oplock(|_| true),
            keeps_handles: any_lease(LeaseState::HANDLE_CACHING),
            is_exclusive: any_oplock(oplock_rules::is_exclusive)
                || any_lease(LeaseState::WRITE_CACHING),
        }
    }

    fn grant_oplock(&self, asked: OplockLevel) -> Granted {
        let level = oplock_rules::oplock_beside(asked, self.beside(None));
        let caching = match level {
            OplockLevel::NONE => CacheGrant::None,
            level => CacheGrant::Oplock {
                level,
                breaking: None,
            },
        };
        Granted {
            caching,
            level,
            state: LeaseState::NONE,
            flags: LeaseFlags::NONE,
            epoch: None,
        }
    }

    fn grant_lease(&mut self, asked: LeaseAsked) -> Granted {
        let owner = asked.owner;
        let beside = self.beside(Some(owner));
        if self.lease_mut(owner).is_none() {
            self.leases.push(HeldLease {
                owner,
                state: oplock_rules::lease_beside(asked.state, beside),
                breaking: None,
                epoch: asked.epoch.wrapping_add(1),
                has_epoch: asked.has_epoch,
            });
        }
        let mut granted = Granted {
            caching: CacheGrant::Lease(owner),
            level: OplockLevel::LEASE,
            state: LeaseState::NONE,
            flags: LeaseFlags::NONE,
            epoch: None,
        };
        if let Some(lease) = self.lease_mut(owner) {
            let state = oplock_rules::lease_again(lease.state, asked.state, beside);
            if lease.breaking.is_some() {
                granted.flags = LeaseFlags::BREAK_IN_PROGRESS;
            } else if state != lease.state {
                lease.state = state;
                lease.epoch = lease.epoch.wrapping_add(1);
            }
            granted.state = lease.state;
            granted.epoch = lease.told_epoch();
        }
        granted
    }
}

impl GlobalOpenTable {
    fn notify(&mut self, takebacks: impl IntoIterator<Item = Takeback>) {
        for Takeback {
            place,
            session_id,
            notification,
        } in takebacks
        {
            let notice = CrossConnectionEvent::Break {
                session_id,
                notification,
            };
            self.send(place, notice);
        }
    }

    /// Breaks the caching of all holders of a file to the extent that `deed` requires; returns
    /// whether to wait for an acknowledgement.
    fn take_back(
        &mut self,
        number: InodeNumber,
        own: Option<CacheGrant>,
        deed: impl Fn(&OpenEntry) -> Option<BreakTrigger>,
    ) -> bool {
        let Some(file) = self.files.get_mut(&number) else {
            return false;
        };
        let (mut takebacks, mut must_wait) = (Vec::new(), false);
        for index in 0..file.holders.len() {
            if let Some(deed) = deed(&file.holders[index]) {
                let (takeback, waits) = file.take_back(index, deed, own);
                takebacks.extend(takeback);
                must_wait |= waits;
            }
        }
        self.notify(takebacks);
        must_wait
    }

    /// Checks whether `contender` may open a file; starts the breaks that this requires.
    pub fn contend(
        &mut self,
        number: InodeNumber,
        contender: &OpenRequest,
    ) -> Result<(), OpenConflict> {
        let Some(file) = self.files.get(&number) else {
            return Ok(());
        };
        if file.is_delete_pending() {
            return Err(OpenConflict::Refused(Status::DELETE_PENDING));
        }
        let is_excluded = |holder: &OpenEntry| holder.excludes(contender.access, contender.share);
        let own = contender.caching();
        let is_refused = file.holders.iter().any(is_excluded);
        // First the breaks that are needed to open at all, then those for consistent data.
        let must_wait = self.take_back(number, own, |holder| {
            is_excluded(holder).then_some(BreakTrigger::SharingViolation)
        });
        if must_wait {
            return Err(OpenConflict::Wait);
        }
        if is_refused {
            return Err(OpenConflict::Refused(Status::SHARING_VIOLATION));
        }
        if self.take_back(number, own, |holder| contender.opens(holder)) {
            return Err(OpenConflict::Wait);
        }
        // Handles come last: as further steps of the same break these would have its epoch, and
        // Linux's client (6.1) ignores a break with an epoch that it has already seen.
        if contender.removes && self.take_back(number, own, |_| Some(BreakTrigger::RenameOrDelete))
        {
            return Err(OpenConflict::Wait);
        }
        Ok(())
    }

    /// Checks that a lease is used for one file only (section 3.3.5.9.8).
    pub fn check_lease(
        &self,
        owner: LeaseOwner,
        number: Option<InodeNumber>,
    ) -> Result<(), Status> {
        match self.lease_files.get(&owner) {
            Some(other) if Some(*other) != number => Err(Status::INVALID_PARAMETER),
            _ => Ok(()),
        }
    }

    /// Grants caching to the open that was added last.
    pub fn grant(
        &mut self,
        number: InodeNumber,
        open: u64,
        asked: RequestedCaching,
    ) -> Option<Granted> {
        let file = self.files.get_mut(&number)?;
        let index = file.holders.iter().position(|holder| holder.open == open)?;
        let mut holder = file.holders.swap_remove(index);
        let granted = match asked {
            RequestedCaching::Oplock(level) => file.grant_oplock(level),
            RequestedCaching::Lease(lease) => file.grant_lease(lease),
        };
        holder.caching = granted.caching;
        file.holders.push(holder);
        if let CacheGrant::Lease(owner) = granted.caching {
            self.lease_files.insert(owner, number);
        }
        Some(granted)
    }

    /// Handles a change of the file's data by an open.
    pub fn changed(&mut self, number: InodeNumber, open: u64) {
        let own = self.files.get(&number);
        let own = own.and_then(|file| file.caching_of(open));
        self.take_back(number, own, |holder| {
            let keeps = match holder.caching {
                CacheGrant::Oplock { level, .. } => {
                    holder.open == open && oplock_rules::is_exclusive(level)
                }
                CacheGrant::Lease(_) | CacheGrant::None => false,
            };
            (!keeps).then_some(BreakTrigger::Write)
        });
    }

    /// Handles the renaming or removal of a file by `open`, or, if it is `None`, without an open.
    /// Returns whether to wait for acknowledgements.
    pub fn moves(&mut self, number: InodeNumber, open: Option<u64>) -> bool {
        let file = self.files.get(&number);
        let own = file.and_then(|file| open.and_then(|open| file.caching_of(open)));
        self.take_back(number, own, |holder| {
            (Some(holder.open) != open).then_some(BreakTrigger::RenameOrDelete)
        })
    }

    /// Handles the acknowledgement of an oplock break to `level` (section 3.3.5.22.1).
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
        let CacheGrant::Oplock { level, breaking } = &mut holder.caching else {
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

    /// Handles the acknowledgement of a lease break to `state` (section 3.3.5.22.2).
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
        let breaking = lease.breaking.ok_or(Status::UNSUCCESSFUL)?;
        if !breaking.left.contains(state) {
            return Err(Status::REQUEST_NOT_ACCEPTED);
        }
        lease.breaking = None;
        lease.state = state;
        let finally = LeaseState(breaking.finally.0 & state.0);
        let mut takeback = None;
        if finally != state {
            let left = oplock_rules::next_of_lease(state, finally);
            takeback = file.ask_down(owner, left, finally);
        }
        self.notify(takeback);
        self.wake(number);
        Ok(())
    }

    /// Treats all breaks of a file as acknowledged: the holders do not answer.
    pub fn give_up_breaks(&mut self, number: InodeNumber) {
        let Some(file) = self.files.get_mut(&number) else {
            return;
        };
        for holder in &mut file.holders {
            if let CacheGrant::Oplock { level, breaking } = &mut holder.caching
                && breaking.take().is_some()
            {
                *level = OplockLevel::NONE;
            }
        }
        for lease in &mut file.leases {
            if lease.breaking.take().is_some() {
                lease.state = LeaseState::NONE;
            }
        }
        self.wake(number);
    }
}
