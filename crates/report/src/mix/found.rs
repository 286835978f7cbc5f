//! Result of a steered run, a curve or a load, in every form except text.

use crate::caption;
use crate::gnuplot::{quoted, size_of};
use crate::mix::{curve, objective};
use crate::picture::Picture;
use filestone_measure::measure::RunRecord;

/// Files of a steered run in the directory of the record.
#[derive(Debug)]
pub struct Files {
    /// File name without extension: `curve` or `search`.
    pub stem: &'static str,
    /// Comma-separated values, a row per load.
    pub csv: String,
    /// A gnuplot script that draws the values.
    pub script: String,
}

/// Returns the files of a record; `None` if its load was not steered.
pub fn files(record: &RunRecord, terminal: &str) -> Option<Files> {
    Some(Files {
        stem: stem(record)?,
        csv: values(record)?,
        script: script(record, terminal)?,
    })
}

/// File names, without extension, of steered runs.
pub const STEMS: [&str; 2] = ["curve", "search"];

/// Returns the file name of a record, without extension.
pub fn stem(record: &RunRecord) -> Option<&'static str> {
    let [curve, search] = STEMS;
    match (&record.curve, &record.objective) {
        (Some(_), _) => Some(curve),
        (None, Some(_)) => Some(search),
        (None, None) => None,
    }
}

/// Returns the picture of the loads; `None` if the load was not steered.
pub fn picture(record: &RunRecord) -> Option<Picture> {
    match (&record.curve, &record.objective) {
        (Some(found), _) => Some(curve::picture(record, found)),
        (None, Some(found)) => Some(objective::picture(record, found)),
        (None, None) => None,
    }
}

/// Formats a row per load; `None` if the load was not steered.
pub fn values(record: &RunRecord) -> Option<String> {
    match (&record.curve, &record.objective) {
        (Some(found), _) => Some(curve::csv(found)),
        (None, Some(found)) => Some(objective::csv(found)),
        (None, None) => None,
    }
}

/// Returns a gnuplot script with its data, for `filestone report --format gnuplot`.
pub fn script_with_data(record: &RunRecord) -> Option<String> {
    let values = values(record)?;
    Some(format!(
        "$found << EOD\n{values}EOD\n{}",
        body(record, "$found")?
    ))
}

/// Returns the script that draws `STEM.TERMINAL` from the values in its directory.
fn script(record: &RunRecord, terminal: &str) -> Option<String> {
    let stem = stem(record)?;
    let data = format!("'{stem}.csv'");
    Some(format!(
        "set output '{stem}.{terminal}'\nset term {terminal} size {}\n{}",
        size_of(terminal),
        body(record, &data)?
    ))
}

/// Returns the body of the script. Columns are selected by name, so that a new one does no harm.
fn body(record: &RunRecord, data: &str) -> Option<String> {
    let picture = picture(record)?;
    let panel = picture.panels.first()?;
    let is_logarithmic = picture.scales().is_some_and(|(_, y)| y.is_logarithmic());
    let y_axis = if is_logarithmic {
        "set logscale y"
    } else {
        "set yrange [0:*]"
    };
    let plots: Vec<String> = match (&record.curve, &record.objective) {
        (Some(_), _) => [
            ("up", "response_time_mean_ns", "mean, upwards", "blue"),
            (
                "down",
                "response_time_mean_ns",
                "mean, downwards",
                "skyblue",
            ),
            ("up", "response_time_p99_ns", "p99, upwards", "red"),
        ]
        .map(|(leg, column, title, colour)| {
            format!(
                "{data} using (strcol('leg') eq '{leg}' ? column('achieved_load_ops_per_s') : NaN):\
                 (column('{column}')/1e6) with linespoints lw 3 lc rgbcolor '{colour}' \
                 title '{title}'"
            )
        })
        .to_vec(),
        (None, Some(found)) => vec![
            format!(
                "{data} using (column('offered_load_ops_per_s')):(column('figure_ns')/1e6) \
                 with points pt 7 lc rgbcolor 'blue' title '{} of the loads tried'",
                found.objective.figure
            ),
            format!(
                "{} with lines lw 3 lc rgbcolor 'dark-green' title '{}'",
                found.objective.below_ns as f64 / 1e6,
                found.objective
            ),
        ],
        (None, None) => return None,
    };
    let arrows: String = (1..)
        .zip(&panel.marks)
        .map(|(number, mark): (u32, _)| {
            format!(
                "set arrow {number} from {0},graph 0 to {0},graph 1 nohead dt 3\n\
                 set label {number} '{1}' at {0},graph 0.03 offset 0.5,0\n",
                mark.x,
                quoted(&mark.text)
            )
        })
        .collect();
    Some(format!(
        "set datafile separator ','\nset datafile columnheaders\n\
         set title '{}' noenhanced\nset grid\n{y_axis}\nset xrange [0:*]\nset key left top\n\
         set xlabel '{}'\nset ylabel 'response time (ms)'\n{arrows}plot {}\n",
        quoted(&caption::line(&picture.title, record)),
        quoted(&panel.x.label),
        plots.join(", \\\n     ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn the_scripts_of_a_curve_and_of_a_search() {
        let scripts = [fixtures::curve(), fixtures::objective()]
            .map(|record| script(&record, "png").expect("a steered run"));
        insta::assert_snapshot!(scripts.join("\n"));
    }

    #[test]
    fn a_script_with_its_data_reads_no_file() {
        let text = script_with_data(&fixtures::curve()).expect("a curve");
        assert_eq!(text.matches("EOD").count(), 2);
        assert!(!text.contains("curve.csv"), "{text}");
    }

    #[test]
    fn a_name_cannot_end_its_title() {
        let mut record = fixtures::curve();
        record.plan.mix_mut().expect("a mix").name = "it's; system 'x'\nexit".into();
        let text = script(&record, "png").expect("a curve");
        assert!(text.contains("it''s; system ''x'' exit"), "{text}");
    }

    #[test]
    fn a_run_that_was_not_steered_found_nothing() {
        assert!(files(&fixtures::mix(), "png").is_none());
    }
}
