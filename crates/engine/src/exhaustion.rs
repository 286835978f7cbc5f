//! What this host runs out of: open files, memory, room for sockets.

use rustix::io::Errno;

/// Whether this host has run out of what a call needs. No server has a part in it, so it is never
/// counted as an answer.
pub(crate) fn is_exhaustion(error: &std::io::Error) -> bool {
    let number = error.raw_os_error();
    number.is_some_and(|number| is_exhausted(Errno::from_raw_os_error(number)))
}

/// The same of the number alone: open files of this process and of all, memory, and memory for
/// sockets.
pub(crate) fn is_exhausted(errno: Errno) -> bool {
    matches!(
        errno,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOBUFS
    )
}

/// What to do when this host has run out of something.
pub(crate) const EXHAUSTED_HELP: &str = "this host ran out of open files or memory, so the run \
     does not count; use fewer clients (--clients), or raise the limit (`ulimit -n` for open files \
     of a process, fs.file-max for those of the host)";
