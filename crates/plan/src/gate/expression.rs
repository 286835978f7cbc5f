//! A gate, read: two sums that are compared.

use super::dimension::{Arithmetic, Dimension};
use super::error::TextSpan;
use super::name::GateFigure;

/// A comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// What is judged.
    pub value: Expression,
    /// How it is compared.
    pub relation: Relation,
    /// With what.
    pub limit: Expression,
    /// What both are counted in.
    pub dimension: Dimension,
}

/// How two numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
}

/// A number, or what it is calculated from.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A number in the unit of its dimension.
    Literal(f64),
    /// A figure of the run.
    Figure(GateFigure, TextSpan),
    /// Two of them; the result is divided by `scale`, which makes its unit that of its
    /// dimension.
    Calculated {
        /// How.
        how: Arithmetic,
        /// The first.
        left: Box<Expression>,
        /// The second.
        right: Box<Expression>,
        /// 1 of sums.
        scale: f64,
    },
}

impl Condition {
    /// All figures in it, with their places.
    pub fn figures(&self) -> Vec<(GateFigure, TextSpan)> {
        [self.value.figures(), self.limit.figures()].concat()
    }
}

impl Expression {
    /// What it is whatever the run does; `None` if there is a figure in it.
    pub fn constant(&self) -> Option<f64> {
        match self {
            Self::Literal(number) => Some(*number),
            Self::Figure(..) => None,
            Self::Calculated {
                how,
                left,
                right,
                scale,
            } => Some(how.of(left.constant()?, right.constant()?) / scale),
        }
    }

    /// Whether something in it is divided by 0 whatever the run does.
    pub fn divides_by_zero(&self) -> bool {
        let Self::Calculated {
            how, left, right, ..
        } = self
        else {
            return false;
        };
        let is_zero = *how == Arithmetic::Divide && right.constant() == Some(0.0);
        is_zero || left.divides_by_zero() || right.divides_by_zero()
    }

    /// All figures in it, with their places; none in a constant.
    pub fn figures(&self) -> Vec<(GateFigure, TextSpan)> {
        let mut figures = Vec::new();
        self.collect(&mut figures);
        figures
    }

    fn collect(&self, figures: &mut Vec<(GateFigure, TextSpan)>) {
        match self {
            Self::Literal(_) => {}
            Self::Figure(figure, place) => figures.push((*figure, *place)),
            Self::Calculated { left, right, .. } => {
                left.collect(figures);
                right.collect(figures);
            }
        }
    }
}
