//! A fleet of 500: a group is selected and its rate changed, another is quiesced, a client is stopped by
//! keyboard alone; the page's figures are those of the record.

use super::chromium::Browser;
use super::webdriver::{ENTER, TAB};
use super::{PATIENCE, Watched};
use crate::scenario::Bed;
use anyhow::{Result, ensure};
use filestone_workload::text::thousands;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Duration of the fleet in seconds: enough for all changes, also on a slow host.
const SECONDS: u32 = 40;

pub fn changed(bed: &Bed, pictures: Option<&Path>) -> Result<()> {
    let kept = bed.folder.join("fleet");
    let line = format!(
        "fleet --readers 250 --writers 250 nfs: --io-size 4K --file-size 16K --rate 4ops/s \
         --connect-rate 500 -d {SECONDS}s -o {} --live",
        kept.display()
    );
    let watched = Watched::start(bed, "fleet", &line)?;
    let browser = Browser::start(&bed.folder)?;
    browser.open(&watched.link)?;
    change_by_mouse(&browser, pictures)?;
    change_by_keyboard(&browser)?;
    narrow_and_dark(&browser, pictures)?;
    browser.until("!document.getElementById('over').hidden")?;
    browser.until("!document.getElementById('report-link').hidden")?;
    watched.ended(PATIENCE)?;
    let text = std::fs::read_to_string(kept.join("run.json"))?;
    let record: Value = serde_json::from_str(&text)?;
    same_as_record(&browser, &record)?;
    browser.picture(pictures, "live-over.png")?;
    browser.close(None)
}

const ROW_OF: &str =
    "[...document.querySelectorAll('#groups tbody tr')].find((row) => row.dataset.name === 'NAME')";

/// The text of a group's column.
fn column(group: &str, column: u32) -> String {
    format!(
        "{}.cells[{column}].textContent",
        ROW_OF.replace("NAME", group)
    )
}

/// A rate is set for one group, and another is quiesced.
fn change_by_mouse(browser: &Browser, pictures: Option<&Path>) -> Result<()> {
    browser.until(&format!("({}) === '250 running'", column("writers", 3)))?;
    browser.until("document.querySelectorAll('#clients tbody tr').length > 10")?;
    browser.until("(parseFloat(document.getElementById('now-load').textContent.replace(',', '')) || 0) > 1000")?;
    if pictures.is_some() {
        // Something to be seen in the charts.
        std::thread::sleep(Duration::from_secs(5));
    }
    browser.click("#groups input[aria-label='choose writers']")?;
    browser.click("#value")?;
    browser.type_keys("1ops/s")?;
    browser.click("#set")?;
    browser.until("document.querySelector('.outcome').textContent.includes('250 of 250 clients would be told')")?;
    browser.picture(pictures, "live-fleet-change.png")?;
    browser.click("#do-it")?;
    browser.until("document.querySelector('.outcome').textContent.includes('Change 1: 250 of 250 clients were told')")?;
    browser.click("#groups input[aria-label='choose writers']")?;
    browser.click("#groups input[aria-label='choose readers']")?;
    browser.click("#quiesce")?;
    browser.click("#do-it")?;
    browser
        .until("document.querySelector('.outcome').textContent.includes('Change 2: 250 of 250')")?;
    browser.until(&format!("({}) === '250 stopped'", column("readers", 3)))?;
    // Of 250 writers with one operation a second each.
    browser.until("(parseFloat(document.getElementById('now-load').textContent.replace(',', '')) || 9e9) < 400")?;
    browser.until("document.querySelectorAll('#change-rows tr').length === 2")?;
    browser.run("scrollTo(0, 0)")?;
    browser.picture(pictures, "live.png")?;
    browser.run("document.getElementById('fleet').scrollIntoView()")?;
    ensure!(browser.is_displayed("#fleet")?, "the fleet is not seen");
    browser.picture(pictures, "live-fleet.png")
}

/// Tabs on until this has the focus.
fn tab_to(browser: &Browser, id: &str) -> Result<()> {
    // Rows of clients have a box each.
    for _ in 0..300 {
        browser.type_keys(TAB)?;
        if browser.string("document.activeElement?.id")? == id {
            return Ok(());
        }
    }
    anyhow::bail!("#{id} is not reached with the Tab key");
}

/// Stops one client without a mouse.
fn change_by_keyboard(browser: &Browser) -> Result<()> {
    browser.run("document.activeElement.blur(); scrollTo(0, 0)")?;
    tab_to(browser, "which")?;
    browser.run("document.getElementById('which').select()")?;
    browser.type_keys("writers/7")?;
    tab_to(browser, "stop")?;
    browser.type_keys(ENTER)?;
    browser.until("document.activeElement.id === 'do-it'")?;
    browser.type_keys(ENTER)?;
    browser.until("document.querySelector('.outcome').textContent.includes('Change 3: 1 of 1 clients were told')")?;
    browser.until(&format!("({}).includes('1 stopped')", column("writers", 3)))
}

fn narrow_and_dark(browser: &Browser, pictures: Option<&Path>) -> Result<()> {
    browser.look(400, 900, "dark")?;
    browser.until("document.documentElement.scrollWidth <= 400")?;
    browser.until("getComputedStyle(document.body).backgroundColor === 'rgb(21, 24, 28)'")?;
    browser.run("scrollTo(0, 0)")?;
    browser.picture(pictures, "live-narrow-dark.png")?;
    browser.look(1600, 1000, "light")?;
    browser.until("document.documentElement.scrollWidth <= 1600")?;
    browser.look(1280, 1000, "light")
}

/// The page tells what the record has.
fn same_as_record(browser: &Browser, record: &Value) -> Result<()> {
    let ledger = &record["totals"]["ledger"];
    let count = |name: &str| ledger[name].as_u64().unwrap_or(0);
    let ok = thousands(count("ok"));
    let failed = count("failed") + count("timed_out") + count("disconnected") + count("skipped");
    for (selector, wanted) in [("#sum-ok", ok.clone()), ("#sum-errors", thousands(failed))] {
        let text = browser.text(selector)?;
        ensure!(
            text == wanted,
            "{selector} is {text:?}, and the record has {wanted:?}"
        );
    }
    let answer = browser.text("#answer")?;
    ensure!(
        answer.contains(&format!("{ok} succeeded")),
        "{answer:?} lacks {ok:?}"
    );
    let changes = record["fleet"]["changes"].as_array().map_or(0, Vec::len);
    ensure!(changes == 3, "the record has {changes} changes, not 3");
    let files = &record["fleet"]["groups"];
    for group in files.as_array().into_iter().flatten() {
        let name = group["name"].as_str().unwrap_or_default();
        let written = group["clients"].as_u64().unwrap_or(0);
        let text = browser.value(&column(name, 2))?;
        ensure!(
            text == thousands(written).as_str(),
            "{name}: {text} is not {written}"
        );
    }
    Ok(())
}
