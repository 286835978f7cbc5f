//! Units of the drawn figures of a sweep.

use crate::picture::Axis;
use filestone_plan::gate::GateFigure;
use filestone_workload::figure::FigureUnit;

const NANOS: f64 = 1e9;

/// Unit of a drawn figure.
pub(super) enum DrawnUnit {
    /// Times, in seconds on axes and in milliseconds in scripts.
    Time,
    /// A multiple of the record's unit, with its name; without a name a plain number.
    Number(f64, &'static str),
}

impl DrawnUnit {
    pub(super) fn of(figure: &GateFigure) -> Self {
        match figure.unit() {
            FigureUnit::Nanoseconds => Self::Time,
            FigureUnit::Share => Self::Number(0.01, "%"),
            FigureUnit::BytesPerSecond => match figure {
                GateFigure::OfOperations(_) => Self::Number(1e6, "MB/s"),
                GateFigure::OfRun(_) => Self::Number(1e3, "KB/s"),
            },
            FigureUnit::Operations => Self::Number(1.0, ""),
            unit => Self::Number(1.0, unit.name()),
        }
    }

    /// Returns the number of record units per unit of the axis.
    pub(super) const fn on_axis(&self) -> f64 {
        match self {
            Self::Time => NANOS,
            Self::Number(unit, _) => *unit,
        }
    }

    /// Creates an axis with this name.
    pub(super) fn axis(&self, name: &str) -> Axis {
        match self {
            Self::Time => Axis::time(name),
            Self::Number(_, "") => Axis::load(name),
            Self::Number(_, unit) => Axis::load(&format!("{name} ({unit})")),
        }
    }

    /// Returns the number of record units per unit in a script, and the name of that unit.
    pub(super) const fn in_script(&self) -> (f64, &'static str) {
        match self {
            Self::Time => (1e6, "ms"),
            Self::Number(unit, name) => (*unit, name),
        }
    }
}
