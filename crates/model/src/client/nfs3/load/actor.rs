//! One client of a load as a future that is made once, and told what to do again and again.

use super::line::KeptAction;
use super::locks::Locks;
use super::names::Names;
use super::open_files::OpenFiles;
use super::paths::{LoadOptions, RunDirectories, Verbs};
use crate::client::nfs3::sequence::{Call, Desk, Failure, Link, NfsResult, Wanted};
use crate::load::{Action, Status};
use crate::time::Moment;
use std::cell::Cell;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// What a client is made of.
#[derive(Debug, Clone, Copy)]
pub struct ActorOptions {
    /// Its number.
    pub client: u32,
    /// Where the run works.
    pub directories: RunDirectories,
    /// What it goes by.
    pub options: LoadOptions,
    /// Whether locks go to the lock manager.
    pub has_lock_manager: bool,
    /// How long a call may stay unanswered.
    pub timeout_nanos: u64,
}

/// What a client is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task<'a> {
    /// A line of its load.
    Action(&'a Action<'a>),
    /// To close what the pass has left open.
    EndPass,
    /// To take its tree away.
    RemoveTree,
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskEnd {
    /// What was answered; [`Failure::Lost`] if the client cannot go on.
    pub answer: NfsResult<Status>,
    /// File data that were moved.
    pub moved: u64,
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

/// A task, kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Action,
    EndPass,
    RemoveTree,
}

/// What is handed to the future and back.
#[derive(Debug, Default)]
struct Tray {
    task: Option<Kind>,
    /// The action of the next task; of one that is under way, the memory of the last.
    kept: KeptAction,
    end: Option<TaskEnd>,
}

thread_local! {
    /// What is lent to the future that this thread polls, as its desk is.
    static LENT: Cell<Option<Box<Tray>>> = const { Cell::new(None) };
}

/// One client of a load.
pub struct Actor {
    desk: Desk,
    /// What is handed to the future and back: `None` at first, and while it is lent.
    tray: Option<Box<Tray>>,
    future: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl fmt::Debug for Actor {
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

impl Actor {
    /// A client that has nothing to do yet.
    pub fn new(options: &ActorOptions) -> Self {
        let locks = || Locks::new(Link, options.timeout_nanos, options.client);
        let verbs = Verbs {
            client: options.client,
            nfs: Link,
            locks: options.has_lock_manager.then(locks),
            directories: options.directories,
            options: options.options,
            names: Names::default(),
            open: OpenFiles::default(),
            moved: 0,
        };
        Self {
            desk: Desk::default(),
            tray: None,
            future: Box::pin(act(verbs)),
        }
    }

    /// Where its calls are, and what they are answered.
    pub fn desk(&mut self) -> &mut Desk {
        &mut self.desk
    }

    /// The call that it waits for, or made last.
    pub fn call(&self) -> &Call {
        self.desk.call()
    }

    /// Bytes that it takes, its caches and buffers apart.
    pub fn future_len(&self) -> usize {
        size_of_val(&*self.future)
    }

    /// Tells it what to do, once it has nothing to do.
    pub fn begin(&mut self, task: Task<'_>) {
        let tray = self.tray.get_or_insert_default();
        tray.task = Some(match task {
            Task::Action(action) => {
                tray.kept.keep(action);
                Kind::Action
            }
            Task::EndPass => Kind::EndPass,
            Task::RemoveTree => Kind::RemoveTree,
        });
    }

    /// Lets it go on for as far as it can.
    pub fn go_on(&mut self, now: Moment) -> Progress {
        let Self { desk, tray, future } = self;
        desk.look(now);
        let outer = LENT.replace(Some(tray.take().unwrap_or_default()));
        let mut context = Context::from_waker(Waker::noop());
        // It never ends.
        let _: Poll<()> = desk.lend(|| future.as_mut().poll(&mut context));
        *tray = LENT.replace(outer);
        match desk.wanted() {
            Wanted::Call => Progress::Called,
            Wanted::Pause(nanos) => Progress::Pausing(nanos),
            // It waits for nothing and has not ended only if it was told nothing.
            Wanted::Nothing => {
                let end = tray.as_mut().and_then(|tray| tray.end.take());
                Progress::Ended(end.unwrap_or(TaskEnd {
                    answer: Err(Failure::Lost),
                    moved: 0,
                }))
            }
        }
    }
}

/// Does what it is told, for ever.
async fn act(mut verbs: Verbs) {
    let mut kept = KeptAction::default();
    loop {
        let kind = NextTask { kept: &mut kept }.await;
        verbs.moved = 0;
        let answer = match kind {
            Kind::Action => verbs.carry_out(kept.action()).await,
            Kind::EndPass => verbs.end_pass().await.map(|()| Status::Ok),
            Kind::RemoveTree => verbs.remove_own_tree().await.map(|()| Status::Ok),
        };
        let moved = verbs.moved;
        lent(|tray| tray.end = Some(TaskEnd { answer, moved }));
    }
}

/// Waits until there is something to do.
struct NextTask<'k> {
    /// Where its action goes.
    kept: &'k mut KeptAction,
}

impl Future for NextTask<'_> {
    type Output = Kind;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Kind> {
        lent(|tray| match tray.task.take() {
            Some(kind) => {
                std::mem::swap(self.kept, &mut tray.kept);
                Poll::Ready(kind)
            }
            None => Poll::Pending,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::nfs3::load::Transfers;
    use crate::plan::Modes;
    use filestone_wire::nfs3::Handle;

    #[test]
    fn a_client_is_small() {
        let transfers = Transfers { read: 1, write: 1 };
        let actor = Actor::new(&ActorOptions {
            client: 0,
            directories: RunDirectories {
                root: Handle::EMPTY,
                clients: Handle::EMPTY,
                transfers,
            },
            options: LoadOptions {
                has_nfs_verbs: false,
                ignores_case: true,
                stable: false,
                modes: Modes::OWN,
            },
            has_lock_manager: true,
            timeout_nanos: 1,
        });
        assert!(actor.future_len() <= 3 << 10, "{}", actor.future_len());
    }
}
