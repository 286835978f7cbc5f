//! The synthetic loads: the files in `loads/` and the counts in their pages, both generated from
//! the models of this module.

mod models;
mod pattern;
mod replayed;
mod statistics;

use anyhow::{Context, Result};
use clap::Args;
use filestone_workload::text::thousands;
use models::SyntheticLoad;
use statistics::LoadStatistics;
use std::path::Path;

/// Options of `cargo xtask loads`.
#[derive(Debug, Clone, Args)]
pub struct Loads {
    /// Only check that loads/ and docs/loads/ are what the models give now
    #[arg(long)]
    pub check: bool,
}

/// Start marker of the generated part of a page; the next one is the end marker.
const BEGIN: &str = "<!-- made by cargo xtask loads -->\n";
const END: &str = "<!-- end of what is made -->\n";

/// A generated file and its expected text.
struct Product {
    path: String,
    text: String,
}

/// Counts a load after checking each of its lines against a tree in memory.
fn statistics(load: SyntheticLoad, text: &str) -> Result<LoadStatistics> {
    replayed::replay(text).with_context(|| format!("loads/{}.load", load.name()))
}

/// Returns `page` with its generated part replaced.
fn with_made_part(page: &str, part: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{part}\n{END}{after}"))
}

/// Returns all generated files.
fn products(root: &Path) -> Result<Vec<Product>> {
    let mut products = Vec::new();
    let mut rows = Vec::new();
    for load in SyntheticLoad::ALL {
        let text = load.text();
        let statistics = statistics(load, &text)?;
        rows.push((load, text.len(), statistics.clone()));
        products.push(page(
            root,
            format!("docs/loads/{}.md", load.name()),
            &statistics.table(),
        )?);
        products.push(Product {
            path: format!("loads/{}.load", load.name()),
            text,
        });
    }
    products.push(page(root, "loads/README.md".to_owned(), &overview(&rows))?);
    Ok(products)
}

fn page(root: &Path, path: String, part: &str) -> Result<Product> {
    let old = std::fs::read_to_string(root.join(&path))
        .with_context(|| format!("{path}: cannot be read"))?;
    let text = with_made_part(&old, part)
        .with_context(|| format!("{path}: has no place between {BEGIN:?} and {END:?}"))?;
    Ok(Product { path, text })
}

/// Renders a table with one row per load.
fn overview(rows: &[(SyntheticLoad, usize, LoadStatistics)]) -> String {
    let mut table = String::from(
        "| load | operations | fail as expected | bytes read | bytes written | live set | handles at once | size of the text |\n|---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (load, len, statistics) in rows {
        table.push_str(&format!(
            "| [{name}](../docs/loads/{name}.md) | {} | {} | {} | {} | {} | {} | {} |\n",
            thousands(statistics.operations()),
            thousands(statistics.failures()),
            thousands(statistics.bytes_read),
            thousands(statistics.bytes_written),
            thousands(statistics.live_most),
            statistics.open_most,
            thousands(*len as u64),
            name = load.name(),
        ));
    }
    table
}

/// Writes the generated files, or with `--check` lists those that are not current.
pub fn run(options: &Loads) -> Result<bool> {
    let root = filestone_interop::root();
    let mut in_order = true;
    for product in products(&root)? {
        let path = root.join(&product.path);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == product.text) {
            continue;
        }
        if options.check {
            in_order = false;
            eprintln!(
                "error: {}: is not what the model gives now\nhelp: run `cargo xtask loads` and commit the result",
                product.path
            );
        } else {
            std::fs::write(&path, product.text)
                .with_context(|| format!("{}: cannot be written", product.path))?;
            println!("{}", product.path);
        }
    }
    Ok(in_order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(load: SyntheticLoad) -> LoadStatistics {
        statistics(load, &load.text()).expect("every line is true")
    }

    #[test]
    fn the_files_and_pages_are_what_the_models_give() {
        let found = run(&Loads { check: true });
        assert!(found.expect("the models give loads that are true"));
    }

    #[test]
    fn all_loads_together_are_less_than_two_megabytes() {
        let together: usize = SyntheticLoad::ALL
            .iter()
            .map(|load| load.text().len())
            .sum();
        assert!(together < 2_000_000, "{together}");
    }

    #[test]
    fn the_office_stays_within_the_bounds_of_its_page() {
        let office = counted(SyntheticLoad::Office);
        assert!(office.operations() <= 12_000);
        assert!(office.live_most <= 25_000_000, "{}", office.live_most);
        assert!(office.open_most <= 24, "{}", office.open_most);
        // About one operation in eight fails, as expected.
        let in_thousand = office.failures() * 1000 / office.operations();
        assert!((110..=140).contains(&in_thousand), "{in_thousand}");
        // Three bytes are read for two that are written, with more calls.
        let ratio = office.bytes_read * 100 / office.bytes_written;
        assert!((140..=160).contains(&ratio), "{ratio}");
        assert!(office.count("ReadX") > office.count("WriteX"));
    }

    #[test]
    fn the_other_loads_stay_within_the_bounds_of_their_pages() {
        for (load, live, open) in [
            (SyntheticLoad::Build, 10_000_000, 2),
            (SyntheticLoad::Untar, 15_000_000, 1),
            (SyntheticLoad::Mail, 5_000_000, 1),
            (SyntheticLoad::Database, 25_000_000, 6),
        ] {
            let statistics = counted(load);
            assert!(
                statistics.live_most <= live,
                "{load:?} {}",
                statistics.live_most
            );
            assert_eq!(statistics.open_most, open, "{load:?}");
        }
    }

    #[test]
    fn a_line_that_is_not_true_is_found() {
        let good = SyntheticLoad::Mail.text();
        for (from, to) in [
            ("NT_STATUS_OBJECT_NAME_NOT_FOUND", "NT_STATUS_OK"),
            ("Unlink", "Rmdir"),
            (r"cur\m00001", r"cur\n00001"),
            ("ReadX 10", "ReadX 20"),
            ("Flush 1", "Flush 3"),
        ] {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good, "{from} is in it");
            assert!(replayed::replay(&bad).is_err(), "{from} to {to}");
        }
    }

    #[test]
    fn the_made_part_of_a_page_is_replaced_and_the_rest_is_kept() {
        let page = format!("a\n{BEGIN}old\n{END}b\n");
        assert_eq!(
            with_made_part(&page, "new").as_deref(),
            Some(format!("a\n{BEGIN}\nnew\n{END}b\n").as_str())
        );
        assert_eq!(with_made_part("nothing", "new"), None);
    }
}
