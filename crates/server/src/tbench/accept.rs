//! Accepts connections, creates a thread for each, and ends them all.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::net::{Shutdown, SocketFlags, accept_with, shutdown};

use super::connection::TbenchServerConnection;
use super::counters::SharedTbenchCounters;

/// Time without accepts after the process ran out of descriptors or threads.
const PAUSE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// Stack size of a connection's thread: two small buffers and the system calls.
const STACK: usize = 128 << 10;

/// A connection in service.
#[derive(Debug)]
struct Served {
    socket: Arc<OwnedFd>,
    thread: JoinHandle<()>,
}

/// State shared by the threads.
#[derive(Debug)]
pub struct TbenchSharedState {
    pub tally: SharedTbenchCounters,
    /// Becomes readable when the server is stopped.
    stop_event: OwnedFd,
    is_stopping: AtomicBool,
    connections_max: usize,
    /// Numbers of the connections whose threads have ended.
    ended: Mutex<Vec<u64>>,
}

impl TbenchSharedState {
    pub fn new(connections_max: usize) -> io::Result<Self> {
        Ok(Self {
            tally: SharedTbenchCounters::default(),
            stop_event: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            is_stopping: AtomicBool::new(false),
            connections_max,
            ended: Mutex::default(),
        })
    }

    /// Asks the acceptor to end all connections, and itself.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
        // A full counter would refuse, but then the event is readable anyway.
        let _ = rustix::io::write(&self.stop_event, &1_u64.to_ne_bytes());
    }

    fn ended(&self) -> MutexGuard<'_, Vec<u64>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread that accepts connections.
#[derive(Debug)]
pub struct ConnectionAcceptor {
    listeners: Vec<OwnedFd>,
    shared: Arc<TbenchSharedState>,
    served: HashMap<u64, Served>,
    next_number: u64,
}

impl ConnectionAcceptor {
    pub fn new(listeners: Vec<OwnedFd>, shared: Arc<TbenchSharedState>) -> Self {
        Self {
            listeners,
            shared,
            served: HashMap::new(),
            next_number: 0,
        }
    }

    /// Accepts connections until the server is stopped, then ends them all.
    pub fn run(mut self) {
        let mut has_resources = true;
        while !self.shared.is_stopping.load(Ordering::Acquire) {
            self.wait(has_resources);
            self.bury_ended();
            has_resources = self.accept_all();
        }
        self.end_all();
    }

    /// Waits for a connection or the stop; without resources, for the stop only, because waiting
    /// connections would wake it continuously.
    fn wait(&self, has_resources: bool) {
        let mut watched = vec![PollFd::new(&self.shared.stop_event, PollFlags::IN)];
        let mut limit = Some(&PAUSE);
        if has_resources {
            limit = None;
            let listeners = self.listeners.iter();
            watched.extend(listeners.map(|listener| PollFd::new(listener, PollFlags::IN)));
        }
        // Interrupted or failed: then the listeners are polled without a wait.
        let _ = poll(&mut watched, limit);
    }

    /// Accepts all waiting connections; returns whether there were descriptors and threads for
    /// them.
    fn accept_all(&mut self) -> bool {
        for index in 0..self.listeners.len() {
            while let Some(listener) = self.listeners.get(index) {
                match accept_with(listener, SocketFlags::CLOEXEC) {
                    Ok(socket) => {
                        if self.serve(socket).is_err() {
                            self.shared.tally.count_turned_away();
                            return false;
                        }
                    }
                    Err(Errno::AGAIN) => break,
                    Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                        return false;
                    }
                    // The waiting peer has disconnected; the next one may not have.
                    Err(_) => {}
                }
            }
        }
        true
    }

    /// Creates the thread of a connection.
    fn serve(&mut self, socket: OwnedFd) -> io::Result<()> {
        if self.served.len() >= self.shared.connections_max {
            self.bury_ended();
        }
        if self.served.len() >= self.shared.connections_max {
            self.shared.tally.count_turned_away();
            return Ok(());
        }
        let number = self.next_number;
        self.next_number += 1;
        let socket = Arc::new(socket);
        let (of_thread, shared) = (Arc::clone(&socket), Arc::clone(&self.shared));
        let thread = std::thread::Builder::new()
            .name("filestone-tbench-connection".into())
            .stack_size(STACK)
            .spawn(move || {
                TbenchServerConnection::new(&of_thread, &shared.tally).serve();
                // The peer should see the end now, not at the acceptor's next iteration.
                let _ = shutdown(&*of_thread, Shutdown::Both);
                shared.ended().push(number);
            })?;
        self.shared.tally.count_connection();
        self.served.insert(number, Served { socket, thread });
        Ok(())
    }

    /// Closes connections whose threads have ended.
    fn bury_ended(&mut self) {
        let ended = std::mem::take(&mut *self.shared.ended());
        for number in ended {
            if let Some(served) = self.served.remove(&number) {
                let _ = served.thread.join();
            }
        }
    }

    fn end_all(&mut self) {
        for served in self.served.values() {
            // A call that blocks on the socket returns at once.
            let _ = shutdown(&*served.socket, Shutdown::Both);
        }
        for (_, served) in self.served.drain() {
            let _ = served.thread.join();
        }
    }
}
