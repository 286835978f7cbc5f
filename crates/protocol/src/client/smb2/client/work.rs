//! Work items that an SMB2 client performs.

use crate::client::actor::ActorTask;
use crate::client::line_results::PendingLine;
use filestone_workload::language::{Operations, WorkType};
use filestone_workload::load::{LineData, Lines, LoadWork};
use filestone_workload::operation::{Operation, SlotId};
use filestone_workload::payload::Payload;

/// A work item of an SMB2 client.
pub trait Smb2Work {
    /// Returns the item as a task of an actor.
    fn task(&self) -> ActorTask<'_>;

    /// Returns the item as a line of a load, if it is one.
    fn line(&self) -> Option<PendingLine> {
        None
    }

    /// Returns the data to write, if known beforehand.
    fn data(&self) -> Option<LineData<'_>> {
        None
    }

    /// Returns the payload to write or read, if it is verified.
    fn payload(&self) -> Option<&Payload> {
        None
    }
}

impl Smb2Work for Operation {
    fn task(&self) -> ActorTask<'_> {
        ActorTask::Operation(*self)
    }
}

impl Smb2Work for LoadWork<'_> {
    fn task(&self) -> ActorTask<'_> {
        match self {
            LoadWork::Line(line) => ActorTask::Action(&line.action),
            LoadWork::EndPass => ActorTask::EndPass,
            LoadWork::RemoveTree => ActorTask::RemoveTree,
        }
    }

    fn line(&self) -> Option<PendingLine> {
        match self {
            LoadWork::Line(line) => Some(PendingLine::of(line)),
            LoadWork::EndPass | LoadWork::RemoveTree => None,
        }
    }

    fn data(&self) -> Option<LineData<'_>> {
        match self {
            LoadWork::Line(line) => Some(line.data),
            LoadWork::EndPass | LoadWork::RemoveTree => None,
        }
    }

    fn payload(&self) -> Option<&Payload> {
        match self {
            LoadWork::Line(line) => line.payload,
            LoadWork::EndPass | LoadWork::RemoveTree => None,
        }
    }
}

/// Closes all open files and logs off, in the first slot.
pub(super) struct Leave;

/// Slot id of that task.
pub(super) const LEAVE: SlotId = SlotId { client: 0, slot: 0 };

impl Smb2Work for Leave {
    fn task(&self) -> ActorTask<'_> {
        ActorTask::Leave
    }
}

/// A work type that SMB2 clients support.
pub trait Smb2Language: WorkType {
    /// Applies `look` to a work item.
    fn seen<R>(work: &Self::WorkItem<'_>, look: impl FnOnce(&dyn Smb2Work) -> R) -> R;
}

impl Smb2Language for Operations {
    fn seen<R>(work: &Operation, look: impl FnOnce(&dyn Smb2Work) -> R) -> R {
        look(work)
    }
}

impl Smb2Language for Lines {
    fn seen<R>(work: &LoadWork<'_>, look: impl FnOnce(&dyn Smb2Work) -> R) -> R {
        look(work)
    }
}
