//! Caption that makes a picture quotable: target, load, date, version and caveats, in the same
//! words below each title and in gnuplot's titles.

use super::parts::heading::what_was_measured;
use super::parts::validity::ids;
use super::picture::{Panel, Picture};
use filestone_measure::measure::RunRecord;

/// Creates a picture of a record.
pub fn picture(record: &RunRecord, title: &str, panels: Vec<Panel>, notes: Vec<String>) -> Picture {
    let mut notes = notes;
    notes.extend(caveat_names(&[record]));
    Picture {
        title: title.into(),
        circumstances: vec![what_was_measured(record), origin(record)],
        panels,
        notes,
    }
}

/// Formats date, seed and version of a record.
pub fn origin(record: &RunRecord) -> String {
    origin_of(&record.started_at, record.plan.seed, &record.tool.version)
}

/// Formats date, seed and version, for pictures of several records.
pub fn origin_of(started_at: &str, seed: u64, version: &str) -> String {
    format!("{}, seed {seed}, filestone {version}", date(started_at))
}

/// Formats `2026-01-02T03:04:05.678Z` for readers.
fn date(started_at: &str) -> String {
    match started_at
        .strip_suffix('Z')
        .and_then(|moment| moment.split_once('T'))
    {
        Some((day, time)) => {
            let seconds = time.split('.').next().unwrap_or(time);
            format!("{day} {seconds} UTC")
        }
        None => started_at.into(),
    }
}

/// Lists the kinds of caveats, which every picture must show.
pub fn caveat_names(records: &[&RunRecord]) -> Option<String> {
    let names = ids(records.iter().flat_map(|record| &record.caveats));
    (!names.is_empty()).then(|| format!("caveats: {}", names.join(", ")))
}

/// Formats the caption in one line, for gnuplot's titles.
pub fn line(title: &str, record: &RunRecord) -> String {
    format!("{title}, {}, {}", what_was_measured(record), origin(record))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn target_load_date_and_version_are_told() {
        assert_eq!(
            line("Requests", &fixtures::plain()),
            "Requests, read 4 KiB of nfs://server:2049/export/file: 1 client, 8 in flight each, \
             2 s, 2026-01-02 03:04:05 UTC, seed 1, filestone 0.1.0"
        );
        let picture = picture(&fixtures::with_errors(), "A title", vec![], vec![]);
        assert_eq!(picture.notes, ["caveats: unexpected-outcomes"]);
    }

    #[test]
    fn a_date_is_written_to_the_second_and_what_is_none_as_it_is() {
        assert_eq!(date("2026-01-02T03:04:05.678Z"), "2026-01-02 03:04:05 UTC");
        assert_eq!(date("yesterday"), "yesterday");
    }
}
