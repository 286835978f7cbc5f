//! The line fitted to points near its own root, without outliers.

use super::ObjectiveSearch;
use super::line::{FitPoint, FittedCurve};

/// Standard deviations from the line, by the scatter of all others, from which on an interval is an
/// outlier.
const ACCIDENT: f64 = 8.0;

impl ObjectiveSearch {
    /// Returns the points that inform the line: all except overloads, where the line is not valid.
    /// Slow points are kept: near the capacity slow operations come in rare bursts, and without
    /// them the search would find too high a load.
    pub(super) fn points(&self) -> Vec<FitPoint> {
        let dwells = self.dwells.iter().filter(|dwell| dwell.kept_up());
        let bound_ns = self.objective().below_ns;
        (0..)
            .zip(dwells)
            .flat_map(|(number, dwell)| dwell.points(self.law, bound_ns, number))
            .collect()
    }

    /// Fits the line to the points near its own root.
    pub(super) fn fit(&self) -> Option<FittedCurve> {
        let points = self.points();
        let mut centre = self.centre;
        let mut found = None;
        for _ in 0..5 {
            let line = self.fit_near(&points, centre, self.reach)?;
            let root = line.root();
            let moved = (root / centre - 1.0).abs();
            centre = root.clamp(0.8 * centre, 1.25 * centre);
            found = Some(line);
            if moved < 1e-3 {
                break;
            }
        }
        found
    }

    pub(super) fn fit_near(
        &self,
        points: &[FitPoint],
        centre: f64,
        reach: f64,
    ) -> Option<FittedCurve> {
        let mut window = (2.5 * reach).max(0.012);
        loop {
            let near = |point: &&FitPoint| (point.load / centre - 1.0).abs() <= window;
            let mut near: Vec<FitPoint> = points.iter().filter(near).copied().collect();
            let line = FittedCurve::fit(self.law, centre, &near).map(|line| {
                if leave_out_accidents(&line, self.law.longest(), &mut near) {
                    FittedCurve::fit(self.law, centre, &near).unwrap_or(line)
                } else {
                    line
                }
            });
            if line.is_some() || window > 1.0 {
                return line;
            }
            window *= 1.6;
        }
    }
}

/// Removes outliers, intervals with a single event such as a server stall: they are further from
/// the line than the scatter of all others explains, and contain longer response times than any
/// queue near the objective would cause (`longest`, in units of the bound). A repeated event is
/// server behaviour rather than an outlier, and is kept. Returns whether any point was removed.
fn leave_out_accidents(line: &FittedCurve, longest: f64, points: &mut Vec<FitPoint>) -> bool {
    const AROUND: usize = 4;
    if points.len() < 20 {
        return false;
    }
    let residuals: Vec<f64> = points.iter().map(|point| line.residual(point)).collect();
    let mut keep = vec![true; points.len()];
    let accidents_max = 1 + points.len() / 60;
    for found in 0..=accidents_max {
        let kept = (0..points.len()).filter(|index| keep[*index]);
        let kept = kept.filter(|index| points[*index].longest > longest);
        let Some(worst) = kept.max_by(|a, b| residuals[*a].total_cmp(&residuals[*b])) else {
            break;
        };
        let others: Vec<f64> = (0..points.len())
            .filter(|index| keep[*index] && index.abs_diff(worst) > AROUND)
            .map(|index| residuals[index].powi(2))
            .collect();
        let scale = (others.iter().sum::<f64>() / others.len().max(1) as f64).sqrt();
        if residuals[worst] <= ACCIDENT * scale {
            break;
        }
        if found == accidents_max {
            return false;
        }
        for index in worst.saturating_sub(AROUND)..(worst + AROUND + 1).min(points.len()) {
            if residuals[index] > 3.0 * scale {
                keep[index] = false;
            }
        }
    }
    let mut keep = keep.iter();
    let before = points.len();
    points.retain(|_| keep.next().copied().unwrap_or(true));
    points.len() < before
}
