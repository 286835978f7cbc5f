//! Common parts of reports: headings, facts, ledgers, figures with their units.

pub mod costs;
pub mod facts;
pub mod gates;
pub mod heading;
pub mod hosts;
pub mod kinds;
pub mod known;
pub mod ledger;
pub mod percentile;
pub mod reference;
pub mod shortfall;
pub mod stamps;
pub mod units;
pub mod validity;
