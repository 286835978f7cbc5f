//! Figures by their names, with a suggestion for one that is misspelt.

use filestone_measure::measure::figures::{Quantity, RunFigure};
use filestone_measure::sweep::TOTALS;
use filestone_plan::gate::GateFigure;
use filestone_workload::load::diagnostic::suggestion;

/// A name with more letters wrong is taken for something else altogether.
const NEAR: usize = 6;

/// Reads the name of a figure.
pub fn figure(name: &str) -> Result<RunFigure, String> {
    known(name, |_| true)
}

/// Reads the name of a figure by which runs can be compared: one that is never 0, since a change is a
/// ratio.
pub fn comparable(name: &str) -> Result<RunFigure, String> {
    let is_ratio = |quantity| quantity != Quantity::Errors;
    let figure = known(name, is_ratio)?;
    if is_ratio(figure.quantity) {
        return Ok(figure);
    }
    Err(
        "a change is a ratio, and most runs have no errors; a side of whose operations one in a \
         hundred more did not succeed is worse without being asked for"
            .into(),
    )
}

/// Reads the name of a figure that the points of a sweep have: one by which runs can be compared, or one
/// of whole runs, such as a cost.
pub fn swept(name: &str) -> Result<GateFigure, String> {
    let total = TOTALS.iter().find(|total| total.name() == name);
    match total {
        Some(total) => Ok(GateFigure::OfRun(*total)),
        None => comparable(name)
            .map(GateFigure::OfOperations)
            .map_err(|why| {
                let names = TOTALS.iter().map(|total| total.name());
                let near = suggestion(name.as_bytes(), names);
                near.map_or(why, |near| {
                    format!("there is no such figure; did you mean {near}?")
                })
            }),
    }
}

fn known(name: &str, is_meant: fn(Quantity) -> bool) -> Result<RunFigure, String> {
    name.parse().map_err(|_| {
        let near = nearest(name, is_meant).map(|near| format!("; did you mean {near}?"));
        format!("there is no such figure{}", near.unwrap_or_default())
    })
}

/// The figure whose name is nearest to this, of those that may be meant.
fn nearest(name: &str, is_meant: fn(Quantity) -> bool) -> Option<String> {
    let quantities = || Quantity::all().filter(|quantity| is_meant(*quantity));
    let of_run = quantities().map(|quantity| quantity.to_string());
    let operation = name.split_once('.').map(|(operation, _)| operation);
    let of_kind = quantities()
        .filter_map(|quantity| Some(format!("{}.{quantity}", operation?)))
        .filter(|name| name.parse::<RunFigure>().is_ok());
    let all = of_run.chain(of_kind);
    let (distance, near) = all.map(|known| (distance(name, &known), known)).min()?;
    (distance <= NEAR).then_some(near)
}

/// How many letters have to be put in, taken out or changed (Levenshtein 1966).
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (place, letter) in one.bytes().enumerate() {
        let mut before = row[0];
        row[0] = place + 1;
        for (column, wanted) in other.bytes().enumerate() {
            let changed = before + usize::from(letter != wanted);
            before = row[column + 1];
            row[column + 1] = changed.min(before + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        for (name, near) in [
            ("response_time.p98", Some("response_time.p90")),
            ("achived", Some("achieved")),
            ("read.response-time.p99", Some("read.response_time.p99")),
            ("nothing of the kind", None),
        ] {
            assert_eq!(nearest(name, |_| true).as_deref(), near, "{name}");
        }
        assert_eq!(
            figure("error"),
            Err("there is no such figure; did you mean errors?".into())
        );
        assert_eq!(comparable("error"), Err("there is no such figure".into()));
        assert!(comparable("errors").is_err_and(|said| said.contains("a change is a ratio")));
        assert!(comparable("read.errors").is_err() && comparable("achieved").is_ok());
        let cost = swept("server_cpu_per_operation").map(|figure| figure.to_string());
        assert_eq!(cost.as_deref(), Ok("server_cpu_per_operation"));
        let misspelt = swept("server_cpu_per_op");
        assert!(misspelt.is_err_and(|said| said.contains("server_cpu_per_operation")));
        assert!(swept("caveats").is_err() && swept("achieved").is_ok());
        assert_eq!(distance("kitten", "sitting"), 3);
        assert!(figure("read.response_time.p99").is_ok());
    }
}
