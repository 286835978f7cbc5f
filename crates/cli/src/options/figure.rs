//! Figures by their names, with a suggestion for one that is misspelt.

use filestone_model::measure::figures::{Quantity, RunFigure};

/// A name with more letters wrong is taken for something else altogether.
const NEAR: usize = 6;

/// Reads the name of a figure.
pub fn figure(name: &str) -> Result<RunFigure, String> {
    name.parse().map_err(|_| {
        let near = nearest(name).map(|near| format!("; did you mean {near}?"));
        format!("there is no such figure{}", near.unwrap_or_default())
    })
}

/// The figure whose name is nearest to this.
fn nearest(name: &str) -> Option<String> {
    let of_run = Quantity::all().map(|quantity| quantity.to_string());
    let operation = name.split_once('.').map(|(operation, _)| operation);
    let of_kind = Quantity::all()
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
            assert_eq!(nearest(name).as_deref(), near, "{name}");
        }
        assert_eq!(distance("kitten", "sitting"), 3);
        assert!(figure("read.response_time.p99").is_ok());
    }
}
