//! The NFS layer of a replay against the built-in server over real sockets.

mod bench;
mod hostile;
mod locks;
mod lowering;
mod place;
mod restarts;
mod verbs;
