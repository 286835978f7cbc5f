//! 100,000 clients that have hardly begun: their table stays fast, and small.

use super::chromium::Browser;
use super::synthetic::Synthetic;
use crate::scenario::Bed;
use crate::times;
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// Largest permitted duration of a task of the page in milliseconds: users notice longer ones.
const TASK_MAX_MS: f64 = 50.0;
/// Number of scrolls. One must have no longer task: a slow page is slow each time, but a host whose
/// processors are busy with other work delays single tasks.
const SCROLLS: u32 = 5;
/// Largest permitted memory of the page's process in MB.
const MEMORY_MAX_MB: u64 = 200;

/// Scrolls for three seconds, from the first row to the last and back, and collects tasks that are long.
const SCROLL: &str = "
const [done] = [arguments[arguments.length - 1]];
const tasks = [];
const seen = new Set();
const observer = new PerformanceObserver((list) => list.getEntries().forEach((entry) => tasks.push(entry.duration)));
observer.observe({ type: 'longtask', buffered: false });
const scroller = document.getElementById('clients');
const end = scroller.scrollHeight - scroller.clientHeight;
const begun = performance.now();
let frames = 0;
const step = () => {
  const share = (performance.now() - begun) / 3000;
  frames += 1;
  scroller.scrollTop = end * (share < 0.5 ? 2 * share : 2 - 2 * share);
  const name = scroller.querySelector('tbody tr')?.dataset.name;
  if (name) seen.add(name);
  if (share < 1) requestAnimationFrame(step);
  else setTimeout(() => { observer.disconnect(); done({ tasks, frames, seen: seen.size, rows: scroller.querySelectorAll('tbody tr').length }); }, 300);
};
requestAnimationFrame(step);
";

pub fn scrolled(bed: &Bed, pictures: Option<&Path>) -> Result<()> {
    let mut fleet = Synthetic::start(100_000)?;
    fleet.interval();
    let browser = Browser::start(&bed.folder)?;
    browser.open(&fleet.link())?;
    browser.until("document.getElementById('clients')?.querySelector('table')?.getAttribute('aria-rowcount') === '100001'")?;
    let mut found = scroll(&browser, &mut fleet)?;
    for _ in 1..SCROLLS {
        if longest_ms(&found) <= TASK_MAX_MS {
            break;
        }
        found = scroll(&browser, &mut fleet)?;
    }
    ensure!(
        longest_ms(&found) <= TASK_MAX_MS,
        "long tasks in each of {SCROLLS} scrolls, in ms: {}",
        found["tasks"]
    );
    ensure!(
        found["rows"].as_u64().unwrap_or(0) < 100,
        "rows that are not seen are there: {found}"
    );
    // Wherever it is scrolled to, the rows come.
    let middle = "document.getElementById('clients').scrollTop = 1500000";
    browser.run(middle)?;
    browser
        .until("document.querySelector('#clients tbody tr')?.dataset.name === 'writers/50000'")?;
    filtered(&browser)?;
    browser.devtools("Performance.enable", &json!({}))?;
    let heap = browser.devtools("Performance.getMetrics", &json!({}));
    let memory = renderer_mb(browser.process())?;
    println!(
        "      the page's process occupies {memory} MB; {}",
        heap_text(heap)
    );
    ensure!(
        memory <= MEMORY_MAX_MB,
        "the page's process occupies {memory} MB"
    );
    browser.run("document.getElementById('fleet').scrollIntoView()")?;
    browser.picture(pictures, "live-100000.png")?;
    browser.close(None)
}

/// Charts are redrawn during the scroll, as in a run.
fn scroll(browser: &Browser, fleet: &mut Synthetic) -> Result<Value> {
    let found = std::thread::scope(|scope| {
        let script = scope.spawn(|| browser.run_async(SCROLL));
        while !script.is_finished() {
            std::thread::sleep(Duration::from_secs(1));
            fleet.interval();
        }
        script.join().expect("no panic")
    })?;
    println!("      {found}");
    Ok(found)
}

fn longest_ms(found: &Value) -> f64 {
    let tasks = found["tasks"].as_array().into_iter().flatten();
    tasks.filter_map(Value::as_f64).fold(0.0, f64::max)
}

fn heap_text(metrics: Result<Value>) -> String {
    let Ok(metrics) = metrics else {
        return "its heap is not told".into();
    };
    let metrics = metrics["metrics"].as_array().cloned().unwrap_or_default();
    let used = metrics
        .iter()
        .find(|metric| metric["name"] == "JSHeapUsedSize");
    let used = used.and_then(|used| used["value"].as_f64()).unwrap_or(0.0);
    format!("its heap {:.1} MB", used / 1e6)
}

/// Checks that the server filters and sorts the rows.
fn filtered(browser: &Browser) -> Result<()> {
    let fill = "const field = document.getElementById('filter-which'); field.value = 'writers[99990..99999]'; \
                field.dispatchEvent(new Event('change'));";
    browser.run(fill)?;
    browser
        .until("document.querySelector('#clients tbody tr')?.dataset.name === 'writers/99990'")?;
    browser.until("document.getElementById('clients').querySelectorAll('tbody tr').length === 10")
}

/// The memory of the browser's process that has the page, in MB: what is its own, and its share of what
/// others have too.
fn renderer_mb(driver: u32) -> Result<u64> {
    let mut parents = std::collections::BTreeMap::new();
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let process = entry.file_name().to_string_lossy().parse().ok();
        if let Some((process, parent)) = process.and_then(|one| Some((one, times::parent(one)?))) {
            parents.insert(process, parent);
        }
    }
    let descends = |process: u32| {
        let mut above = std::iter::successors(Some(process), |one| parents.get(one).copied());
        above.any(|one| one == driver) && process != driver
    };
    let mut most = None;
    for process in parents.keys().copied().filter(|process| descends(*process)) {
        let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        if !String::from_utf8_lossy(&line).contains("--type=renderer") {
            continue;
        }
        let memory =
            std::fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
        let kib = memory.lines().find_map(|line| line.strip_prefix("Pss:"));
        let kib: Option<u64> =
            kib.and_then(|text| text.trim().strip_suffix(" kB")?.trim().parse().ok());
        most = most.max(kib);
    }
    let Some(kib) = most else {
        bail!("no process of the browser has a page");
    };
    kib.checked_div(1000).context("a number")
}
