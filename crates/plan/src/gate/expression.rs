//! A parsed gate: a comparison of two sums.

use super::dimension::{Arithmetic, Dimension};
use super::error::TextSpan;
use super::name::GateFigure;

/// A comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// Left side, the value that is judged.
    pub value: Expression,
    /// The comparison operator.
    pub relation: Relation,
    /// Right side, the limit.
    pub limit: Expression,
    /// Dimension of both sides.
    pub dimension: Dimension,
}

/// A comparison operator.
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

/// A number, a figure, or a calculation.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A number in the unit of its dimension.
    Literal(f64),
    /// A figure of the run, with its position.
    Figure(GateFigure, TextSpan),
    /// A calculation with two operands. The result is divided by `scale`, which converts it to the
    /// unit of its dimension.
    Calculated {
        /// The operation.
        how: Arithmetic,
        /// The left operand.
        left: Box<Expression>,
        /// The right operand.
        right: Box<Expression>,
        /// The divisor; 1 for sums.
        scale: f64,
    },
}

impl Condition {
    /// Returns all figures, with their positions.
    pub fn figures(&self) -> Vec<(GateFigure, TextSpan)> {
        [self.value.figures(), self.limit.figures()].concat()
    }
}

impl Expression {
    /// Returns the constant value; `None` if the expression has a figure.
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

    /// Whether a division by 0 occurs independent of the run.
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

    /// Returns all figures, with their positions; empty for a constant.
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
