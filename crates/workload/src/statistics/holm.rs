//! Correction for multiple tests: more differences give more false alarms.

/// Returns the adjusted p-values of several differences that are tested together: with a
/// probability of 1 − α, none of those below α is due to chance (Holm 1979, "A simple sequentially
/// rejective multiple test procedure", *Scandinavian Journal of Statistics* 6).
pub fn adjusted(p_values: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![1.0; p_values.len()];
    let mut least: f64 = 0.0;
    for step in steps(p_values) {
        least = least.max(p_values[step.place] * step.among).min(1.0);
        adjusted[step.place] = least;
    }
    adjusted
}

/// Returns the error probability of each difference's interval, so that the intervals that do not
/// contain 0 are those of the differences that the procedure finds at `alarm`.
pub fn misses(p_values: &[f64], alarm: f64) -> Vec<f64> {
    let mut misses = vec![alarm; p_values.len()];
    let mut stopped = None;
    for step in steps(p_values) {
        let miss = stopped.unwrap_or(alarm / step.among);
        misses[step.place] = miss;
        if p_values[step.place] > miss {
            stopped = Some(miss);
        }
    }
    misses
}

/// The step of one difference.
struct Step {
    place: usize,
    /// Number of differences that are left at this step.
    among: f64,
}

/// Returns the steps in order of ascending p-values.
fn steps(p_values: &[f64]) -> impl Iterator<Item = Step> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, other| p_values[*one].total_cmp(&p_values[*other]));
    let count = order.len();
    let turns = order.into_iter().enumerate();
    turns.map(move |(rank, place)| Step {
        place,
        among: (count - rank) as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hand_worked_example() {
        // 4·0.005, 3·0.01, 2·0.03, and 0.04 not below the one before: 0.06.
        let found = adjusted(&[0.01, 0.04, 0.03, 0.005]);
        let golden = [0.03, 0.06, 0.06, 0.02];
        for (found, golden) in found.iter().zip(golden) {
            assert!(
                (found - golden).abs() < 1e-12,
                "{found} instead of {golden}"
            );
        }
        assert_eq!(adjusted(&[]), Vec::<f64>::new());
        assert_eq!(adjusted(&[0.7, 0.9]), [1.0, 1.0]);
    }

    #[test]
    fn intervals_miss_as_rarely_as_the_procedure_asks_and_stay_so_after_it_stops() {
        // 0.005 ≤ 0.05/4, 0.01 ≤ 0.05/3, 0.03 > 0.05/2: there it stops.
        let found = misses(&[0.01, 0.04, 0.03, 0.005], 0.05);
        assert_eq!(found, [0.05 / 3.0, 0.025, 0.025, 0.0125]);
        assert_eq!(misses(&[0.2], 0.05), [0.05]);
    }
}
