//! Text syntax of fleet plans.
//!
//! A [`FleetPlan`](crate::plan::FleetPlan) defines the operations of a fleet,
//! [`payload`](filestone_workload::payload) the data of its clients; `workload::stream` decides on
//! the next operation of a client.

mod file;
mod rate_text;
mod setting;

pub use file::{EXAMPLE, FleetFile, FleetFileError, TargetText, parse};
pub use rate_text::rate;
pub use setting::is_always_ready;
pub use setting::{
    EffectiveFrom, SETTINGS, Setting, SettingError, SettingUpdate, changed, settings_of, values_for,
};
