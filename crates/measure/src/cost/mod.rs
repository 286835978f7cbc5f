//! Cost of operations on the network and at a server: bytes, packets, CPU time, interrupts, context
//! switches.
//!
//! This module combines three parts. A *model* computes the size of a message of known length on
//! the network ([`wire`]). *Readings* of counters of the server or of this host give the counts at
//! a moment ([`CounterReading`]); their advance is computed, or the reason why it is unknown
//! ([`advance`]). A *line* fitted to rates of counters over rates of completed operations gives the
//! cost that each operation adds, and the base rate without operations ([`per_operation`]).
//!
//! Readings are parsed from texts ([`proc_text`], [`exporter_text`]), independent of their source.

pub mod advance;
mod counter;
pub mod exporter_text;
pub mod per_operation;
pub mod proc_text;
mod reading;
mod record;
pub mod wire;

pub use counter::CostCounter;
pub use reading::{CounterReading, LineCount, ReadingPhase};
pub use record::{
    CallsRecord, CostEstimate, CostFigure, CostRecord, MeasuredAt, SourceRecord, WireCostRecord,
};
