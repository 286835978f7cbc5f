//! Common parts of reports: the page and its tables, headings, facts, ledgers, figures with their
//! units.

pub mod costs;
pub mod facts;
pub mod gates;
pub mod heading;
pub mod hosts;
pub mod kinds;
pub mod known;
pub mod ledger;
pub mod markup;
pub mod page;
pub mod percentile;
pub mod reference;
pub mod shortfall;
pub mod stamps;
pub mod table;
pub mod units;
pub mod validity;
