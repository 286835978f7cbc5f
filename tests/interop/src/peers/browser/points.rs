//! Points of a curve and of a trial as they come: drawn with their intervals, and read by keyboard. Then a
//! real sweep, whose page offers its report.

use super::chromium::Browser;
use super::synthetic::Served;
use super::webdriver::RIGHT;
use super::{LOOK_EVERY, PATIENCE, Watched};
use crate::scenario::Bed;
use anyhow::{Result, bail, ensure};
use filestone_live::event::{Event, Point, PointFigure, RunBegun};
use filestone_plan::plan::{LocalTarget, Plan, ReplayPlan, TargetPlan, WorkloadPlan};
use filestone_workload::operation::OpKind;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Returns the number of pixels of a picture with the colour of its first line: 0 if nothing is drawn.
const PIXELS_OF_FIRST_LINE: &str = "(() => {
  const probe = document.createElement('span');
  probe.style.setProperty('color', 'var(--first)');
  document.body.append(probe);
  const [red, green, blue] = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
  probe.remove();
  const canvas = document.querySelectorAll('#points canvas')[PLACE];
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let at = 0; at < data.length; at += 4) if (data[at] === red && data[at + 1] === green && data[at + 2] === blue && data[at + 3] === 255) count += 1;
  return count;
})()";

pub fn drawn(bed: &Bed, pictures: Option<&Path>) -> Result<()> {
    let served = Served::start("points that come")?;
    start(&served, 1);
    let browser = Browser::start(&bed.folder)?;
    browser.open(&served.link())?;
    curve(&browser, &served)?;
    trial(&browser, &served)?;
    looks(&browser, pictures)?;
    report_of_a_sweep(bed, &browser)?;
    // Chromium warns of that because this test reads pixels.
    browser.close(Some("willReadFrequently"))
}

fn start(served: &Served, number: u32) {
    let target = TargetPlan::Local(LocalTarget { directory: None });
    let workload = WorkloadPlan::LoadFile(ReplayPlan::new(vec![], vec![OpKind::GetAttr]));
    served.feed.publish(Event::RunBegun(Arc::new(RunBegun {
        number,
        name: String::new(),
        plan: Plan::new("replay", target, workload, 1),
    })));
}

fn figure(name: &str, unit: &str, value: f64, half: Option<f64>) -> PointFigure {
    PointFigure {
        name: name.into(),
        unit: unit.into(),
        value,
        low: half.map(|half| value - half),
        high: half.map(|half| value + half),
    }
}

/// A point at this offered load: what was achieved, and the mean and p99 in ms.
fn load_point(number: u32, offered: f64, part: &str, [achieved, mean, p99]: [f64; 3]) -> Event {
    Event::Point(Arc::new(Point {
        series: "load points, run 1".into(),
        name: format!("{number}: {offered:.0}/s, {part}"),
        part: part.into(),
        at: Some(offered),
        axis: "offered load".into(),
        runs: 1,
        figures: vec![
            figure("achieved", "ops/s", achieved, None),
            figure("mean", "ns", mean * 1e6, Some(mean * 1e5)),
            figure("p99", "ns", p99 * 1e6, None),
        ],
    }))
}

/// Returns one side of a trial, whose rate is known to ± 2 %.
fn side(name: &str, runs: u32, rate: f64) -> Event {
    Event::Point(Arc::new(Point {
        series: "points, with 95 % intervals".into(),
        name: name.into(),
        part: String::new(),
        at: None,
        axis: "point".into(),
        runs,
        figures: vec![
            figure("achieved_load", "ops/s", rate, Some(0.02 * rate)),
            figure("response_time.p50", "ns", 2e6, Some(1e5)),
            figure("response_time.p99", "ns", 9e6, Some(5e5)),
        ],
    }))
}

/// Goes to the plot with this place, and to its next point; what a screen reader says of that.
fn read_next(browser: &Browser, place: usize) -> Result<String> {
    let focus = format!("document.querySelectorAll('#points .plot')[{place}].focus()");
    browser.run(&focus)?;
    browser.type_keys(RIGHT)?;
    let spoken = format!(
        "document.querySelectorAll('#points .plot')[{place}].parentElement.querySelectorAll('.still-off')[{place}].textContent"
    );
    browser.until(&format!("({spoken}) !== ''"))?;
    browser.string(&spoken)
}

fn is_drawn(browser: &Browser, place: usize) -> Result<()> {
    let count = PIXELS_OF_FIRST_LINE.replace("PLACE", &place.to_string());
    browser.until(&format!("({count}) > 20"))
}

fn holds(told: &str, wanted: &str) -> Result<()> {
    ensure!(told.contains(wanted), "{told:?} lacks {wanted:?}");
    Ok(())
}

/// Publishes points one by one: the point that the user reads stays selected.
fn curve(browser: &Browser, served: &Served) -> Result<()> {
    let point = |number, offered, phase, figures| {
        let point = load_point(number, offered, phase, figures);
        served.feed.publish(point);
    };
    point(1, 8000.0, "looking for the peak", [4100.0, 30.0, 80.0]);
    point(2, 1000.0, "upwards", [1000.0, 1.0, 2.0]);
    browser.until("document.querySelectorAll('#points .plot').length === 2")?;
    is_drawn(browser, 0)?;
    is_drawn(browser, 1)?;
    let told = read_next(browser, 1)?;
    holds(&told, "mean: 1.00 ms (900 µs to 1.10 ms) at 1,000/s")?;
    point(3, 2000.0, "upwards", [1990.0, 2.0, 5.0]);
    point(4, 4000.0, "upwards", [3600.0, 6.0, 20.0]);
    point(5, 2000.0, "downwards", [1980.0, 2.5, 6.0]);
    browser.until("document.querySelectorAll('#points tbody tr').length === 5")?;
    let is_still_there = "document.activeElement === document.querySelectorAll('#points .plot')[1]";
    browser.until(is_still_there)?;
    let told = read_next(browser, 0)?;
    holds(&told, "achieved: 1,000/s at 1,000/s")
}

/// A side is known better with each run.
fn trial(browser: &Browser, served: &Served) -> Result<()> {
    start(served, 2);
    served.feed.publish(side("A", 1, 1000.0));
    browser.until("document.querySelectorAll('#points .plot').length === 4")?;
    served.feed.publish(side("B", 1, 1100.0));
    served.feed.publish(side("A", 2, 1010.0));
    let rows = "[...document.querySelectorAll('#points table')].pop().textContent";
    browser.until(&format!("{rows}.includes('1,010/s (989.8/s to 1,030/s)')"))?;
    is_drawn(browser, 2)?;
    is_drawn(browser, 3)
}

fn looks(browser: &Browser, pictures: Option<&Path>) -> Result<()> {
    let to_points = "document.getElementById('points').scrollIntoView()";
    for (name, width, ground) in [
        ("live-points.png", 1280, "light"),
        ("live-points-dark.png", 1280, "dark"),
        ("live-points-narrow.png", 400, "light"),
    ] {
        browser.look(width, 1600, ground)?;
        browser.run(to_points)?;
        browser.until("document.documentElement.scrollWidth <= innerWidth")?;
        is_drawn(browser, 2)?;
        browser.picture(pictures, name)?;
    }
    browser.look(1280, 1000, "light")
}

fn report_of_a_sweep(bed: &Bed, browser: &Browser) -> Result<()> {
    let line = "sweep --param in-flight=1,2 --pause 0s --live -- probe null -d 1s --warm-up 1s";
    let watched = Watched::start(bed, "sweep", line)?;
    browser.open(&watched.link)?;
    browser.until("document.querySelectorAll('#points tbody tr').length === 2")?;
    browser.until("!document.getElementById('report-link').hidden")?;
    watched.ended(PATIENCE)?;
    let text = saved(bed, browser)?;
    ensure!(
        text.contains("over in-flight"),
        "the report of the sweep does not tell what was swept"
    );
    Ok(())
}

/// Returns the file that the link to the report saves.
fn saved(bed: &Bed, browser: &Browser) -> Result<String> {
    let folder = bed.folder.join("saved");
    std::fs::create_dir(&folder)?;
    let to = json!({ "behavior": "allow", "downloadPath": folder });
    browser.devtools("Page.setDownloadBehavior", &to)?;
    let click = "document.getElementById('report-link').click()";
    browser.run(click)?;
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            // Until it is whole, it has another name.
            if path
                .extension()
                .is_some_and(|extension| extension == "html")
            {
                return Ok(std::fs::read_to_string(path)?);
            }
        }
        std::thread::sleep(LOOK_EVERY);
    }
    bail!("the link saves nothing")
}
