//! RPC calls one at a time, for everything before and after the measured run.
