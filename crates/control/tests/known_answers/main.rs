//! Results computed from runs against queues whose response times are known analytically.

mod explanation;
mod knee;
