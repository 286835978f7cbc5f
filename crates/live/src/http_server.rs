//! The thread that serves, with a runtime of its own, and what it costs at most.
//!
//! One thread serves all listeners. It runs at a lower priority than workers do, on none of the processors
//! that they are bound to, and whoever connects can cost it no more than [`Limits`] says.

use crate::governor::CpuLimiter;
use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::thread::CpuSet;
use socket2::SockRef;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

/// How much nicer the thread is than the workers: what is served is for people, who wait some milliseconds.
const NICE: i32 = 10;
/// How long one waits, after a listener failed, before it is asked again: out of file descriptors, say.
const PAUSE: Duration = Duration::from_millis(100);

/// What whoever connects can cost.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at a time; whoever comes then is let go of at once.
    pub connections: usize,
    /// How long the head of a request may be on its way, and a connection idle.
    pub head: Duration,
    /// How long sent bytes may wait for a reader.
    pub unread: Duration,
    /// Bytes of a request's head.
    pub head_bytes: usize,
    /// Headers of a request.
    pub headers: usize,
    /// Bytes that may wait in the kernel for a reader.
    pub send_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 64,
            head: Duration::from_secs(10),
            unread: Duration::from_secs(10),
            head_bytes: 16 << 10,
            headers: 64,
            send_bytes: 256 << 10,
        }
    }
}

/// What is served, and where.
pub struct Site {
    /// Where. It listens already, so that its address is known and nobody else has it.
    pub listener: TcpListener,
    /// What.
    pub router: Router,
    /// What it may cost.
    pub limits: Limits,
}

/// Binds an address that is to be served.
///
/// # Errors
/// If it is taken, or is no address of this host.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// The thread that serves. Dropped, it ends at once.
#[derive(Debug)]
pub struct HttpServer {
    end: watch::Sender<End>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    NotYet,
    /// Connections end what they are at, for so long at most.
    Within(Duration),
}

impl HttpServer {
    /// Serves, on a thread that keeps off the processors `pinned`, if there are others.
    ///
    /// # Errors
    /// If this host has no other thread, or no readiness to wait for.
    pub fn start(sites: Vec<Site>, pinned: &[u32]) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()?;
        let (end, ended) = watch::channel(End::NotYet);
        let pinned = pinned.to_vec();
        let thread = std::thread::Builder::new().name("filestone-live".into());
        let thread = thread.spawn(move || {
            give_way(&pinned);
            runtime.block_on(serve_all(sites, ended));
        })?;
        Ok(Self {
            end,
            thread: Some(thread),
        })
    }

    /// Takes no more connections, and ends when those that there are have taken what was sent to them, but
    /// no later than this.
    pub fn end_within(mut self, most: Duration) {
        let _ = self.end.send(End::Within(most));
        self.join();
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.end.send_replace(End::Within(Duration::ZERO));
        self.join();
    }
}

/// Makes the calling thread give way to workers: it is nicer than they are, and keeps off the processors
/// `pinned`, if there are others.
pub fn give_way(pinned: &[u32]) {
    // To Linux, a thread is what it is that is nicer.
    let _ = rustix::process::setpriority_process(None, NICE);
    if pinned.is_empty() {
        return;
    }
    let Ok(allowed) = rustix::thread::sched_getaffinity(None) else {
        return;
    };
    let mut others = CpuSet::new();
    (0..CpuSet::MAX_CPU)
        .filter(|cpu| allowed.is_set(*cpu) && !pinned.contains(&(*cpu as u32)))
        .for_each(|cpu| others.set(cpu));
    if others.count() > 0 {
        let _ = rustix::thread::sched_setaffinity(None, &others);
    }
}

async fn serve_all(sites: Vec<Site>, ended: watch::Receiver<End>) {
    let governor = CpuLimiter::new();
    let mut serving = JoinSet::new();
    for site in sites {
        let governed = from_fn_with_state(governor.clone(), governed);
        let site = Site {
            router: site.router.layer(governed),
            ..site
        };
        serving.spawn(serve(site, governor.clone(), ended.clone()));
    }
    while serving.join_next().await.is_some() {}
}

/// Every request is paid for before the next one.
async fn governed(State(governor): State<CpuLimiter>, request: Request, next: Next) -> Response {
    governor.rest();
    next.run(request).await
}

/// Serves one listener until the end.
async fn serve(site: Site, governor: CpuLimiter, mut ended: watch::Receiver<End>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(site.listener) else {
        return;
    };
    let room = Arc::new(Semaphore::new(site.limits.connections));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            _ = ended.wait_for(|end| *end != End::NotYet) => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        governor.rest();
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // Without room it is dropped, which closes it.
        if let Ok(permit) = Arc::clone(&room).try_acquire_owned() {
            let (router, limits, ended) = (site.router.clone(), site.limits, ended.clone());
            connections.spawn(async move {
                converse(stream, router, limits, ended).await;
                drop(permit);
            });
        }
    }
    drop(listener);
    let End::Within(most) = *ended.borrow() else {
        return;
    };
    let all = async { while connections.join_next().await.is_some() {} };
    // Connections that are left are dropped with their tasks.
    let _ = tokio::time::timeout(most, all).await;
}

/// Serves one connection.
async fn converse(
    stream: tokio::net::TcpStream,
    router: Router,
    limits: Limits,
    mut ended: watch::Receiver<End>,
) {
    let socket = SockRef::from(&stream);
    // What is not taken for so long is given up, by the kernel.
    let _ = socket.set_tcp_user_timeout(Some(limits.unread));
    let _ = socket.set_send_buffer_size(limits.send_bytes);
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router);
    let mut builder = hyper::server::conn::http1::Builder::new();
    let connection = builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_buf_size(limits.head_bytes)
        .max_headers(limits.headers)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let is_ended = tokio::select! {
        // What is wrong with it is whoever's who connected.
        _ = connection.as_mut() => false,
        _ = ended.wait_for(|end| *end != End::NotYet) => true,
    };
    if is_ended {
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }
}
