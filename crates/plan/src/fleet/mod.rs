//! Plans of fleets as people write them.
//!
//! What a fleet does is in a [`FleetPlan`](crate::plan::FleetPlan); what its clients' data consist of,
//! in [`payload`](filestone_workload::payload); what a client does next is decided by
//! `workload::stream`.

mod file;
mod rate_text;
mod setting;

pub use file::{EXAMPLE, FleetFile, FleetFileError, TargetText, parse};
pub use rate_text::rate;
pub use setting::is_always_ready;
pub use setting::{
    EffectiveFrom, SETTINGS, Setting, SettingError, SettingUpdate, changed, settings_of, values_for,
};
