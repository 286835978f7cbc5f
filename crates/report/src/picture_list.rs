//! All pictures of a record, with their file names.

use crate::error::ReportError;
use crate::fleet::picture as steps;
use crate::mix::{curve, found, objective};
use crate::picture::{self, Picture};
use crate::{hosts, over_time, percentiles};
use filestone_measure::measure::RunRecord;

/// A kind of picture.
struct Kind {
    name: &'static str,
    draw: fn(&RunRecord) -> Option<Picture>,
    /// Records that have the kind.
    whose: &'static str,
}

/// Kinds of picture, the main one of a record before the others.
const KINDS: [Kind; 6] = [
    Kind {
        name: "curve.svg",
        draw: |record| Some(curve::picture(record, record.curve.as_ref()?)),
        whose: "filestone mix --curve",
    },
    Kind {
        name: "search.svg",
        draw: |record| Some(objective::picture(record, record.objective.as_ref()?)),
        whose: "filestone mix --slo",
    },
    Kind {
        name: "steps.svg",
        draw: steps::picture,
        whose: "filestone fleet with a ramp",
    },
    Kind {
        name: "percentiles.svg",
        draw: percentiles::picture,
        whose: "every run at one load",
    },
    Kind {
        name: "over-time.svg",
        draw: |record| Some(over_time::picture(record)),
        whose: "every run",
    },
    Kind {
        name: "hosts.svg",
        draw: hosts::picture,
        whose: "a job of several hosts",
    },
];

/// Whether a file name belongs to a picture made by filestone.
pub fn is_ours(name: &str) -> bool {
    KINDS.iter().any(|kind| kind.name == name)
}

/// Returns the file names of a record's pictures and their content.
pub fn files(record: &RunRecord) -> impl Iterator<Item = (&'static str, String)> {
    KINDS
        .iter()
        .filter_map(|kind| Some((kind.name, picture::render(&(kind.draw)(record)?))))
}

/// Returns the picture of the loads of a steered run, or of the steps of its ramp, if there is one.
pub fn of_loads(record: &RunRecord) -> Option<Picture> {
    found::picture(record).or_else(|| steps::picture(record))
}

/// Returns the main picture of a record: its curve, its search, its steps, or its percentiles.
pub fn first(record: &RunRecord) -> Result<String, ReportError> {
    let mut files = files(record);
    let first = files.next().map(|(_, text)| text);
    first.ok_or_else(|| ReportError::Internal("a record without a picture".into()))
}

/// Returns a picture by its name.
pub fn named(record: &RunRecord, name: &str) -> Result<String, ReportError> {
    let kind = KINDS.iter().find(|kind| kind.name == name);
    let kind = kind.ok_or_else(|| ReportError::Internal(format!("no picture {name}")))?;
    let picture = (kind.draw)(record).ok_or_else(|| {
        let names: Vec<&str> = files(record).map(|(name, _)| name).collect();
        ReportError::Unavailable {
            message: format!("--format {name}: this record has no such picture"),
            help: Some(format!(
                "it has {}; {name} is of {}",
                names.join(", "),
                kind.whose
            )),
        }
    })?;
    Ok(picture::render(&picture))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::width;
    use crate::{fixtures, layers};
    use filestone_measure::measure::run_record::{IntervalRecord, RunOutcome, Totals};
    use filestone_plan::plan::{ArrivalsPlan, TargetPlan};
    use filestone_workload::recording::{DistributionRecord, Ledger};

    /// Maximum size of a picture, because it is mailed and archived.
    const BYTES_MAX: usize = 60_000;

    /// Returns all pictures of these records.
    fn drawn(records: &[RunRecord]) -> Vec<(String, String)> {
        let files = records.iter().flat_map(files);
        files.map(|(name, text)| (name.into(), text)).collect()
    }

    fn layers_picture(records: &[RunRecord]) -> (String, String) {
        let picture = layers::picture::picture(records).expect("several replays");
        ("layers.svg".into(), picture::render(&picture))
    }

    /// Checks that a picture is well-formed, within its bounds, and without invalid numbers.
    fn check((name, svg): &(String, String)) {
        let document =
            roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        let root = document.root_element();
        let number = |node: &roxmltree::Node<'_, '_>, key: &str| -> Option<f64> {
            let text = node.attribute(key)?;
            Some(
                text.parse()
                    .unwrap_or_else(|_| panic!("{name}: {key}={text}")),
            )
        };
        let height = number(&root, "height").expect("a height");
        for element in ["title", "desc"] {
            let found = root.children().find(|child| child.has_tag_name(element));
            let text = found.and_then(|child| child.text());
            assert!(
                text.is_some_and(|text| !text.is_empty()),
                "{name}: no {element}"
            );
        }
        for node in root.descendants().filter(roxmltree::Node::is_element) {
            for (keys, end) in [
                (["x", "x1", "x2", "cx"], 800.0),
                (["y", "y1", "y2", "cy"], height),
            ] {
                let found = keys.iter().filter_map(|key| number(&node, key));
                for value in found {
                    assert!((0.0..=end).contains(&value), "{name}: {value} in {node:?}");
                }
            }
            for pair in node.attribute("points").unwrap_or("").split_whitespace() {
                let (x, y) = pair.split_once(',').expect("a pair");
                for (value, end) in [(x, 800.0), (y, height)] {
                    let value: f64 = value.parse().expect("a number");
                    assert!((0.0..=end).contains(&value), "{name}: {pair}");
                }
            }
        }
        assert!(svg.len() < BYTES_MAX, "{name}: {} bytes", svg.len());
        check_texts(name, &document);
    }

    /// Checks that no text leaves the picture or overlaps another.
    fn check_texts(name: &str, document: &roxmltree::Document<'_>) {
        let mut places: Vec<(f64, f64, f64, String)> = Vec::new();
        for node in document
            .descendants()
            .filter(|node| node.has_tag_name("text"))
        {
            let number = |key: &str| {
                node.attribute(key)
                    .and_then(|text| text.parse::<f64>().ok())
            };
            let (x, y) = number("x").zip(number("y")).expect("a place");
            let words = node.text().unwrap_or("").to_string();
            let width = width(&words, number("font-size").unwrap_or(13.0));
            let from = match node.attribute("text-anchor") {
                Some("middle") => x - width / 2.0,
                Some("end") => x - width,
                _ => x,
            };
            let to = from + width;
            assert!(
                from >= -0.1 && to <= 800.1,
                "{name}: {words:?} from {from} to {to}"
            );
            let over = places.iter().find(|other| {
                (other.2 - y).abs() < 10.0 && from < other.1 - 0.1 && to > other.0 + 0.1
            });
            assert!(
                over.is_none(),
                "{name}: {words:?} is over {:?}",
                over.map(|other| &other.3)
            );
            places.push((from, to, y, words));
        }
    }

    #[test]
    fn all_pictures_are_well_formed_and_nothing_is_clipped_or_overlaps() {
        drawn(&fixtures::all()).iter().for_each(check);
        check(&layers_picture(&fixtures::three_layers()));
    }

    #[test]
    fn hostile_names_stay_text() {
        let hostile = format!(
            "</text></desc><script>alert(1)</script>&amp;\"'\u{0}\u{b}\u{ffff}\u{202e}]]>{}",
            "界".repeat(5000)
        );
        let mut records = fixtures::all();
        let others = records.len();
        records.extend(fixtures::three_layers());
        for record in &mut records {
            record.started_at = hostile.clone();
            record.tool.version = hostile.clone();
            match &mut record.plan.target {
                TargetPlan::Nfs3(target) => target.path = hostile.clone(),
                TargetPlan::Local(target) => target.directory = Some(hostile.clone()),
                TargetPlan::Tcp(target) => target.host = Some(hostile.clone()),
                TargetPlan::Smb(target) => target.path = hostile.clone(),
                TargetPlan::Other(target) => target.path = hostile.clone(),
            }
            for host in record.job.iter_mut().flat_map(|job| &mut job.hosts) {
                host.name = hostile.clone();
            }
            if let Some(mix) = record.plan.mix_mut() {
                mix.name = hostile.clone();
            }
            if let Some(replay) = record.plan.replay_mut() {
                replay.loads[0].name = hostile.clone();
            }
        }
        let mut pictures = drawn(&records);
        pictures.push(layers_picture(&records[others..]));
        for picture in &pictures {
            check(picture);
            assert!(!picture.1.contains("<script"), "{}", picture.0);
        }
    }

    #[test]
    fn runs_with_next_to_nothing_in_them_are_drawn() {
        let mut empty = fixtures::plain();
        (empty.totals, empty.intervals, empty.ticks) = (Totals::default(), vec![], vec![]);
        empty.window_ns = 0;
        let mut one_interval = fixtures::plain();
        one_interval.intervals.truncate(1);
        let mut without_success = fixtures::plain();
        for interval in &mut without_success.intervals {
            let ok = interval.ledger.ok;
            interval.ledger = Ledger {
                failed: ok,
                ..Ledger::default()
            };
        }
        let mut single = fixtures::plain();
        let times = DistributionRecord {
            count: 1,
            ..DistributionRecord::default()
        };
        single.totals.response_time_ns = times;
        let mut of_no_length = fixtures::plain();
        of_no_length
            .intervals
            .iter_mut()
            .for_each(|interval| interval.end_ns = interval.start_ns);
        let pictures = drawn(&[empty, one_interval, without_success, single, of_no_length]);
        pictures.iter().for_each(check);
        assert!(pictures[0].1.contains("nothing was measured"));
    }

    #[test]
    fn numbers_beyond_all_reason_are_drawn_within_the_frame() {
        let mut records = fixtures::all();
        for record in &mut records {
            record.end = RunOutcome::Interrupted;
            record.window_ns = u64::MAX;
            record.plan.warm_up_ns = u64::MAX;
            record.plan.arrivals = ArrivalsPlan::Constant {
                offered_load_ops_per_s: f64::MAX,
            };
            record.totals.offered_load_ops_per_s = Some(f64::MAX);
            record.totals.ledger.ok = u64::MAX;
            for times in [
                &mut record.totals.response_time_ns,
                &mut record.totals.service_time_ns,
            ] {
                (times.count, times.max, times.min) = (u64::MAX, u64::MAX, 0);
            }
            for interval in &mut record.intervals {
                interval.end_ns = u64::MAX;
                interval.ledger.failed = u64::MAX;
            }
            for point in record.curve.iter_mut().flat_map(|curve| &mut curve.points) {
                point.response_time_mean_half_width_ns = Some(f64::MAX);
                point.achieved_load_ops_per_s *= 1e-300;
            }
        }
        drawn(&records).iter().for_each(check);
    }

    #[test]
    fn a_long_run_is_thinned() {
        let mut record = fixtures::plain();
        let first = record.intervals[0].clone();
        let intervals = (0..1000).map(|index| IntervalRecord {
            start_ns: index * 1_000_000_000,
            end_ns: (index + 1) * 1_000_000_000,
            ..first.clone()
        });
        record.intervals = intervals.collect();
        record.window_ns = 1000 * 1_000_000_000;
        drawn(&[record]).iter().for_each(check);
    }

    #[test]
    fn a_picture_that_a_record_has_not_is_refused_with_those_that_it_has() {
        let error = named(&fixtures::mix(), "curve.svg").expect_err("no curve");
        let ReportError::Unavailable { help, .. } = error else {
            panic!("{error:?}");
        };
        let help = help.expect("help");
        assert!(help.contains("percentiles.svg, over-time.svg"), "{help}");
        assert!(named(&fixtures::curve(), "percentiles.svg").is_err());
        assert!(first(&fixtures::mix()).is_ok_and(|svg| svg.contains("percentiles")));
    }
}
