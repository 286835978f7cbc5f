//! One simulated client per protocol, without I/O.
