//! A sweep as a gnuplot script that holds its data.

use super::document::{column, column_of, csv};
use super::{Swept, heading};
use crate::report::gnuplot::quoted;
use filestone_model::figure::FigureUnit;

/// The script. Columns are found by their names, so that a new one does no harm.
pub fn script(swept: &Swept) -> String {
    let names: Vec<String> = swept.parameters.iter().map(|it| column(&it.name)).collect();
    let figure = column_of(&swept.figure);
    let (unit, label) = match swept.figure.quantity.unit() {
        FigureUnit::Nanoseconds => ("1e6", "ms"),
        FigureUnit::BytesPerSecond => ("1e6", "MB/s"),
        FigureUnit::OperationsPerSecond => ("1", "operations/s"),
        FigureUnit::Operations => ("1", "operations"),
    };
    let first = swept.parameters.first();
    let is_numeric = first.is_some_and(filestone_model::sweep::SweepParameter::is_numeric);
    let is_logarithmic = first.is_some_and(|first| first.is_logarithmic) && is_numeric;
    let name = names.first().map_or("", String::as_str);
    let lines = swept.lines().into_iter().map(|line| {
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
        let [value, low, high] =
            ["", "_low", "_high"].map(|end| only(&format!("column('{figure}{end}')/{unit}")));
        let (x, names) = if is_numeric {
            (format!("(column('{name}'))"), String::new())
        } else {
            ("0".into(), format!(":xtic(strcol('{name}'))"))
        };
        let title = line.name().unwrap_or_else(|| swept.figure.to_string());
        format!(
            "$sweep using {x}:{value}:{low}:{high}{names} with yerrorlines lw 2 title '{}'",
            quoted(&title)
        )
    });
    format!(
        "$sweep << EOD\n{}EOD\nset datafile separator ','\nset datafile columnheaders\n\
         set title '{}' noenhanced\nset grid\nset key left top\n{}set yrange [0:*]\n\
         set xlabel '{}'\nset ylabel '{} ({label})' noenhanced\nplot {}\n",
        csv(swept),
        quoted(&heading(swept)),
        if is_logarithmic {
            "set logscale x\n"
        } else {
            ""
        },
        quoted(first.map_or("", |first| first.name.as_str())),
        swept.figure,
        lines.collect::<Vec<_>>().join(", \\\n     ")
    )
}
