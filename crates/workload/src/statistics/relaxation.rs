//! Relaxation time of a queue: how fast its initial state loses influence.

/// Returns the relaxation time of a queue, in nanoseconds. A measurement of its mean must be
/// several times as long, so that the initial state and chance do not dominate.
///
/// A queue in heavy traffic is a reflected Brownian motion; Poisson arrivals at `load_per_s` with
/// exponentially distributed service times and a mean wait of `wait_ns` give it the relaxation time
/// 4λW². Its mean over a time T has the relative standard deviation √(relaxation time / T) (W.
/// Whitt, "Planning Queueing Simulations", Management Science 35, 1989). Constant service times
/// double it.
pub fn relaxation_time_ns(load_per_s: f64, wait_ns: f64) -> f64 {
    let wait_s = wait_ns.max(0.0) / 1e9;
    let relaxation_ns = 4e9 * load_per_s * wait_s * wait_s;
    if relaxation_ns.is_finite() {
        relaxation_ns
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For a single server it is 1 / (√μ − √λ)² (Cohen, "The Single Server Queue", 1982, II.2.1).
    #[test]
    fn it_is_that_of_one_server_in_heavy_traffic() {
        let capacity: f64 = 1000.0;
        for (share, near) in [(0.9_f64, 0.25), (0.99, 0.03), (0.999, 0.003)] {
            let load = share * capacity;
            let exact_s = (capacity.sqrt() - load.sqrt()).powi(-2);
            let wait_s = share / (capacity - load);
            let found_s = relaxation_time_ns(load, 1e9 * wait_s) / 1e9;
            assert!(
                (found_s / exact_s - 1.0).abs() < near,
                "{found_s} {exact_s}"
            );
        }
    }

    #[test]
    fn who_does_not_wait_has_nothing_to_forget() {
        assert_eq!(relaxation_time_ns(1000.0, 0.0), 0.0);
        assert_eq!(relaxation_time_ns(1000.0, -5.0), 0.0);
        assert_eq!(relaxation_time_ns(f64::NAN, 5.0), 0.0);
    }
}
