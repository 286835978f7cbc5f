//! M/M/k: Poisson arrivals, k servers, one queue in the order of arrival, exponential service.
//!
//! The formulas are those of Kleinrock, *Queueing Systems*, volume 1 (1975), section 3.5, and
//! of Gross, Shortle, Thompson and Harris, *Fundamentals of Queueing Theory*, 4th edition
//! (2008), section 2.3. Times are in seconds, loads in operations per second.

use super::bisect;

/// k servers with exponential service times and one queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarkovServers {
    /// Number of operations that are served at once.
    pub servers: u32,
    /// Mean service time in seconds.
    pub service_s: f64,
}

impl MarkovServers {
    /// Returns the load at which the queue grows without bound.
    pub fn capacity(&self) -> f64 {
        f64::from(self.servers) / self.service_s
    }

    /// Returns the fraction of time that a server is busy.
    pub fn utilisation(&self, load: f64) -> f64 {
        load / self.capacity()
    }

    /// Returns the probability that an arriving operation has to wait: Erlang's C formula.
    ///
    /// Computed from Erlang's B, whose recursion B(n) = aB(n−1) / (n + aB(n−1)) neither overflows
    /// nor cancels for any number of servers. 1 at and above the capacity.
    pub fn erlang_c(&self, load: f64) -> f64 {
        let utilisation = self.utilisation(load);
        if utilisation >= 1.0 {
            return 1.0;
        }
        let erlangs = load * self.service_s;
        let blocked = (1..=self.servers).fold(1.0, |blocked, servers| {
            erlangs * blocked / (f64::from(servers) + erlangs * blocked)
        });
        blocked / (1.0 - utilisation * (1.0 - blocked))
    }

    /// Returns the mean time in the queue; infinite at and above the capacity.
    pub fn wait_mean(&self, load: f64) -> f64 {
        if load >= self.capacity() {
            return f64::INFINITY;
        }
        self.erlang_c(load) / (self.capacity() - load)
    }

    /// Returns the mean response time: in the queue and in service.
    pub fn response_mean(&self, load: f64) -> f64 {
        self.wait_mean(load) + self.service_s
    }

    /// Returns the probability that a response takes longer than `time`.
    ///
    /// With probability C an operation waits, exponentially with rate θ = kμ − λ; each operation is
    /// then served, exponentially with rate μ: P(R > t) = e^(−μt) (1 + C μ (1 − e^(−(θ−μ)t)) /
    /// (θ−μ)).
    pub fn response_above(&self, load: f64, time: f64) -> f64 {
        if load >= self.capacity() {
            return 1.0;
        }
        if time <= 0.0 {
            return 1.0;
        }
        let service_rate = self.service_s.recip();
        let difference = self.capacity() - load - service_rate;
        let waited = self.erlang_c(load) * service_rate;
        if difference >= 0.0 {
            let convolution = one_minus_exp(difference, time);
            (-service_rate * time).exp() * (1.0 + waited * convolution)
        } else {
            // The formula above with e^(−θt) factored out: the exponential of the difference may
            // overflow.
            let queue_rate = self.capacity() - load;
            let convolution = one_minus_exp(-difference, time);
            (-service_rate * time).exp() + waited * (-queue_rate * time).exp() * convolution
        }
    }

    /// Returns the time that a fraction `quantile` of all responses does not exceed.
    pub fn response_quantile(&self, load: f64, quantile: f64) -> f64 {
        if load >= self.capacity() {
            return f64::INFINITY;
        }
        let above = 1.0 - quantile;
        let mut longest = self.service_s;
        while self.response_above(load, longest) > above {
            longest *= 2.0;
        }
        bisect(0.0, longest, |time| {
            self.response_above(load, time) <= above
        })
    }

    /// Returns the highest load at which the mean response time is at most `bound`; 0 if there is
    /// none.
    pub fn highest_load_for_mean(&self, bound: f64) -> f64 {
        bisect(0.0, self.capacity(), |load| {
            self.response_mean(load) > bound
        })
    }
}

/// Returns (1 − e^(−rate·time)) / rate, which tends to `time` as the rate tends to 0.
fn one_minus_exp(rate: f64, time: f64) -> f64 {
    if (rate * time).abs() < 1e-12 {
        time
    } else {
        -(-rate * time).exp_m1() / rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(value: f64, truth: f64) {
        assert!((value / truth - 1.0).abs() < 1e-9, "{value} for {truth}");
    }

    #[test]
    fn one_server_at_half_load_responds_in_two_service_times() {
        let server = MarkovServers {
            servers: 1,
            service_s: 0.001,
        };
        assert_close(server.erlang_c(500.0), 0.5);
        assert_close(server.response_mean(500.0), 0.002);
        // The response time of M/M/1 is exponential with rate μ − λ.
        assert_close(server.response_above(500.0, 0.004), (-2.0_f64).exp());
        assert_close(server.response_quantile(500.0, 0.99), 0.002 * 100_f64.ln());
    }

    #[test]
    fn two_servers_at_eight_tenths_follow_the_closed_form() {
        // C = 2ρ²/(1+ρ), R = S/(1−ρ²).
        let server = MarkovServers {
            servers: 2,
            service_s: 1.0,
        };
        assert_close(server.erlang_c(1.6), 1.28 / 1.8);
        assert_close(server.wait_mean(1.6), 0.64 / 0.36);
        assert_close(server.response_mean(1.6), 1.0 / 0.36);
    }

    #[test]
    fn three_erlangs_on_four_servers_wait_as_the_textbooks_say() {
        // a = 3, k = 4: B = 27/131, C = B/(1 − ρ(1−B)) = 27/53.
        let server = MarkovServers {
            servers: 4,
            service_s: 1.0,
        };
        assert_close(server.erlang_c(3.0), 27.0 / 53.0);
    }

    #[test]
    fn the_distribution_integrates_to_the_mean() {
        for (servers, load) in [(1, 0.7), (2, 1.0), (4, 3.0), (4, 3.8), (16, 15.0)] {
            let server = MarkovServers {
                servers,
                service_s: 1.0,
            };
            let step = 0.001;
            let sum: f64 = (0..400_000)
                .map(|index| server.response_above(load, (f64::from(index) + 0.5) * step))
                .sum();
            let error = sum * step / server.response_mean(load) - 1.0;
            assert!(error.abs() < 1e-6, "{servers} servers at {load}: {error}");
        }
    }

    #[test]
    fn the_highest_load_gives_back_the_bound() {
        for servers in [1, 2, 4, 16, 200] {
            let server = MarkovServers {
                servers,
                service_s: 0.002,
            };
            let load = server.highest_load_for_mean(0.003);
            assert_close(server.response_mean(load), 0.003);
        }
    }

    #[test]
    fn no_load_keeps_a_bound_below_the_service_time() {
        let server = MarkovServers {
            servers: 4,
            service_s: 0.002,
        };
        assert!(server.highest_load_for_mean(0.001) < 1e-9);
    }

    #[test]
    fn at_the_capacity_nothing_is_finite() {
        let server = MarkovServers {
            servers: 2,
            service_s: 0.001,
        };
        assert_eq!(server.response_mean(2000.0), f64::INFINITY);
        assert_eq!(server.response_quantile(2500.0, 0.5), f64::INFINITY);
        assert_eq!(server.response_above(2000.0, 1.0), 1.0);
    }
}
