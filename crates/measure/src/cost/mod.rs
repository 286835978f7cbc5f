//! What operations cost on the wire and at a server: bytes, packets, processor time, interrupts,
//! context switches.
//!
//! Three things meet here. A *model* says what a message of a known length comes to on the way
//! ([`wire`]). *Readings* of counters, of the server's or of this host, say what was counted until a
//! moment ([`CounterReading`]); what they advanced by is told, or why it cannot be ([`advance`]). A *line*
//! through rates of counters over rates of completed operations says what each operation adds, and
//! what there is without any ([`per_operation`]).
//!
//! Readings come as texts ([`proc_text`], [`exporter_text`]); from where is not known here.

pub mod advance;
mod counter;
pub mod exporter_text;
pub mod per_operation;
pub mod proc_text;
mod reading;
mod record;
pub mod wire;

pub use counter::{Counter, CounterUnit};
pub use reading::{CounterReading, LineCount, ReadingPhase};
pub use record::{
    CallsRecord, CostEstimate, CostFigure, CostRecord, MeasuredAt, SourceRecord, WireCostRecord,
};
