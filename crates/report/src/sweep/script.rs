//! A sweep as a gnuplot script with its data.

use super::document::{column, column_of, csv};
use super::study::GRAPHS;
use super::unit::DrawnUnit;
use super::{SweepReport, SweptLine, columns, heading};
use crate::gnuplot::quoted;
use filestone_plan::gate::GateFigure;

/// Formats the script. Columns are selected by name, so that a new one does no harm.
pub fn script(swept: &SweepReport) -> String {
    let first = swept.parameters.first();
    let is_logarithmic = first.is_some_and(|first| first.is_logarithmic) && is_numeric(swept);
    let plots = if swept.is_study() {
        format!(
            "set multiplot layout 4,2\n{}unset multiplot\n",
            graphs(swept)
        )
    } else {
        plot(swept, &swept.figure)
    };
    format!(
        "$sweep << EOD\n{}EOD\nset datafile separator ','\nset datafile columnheaders\n\
         set title '{}' noenhanced\nset grid\nset key left top\n{}set yrange [0:*]\n\
         set xlabel '{}'\n{plots}",
        csv(swept),
        quoted(&heading(swept)),
        if is_logarithmic {
            "set logscale x\n"
        } else {
            ""
        },
        quoted(first.map_or("", |first| first.name.as_str())),
    )
}

/// Whether the first parameter has an axis. The study's baselines have no position on it.
fn is_numeric(swept: &SweepReport) -> bool {
    let first = swept.parameters.first();
    swept.is_study() || first.is_some_and(filestone_measure::sweep::SweepParameter::is_numeric)
}

/// Formats the graphs of the study that have data.
fn graphs(swept: &SweepReport) -> String {
    let known = GRAPHS
        .iter()
        .filter(|graph| columns::exists(swept, &graph.figure_in(swept)));
    let plots = known.map(|graph| {
        let title = format!("set title '{}'\n", quoted(graph.title));
        format!("{title}{}", plot(swept, &graph.figure_in(swept)))
    });
    plots.collect()
}

fn plot(swept: &SweepReport, figure: &GateFigure) -> String {
    let (_, label) = DrawnUnit::of(figure).in_script();
    let lines = swept
        .lines()
        .into_iter()
        .map(|line| of_line(swept, line, figure));
    let label = if label.is_empty() {
        String::new()
    } else {
        format!(" ({label})")
    };
    format!(
        "set ylabel '{figure}{label}' noenhanced\nplot {}\n",
        lines.collect::<Vec<_>>().join(", \\\n     ")
    )
}

fn of_line(swept: &SweepReport, line: SweptLine<'_>, figure: &GateFigure) -> String {
    let names: Vec<String> = swept.parameters.iter().map(|it| column(&it.name)).collect();
    let name = names.first().map_or("", String::as_str);
    let second = line.points.first().and_then(|point| point.values.get(1));
    let second = second.zip(names.get(1));
    let only = |value: &str| match second {
        None => format!("({value})"),
        Some((second, name)) => {
            let cell = second
                .number
                .map_or_else(|| second.text.clone(), |number| number.to_string());
            format!("(strcol('{name}') eq '{}' ? {value} : NaN)", quoted(&cell))
        }
    };
    let (unit, _) = DrawnUnit::of(figure).in_script();
    let of_column = column_of(figure);
    let [value, low, high] =
        ["", "_low", "_high"].map(|end| only(&format!("column('{of_column}{end}')/{unit:e}")));
    let (x, names) = if is_numeric(swept) {
        (format!("(column('{name}'))"), String::new())
    } else {
        ("0".into(), format!(":xtic(strcol('{name}'))"))
    };
    let title = line.name().unwrap_or_else(|| figure.to_string());
    format!(
        "$sweep using {x}:{value}:{low}:{high}{names} with yerrorlines lw 2 title '{}'",
        quoted(&title)
    )
}
