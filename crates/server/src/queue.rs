//! The whole server as a queue whose waiting times can be computed.
//!
//! Calls of NFS form one queue, whatever thread and connection they arrive on, and k simulated
//! workers take them first come, first served, each call for a service time that is fixed or
//! exponentially distributed. With Poisson arrivals that is M/D/k or M/M/k (Kleinrock, Queueing
//! Systems, volume 1, sections 3.5 and 5.6), so the results of a load generator for this server can
//! be compared with the exact values.
//!
//! A [`Queue`] reads no clock: its input is the arrival time of a call, its output the departure
//! time of the reply.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::str::FromStr;
use std::time::Duration;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::faults::{exponential, time_of, unit};

/// Separates the random stream of the queue from that of the faults, which have the same seed.
const STREAM: u64 = 0x7175_6575_6500_0000;

/// Options of the queue: see [`crate::Options::queue`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueOptions {
    /// Service time of each call.
    pub service_time: ServiceTime,
    /// Number of calls that are served at a time; 0 means 1.
    pub workers: u32,
}

/// Service time of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceTime {
    /// Constant.
    Fixed(Duration),
    /// Exponentially distributed.
    Exponential {
        /// Mean of the distribution.
        mean: Duration,
    },
}

/// Invalid service time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a service time; expected TIME or exp:MEAN, such as 500us, 1ms or exp:1ms")]
pub struct ServiceTimeParseError(String);

impl FromStr for ServiceTime {
    type Err = ServiceTimeParseError;

    fn from_str(text: &str) -> Result<Self, ServiceTimeParseError> {
        let time = match text.strip_prefix("exp:") {
            Some(mean) => time_of(mean).map(|mean| Self::Exponential { mean }),
            None => time_of(text).map(Self::Fixed),
        };
        time.map_err(|_| ServiceTimeParseError(text.into()))
    }
}

/// A queue of calls, and k workers.
#[derive(Debug)]
pub struct Queue {
    service_time: ServiceTime,
    /// Time at which each worker becomes free, earliest first; one entry per worker.
    free_at: BinaryHeap<Reverse<Duration>>,
    random: Xoshiro256PlusPlus,
}

impl Queue {
    /// Creates a queue with all workers free.
    pub fn new(options: QueueOptions, seed: u64) -> Self {
        let workers = options.workers.max(1) as usize;
        Self {
            service_time: options.service_time,
            free_at: vec![Reverse(Duration::ZERO); workers].into(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed ^ STREAM),
        }
    }

    /// Adds a call that arrived at `arrival`; returns the end of its service.
    ///
    /// The call goes to the worker that becomes free first. Calls should be added in order of their
    /// arrival: a call added late is queued behind those added before it.
    pub fn enqueue(&mut self, arrival: Duration) -> Duration {
        let service = self.draw();
        let Some(mut soonest) = self.free_at.peek_mut() else {
            return arrival + service;
        };
        let departure = arrival.max(soonest.0) + service;
        *soonest = Reverse(departure);
        departure
    }

    fn draw(&mut self) -> Duration {
        match self.service_time {
            ServiceTime::Fixed(time) => time,
            ServiceTime::Exponential { mean } => exponential(mean, unit(&mut self.random)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn queue(service_time: &str, workers: u32) -> Queue {
        let options = QueueOptions {
            service_time: service_time.parse().unwrap(),
            workers,
        };
        Queue::new(options, 1)
    }

    /// Returns the departures of calls that arrive at these milliseconds.
    fn departures(mut queue: Queue, arrivals: &[u64]) -> Vec<u128> {
        let departures = arrivals.iter().map(|at| queue.enqueue(ms(*at)));
        departures.map(|departure| departure.as_millis()).collect()
    }

    #[test]
    fn one_worker_serves_one_call_after_the_other() {
        // Two at once, one while both are queued, one to an idle worker, one just as it becomes
        // free.
        let departures = departures(queue("10ms", 1), &[0, 0, 5, 100, 110, 111]);
        assert_eq!(departures, [10, 20, 30, 110, 120, 130]);
    }

    #[test]
    fn two_workers_serve_two_calls_at_a_time() {
        let departures = departures(queue("10ms", 2), &[0, 3, 4, 5, 6, 40]);
        // The third waits for the first worker, the fourth for the second, the fifth for the
        // first again.
        assert_eq!(departures, [10, 13, 20, 23, 30, 50]);
    }

    #[test]
    fn no_service_time_is_no_wait_and_no_workers_are_one() {
        assert_eq!(departures(queue("0ms", 1), &[1, 1, 2]), [1, 1, 2]);
        assert_eq!(departures(queue("1ms", 0), &[1, 1, 2]), [2, 3, 4]);
    }

    #[test]
    fn a_seed_repeats_the_service_times() {
        let draw = |seed| -> Vec<Duration> {
            let options = QueueOptions {
                service_time: "exp:1ms".parse().unwrap(),
                workers: 2,
            };
            let mut queue = Queue::new(options, seed);
            (0..100).map(|at| queue.enqueue(ms(at))).collect()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    /// Returns the mean response time in milliseconds of 400,000 Poisson arrivals at `rate` per
    /// millisecond.
    fn mean_response(mut queue: Queue, rate: f64) -> f64 {
        const CALLS: u32 = 400_000;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut arrival = Duration::ZERO;
        let mut sum = Duration::ZERO;
        for _ in 0..CALLS {
            arrival += exponential(ms(1).div_f64(rate), unit(&mut random));
            sum += queue.enqueue(arrival) - arrival;
        }
        (sum / CALLS).as_secs_f64() * 1e3
    }

    #[test]
    fn poisson_arrivals_wait_as_long_as_the_formulas_say() {
        // M/M/1: 1/(μ−λ). M/D/1: 1 + ρ/(2(1−ρ)). M/M/2: 1/(1−ρ²). All with a service time of 1 ms.
        for (service_time, workers, rate, expected) in [
            ("exp:1ms", 1, 0.5, 2.0),
            ("1ms", 1, 0.5, 1.5),
            ("1ms", 1, 0.8, 3.0),
            ("exp:1ms", 2, 1.0, 1.0 / 0.75),
        ] {
            let mean = mean_response(queue(service_time, workers), rate);
            let error = (mean / expected - 1.0).abs();
            assert!(error < 0.02, "{service_time} {workers} {rate}: {mean}");
        }
    }

    #[test]
    fn an_error_says_what_a_service_time_is() {
        assert_eq!("2ms".parse(), Ok(ServiceTime::Fixed(ms(2))));
        let exponential = ServiceTime::Exponential { mean: ms(2) };
        assert_eq!("exp:2ms".parse(), Ok(exponential));
        for text in ["", "2", "exp:", "exp:-1ms", "uniform:1ms"] {
            let error = text.parse::<ServiceTime>().unwrap_err().to_string();
            assert!(error.ends_with("such as 500us, 1ms or exp:1ms"), "{error}");
        }
    }
}
