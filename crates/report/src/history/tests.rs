use super::*;
use crate::document::page::PageWidth;
use crate::fixtures;
use crate::picture as pictures;
use filestone_measure::comparison::ComparedRun;
use filestone_measure::measure::Caveat;

/// A run of that day with `value` times the usual operations per second.
fn run(day: u32, value: f64) -> ReadRun {
    let mut record = fixtures::plain();
    record.started_at = format!("2026-01-{day:02}T03:00:00Z");
    record.totals.achieved_load_ops_per_s *= value;
    // A figure that was not requested does not repeat.
    let times = &mut record.totals.response_time_ns;
    (times.p50, times.mean) = (
        times.p50 + u64::from(day % 7) * 20_000,
        1e5 * f64::from(1 + day % 5),
    );
    record.totals.client_cpu_ns_per_op *= f64::from(1 + day % 3);
    ReadRun {
        path: format!("nightly/{day:02}-abc/run.json").into(),
        run: ComparedRun::from(&record),
    }
}

/// Twenty nights, from the fourteenth on 5 % less.
fn nights() -> Vec<ReadRun> {
    let level = |day: u32| if day < 14 { 1.0 } else { 0.95 };
    let noise = |day: u32| f64::from((day * 7) % 5) / 500.0;
    (1..=20)
        .map(|day| run(day, level(day) + noise(day)))
        .collect()
}

fn achieved() -> Option<RunFigure> {
    "achieved".parse().ok()
}

#[test]
fn a_change_for_the_worse_is_named_with_its_night() {
    let mut runs = nights();
    runs.reverse();
    let told = HistoryReport::of(runs, &[], None).expect("runs");
    assert_eq!(told.history.figure, achieved().expect("a figure"));
    assert!(told.history.is_worse());
    insta::assert_snapshot!(report(&told).text(PageWidth::default()));
    insta::assert_snapshot!(document::csv(&told));
}

#[test]
fn the_picture_has_its_levels_and_the_change() {
    let told = HistoryReport::of(nights(), &[], achieved()).expect("runs");
    let svg = pictures::render(&picture::picture(&told));
    assert!(
        svg.contains("worse") && svg.contains("percent of the first level"),
        "{svg}"
    );
    roxmltree::Document::parse(&svg).expect("XML");
    let document = serde_json::to_value(document::of(&told)).expect("JSON");
    let change = &document["changes"][0];
    assert_eq!(change["at"], 13);
    let ends = [&change["earliest"], &change["latest"]].map(serde_json::Value::as_u64);
    assert!(ends[0] <= Some(13) && ends[1] >= Some(13), "{change}");
    assert_eq!(
        change["latest_started_at"],
        document["runs"][ends[1].expect("a number") as usize]["started_at"]
    );
    assert_eq!(document["levels"][1]["runs"], 7);
}

#[test]
fn runs_of_another_plan_are_left_out_with_a_note() {
    let mut runs = nights();
    runs[3].run.plan.clients = 7;
    runs[4].run.plan.clients = 7;
    runs[5].run.totals.ledger.ok = 0;
    runs[9].run.host.kernel = "Linux 7".into();
    // A run that does not count is ignored, also as the reference for the plan.
    let newest = &mut runs[19].run;
    newest.plan.clients = 5;
    newest.caveats.push(Caveat::TargetLost {
        message: "gone".into(),
    });
    let told = HistoryReport::of(runs, &[], achieved()).expect("runs");
    assert_eq!(told.runs.len(), 16);
    let notes = told.notes.join("\n");
    insta::assert_snapshot!(notes, @r"
    1 run left out: no operation ended well
    1 run left out: does not count (the target was lost)
    2 runs left out: not like the newest: plan: clients: 7 against 1
    the host changed at 2026-01-10T03:00:00Z: a processor, 2 processors, Linux 6.12, then a processor, 2 processors, Linux 7
    the host changed at 2026-01-11T03:00:00Z: a processor, 2 processors, Linux 7, then a processor, 2 processors, Linux 6.12
    ");
}

#[test]
fn what_has_no_figure_over_time_is_refused() {
    let none = |mut runs: Vec<ReadRun>, figure: Option<RunFigure>, change: fn(&mut ReadRun)| {
        runs.iter_mut().for_each(change);
        let error = HistoryReport::of(runs, &[], figure).expect_err("nothing to show");
        let ReportError::Unavailable { message, .. } = error else {
            panic!("{error:?}");
        };
        message
    };
    let all_failed = none(nights(), None, |read| read.run.totals.ledger.ok = 0);
    assert!(all_failed.contains("no run with a figure"), "{all_failed}");
    let errors = "errors".parse().ok();
    let lacking = none(nights(), errors, |_| {});
    assert!(lacking.starts_with("errors: no run has it"), "{lacking}");
    let few = HistoryReport::of(vec![run(1, 1.0), run(2, 1.0)], &[], achieved()).expect("two runs");
    assert!(heading(&few).contains("too few"), "{}", heading(&few));
    let page = report(&few).text(PageWidth::default());
    assert!(
        !page.contains("E-divisive") && !page.contains("\n\n\n"),
        "{page}"
    );
}
