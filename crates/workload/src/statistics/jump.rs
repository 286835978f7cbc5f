//! Detection of a level shift: two straight lines of the same slope, the second above or below the
//! first, through points in order of their positions.
//!
//! The shift is between two neighbouring points. The search and the test are those of
//! [`segmented`]'s bend: four parameters against the two of a straight line, with errors relative
//! to each value.
//!
//! [`segmented`]: super::segmented

use super::segmented::{Breakpoint, PositionedValue, Scaled, bend, fitted};

/// Minimum number of points on a side: with fewer, a single outlier would be a shift.
const SIDE_MIN: usize = 2;

/// A level shift of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelShift {
    /// The last position before it.
    pub from: f64,
    /// The first position after it.
    pub to: f64,
    /// The lower end of the 95 % interval of its position.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Height of the shift; positive upwards.
    pub height: f64,
    /// Mean of the values before and after the shift.
    pub y: f64,
    rest: f64,
}

/// Deviation of a line from straightness.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NonLinearity {
    /// The slope changes.
    Bends(Breakpoint),
    /// The level changes.
    Jumps(LevelShift),
}

/// Returns whether the line through these points bends or shifts, whichever has the smaller
/// residual. `None` if neither is significant.
pub fn crooked(points: &[PositionedValue]) -> Option<NonLinearity> {
    match (bend(points), jump(points)) {
        (Some(bend), Some(jump)) if jump.rest < bend.rest => Some(NonLinearity::Jumps(jump)),
        (Some(bend), _) => Some(NonLinearity::Bends(bend)),
        (None, jump) => jump.map(NonLinearity::Jumps),
    }
}

/// A split between two neighbouring points, by the number of points before it.
struct Split {
    before: usize,
    factors: [f64; 3],
    rest: f64,
}

/// Returns the level shift of the line through these points, in order of their positions; `None` if
/// it is not significant.
pub fn jump(points: &[PositionedValue]) -> Option<LevelShift> {
    let scaled = Scaled::of(points)?;
    let befores = SIDE_MIN..=points.len() - SIDE_MIN;
    let splits: Vec<Split> = befores
        .filter_map(|before| split(&scaled, before))
        .collect();
    let best = splits
        .iter()
        .min_by(|one, other| one.rest.total_cmp(&other.rest))?;
    if !scaled.is_told(best.rest, splits.len())? {
        return None;
    }
    let most = scaled.most(best.rest)?;
    let likely = || splits.iter().filter(|split| split.rest <= most);
    let at = |place: usize| points.get(place).map(|point| point.x);
    let (from, to) = (at(best.before - 1)?, at(best.before)?);
    let middle = scaled
        .points
        .get(best.before - 1)?
        .x
        .midpoint(scaled.points.get(best.before)?.x);
    let [value, slope, height] = best.factors;
    Some(LevelShift {
        from,
        to,
        low: likely().map(|split| split.before - 1).min().and_then(at)?,
        high: likely().map(|split| split.before).max().and_then(at)?,
        height,
        y: value + slope * middle + height / 2.0,
        rest: best.rest,
    })
}

fn split(scaled: &Scaled, before: usize) -> Option<Split> {
    let last = scaled.points.get(before.checked_sub(1)?)?.x;
    let above = |x: f64| if x > last { 1.0 } else { 0.0 };
    let (factors, rest) = fitted(&scaled.points, |x| [1.0, x, above(x)])?;
    Some(Split {
        before,
        factors,
        rest,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{RandomStream, stream};
    use rand_distr::{Distribution as _, StandardNormal};

    /// 50 + x/100, and 5 more beyond 1344.
    fn jumping(x: f64) -> f64 {
        50.0 + x / 100.0 + if x > 1344.0 { 5.0 } else { 0.0 }
    }

    const PLACES: [f64; 14] = [
        1.0, 256.0, 512.0, 768.0, 1024.0, 1280.0, 1312.0, 1344.0, 1376.0, 1536.0, 1792.0, 2048.0,
        2304.0, 2560.0,
    ];

    fn placed(y: impl FnMut(f64) -> f64) -> Vec<PositionedValue> {
        let mut y = y;
        PLACES.map(|x| PositionedValue { x, y: y(x) }).to_vec()
    }

    #[test]
    fn a_jump_is_found_between_two_places() {
        let found = jump(&placed(jumping)).expect("it jumps");
        assert_eq!((found.from, found.to), (1344.0, 1376.0));
        assert_eq!((found.low, found.high), (1344.0, 1376.0));
        assert!((found.height - 5.0).abs() < 1e-9, "{found:?}");
        // In the middle, at 1360: 63.6 before it and 68.6 after it.
        assert!((found.y - 66.1).abs() < 1e-9, "{found:?}");
        assert!(matches!(
            crooked(&placed(jumping)),
            Some(NonLinearity::Jumps(_))
        ));
    }

    #[test]
    fn a_bend_is_no_jump_and_a_straight_line_is_neither() {
        let bent = |x: f64| 50.0 + x / 50.0 - (x - 1344.0).max(0.0) / 100.0;
        assert!(
            matches!(crooked(&placed(bent)), Some(NonLinearity::Bends(bend)) if (bend.x - 1344.0).abs() < 1e-3)
        );
        assert_eq!(crooked(&placed(|x| 7.0 + x)), None);
        assert_eq!(jump(&placed(|_| 7.0)), None);
        assert_eq!(jump(&[]), None);
    }

    /// Noise of 1 %, and a shift of 8 %.
    #[test]
    fn with_noise_the_interval_holds_the_jump_and_straight_lines_seldom_jump() {
        let mut random = stream(7, RandomStream::Permutations, 0);
        let mut noise = |value: f64| {
            let one: f64 = StandardNormal.sample(&mut random);
            value * (1.0 + 0.01 * one)
        };
        let tries = 400;
        let (mut told, mut held, mut alarms) = (0, 0, 0);
        for _ in 0..tries {
            if let Some(found) = jump(&placed(|x| noise(jumping(x)))) {
                told += 1;
                held += u32::from((found.low..=found.high).contains(&1360.0));
            }
            alarms += u32::from(jump(&placed(|x| noise(50.0 + x / 100.0))).is_some());
        }
        assert!(told >= 380, "{told}");
        assert!(
            f64::from(held) >= 0.93 * f64::from(told),
            "{held} of {told}"
        );
        assert!(alarms <= 8, "{alarms}");
    }
}
