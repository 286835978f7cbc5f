//! M/D/k: Poisson arrivals, k servers, one queue in the order of arrival, a fixed service time.
//!
//! The mean wait is Crommelin's (*Delay probability formulae when the holding times are
//! constant*, Post Office Electrical Engineers' Journal 25 and 26, 1932 and 1934); for one
//! server it is that of Pollaczek and Khinchine. Times are in seconds, loads in operations
//! per second.

use super::bisect;
use core::f64::consts::TAU;

/// k servers with a fixed service time and one queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeterministicServers {
    /// Number of operations that are served at once.
    pub servers: u32,
    /// Service time in seconds.
    pub service_s: f64,
}

/// Largest number of terms of the series; at 99 % utilisation of one server it takes about 400,000.
const TERMS_MAX: u32 = 2_000_000;
/// Utilisation above which the series is too long and Cosmetatos's formula is used: it is exact in
/// the limit, and less than 0.1 % off there.
const SERIES_UTILISATION_MAX: f64 = 0.99;

/// Longest time, in service times, for which a quantile is computed: Erlang's sum has terms of both
/// signs, and beyond this too few digits are left.
const QUANTILE_SERVICES_MAX: f64 = 20.0;

impl DeterministicServers {
    /// Returns the load at which the queue grows without bound.
    pub fn capacity(&self) -> f64 {
        f64::from(self.servers) / self.service_s
    }

    /// Returns the mean time in the queue; infinite at and above the capacity.
    pub fn wait_mean(&self, load: f64) -> f64 {
        let utilisation = load / self.capacity();
        if utilisation >= 1.0 {
            f64::INFINITY
        } else if utilisation <= 0.0 {
            0.0
        } else if self.servers == 1 {
            // Pollaczek–Khinchine with no variance of the service time.
            self.service_s * utilisation / (2.0 * (1.0 - utilisation))
        } else if utilisation > SERIES_UTILISATION_MAX {
            self.wait_mean_of_cosmetatos(load)
        } else {
            self.wait_mean_of_crommelin(load)
        }
    }

    /// Returns the mean response time: in the queue and in service.
    pub fn response_mean(&self, load: f64) -> f64 {
        self.wait_mean(load) + self.service_s
    }

    /// Returns the highest load at which the mean response time is at most `bound`; 0 if there is
    /// none.
    pub fn highest_load_for_mean(&self, bound: f64) -> f64 {
        bisect(0.0, self.capacity(), |load| {
            self.response_mean(load) > bound
        })
    }

    /// Returns the time that a fraction `quantile` of all responses of one server does not exceed;
    /// `None` for several servers, and for times so long that the sum has lost its digits.
    pub fn response_quantile(&self, load: f64, quantile: f64) -> Option<f64> {
        if self.servers != 1 || load >= self.capacity() {
            return None;
        }
        let longest = QUANTILE_SERVICES_MAX * self.service_s;
        let is_beyond = |time: f64| self.waited_at_most(load, time) >= quantile;
        let wait = is_beyond(longest).then(|| bisect(0.0, longest, is_beyond))?;
        Some(wait + self.service_s)
    }

    /// Returns the fraction of operations that wait at most `time` for the one server: Erlang's sum
    /// over the service times S that fit into it, (1 − λS) Σ (−x)^k e^x / k! with x = λ(time − kS)
    /// (*The theory of probabilities and telephone conversations*, Nyt Tidsskrift for Matematik B
    /// 20, 1909).
    fn waited_at_most(&self, load: f64, time: f64) -> f64 {
        let mut sum = 0.0;
        let mut services = 0.0;
        while services * self.service_s <= time {
            let left = load * (time - services * self.service_s);
            let sign = if services % 2.0 == 0.0 { 1.0 } else { -1.0 };
            sum += sign * left.powf(services) * (left - ln_factorial(services)).exp();
            services += 1.0;
        }
        (1.0 - load * self.service_s) * sum
    }

    /// Crommelin's series: with a = λS erlangs and X Poisson of mean ia,
    /// W = S Σ over i ≥ 1 of P(X ≥ ik) − (k/a) P(X ≥ ik+1).
    fn wait_mean_of_crommelin(&self, load: f64) -> f64 {
        let erlangs = load * self.service_s;
        let servers = f64::from(self.servers);
        let mut sum = 0.0;
        for term in 1..=TERMS_MAX {
            let (mean, least) = (f64::from(term) * erlangs, f64::from(term) * servers);
            let exactly = poisson(least, mean);
            let more = exactly * tail_over_first(least, mean);
            let value = exactly + more - servers / erlangs * more;
            sum += value;
            if value <= 1e-12 * sum {
                break;
            }
        }
        sum * self.service_s
    }

    /// Cosmetatos, *Approximate explicit formulae for the average queueing time in the
    /// processes (M/D/r) and (D/M/r)*, INFOR 13 (1975): within 1 % or so at utilisations
    /// above one half.
    fn wait_mean_of_cosmetatos(&self, load: f64) -> f64 {
        let servers = f64::from(self.servers);
        let utilisation = load / self.capacity();
        let markov = super::MarkovServers {
            servers: self.servers,
            service_s: self.service_s,
        };
        let correction =
            (1.0 - utilisation) * (servers - 1.0) * ((4.0 + 5.0 * servers).sqrt() - 2.0)
                / (16.0 * utilisation * servers);
        0.5 * markov.wait_mean(load) * (1.0 + correction)
    }
}

/// P(X = count) for X Poisson of this mean.
fn poisson(count: f64, mean: f64) -> f64 {
    (count * mean.ln() - mean - ln_factorial(count)).exp()
}

/// P(X > count) / P(X = count) for X Poisson of a mean below `count`: a series that falls
/// at least as fast as a geometric one.
fn tail_over_first(count: f64, mean: f64) -> f64 {
    let (mut term, mut sum, mut next) = (1.0, 0.0, count);
    while term > 1e-15 * sum {
        next += 1.0;
        term *= mean / next;
        sum += term;
    }
    sum
}

/// ln n!, by Stirling's series beyond the first few.
fn ln_factorial(n: f64) -> f64 {
    if n < 16.0 {
        let mut product = 1.0;
        let mut factor = 2.0;
        while factor <= n {
            product *= factor;
            factor += 1.0;
        }
        return product.ln();
    }
    let inverse = n.recip();
    let square = inverse * inverse;
    let series = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0));
    n * n.ln() - n + 0.5 * (TAU * n).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(servers: u32) -> DeterministicServers {
        DeterministicServers {
            servers,
            service_s: 1.0,
        }
    }

    #[test]
    fn one_server_waits_half_as_long_as_with_exponential_service() {
        assert_eq!(servers(1).wait_mean(0.5), 0.5);
        assert!((servers(1).response_mean(0.8) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn crommelins_series_gives_pollaczek_and_khinchine_for_one_server() {
        for load in [0.05, 0.5, 0.8, 0.95] {
            let series = servers(1).wait_mean_of_crommelin(load);
            let error = series / servers(1).wait_mean(load) - 1.0;
            assert!(error.abs() < 1e-6, "{load}: {error}");
        }
    }

    #[test]
    fn cosmetatos_is_close_to_crommelin() {
        for (count, utilisation) in [(2, 0.8), (4, 0.9), (16, 0.95), (2, 0.99), (16, 0.99)] {
            let load = f64::from(count) * utilisation;
            let series = servers(count).wait_mean_of_crommelin(load);
            let error = servers(count).wait_mean_of_cosmetatos(load) / series - 1.0;
            let allowed = if utilisation < 0.99 { 0.02 } else { 0.001 };
            assert!(error.abs() < allowed, "{count} at {utilisation}: {error}");
        }
    }

    #[test]
    fn erlangs_sum_gives_the_quantiles_of_one_server() {
        // At 60 % a fraction of 0.4·e^(0.6·t) waits at most t, if that is less than a service: half
        // of all ln(1.25)/0.6.
        let median = servers(1).response_quantile(0.6, 0.5).expect("one server");
        assert!(
            (median - (1.0 + 1.25_f64.ln() / 0.6)).abs() < 1e-9,
            "{median}"
        );
        // 20,000,000 operations by Lindley's recursion in numpy: 5.5266 ± 0.003.
        let late = servers(1).response_quantile(0.6, 0.99).expect("one server");
        assert!((late - 5.5266).abs() < 0.005, "{late}");
        // An operation that does not wait is served at once: half of all at 50 %.
        assert!((servers(1).response_quantile(0.5, 0.4).expect("one server") - 1.0).abs() < 1e-9);
        assert_eq!(servers(2).response_quantile(0.6, 0.5), None);
        assert_eq!(servers(1).response_quantile(1.0, 0.5), None);
    }

    #[test]
    fn the_highest_load_gives_back_the_bound() {
        let load = servers(4).highest_load_for_mean(1.5);
        assert!((servers(4).response_mean(load) - 1.5).abs() < 1e-9);
    }
}
