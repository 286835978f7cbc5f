//! A fleet of 500: a group is selected and its rate changed, another is quiesced, a client is stopped by
//! keyboard alone; the page's figures are those of the record.

use super::chromium::Browser;
use super::{PATIENCE, Watched, block_on};
use crate::interop::checks::Bed;
use anyhow::{Context, Result, ensure};
use fantoccini::{Locator, key::Key};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// How long the fleet runs, in seconds: as long as a person needs who knows what to do, and a slow host.
const SECONDS: u32 = 40;

pub fn changed(bed: &Bed, pictures: Option<&Path>) -> Result<()> {
    let kept = bed.folder.join("fleet");
    let kept_text = kept.to_string_lossy().into_owned();
    let duration = format!("{SECONDS}s");
    let words = [
        "fleet",
        "--readers",
        "250",
        "--writers",
        "250",
        "nfs:",
        "--size",
        "4K",
        "--file-size",
        "16K",
        "--rate",
        "4ops/s",
        "--connect-rate",
        "500",
        "-d",
        &duration,
        "-o",
        &kept_text,
    ];
    let watched = Watched::start(bed, "fleet", &words, &[])?;
    block_on(async {
        let browser = Browser::start(&bed.folder).await?;
        browser.client.goto(&watched.link).await?;
        change_by_mouse(&browser, pictures).await?;
        change_by_keyboard(&browser).await?;
        narrow_and_dark(&browser, pictures).await?;
        browser
            .until("!document.getElementById('over').hidden")
            .await?;
        browser
            .until("!document.getElementById('report-link').hidden")
            .await?;
        watched.ended(PATIENCE)?;
        let text = std::fs::read_to_string(kept.join("run.json"))?;
        let record: Value = serde_json::from_str(&text)?;
        same_as_record(&browser, &record).await?;
        browser.picture(pictures, "live-over.png").await?;
        let complaints = browser.complaints()?;
        ensure!(complaints.is_empty(), "the console has {complaints:?}");
        browser.close().await
    })
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

async fn click(browser: &Browser, selector: &str) -> Result<()> {
    let element = browser
        .client
        .wait()
        .for_element(Locator::Css(selector))
        .await?;
    element
        .click()
        .await
        .with_context(|| format!("{selector} cannot be clicked"))
}

/// A rate is set for one group, and another is quiesced.
async fn change_by_mouse(browser: &Browser, pictures: Option<&Path>) -> Result<()> {
    browser
        .until(&format!("({}) === '250 running'", column("writers", 3)))
        .await?;
    browser
        .until("document.querySelectorAll('#clients tbody tr').length > 10")
        .await?;
    browser.until("(parseFloat(document.getElementById('now-load').textContent.replace(',', '')) || 0) > 1000").await?;
    if pictures.is_some() {
        // Something to be seen in the charts.
        tokio::time::sleep(Duration::from_secs(5)).await;
    }
    click(browser, "#groups input[aria-label='choose writers']").await?;
    let value = browser.client.find(Locator::Id("value")).await?;
    value.send_keys("1ops/s").await?;
    click(browser, "#set").await?;
    browser.until("document.querySelector('.outcome').textContent.includes('250 of 250 clients would be told')").await?;
    browser.picture(pictures, "live-fleet-change.png").await?;
    click(browser, "#do-it").await?;
    browser.until("document.querySelector('.outcome').textContent.includes('Change 1: 250 of 250 clients were told')").await?;
    click(browser, "#groups input[aria-label='choose writers']").await?;
    click(browser, "#groups input[aria-label='choose readers']").await?;
    click(browser, "#quiesce").await?;
    click(browser, "#do-it").await?;
    browser
        .until("document.querySelector('.outcome').textContent.includes('Change 2: 250 of 250')")
        .await?;
    browser
        .until(&format!("({}) === '250 stopped'", column("readers", 3)))
        .await?;
    // Of 250 writers with one operation a second each.
    browser.until("(parseFloat(document.getElementById('now-load').textContent.replace(',', '')) || 9e9) < 400").await?;
    browser
        .until("document.querySelectorAll('#change-rows tr').length === 2")
        .await?;
    browser.client.execute("scrollTo(0, 0)", vec![]).await?;
    browser.picture(pictures, "live.png").await?;
    let fleet = browser.client.find(Locator::Id("fleet")).await?;
    browser
        .client
        .execute("document.getElementById('fleet').scrollIntoView()", vec![])
        .await?;
    ensure!(fleet.is_displayed().await?, "the fleet is not seen");
    browser.picture(pictures, "live-fleet.png").await
}

/// Whatever has the focus.
async fn focused(browser: &Browser) -> Result<String> {
    let id = browser.value("document.activeElement?.id ?? ''").await?;
    Ok(id.as_str().unwrap_or_default().to_owned())
}

/// Tabs on until this has the focus.
async fn tab_to(browser: &Browser, id: &str) -> Result<()> {
    // Rows of clients have a box each.
    for _ in 0..300 {
        browser.key(&Key::Tab.to_string()).await?;
        if focused(browser).await? == id {
            return Ok(());
        }
    }
    anyhow::bail!("#{id} is not reached with the Tab key");
}

/// One client is stopped without a mouse.
async fn change_by_keyboard(browser: &Browser) -> Result<()> {
    browser
        .client
        .execute("document.activeElement.blur(); scrollTo(0, 0)", vec![])
        .await?;
    tab_to(browser, "which").await?;
    browser
        .client
        .execute("document.getElementById('which').select()", vec![])
        .await?;
    browser.key("writers/7").await?;
    tab_to(browser, "stop").await?;
    browser.key(&Key::Enter.to_string()).await?;
    browser
        .until("document.activeElement.id === 'do-it'")
        .await?;
    browser.key(&Key::Enter.to_string()).await?;
    browser.until("document.querySelector('.outcome').textContent.includes('Change 3: 1 of 1 clients were told')").await?;
    browser
        .until(&format!("({}).includes('1 stopped')", column("writers", 3)))
        .await
}

async fn narrow_and_dark(browser: &Browser, pictures: Option<&Path>) -> Result<()> {
    browser.look(400, 900, "dark")?;
    browser
        .until("document.documentElement.scrollWidth <= 400")
        .await?;
    browser
        .until("getComputedStyle(document.body).backgroundColor === 'rgb(21, 24, 28)'")
        .await?;
    browser.client.execute("scrollTo(0, 0)", vec![]).await?;
    browser.picture(pictures, "live-narrow-dark.png").await?;
    browser.look(1600, 1000, "light")?;
    browser
        .until("document.documentElement.scrollWidth <= 1600")
        .await?;
    browser.look(1280, 1000, "light")
}

/// Digits in groups of three, as the page writes them.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The page tells what the record has.
async fn same_as_record(browser: &Browser, record: &Value) -> Result<()> {
    let ledger = &record["totals"]["ledger"];
    let count = |name: &str| ledger[name].as_u64().unwrap_or(0);
    let ok = grouped(count("ok"));
    let failed = count("failed") + count("timed_out") + count("disconnected") + count("skipped");
    for (selector, wanted) in [("#sum-ok", ok.clone()), ("#sum-errors", grouped(failed))] {
        let text = browser.text(selector).await?;
        ensure!(
            text == wanted,
            "{selector} is {text:?}, and the record has {wanted:?}"
        );
    }
    let answer = browser.text("#answer").await?;
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
        let text = browser.value(&column(name, 2)).await?;
        ensure!(
            text == grouped(written).as_str(),
            "{name}: {text} is not {written}"
        );
    }
    Ok(())
}
