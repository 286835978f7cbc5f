//! Gnuplot scripts of nct's four graphs: requests, latency (with percentiles), send and recv.
//!
//! The scripts of `--output` read the files in the same directory; `filestone report --format gnuplot`
//! embeds the data in the script.

use crate::{caption, ticks};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::rows::in_rows;
use filestone_measure::measure::run_record::Phase;

/// A graph.
#[derive(Debug)]
pub struct Graph {
    /// Name of the graph and its file.
    pub name: &'static str,
    y_label: &'static str,
    /// Setting of the y axis: percentiles are orders of magnitude apart; rates start at 0.
    y_axis: &'static str,
    curves: &'static [Curve],
}

#[derive(Debug)]
struct Curve {
    data: Data,
    using: &'static str,
    colour: &'static str,
    title: &'static str,
}

/// Table that a curve is drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Data {
    /// 100 ms rows.
    Raw,
    /// Interval rows with percentiles.
    Intervals,
}

const fn raw(using: &'static str, colour: &'static str, title: &'static str) -> Curve {
    Curve {
        data: Data::Raw,
        using,
        colour,
        title,
    }
}

const fn interval(using: &'static str, colour: &'static str, title: &'static str) -> Curve {
    Curve {
        data: Data::Intervals,
        using,
        colour,
        title,
    }
}

const FROM_ZERO: &str = "set yrange [0:*]";

/// Graphs with nct's names and colours. Rates are of single 100 ms samples: the trailing second of
/// `raw` rises from 0 in every run's first second. `MB` is a variable that each script sets.
pub const GRAPHS: [Graph; 4] = [
    Graph {
        name: "requests",
        y_label: "requests / second",
        y_axis: FROM_ZERO,
        curves: &[raw("($2/1e6):($5*1e6/$3)", "blue", "requests")],
    },
    Graph {
        name: "latency",
        y_label: "usecs / request",
        y_axis: "set logscale y",
        curves: &[
            raw("($2/1e6):($5>0?$4/$5:NaN)", "black", "mean (100 ms)"),
            interval("1:4", "dark-green", "p50"),
            interval("1:5", "orange", "p99"),
            interval("1:6", "red", "p99.9"),
        ],
    },
    Graph {
        name: "send",
        y_label: "MB / second",
        y_axis: FROM_ZERO,
        curves: &[raw("($2/1e6):($6*1e6/$3/MB)", "red", "send")],
    },
    Graph {
        name: "recv",
        y_label: "MB / second",
        y_axis: FROM_ZERO,
        curves: &[raw("($2/1e6):($7*1e6/$3/MB)", "green", "recv")],
    },
];

/// File name of the table of intervals.
pub const INTERVALS_FILE: &str = "intervals.dat";
/// File name of the table of 100 ms rows, as in nct.
pub const RAW_FILE: &str = "raw";

impl Graph {
    /// Returns the script that draws this graph of `record` as `NAME.TERMINAL` from the files in
    /// its directory.
    pub fn script(&self, terminal: &str, record: &RunRecord) -> String {
        format!(
            "set output '{}.{terminal}'\nset term {terminal} size {}\n{}{}",
            self.name,
            size_of(terminal),
            megabyte(record),
            self.body(
                "\"raw\"",
                "\"intervals.dat\"",
                &caption::line(self.name, record)
            )
        )
    }

    fn body(&self, raw: &str, intervals: &str, title: &str) -> String {
        let curves: Vec<String> = self
            .curves
            .iter()
            .map(|curve| {
                let (table, style) = match curve.data {
                    Data::Raw => (raw, "lines"),
                    Data::Intervals => (intervals, "linespoints"),
                };
                format!(
                    "{table} using {} with {style} lw 3 lc rgbcolor \"{}\" title \"{}\"",
                    curve.using, curve.colour, curve.title
                )
            })
            .collect();
        format!(
            "set title '{}' noenhanced\nset grid\n{}\nset ylabel \"{}\"\nset xlabel \"seconds\"\n\
             set mytics 5\nplot {}\n",
            quoted(title),
            self.y_axis,
            self.y_label,
            curves.join(", \\\n     ")
        )
    }
}

/// Defines a megabyte: 10^6 bytes, but in nct's graphs 2^20, as nct intended.
fn megabyte(record: &RunRecord) -> &'static str {
    match record.plan.command.as_str() {
        "nct" => "MB = 1048576.0\n",
        _ => "MB = 1e6\n",
    }
}

/// Returns nct's picture size in pixels; vector terminals use inches.
pub fn size_of(terminal: &str) -> &'static str {
    match terminal {
        "pdf" | "pdfcairo" | "eps" | "epscairo" | "postscript" => "15in,5in",
        "png" | "pngcairo" | "jpeg" | "gif" => "3840,1280 font \",28\"",
        _ => "3840,1280",
    }
}

/// Quotes text in single quotes, where gnuplot has no other special character.
pub fn quoted(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect::<String>()
        .replace('\'', "''")
}

/// Formats the table of intervals: time in seconds, then microseconds.
pub fn intervals(record: &RunRecord) -> String {
    let record = &*in_rows(record);
    let mut text = format!(
        "# {:>8} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n",
        "SECONDS", "MIN", "MEAN", "P50", "P99", "P99.9", "MAX", "OPS"
    );
    // The curves of the latency graph use columns 4 to 6.
    for interval in &record.intervals {
        if interval.phase == Phase::Drain {
            continue;
        }
        let Some(times) = interval.response_time() else {
            continue;
        };
        let micros = |nanos: u64| nanos as f64 / 1000.0;
        text.push_str(&format!(
            "  {:>8.3} {:>10.1} {:>10.1} {:>10.1} {:>10.1} {:>10.1} {:>10.1} {:>10}\n",
            interval.end_ns as f64 / 1e9,
            micros(times.min),
            times.mean / 1000.0,
            micros(times.p50),
            micros(times.p99),
            micros(times.p99_9),
            micros(times.max),
            times.count,
        ));
    }
    text
}

/// Renders a script with its data, for `filestone report --format gnuplot | gnuplot -persist`.
pub fn render(record: &RunRecord) -> String {
    let mut text = format!(
        "$raw << EOD\n{}EOD\n$intervals << EOD\n{}EOD\n{}set multiplot layout 2,2 title '{}' noenhanced\n",
        ticks::raw(record),
        intervals(record),
        megabyte(record),
        quoted(&caption::line("Requests, latency, bytes", record)),
    );
    for graph in &GRAPHS {
        text.push_str(&graph.body("$raw", "$intervals", graph.name));
    }
    text.push_str("unset multiplot\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn the_scripts_read_the_files_beside_them() {
        let record = fixtures::plain();
        let text: String = GRAPHS
            .iter()
            .map(|graph| graph.script("png", &record) + "\n")
            .collect();
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_megabyte_is_a_million_bytes_but_in_ncts_graphs() {
        let mut record = fixtures::plain();
        assert!(render(&record).contains("\nMB = 1e6\n"));
        record.plan.command = "nct".into();
        assert!(render(&record).contains("\nMB = 1048576.0\n"));
    }

    #[test]
    fn the_table_of_intervals_holds_percentiles() {
        insta::assert_snapshot!(intervals(&fixtures::with_errors()));
    }

    #[test]
    fn the_report_holds_its_data() {
        let text = render(&fixtures::interrupted());
        assert_eq!(text.matches("EOD").count(), 4);
        assert!(!text.contains("\"raw\""), "{text}");
    }
}
