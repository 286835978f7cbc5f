//! Checks on the record of a mix: no errors, the right shares, and the right load.

use crate::record::Record;
use anyhow::{Result, bail};

/// Largest permitted relative deviation of an operation's share.
const MIX_LIMIT: f64 = 0.02;
/// Largest permitted relative deviation of the achieved load from the due load.
const LOAD_LIMIT: f64 = 0.005;
/// Least number of operations of a kind whose share is checked, and of a run whose load is.
const COUNTABLE: f64 = 500.0;
/// Operations in a batch of a client, which has exactly the shares of the mix.
const BATCH: f64 = 20.0;
/// Standard deviations of a count that are permitted: chance exceeds them once in 150,000 counts.
const DEVIATIONS: f64 = 4.5;

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
    let clients = number("/plan/clients")?;
    let mut worst = 0.0_f64;
    for operation in record.list("/mix/operations") {
        let percent = |name: &str| operation[name].as_f64().unwrap_or_default();
        let (want, got) = (percent("expected_percent"), percent("actual_percent"));
        let expected = want / 100.0 * scheduled;
        let off = (got - want).abs() / want;
        let by_chance = DEVIATIONS * deviation(want / 100.0, clients) / expected;
        if expected < COUNTABLE || by_chance > MIX_LIMIT {
            continue;
        }
        worst = worst.max(off);
        if off > MIX_LIMIT {
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
        number("/mix/deviation_percent")?
    ))
}

/// Returns the standard deviation of the count of an operation with this share: only the incomplete
/// batches of each client, at the start and the end of the window, deviate. The variance of the
/// count in `k` operations from a batch is `k (BATCH - k) / (BATCH - 1) × share (1 - share)`, and
/// all `k` are equally probable.
fn deviation(share: f64, clients: f64) -> f64 {
    let batch = (BATCH + 1.0) / 6.0 * share * (1.0 - share);
    (2.0 * clients * batch).sqrt()
}
