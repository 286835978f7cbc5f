//! Figures of a run by name: `achieved`, `response_time.p50`, `read.response_time.p99`.

use crate::kind::OpKind;
use std::fmt;
use std::str::FromStr;

/// A figure of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RunFigure {
    /// The measured kind of operation; `None` for all kinds together.
    pub operation: Option<OpKind>,
    /// The quantity.
    pub quantity: Quantity,
}

/// Quantity of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Successful operations per second.
    Achieved,
    /// File data per second.
    Goodput,
    /// Number of operations that were sent and did not succeed.
    Errors,
    /// CPU time of the load generator per operation.
    CpuPerOperation,
    /// A statistic of a time of the operations.
    Time(TimeKind, Statistic),
}

/// A time span of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeKind {
    /// due → done.
    Response,
    /// sent → done.
    Service,
}

/// Statistic of the times of many operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Statistic {
    /// Mean.
    Mean,
    /// Median.
    P50,
    /// 90th percentile.
    P90,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P999,
    /// Maximum.
    Max,
}

/// Unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureUnit {
    /// Operations per second.
    OperationsPerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// Operations.
    Operations,
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// A share, as a fraction of 1.
    Share,
    /// A number without unit.
    Number,
}

/// Direction of improvement of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImprovementDirection {
    /// Higher values are better.
    MoreIsBetter,
    /// Lower values are better.
    LessIsBetter,
}

impl Statistic {
    /// All statistics, in the order of their declaration.
    pub const ALL: [Self; 6] = [
        Self::Mean,
        Self::P50,
        Self::P90,
        Self::P99,
        Self::P999,
        Self::Max,
    ];

    /// Returns its part of a figure's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::P999 => "p999",
            Self::Max => "max",
        }
    }

    /// Returns the percentile for a quantile, if figures have it.
    pub fn of_quantile(quantile: f64) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|statistic| statistic.quantile() == Some(quantile))
    }

    /// Returns the quantile; `None` if the statistic is not a percentile.
    pub const fn quantile(self) -> Option<f64> {
        match self {
            Self::Mean | Self::Max => None,
            Self::P50 => Some(0.5),
            Self::P90 => Some(0.9),
            Self::P99 => Some(0.99),
            Self::P999 => Some(0.999),
        }
    }
}

impl TimeKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Response => "response_time",
            Self::Service => "service_time",
        }
    }
}

impl Quantity {
    /// Returns all quantities.
    pub fn all() -> impl Iterator<Item = Self> {
        let times = [TimeKind::Response, TimeKind::Service].into_iter();
        let times = times.flat_map(|timed| {
            let of = move |statistic| Self::Time(timed, statistic);
            Statistic::ALL.into_iter().map(of)
        });
        let counted = [
            Self::Achieved,
            Self::Goodput,
            Self::Errors,
            Self::CpuPerOperation,
        ];
        counted.into_iter().chain(times)
    }

    /// Whether the quantity is available per kind of operation. CPU time is only counted for all
    /// kinds together.
    pub fn is_of_kinds(self) -> bool {
        self != Self::CpuPerOperation
    }

    /// Returns the unit.
    pub const fn unit(self) -> FigureUnit {
        match self {
            Self::Achieved => FigureUnit::OperationsPerSecond,
            Self::Goodput => FigureUnit::BytesPerSecond,
            Self::Errors => FigureUnit::Operations,
            Self::CpuPerOperation | Self::Time(..) => FigureUnit::Nanoseconds,
        }
    }

    /// Returns the direction of improvement.
    pub const fn direction(self) -> ImprovementDirection {
        match self {
            Self::Achieved | Self::Goodput => ImprovementDirection::MoreIsBetter,
            Self::Errors | Self::CpuPerOperation | Self::Time(..) => {
                ImprovementDirection::LessIsBetter
            }
        }
    }
}

impl FigureUnit {
    /// Returns the name in records and documents; empty for a number.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OperationsPerSecond => "operations/s",
            Self::BytesPerSecond => "bytes/s",
            Self::Operations => "operations",
            Self::Nanoseconds => "ns",
            Self::Bytes => "bytes",
            Self::Share => "share",
            Self::Number => "",
        }
    }
}

impl RunFigure {
    /// Returns the figure of all measured operations together.
    pub const fn of_all(quantity: Quantity) -> Self {
        Self {
            operation: None,
            quantity,
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Achieved => f.write_str("achieved"),
            Self::Goodput => f.write_str("goodput"),
            Self::Errors => f.write_str("errors"),
            Self::CpuPerOperation => f.write_str("cpu_per_operation"),
            Self::Time(timed, statistic) => write!(f, "{}.{}", timed.name(), statistic.name()),
        }
    }
}

impl fmt::Display for RunFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operation {
            None => self.quantity.fmt(f),
            Some(operation) => write!(f, "{}.{}", operation.name(), self.quantity),
        }
    }
}

/// Error returned when no figure has a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no figure \"{name}\"")]
pub struct UnknownFigure {
    /// The name.
    pub name: String,
}

impl FromStr for RunFigure {
    type Err = UnknownFigure;

    fn from_str(name: &str) -> Result<Self, UnknownFigure> {
        let unknown = || UnknownFigure { name: name.into() };
        let quantity = |name: &str| Quantity::all().find(|quantity| quantity.to_string() == name);
        if let Some(quantity) = quantity(name) {
            return Ok(Self::of_all(quantity));
        }
        let (operation, rest) = name.split_once('.').ok_or_else(unknown)?;
        let quantity = quantity(rest).filter(|quantity| quantity.is_of_kinds());
        Ok(Self {
            operation: Some(OpKind::from_name(operation).ok_or_else(unknown)?),
            quantity: quantity.ok_or_else(unknown)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_found_again_by_its_name() {
        for quantity in Quantity::all() {
            for operation in [None, Some(OpKind::Read)] {
                let figure = RunFigure {
                    operation,
                    quantity,
                };
                let is_one = operation.is_none() || quantity.is_of_kinds();
                let found = figure.to_string().parse().ok();
                assert_eq!(found, is_one.then_some(figure), "{figure}");
            }
        }
        for name in ["", "read", "read.", "nothing.achieved", "response_time.p98"] {
            assert!(name.parse::<RunFigure>().is_err(), "{name}");
        }
    }

    #[test]
    fn names_are_those_of_the_documents() {
        let name = |operation, quantity| {
            let figure = RunFigure {
                operation,
                quantity,
            };
            figure.to_string()
        };
        let tail = Quantity::Time(TimeKind::Response, Statistic::P999);
        assert_eq!(name(Some(OpKind::Read), tail), "read.response_time.p999");
        assert_eq!(name(None, Quantity::Achieved), "achieved");
        assert_eq!(tail.direction(), ImprovementDirection::LessIsBetter);
        assert_eq!(Quantity::Goodput.unit().name(), "bytes/s");
    }
}
