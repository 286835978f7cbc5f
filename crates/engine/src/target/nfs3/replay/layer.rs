//! One client's way to an NFS server: the model's client, and the connections that carry its
//! calls, one after the other.

use super::options::Nfs3Options;
use crate::driver::{RpcConnection, Traffic};
use crate::replay::layer::Repeats;
use crate::replay::{Cancellation, Layer, LayerLost, Reply};
use crate::target::nfs3::calls::{self, exchange};
use filestone_model::client::nfs3::load::{
    Actor, ActorOptions, NLM, Progress, RunDirectories, Task, TaskEnd,
};
use filestone_model::client::nfs3::sequence::{Failure, Stretch};
use filestone_model::load::{Action, Status};
use filestone_model::time::{Moment, nanos_of};
use std::time::{Duration, Instant};

/// One client's way to an NFS server.
#[derive(Debug)]
pub struct Nfs3Layer {
    actor: Actor,
    nfs: RpcConnection,
    locks: Option<RpcConnection>,
    /// When its time began.
    epoch: Instant,
    /// File data that do not lie in one piece where they are taken from.
    filled: Vec<u8>,
}

impl Layer for Nfs3Layer {
    fn cancel_with(&mut self, cancellation: &Cancellation) {
        self.nfs.cancel_with(cancellation);
        if let Some(locks) = &mut self.locks {
            locks.cancel_with(cancellation);
        }
    }

    fn take_repeats(&mut self) -> Repeats {
        let of_locks = self.locks.as_mut().map(RpcConnection::take_repeats);
        self.nfs.take_repeats().and(of_locks.unwrap_or_default())
    }

    fn carry_out(&mut self, action: &Action<'_>, data: &[u8]) -> Result<Reply, LayerLost> {
        let end = self.act(Task::Action(action), data);
        let traffic = self.take_traffic();
        let TaskEnd { answer, moved } = end?;
        let (Ok(status) | Err(Failure::Answered(status))) = answer else {
            return Err(self.lost());
        };
        Ok(Reply {
            status,
            calls: traffic.calls,
            bytes_sent: traffic.bytes_sent,
            bytes_received: traffic.bytes_received,
            data_bytes: moved,
        })
    }

    fn end_pass(&mut self) -> Result<(), LayerLost> {
        let end = self.act(Task::EndPass, &[]);
        self.take_traffic();
        match end?.answer {
            Err(Failure::Lost) => Err(self.lost()),
            Ok(_) | Err(Failure::Answered(_)) => Ok(()),
        }
    }
}

impl Nfs3Layer {
    /// Client `client` over these connections.
    pub(super) fn new(
        client: u32,
        nfs: RpcConnection,
        locks: Option<RpcConnection>,
        directories: RunDirectories,
        options: &Nfs3Options,
    ) -> Self {
        let actor = Actor::new(&ActorOptions {
            client,
            directories,
            options: options.of_client(client),
            has_lock_manager: locks.is_some(),
            timeout_nanos: nanos_of(options.timeout),
        });
        Self {
            actor,
            nfs,
            locks,
            epoch: Instant::now(),
            filled: Vec::new(),
        }
    }

    /// Takes this client's tree away; what was answered if that cannot be.
    pub(super) fn remove_own_tree(&mut self) -> Result<Option<Status>, LayerLost> {
        let end = self.act(Task::RemoveTree, &[])?;
        match end.answer {
            Ok(_) => Ok(None),
            Err(Failure::Answered(status)) => Ok(Some(status)),
            Err(Failure::Lost) => Err(self.lost()),
        }
    }

    /// Carries out a task, making each call as it comes.
    fn act(&mut self, task: Task<'_>, data: &[u8]) -> Result<TaskEnd, LayerLost> {
        self.actor.begin(task);
        loop {
            self.actor.desk().stop(self.nfs.is_cancelled());
            let now = self.now();
            let gone_on = match self.actor.go_on(now) {
                Progress::Ended(end) => return Ok(end),
                Progress::Called => self.exchange(data),
                Progress::Pausing(nanos) => self.pause(Duration::from_nanos(nanos)),
            };
            if let Err(lost) = gone_on {
                // It ends there, and can be told to do something else.
                self.actor.desk().cut();
                while !matches!(self.actor.go_on(now), Progress::Ended(_)) {
                    self.actor.desk().cut();
                }
                return Err(lost);
            }
        }
    }

    /// Only who waits for locks wants to know the time.
    fn now(&self) -> Moment {
        match self.locks {
            Some(_) => Moment::ZERO.after(self.epoch.elapsed()),
            None => Moment::ZERO,
        }
    }

    fn exchange(&mut self, data: &[u8]) -> Result<(), LayerLost> {
        let desk = self.actor.desk();
        let call = desk.call();
        let connection = match &mut self.locks {
            Some(locks) if call.procedure.program == NLM => locks,
            _ => &mut self.nfs,
        };
        let Stretch { at, len } = call.data;
        let data = repeated(&mut self.filled, data, at, len as usize);
        exchange(connection, desk, data)?;
        Ok(())
    }

    fn pause(&mut self, pause: Duration) -> Result<(), LayerLost> {
        self.nfs.wait(pause)?;
        self.actor.desk().rested();
        Ok(())
    }

    fn take_traffic(&mut self) -> Traffic {
        let of_locks = self.locks.as_mut().map(RpcConnection::take_traffic);
        self.nfs.take_traffic().and(of_locks.unwrap_or_default())
    }

    /// Why the client found that it cannot go on.
    fn lost(&mut self) -> LayerLost {
        calls::lost(&self.nfs, self.actor.desk()).into()
    }
}

/// `len` bytes of `data` over and over, from `at` on; from where they lie if they
/// lie in one piece.
fn repeated<'d>(filled: &'d mut Vec<u8>, data: &'d [u8], at: u64, len: usize) -> &'d [u8] {
    let period = data.len().max(1) as u64;
    let start = (at % period) as usize;
    if let Some(bytes) = data.get(start..start.saturating_add(len)) {
        return bytes;
    }
    filled.clear();
    filled.extend_from_slice(data.get(start..).unwrap_or_default());
    while filled.len() < len && !data.is_empty() {
        let missing = len - filled.len();
        filled.extend_from_slice(data.get(..missing).unwrap_or(data));
    }
    // Only a caller without data comes to that; zeros are as good.
    filled.resize(len, 0);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_go_on_in_the_next_piece_where_they_ended_in_the_last() {
        let mut filled = Vec::new();
        assert_eq!(repeated(&mut filled, b"abc", 0, 3), b"abc");
        assert_eq!(repeated(&mut filled, b"abc", 4, 2), b"bc");
        assert_eq!(repeated(&mut filled, b"abc", 5, 8), b"cabcabca");
        assert_eq!(repeated(&mut filled, b"", 0, 2), [0, 0]);
    }
}
