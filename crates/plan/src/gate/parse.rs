//! Parser from a gate's text to its condition, with a check of the units:
//!
//! ```text
//! gate     = sum relation sum | name
//! relation = "<" | "<=" | ">" | ">=" | "==" | "!="
//! sum      = product { ("+" | "-") product }
//! product  = factor { ("*" | "/") factor }
//! factor   = number [unit] | name | "(" sum ")"
//! ```

use super::DEPTH_MAX;
use super::dimension::{Arithmetic, Dimension};
use super::error::{GateError, TextSpan};
use super::expression::{Condition, Expression, Relation};
use super::lexer::{GateToken, SpannedToken, tokens};
use super::name::GateFigure;

const EXAMPLE: &str = "a gate is a comparison such as read.response_time.p99 > 2ms";

/// Parses the condition.
pub(super) fn condition(text: &str) -> Result<Condition, GateError> {
    let mut parser = Parser {
        text,
        tokens: tokens(text)?,
        next: 0,
        depth: 0,
    };
    let condition = parser.condition()?;
    match parser.take() {
        None => Ok(condition),
        Some((GateToken::Relation(_), place)) => Err(GateError::one_comparison(text, place)),
        Some((GateToken::Close, place)) => Err(parser.error(place, "nothing is open here")),
        Some((_, place)) => Err(parser
            .error(place, "the comparison has ended here")
            .with_help(EXAMPLE)),
    }
}

/// A part of the condition, with its dimension and position.
struct Part {
    expression: Expression,
    dimension: Dimension,
    place: TextSpan,
}

struct Parser<'text> {
    text: &'text str,
    tokens: Vec<SpannedToken<'text>>,
    next: usize,
    depth: usize,
}

impl<'text> Parser<'text> {
    fn condition(&mut self) -> Result<Condition, GateError> {
        let value = self.sum()?;
        let Some((GateToken::Relation(relation), _)) = self.peek() else {
            return self.more_than_none(value);
        };
        self.take();
        let limit = self.sum()?;
        self.fits(&value, &limit, "compared")?;
        self.counts_have_no_share(&value, &limit)?;
        Ok(Condition {
            value: value.expression,
            relation,
            limit: limit.expression,
            dimension: limit.dimension,
        })
    }

    /// Parses a count alone: `caveats` means `caveats > 0`.
    fn more_than_none(&self, value: Part) -> Result<Condition, GateError> {
        if let Some((GateToken::Name(_) | GateToken::Literal(..) | GateToken::Open, place)) =
            self.peek()
        {
            return Err(self
                .error(place, "a sign is missing here")
                .with_help(EXAMPLE));
        }
        let is_count = value.dimension == Dimension::NUMBER
            && matches!(value.expression, Expression::Figure(..));
        if !is_count {
            let example = value.dimension.example().unwrap_or("0");
            let what = format!("{} is compared with nothing", value.place.of(self.text));
            return Err(self.error(value.place, what).with_help(format!(
                "compare it with a limit, as in {} > {example}",
                value.place.of(self.text)
            )));
        }
        Ok(Condition {
            value: value.expression,
            relation: Relation::Above,
            limit: Expression::Literal(0.0),
            dimension: Dimension::NUMBER,
        })
    }

    fn sum(&mut self) -> Result<Part, GateError> {
        let mut sum = self.product()?;
        while let Some((GateToken::Arithmetic(how @ (Arithmetic::Add | Arithmetic::Subtract)), _)) =
            self.peek()
        {
            self.take();
            let next = self.product()?;
            self.fits(&sum, &next, "added up")?;
            let dimension = sum.dimension;
            sum = sum.with(how, next, dimension, 1.0);
        }
        Ok(sum)
    }

    fn product(&mut self) -> Result<Part, GateError> {
        let mut product = self.factor()?;
        while let Some((
            GateToken::Arithmetic(how @ (Arithmetic::Multiply | Arithmetic::Divide)),
            _,
        )) = self.peek()
        {
            self.take();
            let next = self.factor()?;
            let (dimension, scale) = product.dimension.calculated(how, next.dimension);
            product = product.with(how, next, dimension, scale);
        }
        Ok(product)
    }

    fn factor(&mut self) -> Result<Part, GateError> {
        let Some((token, place)) = self.take() else {
            let end = TextSpan {
                start: self.text.len(),
                end: self.text.len(),
            };
            let what = "the gate ends where a figure or a number should be";
            return Err(self.error(end, what).with_help(EXAMPLE));
        };
        match token {
            GateToken::Literal(number, dimension) => Ok(Part {
                expression: Expression::Literal(number),
                dimension,
                place,
            }),
            GateToken::Name(name) => self.figure(name, place),
            GateToken::Open => self.in_parentheses(place),
            GateToken::Arithmetic(_) | GateToken::Relation(_) | GateToken::Close => Err(self
                .error(place, "expected a figure or a number")
                .with_help(EXAMPLE)),
        }
    }

    fn in_parentheses(&mut self, open: TextSpan) -> Result<Part, GateError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let what = format!("more than {DEPTH_MAX} parentheses are open");
            return Err(self.error(open, what));
        }
        let inside = self.sum()?;
        self.depth -= 1;
        match self.take() {
            Some((GateToken::Close, close)) => Ok(Part {
                place: open.to(close),
                ..inside
            }),
            _ => Err(self.error(open, "this is not closed")),
        }
    }

    fn figure(&self, name: &str, place: TextSpan) -> Result<Part, GateError> {
        if matches!(name, "and" | "or" | "not") {
            return Err(GateError::one_comparison(self.text, place));
        }
        let Ok(figure) = name.parse::<GateFigure>() else {
            let error = self.error(place, format!("there is no figure \"{name}\""));
            return Err(error.with_help(match GateFigure::near(name) {
                Some(near) => format!("did you mean {near}?"),
                None => "`filestone help gates` lists the figures".into(),
            }));
        };
        Ok(Part {
            expression: Expression::Figure(figure, place),
            dimension: figure.dimension(),
            place,
        })
    }

    /// Rejects `errors > 5%`, which would compare five errors in a million operations with 0.05.
    fn counts_have_no_share(&self, value: &Part, limit: &Part) -> Result<(), GateError> {
        let share = limit.place.of(self.text);
        match (&value.expression, &limit.expression) {
            (Expression::Figure(figure, _), Expression::Literal(_))
                if figure.is_count() && share.ends_with('%') =>
            {
                let name = value.place.of(self.text);
                let what = format!("{name} is a count and {share} a share");
                let help = format!("a share of the operations is {name} / scheduled");
                Err(self.error(limit.place, what).with_help(help))
            }
            _ => Ok(()),
        }
    }

    /// Checks that two parts have the same dimension.
    fn fits(&self, left: &Part, right: &Part, verb: &str) -> Result<(), GateError> {
        if left.dimension == right.dimension {
            return Ok(());
        }
        let [one, other] = [left, right].map(|part| part.place.of(self.text));
        let what = format!(
            "{one} is {} and {other} is {}: they cannot be {verb}",
            left.dimension, right.dimension
        );
        let error = self.error(right.place, what);
        Err(match left.dimension.example() {
            Some(example) => error.with_help(format!("write it as in {example}")),
            None => error,
        })
    }

    fn peek(&self) -> Option<SpannedToken<'text>> {
        self.tokens.get(self.next).copied()
    }

    fn take(&mut self) -> Option<SpannedToken<'text>> {
        let token = self.peek();
        self.next += 1;
        token
    }

    fn error(&self, place: TextSpan, what: impl Into<String>) -> GateError {
        GateError::at(self.text, place, what)
    }
}

impl Part {
    fn with(self, how: Arithmetic, next: Self, dimension: Dimension, scale: f64) -> Self {
        Self {
            place: self.place.to(next.place),
            expression: Expression::Calculated {
                how,
                left: Box::new(self.expression),
                right: Box::new(next.expression),
                scale,
            },
            dimension,
        }
    }
}
