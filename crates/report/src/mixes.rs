//! Descriptions of mixes: filestone's built-in mixes with their sources, and the contents of any
//! mix.

use crate::document::table::{Column, Table};
use crate::document::{Block, Document};
use filestone_plan::mix::{Mix, built_in, names};
use filestone_plan::plan::SkippedOperation;
use filestone_workload::operation::OpKind;
use filestone_workload::text::thousands;
use serde::Serialize;

/// A mix in the output of `check --format json`.
#[derive(Debug, Serialize)]
pub struct CheckedMix {
    /// Path of the file, or name of a built-in mix.
    pub mix: String,
    /// Sum of the calls that its source counted, or of percentages.
    pub sum: u128,
    /// Operations, the largest share first.
    pub operations: Vec<OperationShare>,
    /// Operations that its source counted and that have no equivalent in NFSv3.
    pub left_out: Vec<SkippedOperation>,
    /// Source of the counts, and remarks about them.
    pub notes: Vec<String>,
}

/// Share of an operation in a mix.
#[derive(Debug, Serialize)]
pub struct OperationShare {
    /// Kind of operation.
    pub operation: OpKind,
    /// Count in the source.
    pub count: u64,
    /// Share of the operations, in percent.
    pub percent: f64,
}

impl CheckedMix {
    /// Describes a mix.
    pub fn of(mix: &Mix) -> Self {
        let rows = mix.percent_rows().into_iter();
        Self {
            mix: mix.name.clone(),
            sum: mix.sum(),
            operations: rows
                .map(|(operation, percent)| OperationShare {
                    operation,
                    count: mix.count(operation),
                    percent,
                })
                .collect(),
            left_out: mix.left_out.clone(),
            notes: mix.notes.clone(),
        }
    }
}

/// Lists the built-in mixes: name, description, source.
pub fn list() -> Document {
    let mixes = names().filter_map(built_in);
    Document::default().facts(mixes.flat_map(|mix| {
        let source = if mix.verified {
            "source"
        } else {
            "source, not verified"
        };
        [
            (mix.name, mix.about.to_string()),
            ("", format!("{source}: {}", mix.source)),
        ]
    }))
}

/// Returns a table of shares, then operations that were left out and remarks.
pub fn report(mix: &CheckedMix) -> Document {
    let mut table = Table::new([
        Column::text("operation").at_least(14),
        Column::figure("COUNT").at_least(14),
        Column::figure("SHARE"),
    ]);
    for row in &mix.operations {
        table.row([
            row.operation.name().into(),
            thousands(row.count),
            format!("{:.3} %", row.percent),
        ]);
    }
    let mut left_out = Table::new([
        Column::text("left out").at_least(14),
        Column::figure("COUNT").at_least(14),
    ]);
    for left in &mix.left_out {
        left_out.row([left.operation.clone(), thousands(left.count)]);
    }
    let notes = mix.notes.iter().map(|note| format!("  {note}"));
    Document::default()
        .lines(format!("mix {}\n", mix.mix))
        .push(Block::Wrapped {
            indent: 2,
            lines: notes.collect(),
        })
        .tables([table])
        .tables(left_out.if_any())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::page::PageWidth;

    #[test]
    fn every_mix_of_our_own_is_listed_with_its_source() {
        insta::assert_snapshot!(list().text(PageWidth::default()));
    }

    #[test]
    fn a_mix_is_a_table_of_shares() {
        let mut mix = built_in("nhfsstone").expect("a mix of our own").mix();
        mix.left_out = vec![SkippedOperation {
            operation: "open".into(),
            count: 1234,
        }];
        let checked = CheckedMix::of(&mix);
        insta::assert_snapshot!(report(&checked).text(PageWidth::default()));
        let text = serde_json::to_string_pretty(&checked).expect("JSON");
        assert!(text.contains("\"percent\": 34.0"), "{text}");
    }
}
