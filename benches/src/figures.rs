//! Statistics of a handful of runs.

use anyhow::Result;

/// Runs two sides in turns. The order alternates, so that neither a drift of the host nor warm
/// caches favour one side.
pub fn in_turns<A, B>(
    rounds: usize,
    mut one: impl FnMut() -> Result<A>,
    mut other: impl FnMut() -> Result<B>,
) -> Result<Vec<(A, B)>> {
    let pair = |round: usize| {
        if round.is_multiple_of(2) {
            let first = one()?;
            return Ok((first, other()?));
        }
        let second = other()?;
        Ok((one()?, second))
    };
    (0..rounds).map(pair).collect()
}

/// Returns the median; for an even number of figures the mean of the two middle ones.
pub fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.as_slice() {
        [] => f64::NAN,
        all if all.len() % 2 == 1 => all[middle],
        all => (all[middle - 1] + all[middle]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }
}
