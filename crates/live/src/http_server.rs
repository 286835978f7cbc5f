//! The serving thread, its runtime and its resource limits.
//!
//! A single thread serves all listeners. It runs at a lower priority than the workers and avoids
//! the processors they are bound to. [`ListenerLimits`] bounds the cost of all connections.

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

/// Nice value of the serving thread relative to the workers. Its users are people, who do not
/// notice a delay of a few milliseconds.
const NICE: i32 = 10;
/// Pause after a failed accept, for example when file descriptors are exhausted.
const PAUSE: Duration = Duration::from_millis(100);

/// Resource limits of a listener.
#[derive(Debug, Clone, Copy)]
pub struct ListenerLimits {
    /// Maximum number of connections; further ones are closed at once.
    pub connections: usize,
    /// Maximum time to receive a request head, and maximum idle time of a connection.
    pub head: Duration,
    /// Maximum time that data may stay unacknowledged or unsent.
    pub unread: Duration,
    /// Maximum size of a request head, in bytes.
    pub head_bytes: usize,
    /// Maximum number of headers of a request.
    pub headers: usize,
    /// Size of the kernel send buffer, in bytes.
    pub send_bytes: usize,
}

impl Default for ListenerLimits {
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

/// A listener with its routes and limits.
pub struct Site {
    /// Listening socket. It is bound already, so the address is known and reserved.
    pub listener: TcpListener,
    /// Routes served at the address.
    pub router: Router,
    /// Resource limits of the listener.
    pub limits: ListenerLimits,
}

/// Binds an address for serving.
///
/// # Errors
///
/// Fails if the address is in use or does not belong to this host.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// The serving thread. Dropping it stops the thread at once.
#[derive(Debug)]
pub struct HttpServer {
    end: watch::Sender<End>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    NotYet,
    /// Connections may finish their current requests, within this time.
    Within(Duration),
}

impl HttpServer {
    /// Starts serving on a thread that avoids the processors `pinned`, if there are others.
    ///
    /// # Errors
    ///
    /// Fails if the thread or its I/O runtime cannot be created.
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

    /// Stops accepting connections and ends when the open ones have received all data sent to them,
    /// or after `most`.
    pub fn end_within(mut self, most: Duration) {
        let _ = self.end.send(End::Within(most));
        self.join();
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has already been printed.
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

/// Lowers the priority of the calling thread below that of the workers, and moves it off the
/// processors `pinned`, if there are others.
pub fn give_way(pinned: &[u32]) {
    // On Linux, the nice value belongs to the thread.
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

/// Limits CPU use: rests before each request if the thread has exceeded its share.
async fn governed(State(governor): State<CpuLimiter>, request: Request, next: Next) -> Response {
    governor.rest();
    next.run(request).await
}

/// Serves one listener until shutdown.
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
        // Without a permit the stream is dropped, which closes the connection.
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
    // Remaining connections are dropped with their tasks.
    let _ = tokio::time::timeout(most, all).await;
}

/// Serves one connection.
async fn converse(
    stream: tokio::net::TcpStream,
    router: Router,
    limits: ListenerLimits,
    mut ended: watch::Receiver<End>,
) {
    let socket = SockRef::from(&stream);
    // The kernel aborts the connection if data stay unacknowledged or unsent for this time.
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
        // Errors of a connection concern only its client.
        _ = connection.as_mut() => false,
        _ = ended.wait_for(|end| *end != End::NotYet) => true,
    };
    if is_ended {
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }
}
