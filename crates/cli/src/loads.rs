//! The loads that a command line or a plan names, read and compiled.

use crate::error::Error;
use filestone_model::load::Load;
use filestone_model::operation::OpKind;
use filestone_model::plan::{LoadName, ReplayPlan};
use std::sync::Arc;

/// A load with what plans say of it.
#[derive(Debug, Clone)]
pub struct Named {
    /// Its name, its length and its grammar.
    pub name: LoadName,
    /// The kinds of operation in it.
    pub kinds: Vec<OpKind>,
    /// Whether lines have time stamps.
    pub has_stamps: bool,
    /// Itself.
    pub load: Arc<Load>,
}
