//! Exhausted resources of this host: open files, memory, memory for sockets.

use rustix::io::Errno;

/// Whether this host has run out of a resource that a call needs. The server does not cause this,
/// so it is never counted as a reply.
pub fn is_exhaustion(error: &std::io::Error) -> bool {
    let number = error.raw_os_error();
    number.is_some_and(|number| is_exhausted(Errno::from_raw_os_error(number)))
}

/// Whether the error number means an exhausted resource: open files of this process and of all,
/// memory, and memory for sockets.
pub fn is_exhausted(errno: Errno) -> bool {
    matches!(
        errno,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOBUFS
    )
}

/// Advice if a resource of this host is exhausted.
pub const EXHAUSTED_HELP: &str = "this host ran out of open files or memory, so the run \
     does not count; use fewer clients (--clients), or raise the limit (`ulimit -n` for open files \
     of a process, fs.file-max for those of the host)";
