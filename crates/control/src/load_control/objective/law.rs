//! Response model: the figure that an objective bounds, the linear predictor that is fitted to it,
//! and its scatter.

/// The fitted figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ResponseModel {
    /// Fraction of responses above the bound; the goal is `target`.
    Share {
        /// 0.01 for p99.
        target: f64,
    },
    /// Mean response time as a multiple of the bound; the goal is 1.
    Mean,
}

impl ResponseModel {
    /// Returns the linear predictor at which the objective is just met.
    pub(super) fn target(self) -> f64 {
        match self {
            ResponseModel::Share { target } => (target / (1.0 - target)).ln(),
            ResponseModel::Mean => -1.0,
        }
    }

    /// Returns the useful distance from the target in the linear predictor: fractions of 0.6 and
    /// 1.6 times the target, means of 0.89 and 1.14 times the bound.
    pub(super) fn reach(self) -> f64 {
        match self {
            ResponseModel::Share { .. } => 0.5,
            ResponseModel::Mean => 0.12,
        }
    }

    /// Returns the scatter of response times of one queue where the line has this slope, in units
    /// of the variance of [`ResponseModel::at`].
    ///
    /// For M/M/1 near its capacity. Whitt's variance of the mean is 4/(1−ρ)² of its square over the
    /// number of responses. The variance of a fraction p is 4(1−(1−ln p)p)/(p(1−ρ)²), from
    /// Poisson's equation for the reflected Brownian motion that approximates the work in the
    /// queue. The slope gives the distance from the capacity: ρ/(1−ρ) for the mean and −ln p times
    /// that for the fraction.
    pub(super) fn dispersion_of_queue(self, slope: f64) -> f64 {
        match self {
            ResponseModel::Share { target } => {
                let tail = -target.ln();
                let near = slope / tail;
                4.0 * (1.0 - (1.0 + tail) * target) / target * near * (near + 1.0)
            }
            ResponseModel::Mean => 4.0 * slope * (slope + 1.0),
        }
    }

    /// Returns the expected bend of the line: the standard deviation of its second derivative, in
    /// units of the square of its slope.
    ///
    /// 0 for M/M/1. If some operations are slow without a queue, the line is less steep and bends
    /// more, the smaller the contribution of the queue: for p99 of M/M/16 it is 0.3, 2.0 and 4.6 at
    /// slopes of 68, 13 and 3.6.
    pub(super) fn bend(self, slope: f64) -> f64 {
        match self {
            ResponseModel::Share { .. } => 1.0 + 14.0 / slope.max(1.0),
            ResponseModel::Mean => 6.0,
        }
    }

    /// Limits the linear predictor: fractions and means beyond the limits are practically 0 or
    /// infinite.
    pub(super) fn clamp(self, predictor: f64) -> f64 {
        match self {
            ResponseModel::Share { .. } => predictor.clamp(-16.0, 16.0),
            ResponseModel::Mean => predictor.clamp(-100.0, -0.03),
        }
    }

    /// Returns the expected value, its slope against the linear predictor, and the variance of a
    /// single response up to a common factor.
    ///
    /// The variance of the mean of a queue's response times grows with the fourth power of the mean
    /// as the load approaches the capacity (Whitt, *Planning queueing simulations*, Management
    /// Science 35, 1989). Responses above a bound come in bursts that grow with the load, so that
    /// the relative scatter of a fraction hardly falls as it grows: its variance is not the
    /// binomial variance, but the square of the fraction. With both, all responses have equal
    /// weight.
    pub(super) fn at(self, predictor: f64) -> (f64, f64, f64) {
        match self {
            ResponseModel::Share { .. } => {
                let share = 1.0 / (1.0 + (-predictor).exp());
                let slope = share * (1.0 - share);
                (share, slope, slope * slope)
            }
            ResponseModel::Mean => {
                let mean = -1.0 / predictor;
                (mean, mean * mean, mean.powi(4))
            }
        }
    }

    /// Returns the longest expected response time, in units of the bound: of exponential response
    /// times that just meet the objective, one in 10¹⁸ is longer.
    pub(super) fn longest(self) -> f64 {
        let tail = 1e18_f64.ln();
        match self {
            ResponseModel::Share { target } => tail / -target.ln(),
            ResponseModel::Mean => tail,
        }
    }

    pub(super) fn predictor_of(self, value: f64) -> f64 {
        self.clamp(match self {
            ResponseModel::Share { .. } => {
                let share = value.clamp(1e-7, 1.0 - 1e-7);
                (share / (1.0 - share)).ln()
            }
            ResponseModel::Mean => -1.0 / value.max(1e-3),
        })
    }
}
