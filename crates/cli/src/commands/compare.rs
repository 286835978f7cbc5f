//! `filestone compare`: compares runs with a baseline, and decides whether they are better or
//! worse.

use crate::error::Error;
use crate::execution::sweep_directory;
use crate::inputs::compared_runs;
use crate::options::compare::{CompareFormat, CompareOptions};
use crate::{ExitStatus, console};
use filestone_measure::comparison::{
    ComparabilityCheck, ComparisonOptions, ComparisonVerdict, Incompatibility, Side, comparability,
    compare,
};
use filestone_report::comparison::{
    self, Compared, Method, ReadRun, document, picture as percentiles,
};
use filestone_report::sanitize::printable;
use filestone_report::sweep::ladder::comparison::{self as ladder_comparison, ComparedLadders};
use filestone_report::sweep::{SweepKind, SweepReport};
use filestone_report::{html, json, picture};
use std::collections::HashMap;
use std::path::PathBuf;

/// Exit code that makes `git bisect run` skip a commit.
const CANNOT_TELL: u8 = 125;

/// Reads both sides and prints the result of the comparison.
pub fn run(options: &CompareOptions) -> Result<ExitStatus, Error> {
    let paths = paths(options)?;
    if let Some(ladders) = ladders(&paths)? {
        return of_ladders(&ladders, options.format);
    }
    let base = compared_runs::read(paths.base, &options.decide_by)?;
    let new = compared_runs::read(paths.new, &options.decide_by)?;
    let runs = || base.iter().chain(&new);
    runs().try_for_each(check)?;
    refuse_twice(&runs().collect::<Vec<_>>())?;
    let despite = unlike(options, &base, &new)?;
    let question =
        ComparisonOptions::new(&options.decide_by, options.tolerance, options.min_effect);
    let side =
        |runs: &[ReadRun]| Side::of(runs.iter().map(|read| read.run.figures(&options.decide_by)));
    let sides = [side(&base), side(&new)];
    let found = compare(&sides[0], &sides[1], &question);
    let compared = Compared {
        missing: comparison::missing(&sides[0], &sides[1], &found, &question),
        comparison: found,
        base,
        new,
        question,
        despite,
        method: Method::Apart,
    }
    .with_failures();
    console::result(&match options.format {
        CompareFormat::Text => comparison::report(&compared).text(console::page()),
        CompareFormat::Json => json::document(&document::of(&compared))?,
        CompareFormat::Csv => document::csv(&compared),
        CompareFormat::Html => html::of_comparison(&compared)?,
        CompareFormat::Svg => picture::render(&percentiles::picture(&compared)?),
    })?;
    Ok(match compared.comparison.verdict {
        ComparisonVerdict::Worse => ExitStatus::CaveatFailure,
        ComparisonVerdict::Better | ComparisonVerdict::NotWorse => ExitStatus::Done,
        ComparisonVerdict::Inconclusive => ExitStatus::Code(CANNOT_TELL),
    })
}

/// Returns two ladders; `None` if no path is a ladder.
fn ladders(paths: &Paths<'_>) -> Result<Option<[SweepReport; 2]>, Error> {
    let at = |path: &PathBuf| sweep_directory::document_at(path, SweepKind::Ladder);
    let all = || paths.base.iter().chain(paths.new);
    let Some(one) = all().find(|path| at(path).is_some()) else {
        return Ok(None);
    };
    let ([base], [new]) = (paths.base, paths.new) else {
        return Err(Error::usage(format!(
            "{}: this is a ladder, and one ladder is compared with one other",
            one.display()
        )));
    };
    let read = |path: &PathBuf| match at(path) {
        Some(document) => sweep_directory::read_with_runs(&document, SweepKind::Ladder),
        None => Err(Error::usage(format!(
            "{}: this is no ladder, and {} is one",
            path.display(),
            one.display()
        ))
        .with_help("name two ladders, or the runs of a rung of each")),
    };
    Ok(Some([read(base)?, read(new)?]))
}

/// Prints two ladders side by side, without an overall verdict.
fn of_ladders([base, new]: &[SweepReport; 2], format: CompareFormat) -> Result<ExitStatus, Error> {
    let compared = ComparedLadders { base, new };
    console::result(&match format {
        CompareFormat::Text => ladder_comparison::report(compared).text(console::page()),
        CompareFormat::Json => json::document(&ladder_comparison::document(compared))?,
        CompareFormat::Csv => ladder_comparison::csv(compared),
        CompareFormat::Html => html::of_ladders(compared)?,
        CompareFormat::Svg => {
            return Err(
                Error::usage("--format svg: of two ladders there is no picture")
                    .with_help("of two ladders there are text, json, csv and html"),
            );
        }
    })?;
    Ok(ExitStatus::Done)
}

/// Paths of the sides.
struct Paths<'options> {
    base: &'options [PathBuf],
    new: &'options [PathBuf],
}

fn paths(options: &CompareOptions) -> Result<Paths<'_>, Error> {
    let (base, new) = match (options.base.as_slice(), options.new.as_slice()) {
        ([base, new], []) => (std::slice::from_ref(base), std::slice::from_ref(new)),
        (base, []) => {
            return Err(
                Error::usage(format!("BASE and NEW: expected two, not {}", base.len())).with_help(
                    "of several runs a side, -- stands between the sides: a1 a2 -- b1 b2",
                ),
            );
        }
        sides => sides,
    };
    Ok(Paths { base, new })
}

/// Rejects a run that cannot be compared.
fn check(read: &ReadRun) -> Result<(), Error> {
    let path = read.path.display();
    if read.run.plan.steering.is_some() {
        return Err(Error::usage(format!(
            "{path}: its load was steered, so its figures are of several loads: there is none that \
             could be compared"
        ))
        .with_help("compare runs at one load: --offered, or a closed loop"));
    }
    if read.run.totals.ledger.ok == 0 {
        return Err(Error::usage(format!(
            "{path}: no operation ended well, so there is nothing to compare"
        )));
    }
    Ok(())
}

/// Rejects duplicates, because a run that occurs twice would be taken for two independent ones.
fn refuse_twice(runs: &[&ReadRun]) -> Result<(), Error> {
    let mut known: HashMap<_, &ReadRun> = HashMap::new();
    for read in runs {
        if let Some(other) = known.insert(read.run.identity(), read) {
            return Err(Error::usage(format!(
                "{} and {}: this is one run, which would count twice",
                other.path.display(),
                read.path.display()
            ))
            .with_help("name each run once: on one side, and in one place"));
        }
    }
    Ok(())
}

/// Returns the runs that do not count, and differences in properties that should agree; an error
/// unless these are allowed.
fn unlike(
    options: &CompareOptions,
    base: &[ReadRun],
    new: &[ReadRun],
) -> Result<Vec<Incompatibility>, Error> {
    let Some((first, others)) = base.split_first() else {
        return Ok(vec![]);
    };
    let runs = base.iter().chain(new);
    let uncounted =
        runs.filter_map(|read| comparability::uncounted(&read.run, read.path.display()));
    let mut found: Vec<Incompatibility> = uncounted.collect();
    for other in others.iter().chain(new) {
        let mut differences = comparability::differences(&first.run, &other.run);
        differences.retain(|unlike| !found.contains(unlike));
        found.extend(differences);
    }
    let is_allowed =
        |aspect: ComparabilityCheck| options.ignore.iter().any(|one| one.allows(aspect));
    let refused = found.iter().filter(|unlike| !is_allowed(unlike.aspect));
    let refused: Vec<&Incompatibility> = refused.collect();
    if refused.is_empty() {
        return Ok(found);
    }
    let told: Vec<String> = refused.iter().map(ToString::to_string).collect();
    let mut aspects: Vec<&str> = refused.iter().map(|unlike| unlike.aspect.name()).collect();
    aspects.sort_unstable();
    aspects.dedup();
    Err(Error::usage(format!(
        "these runs cannot be compared with {}: {}",
        first.path.display(),
        printable(&told.join("; "))
    ))
    .with_help(format!(
        "--ignore {} compares them all the same",
        aspects.join(",")
    )))
}
