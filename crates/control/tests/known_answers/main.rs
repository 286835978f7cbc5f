//! Results computed from runs against queues whose response times are known analytically.

mod curve;
mod explanation;
mod knee;
mod objective;
