//! Facts that are needed to repeat a mix: the mix, its file set and its seed.

use crate::document::page::Fact;
use crate::parts::facts::read_data;
use crate::quantity::duration_text;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::mix_record::FileSetRecord;
use filestone_plan::plan::{Access, MixPlan, Popularity, SkippedOperation};
use filestone_workload::text::{bytes_text, thousands};

/// Maximum number of omitted operations of the mix's source that are listed by name.
const LEFT_OUT_MAX: usize = 8;

/// Returns the file set, its use, and the seed.
pub fn facts(record: &RunRecord, plan: &MixPlan, set: &FileSetRecord) -> Vec<Fact> {
    let mut facts = vec![
        ("file set", file_set(plan, set)),
        ("access", access(plan, set)),
    ];
    facts.extend(read_data(&record.plan));
    if !plan.skipped_operations.is_empty() {
        facts.push(("left out", left_out(record, plan)));
    }
    facts.push(("seed", record.plan.seed.to_string()));
    facts
}

fn file_set(plan: &MixPlan, set: &FileSetRecord) -> String {
    let place = match set.paths.as_slice() {
        [] => plan.file_set.name.clone(),
        [path] => path.clone(),
        [path, more @ ..] => format!("{path} and {} more", thousands(more.len() as u64)),
    };
    let end = if set.removed {
        ", removed at the end"
    } else {
        ""
    };
    format!(
        "{place}: {} files of {} together, {} other objects; {} found, {} made, in {}{end}",
        thousands(set.files),
        bytes_text(set.bytes),
        thousands(set.other_objects),
        thousands(set.found),
        thousands(set.made),
        duration_text(set.prepared_ns),
    )
}

fn access(plan: &MixPlan, set: &FileSetRecord) -> String {
    let order = match plan.access {
        Access::Whole => "whole files",
        Access::Random => "any places",
    };
    let popularity = match plan.file_set.popularity {
        Popularity::Uniform => String::new(),
        Popularity::Zipf { exponent } => format!(", by Zipf's law with exponent {exponent}"),
    };
    let working = if set.working_files == set.files {
        String::new()
    } else {
        format!(
            ", of {} files of {} together",
            thousands(set.working_files),
            bytes_text(set.working_bytes)
        )
    };
    format!(
        "{order} in transfers of {} at most{working}{popularity}",
        bytes_text(plan.transfer_bytes.into())
    )
}

fn left_out(record: &RunRecord, plan: &MixPlan) -> String {
    let (missing, unlike): (Vec<_>, Vec<_>) = plan
        .skipped_operations
        .iter()
        .partition(|left| left.kind().is_some());
    let layer = record.plan.target.layer();
    let groups = [
        (unlike, "NFSv3 has nothing like it".into()),
        (missing, format!("{layer} has none")),
    ];
    let groups = groups.into_iter().filter(|(left, _)| !left.is_empty());
    let told = groups.map(|(left, why)| format!("{}: {why}", named(&left)));
    told.collect::<Vec<_>>().join("; ")
}

fn named(left_out: &[&SkippedOperation]) -> String {
    let named = left_out.iter().take(LEFT_OUT_MAX);
    let names: Vec<String> = named
        .map(|left| format!("{} ({})", left.operation, thousands(left.count)))
        .collect();
    let more = match left_out.len().saturating_sub(LEFT_OUT_MAX) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    format!("{}{more}", names.join(", "))
}
