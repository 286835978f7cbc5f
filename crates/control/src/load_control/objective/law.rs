//! In what the line is straight: the figure that an objective bounds, the linear predictor it
//! is fitted in, and how it scatters.

/// What is fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ResponseModel {
    /// The share of responses above the bound; it must come to this.
    Share {
        /// 0.01 for p99.
        target: f64,
    },
    /// The mean response time as a multiple of the bound; it must come to 1.
    Mean,
}

impl ResponseModel {
    /// The linear predictor at which the objective just holds.
    pub(super) fn target(self) -> f64 {
        match self {
            ResponseModel::Share { target } => (target / (1.0 - target)).ln(),
            ResponseModel::Mean => -1.0,
        }
    }

    /// How far from the target, in the linear predictor, it is worth measuring: shares of
    /// 0.6 and 1.6 times the target, means of 0.89 and 1.14 times the bound.
    pub(super) fn reach(self) -> f64 {
        match self {
            ResponseModel::Share { .. } => 0.5,
            ResponseModel::Mean => 0.12,
        }
    }

    /// The scatter, in units of the variance of [`ResponseModel::at`], that response times of one
    /// queue have where the line has this slope.
    ///
    /// For M/M/1 near its capacity. Whitt's variance of the mean is 4/(1−ρ)² of its square over
    /// the number of responses. That of a share p is 4(1−(1−ln p)p)/(p(1−ρ)²), from Poisson's
    /// equation for the reflected Brownian motion that the work in the queue is like. And the
    /// slope tells how near the capacity is: ρ/(1−ρ) for the mean and −ln p times as much for
    /// the share.
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

    /// How much the line may bend: the standard deviation of what its second derivative is
    /// expected to be, in units of the square of its slope.
    ///
    /// It is 0 for M/M/1. Where part of what is slow is slow without a queue, the line is the
    /// less steep and bends the more, the smaller the part of the queue is: for p99 of M/M/16
    /// it is 0.3, 2.0 and 4.6 at slopes of 68, 13 and 3.6.
    pub(super) fn bend(self, slope: f64) -> f64 {
        match self {
            ResponseModel::Share { .. } => 1.0 + 14.0 / slope.max(1.0),
            ResponseModel::Mean => 6.0,
        }
    }

    /// Where the linear predictor stops: shares and means beyond are as good as 0 or infinite.
    pub(super) fn clamp(self, predictor: f64) -> f64 {
        match self {
            ResponseModel::Share { .. } => predictor.clamp(-16.0, 16.0),
            ResponseModel::Mean => predictor.clamp(-100.0, -0.03),
        }
    }

    /// Expected value, its slope against the linear predictor, and the variance of a single
    /// response up to a common factor.
    ///
    /// The variance of the mean of a queue's response times grows with the fourth power of
    /// the mean as the load comes near the capacity (Whitt, *Planning queueing simulations*,
    /// Management Science 35, 1989). Responses above a bound come in bursts that grow with the
    /// load, so that the scatter of a share relative to itself hardly falls as it grows: not
    /// the binomial variance, but its square. With both, all responses weigh the same.
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

    /// The longest response time to be expected, in units of the bound: of exponential
    /// response times that just keep the objective, one in 10¹⁸ is longer.
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
