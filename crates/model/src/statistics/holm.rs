//! Looking at many differences at once: the more there are, the more of them chance makes.

/// The p-values of several differences, each as it is when all are looked at together: of all
/// that are below α, not one is due to chance with a probability of 1 − α (Holm 1979, "A simple
/// sequentially rejective multiple test procedure", *Scandinavian Journal of Statistics* 6).
pub fn adjusted(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, other| p_values[*one].total_cmp(&p_values[*other]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut least: f64 = 0.0;
    for (rank, place) in order.into_iter().enumerate() {
        let among = (p_values.len() - rank) as f64;
        least = least.max(p_values[place] * among).min(1.0);
        adjusted[place] = least;
    }
    adjusted
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
}
