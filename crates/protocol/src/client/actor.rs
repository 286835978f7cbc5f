//! A client, or a slot of one, as a future that is made once, and told what to do again and again.

use super::call_slot::{ActionError, ActionResult, Call, CallSlot, Calls, WaitReason};
use super::owned_action::OwnedAction;
use filestone_workload::load::{Action, Status};
use filestone_workload::operation::{Operation, ReplyFault, ReplyInfo};
use filestone_workload::time::Timestamp;
use std::cell::Cell;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// What a client is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActorTask<'a> {
    /// A line of its load.
    Action(&'a Action<'a>),
    /// What a probe or a mix asks.
    Operation(Operation),
    /// To close what the pass has left open.
    EndPass,
    /// To take its tree away.
    RemoveTree,
    /// To close all that is open, and to take leave of the server.
    Leave,
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskEnd {
    /// What was answered; [`ActionError::ClientFailed`] if the client cannot go on.
    pub answer: ActionResult<Status>,
    /// File data that were moved.
    pub moved: u64,
    /// What the workload of an operation may want to know.
    pub found: ReplyInfo,
    /// How what was answered did not fit what was asked.
    pub fault: Option<ReplyFault>,
}

impl TaskEnd {
    /// Of a task that found nothing of interest.
    pub fn plain(answer: ActionResult<Status>, moved: u64) -> Self {
        let found = ReplyInfo::Plain;
        Self {
            answer,
            moved,
            found,
            fault: None,
        }
    }
}

/// What a task waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The results of the call on the desk.
    Called,
    /// So many nanoseconds to pass.
    Pausing(u64),
    /// Nothing: it has ended.
    Ended(TaskEnd),
}

/// A task, as the future takes it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActorTaskKind {
    /// [`ActorTask::Action`]: the action that is kept.
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

/// What is handed to the future and back.
#[derive(Debug, Default)]
struct Tray {
    task: Option<ActorTaskKind>,
    /// The action of the next task; of one that is under way, the memory of the last.
    kept: OwnedAction,
    end: Option<TaskEnd>,
}

thread_local! {
    /// What is lent to the future that this thread polls, as its desk is.
    static LENT: Cell<Option<Box<Tray>>> = const { Cell::new(None) };
}

/// What does one thing after the other.
pub struct Actor<C: Calls> {
    desk: CallSlot<C>,
    /// What is handed to the future and back: `None` at first, and while it is lent.
    tray: Option<Box<Tray>>,
    future: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl<C: Calls> fmt::Debug for Actor<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Actor").field("desk", &self.desk).finish()
    }
}

/// Looks at what is lent. If nothing is, there is nothing to do.
fn lent<R>(look: impl FnOnce(&mut Tray) -> R) -> R {
    let mut tray = LENT.take().unwrap_or_default();
    let seen = look(&mut tray);
    // Not `set`, which has a first time of its own to look for.
    LENT.replace(Some(tray));
    seen
}

impl<C: Calls> Actor<C> {
    /// One that has nothing to do yet. `future` waits for the [`next_task`], carries it out,
    /// says how it [`ended`], and begins again.
    pub fn new(future: impl Future<Output = ()> + Send + 'static) -> Self {
        Self {
            desk: CallSlot::default(),
            tray: None,
            future: Box::pin(future),
        }
    }

    /// Where its calls are, and what they are answered.
    pub fn desk(&mut self) -> &mut CallSlot<C> {
        &mut self.desk
    }

    /// The call that it waits for, or made last.
    pub fn call(&self) -> &Call<C> {
        self.desk.call()
    }

    /// Bytes that it takes, its caches and buffers apart.
    pub fn future_len(&self) -> usize {
        size_of_val(&*self.future)
    }

    /// Tells it what to do, once it has nothing to do.
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

    /// Lets it go on for as far as it can.
    pub fn resume(&mut self, now: Timestamp) -> Progress {
        let Self { desk, tray, future } = self;
        desk.set_now(now);
        let outer = LENT.replace(Some(tray.take().unwrap_or_default()));
        let mut context = Context::from_waker(Waker::noop());
        // It never ends.
        let _: Poll<()> = desk.lend(|| future.as_mut().poll(&mut context));
        *tray = LENT.replace(outer);
        match desk.wanted() {
            WaitReason::Reply => Progress::Called,
            WaitReason::Timer(nanos) => Progress::Pausing(nanos),
            // It waits for nothing and has not ended only if it was told nothing.
            WaitReason::None => {
                let end = tray.as_mut().and_then(|tray| tray.end.take());
                Progress::Ended(end.unwrap_or(TaskEnd::plain(Err(ActionError::ClientFailed), 0)))
            }
        }
    }
}

/// What to do next; an action goes into `kept`.
pub fn next_task(kept: &mut OwnedAction) -> impl Future<Output = ActorTaskKind> {
    NextTask { kept }
}

/// The task that was taken up last has ended so.
pub fn ended(end: TaskEnd) {
    lent(|tray| tray.end = Some(end));
}

/// Waits until there is something to do.
struct NextTask<'k> {
    /// Where its action goes.
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
