//! A client, or one slot of a client, as a long-lived future that executes tasks sequentially.

use super::call_slot::{ActionError, ActionResult, Call, CallSlot, Calls, WaitReason};
use super::owned_action::OwnedAction;
use filestone_workload::load::{ActionStatus, LoadAction};
use filestone_workload::operation::{Operation, ReplyFault, ReplyInfo};
use filestone_workload::time::Timestamp;
use std::cell::Cell;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A task of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActorTask<'a> {
    /// A line of its load.
    Action(&'a LoadAction<'a>),
    /// An operation of a probe or a mix.
    Operation(Operation),
    /// Closes the files left open at the end of an iteration.
    EndPass,
    /// Removes the client's tree.
    RemoveTree,
    /// Closes all open files and ends the session with the server.
    Leave,
}

/// Result of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskEnd {
    /// The status; [`ActionError::ClientFailed`] if the client cannot continue.
    pub answer: ActionResult<ActionStatus>,
    /// File data moved, in bytes.
    pub moved: u64,
    /// Reply data that the workload of an operation may need.
    pub found: ReplyInfo,
    /// Mismatch between reply and request.
    pub fault: Option<ReplyFault>,
}

impl TaskEnd {
    /// Creates the result of a task without reply data.
    pub fn plain(answer: ActionResult<ActionStatus>, moved: u64) -> Self {
        let found = ReplyInfo::Plain;
        Self {
            answer,
            moved,
            found,
            fault: None,
        }
    }
}

/// State of a task after a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActorTaskState {
    /// Waiting for the results of the call in the slot.
    Called,
    /// Waiting for this number of nanoseconds.
    Pausing(u64),
    /// The task has ended.
    Ended(TaskEnd),
}

/// A task, in the form the future receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActorTaskKind {
    /// [`ActorTask::Action`]: the action is in the `OwnedAction`.
    Action,
    /// [`ActorTask::Operation`].
    Operation(Operation),
    /// [`ActorTask::EndPass`].
    EndPass,
    /// [`ActorTask::RemoveTree`].
    RemoveTree,
    /// [`ActorTask::Leave`].
    Leave,
}

/// Data exchanged with the future.
#[derive(Debug, Default)]
struct Tray {
    task: Option<ActorTaskKind>,
    /// The action of the next task; during a task, the reusable memory of the last action.
    kept: OwnedAction,
    end: Option<TaskEnd>,
}

thread_local! {
    /// Data lent to the future that this thread polls, in the manner of its call slot.
    static LENT: Cell<Option<Box<Tray>>> = const { Cell::new(None) };
}

/// A client that executes its tasks sequentially.
pub struct Actor<C: Calls> {
    call_slot: CallSlot<C>,
    /// Data exchanged with the future: `None` at first, and while lent.
    tray: Option<Box<Tray>>,
    future: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl<C: Calls> fmt::Debug for Actor<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Actor")
            .field("call_slot", &self.call_slot)
            .finish()
    }
}

/// Runs `look` on the lent data. Without lent data it works on a default.
fn lent<R>(look: impl FnOnce(&mut Tray) -> R) -> R {
    let mut tray = LENT.take().unwrap_or_default();
    let seen = look(&mut tray);
    // Not `set`, which would check for first-time initialization.
    LENT.replace(Some(tray));
    seen
}

impl<C: Calls> Actor<C> {
    /// Creates an idle client. `future` waits for the [`next_task`], executes it, reports its end
    /// with [`ended`], and repeats.
    pub fn new(future: impl Future<Output = ()> + Send + 'static) -> Self {
        Self {
            call_slot: CallSlot::default(),
            tray: None,
            future: Box::pin(future),
        }
    }

    /// Returns the slot of its calls and their results.
    pub fn call_slot(&mut self) -> &mut CallSlot<C> {
        &mut self.call_slot
    }

    /// Returns the call that it waits for, or made last.
    pub fn call(&self) -> &Call<C> {
        self.call_slot.call()
    }

    /// Returns the size of the future in bytes, without its caches and buffers.
    pub fn future_len(&self) -> usize {
        size_of_val(&*self.future)
    }

    /// Starts a task on an idle client.
    pub fn start(&mut self, task: ActorTask<'_>) {
        let tray = self.tray.get_or_insert_default();
        tray.task = Some(match task {
            ActorTask::Action(action) => {
                tray.kept.keep(action);
                ActorTaskKind::Action
            }
            ActorTask::Operation(operation) => ActorTaskKind::Operation(operation),
            ActorTask::EndPass => ActorTaskKind::EndPass,
            ActorTask::RemoveTree => ActorTaskKind::RemoveTree,
            ActorTask::Leave => ActorTaskKind::Leave,
        });
    }

    /// Polls the future once; returns the state of its task.
    pub fn resume(&mut self, now: Timestamp) -> ActorTaskState {
        let Self {
            call_slot,
            tray,
            future,
        } = self;
        call_slot.set_now(now);
        let outer = LENT.replace(Some(tray.take().unwrap_or_default()));
        let mut context = Context::from_waker(Waker::noop());
        // The future never ends.
        let _: Poll<()> = call_slot.lend(|| future.as_mut().poll(&mut context));
        *tray = LENT.replace(outer);
        match call_slot.wanted() {
            WaitReason::Reply => ActorTaskState::Called,
            WaitReason::Timer(nanos) => ActorTaskState::Pausing(nanos),
            // An idle future without a result means that it had no task.
            WaitReason::None => {
                let end = tray.as_mut().and_then(|tray| tray.end.take());
                ActorTaskState::Ended(
                    end.unwrap_or(TaskEnd::plain(Err(ActionError::ClientFailed), 0)),
                )
            }
        }
    }
}

/// Waits for the next task; an action is stored in `kept`.
pub fn next_task(kept: &mut OwnedAction) -> impl Future<Output = ActorTaskKind> {
    NextTask { kept }
}

/// Reports the end of the current task.
pub fn ended(end: TaskEnd) {
    lent(|tray| tray.end = Some(end));
}

/// Waits for a task.
struct NextTask<'k> {
    /// Destination of the action.
    kept: &'k mut OwnedAction,
}

impl Future for NextTask<'_> {
    type Output = ActorTaskKind;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<ActorTaskKind> {
        lent(|tray| match tray.task.take() {
            Some(kind) => {
                std::mem::swap(self.kept, &mut tray.kept);
                Poll::Ready(kind)
            }
            None => Poll::Pending,
        })
    }
}
