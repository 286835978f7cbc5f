//! One client of a load as a future that is made once, and told what to do again and again.

use super::line::KeptAction;
use super::locks::Locks;
use super::names::Names;
use super::open_files::OpenFiles;
use super::paths::{LoadOptions, RunDirectories, Verbs};
use crate::client::nfs3::sequence::{Failure, Link, NfsResult, Wanted};
use crate::load::{Action, Status};
use crate::time::Moment;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    /// The results of the call in the link.
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
    task: Option<(Kind, KeptAction)>,
    /// The memory of the last task.
    spare: KeptAction,
    end: Option<TaskEnd>,
}

/// One client of a load.
pub struct Actor {
    link: Link,
    tray: Arc<Mutex<Tray>>,
    future: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl fmt::Debug for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Actor").field("link", &self.link).finish()
    }
}

fn lock(tray: &Mutex<Tray>) -> MutexGuard<'_, Tray> {
    // Nobody else holds it, and nothing can panic while it is held.
    tray.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Actor {
    /// A client that has nothing to do yet.
    pub fn new(options: &ActorOptions) -> Self {
        let link = Link::default();
        let locks = || Locks::new(link.clone(), options.timeout_nanos, options.client);
        let verbs = Verbs {
            client: options.client,
            nfs: link.clone(),
            locks: options.has_lock_manager.then(locks),
            directories: options.directories,
            options: options.options,
            names: Names::default(),
            open: OpenFiles::default(),
            moved: 0,
        };
        let tray = Arc::new(Mutex::new(Tray::default()));
        let future = Box::pin(act(verbs, Arc::clone(&tray)));
        Self { link, tray, future }
    }

    /// Where its calls are, and what they are answered.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Bytes that it takes, its caches and buffers apart.
    pub fn future_len(&self) -> usize {
        size_of_val(&*self.future)
    }

    /// Tells it what to do, once it has nothing to do.
    pub fn begin(&self, task: Task<'_>) {
        let tray = &mut *lock(&self.tray);
        let mut kept = std::mem::take(&mut tray.spare);
        let kind = match task {
            Task::Action(action) => {
                kept.keep(action);
                Kind::Action
            }
            Task::EndPass => Kind::EndPass,
            Task::RemoveTree => Kind::RemoveTree,
        };
        tray.task = Some((kind, kept));
    }

    /// Lets it go on for as far as it can.
    pub fn go_on(&mut self, now: Moment) -> Progress {
        self.link.look(now);
        let mut context = Context::from_waker(Waker::noop());
        // It never ends.
        let _: Poll<()> = self.future.as_mut().poll(&mut context);
        match self.link.wanted() {
            Wanted::Call => Progress::Called,
            Wanted::Pause(nanos) => Progress::Pausing(nanos),
            Wanted::Nothing => Progress::Ended(self.end()),
        }
    }

    fn end(&self) -> TaskEnd {
        let end = lock(&self.tray).end.take();
        // It waits for nothing and has not ended only if it was told nothing.
        end.unwrap_or(TaskEnd {
            answer: Err(Failure::Lost),
            moved: 0,
        })
    }
}

/// Does what it is told, for ever.
async fn act(mut verbs: Verbs, tray: Arc<Mutex<Tray>>) {
    loop {
        let (kind, kept) = NextTask(&tray).await;
        verbs.moved = 0;
        let answer = match kind {
            Kind::Action => verbs.carry_out(kept.action()).await,
            Kind::EndPass => verbs.end_pass().await.map(|()| Status::Ok),
            Kind::RemoveTree => verbs.remove_own_tree().await.map(|()| Status::Ok),
        };
        let tray = &mut *lock(&tray);
        tray.spare = kept;
        tray.end = Some(TaskEnd {
            answer,
            moved: verbs.moved,
        });
    }
}

/// Waits until there is something to do.
struct NextTask<'t>(&'t Mutex<Tray>);

impl Future for NextTask<'_> {
    type Output = (Kind, KeptAction);

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<(Kind, KeptAction)> {
        match lock(self.0).task.take() {
            Some(task) => Poll::Ready(task),
            None => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::nfs3::load::Transfers;
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
            },
            has_lock_manager: true,
            timeout_nanos: 1,
        });
        assert!(actor.future_len() <= 3 << 10, "{}", actor.future_len());
    }
}
