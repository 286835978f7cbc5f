//! The engine from outside: one binary, because each costs a link of everything. Only
//! `tests/allocations.rs` stands alone, for its allocator counts for the whole process.

mod assembly;
mod built_in_share;
mod calibration;
mod cut_replies;
mod ended_sessions;
mod file_set;
mod fleet;
mod interruption;
mod job;
mod known_answers;
mod late_waits;
mod listings;
mod local_layer;
mod local_site;
mod lost_clients;
mod mix;
mod mix_local;
mod nfs3_layer;
mod planted;
mod procedures;
mod replay;
mod robustness;
mod short_transfers;
mod stamps;
mod steered;
mod support;
mod sweep;
mod verdicts;
mod xids;
