//! Checks on the record of a mix: no errors, the right shares, and the right load.

use crate::record::Record;
use anyhow::{Result, bail};

/// Largest permitted relative deviation of an operation's share.
const MIX_LIMIT: f64 = 0.02;
/// Largest permitted relative deviation of the achieved load from the due load.
const LOAD_LIMIT: f64 = 0.005;
/// Least number of operations of a kind whose share is checked: above it the granularity of a
/// shuffled mix is below [`MIX_LIMIT`].
const COUNTABLE: f64 = 500.0;

/// Checks that a run has no errors, the right shares and the right load.
pub fn right(record: &Record) -> Result<String> {
    let number = |pointer: &str| record.number(pointer);
    let (scheduled, ok) = (
        number("/totals/ledger/scheduled")?,
        number("/totals/ledger/ok")?,
    );
    if ok != scheduled {
        bail!("{ok} of {scheduled} ok: {:?}", record.failures());
    }
    let mut worst = 0.0_f64;
    for operation in record.list("/mix/operations") {
        let percent = |name: &str| operation[name].as_f64().unwrap_or_default();
        let (want, got) = (percent("want_percent"), percent("got_percent"));
        let expected = want / 100.0 * scheduled;
        // Granularity of a shuffled mix: one operation more or less for each client.
        let off = (got - want).abs() / want;
        if expected >= COUNTABLE {
            worst = worst.max(off);
        }
        if expected >= COUNTABLE && off > MIX_LIMIT {
            bail!(
                "{}: {got:.3} % instead of {want:.3} %",
                operation["operation"]
            );
        }
    }
    let window = number("/window_ns")? / 1e9;
    let achieved = number("/totals/achieved_load_ops_per_s")?;
    let due = scheduled / window;
    // Operations in flight at the start or end of the window were due within the longest response
    // time.
    let at_edges = number("/totals/response_time_ns/max")? / 1e9 / window;
    if scheduled >= COUNTABLE && (achieved / due - 1.0).abs() > LOAD_LIMIT + at_edges {
        bail!("{achieved:.1} operations/s achieved, {due:.1} were due");
    }
    Ok(format!(
        "{scheduled:.0} operations, {achieved:.0}/s of {due:.0} due, worst share off by {:.2} %, mix by {:.3}",
        100.0 * worst,
        number("/mix/off_by_percent")?
    ))
}
