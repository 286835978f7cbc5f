//! The live page: the styles and components of the report, and the scripts that fill them during a
//! run. The page contains no data of a run; it requests all data.

use super::document::{STYLE, UPLOT_STYLE, footer, hash, metas, script};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Scripts, ordered so that none needs a later one before it runs.
const SCRIPTS: [&str; 6] = [
    include_str!("assets/live/stream.js"),
    include_str!("assets/live/run.js"),
    include_str!("assets/live/charts.js"),
    include_str!("assets/live/points.js"),
    include_str!("assets/live/fleet.js"),
    include_str!("assets/live/live.js"),
];
const LIVE_STYLE: &str = include_str!("assets/live/live.css");

/// Returns the page and its Content-Security-Policy: it may only load data from its own server.
pub fn page() -> (String, String) {
    let script = script(&SCRIPTS);
    let style = format!("{UPLOT_STYLE}\n{STYLE}\n{LIVE_STYLE}");
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; connect-src 'self'; img-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        hash(&script),
        hash(&style)
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                (metas())
                title { "live – filestone" }
                style { (PreEscaped(&style)) }
            }
            body {
                a.skip href="#content" { "Skip to the run" }
                (head())
                main #content tabindex="-1" {
                    (over())
                    (verdict())
                    (now())
                    (over_time())
                    (fleet())
                    (tables())
                }
                (footer("Served"))
                script { (PreEscaped(&script)) }
            }
        }
    };
    (page.into_string(), policy)
}

fn head() -> Markup {
    html! {
        header {
            h1 #target { "filestone, live" }
            p.origin #command {}
            div.status {
                span #phase role="status" { "waiting for the run" }
                progress #progress max="1" aria-label="how far the run is" {}
                span.origin #connection role="status" { "connecting" }
            }
            ul.notes #remarks {}
            noscript { p { "This page needs scripts: it shows what happens while it happens." } }
        }
    }
}

fn over() -> Markup {
    html! {
        div #over role="status" hidden {
            p { strong { "The run is over. " } "This page keeps what it has, and is gone when it is closed." }
            p { span #over-where {} " " a #report-link download="report.html" hidden { "Save the report" } }
        }
    }
}

fn section(id: &str, heading: &str, is_hidden: bool, content: Markup) -> Markup {
    let heading_id = format!("{id}-heading");
    html! {
        section id=(id) aria-labelledby=(heading_id) hidden[is_hidden] {
            h2 id=(heading_id) { (heading) }
            (content)
        }
    }
}

fn verdict() -> Markup {
    section(
        "so-far",
        "Verdict so far",
        false,
        html! { div.verdict #verdict { p { "Nothing has been measured yet." } } },
    )
}

/// Returns figures of the last interval, of the whole run up to now, and of the load generator.
fn now() -> Markup {
    let tile = |id: &str, name: &str| {
        html! { div { dt { (name) } dd id=(id) { "–" } } }
    };
    section(
        "now",
        "Now",
        false,
        html! {
            dl.tiles {
                (tile("now-load", "succeeded"))
                (tile("now-p50", "response time p50"))
                (tile("now-p99", "response time p99"))
                (tile("now-max", "slowest"))
                (tile("now-goodput", "file data"))
                (tile("sum-ok", "succeeded so far"))
                (tile("sum-errors", "not succeeded so far"))
                (tile("own-busy", "generator: busy"))
                (tile("own-late", "generator: late, p99"))
                (tile("own-memory", "generator: memory"))
            }
        },
    )
}

fn over_time() -> Markup {
    section(
        "over-time",
        "Load and response time",
        false,
        html! { figure.chart #over-time-charts {} },
    )
}

fn fleet() -> Markup {
    section("fleet", "Fleet", true, html! { div #fleet-parts {} })
}

fn table(body: &str, heads: &[(&str, bool)]) -> Markup {
    html! {
        div.wide tabindex="0" role="region" aria-label=(body) {
            table {
                thead { tr { @for (head, is_words) in heads { th.words[*is_words] scope="col" { (head) } } } }
                tbody id=(body) {}
            }
        }
    }
}

fn tables() -> Markup {
    let operations = [
        ("operation", true),
        ("succeeded", false),
        ("did not", false),
        ("skipped", false),
        ("p50 now", false),
        ("p99 now", false),
        ("file data", false),
    ];
    let failures = [("operation", true), ("failure", true), ("count", false)];
    let server = [("read from", true), ("what", true), ("lately", false)];
    let changes = [("change", false), ("s", false), ("what", true)];
    let steps = [
        ("step", false),
        ("clients", false),
        ("succeeded", false),
        ("worst p99", false),
    ];
    html! {
        (section("server", "Server", true, table("server-rows", &server)))
        (section("changes", "Changes", true, table("change-rows", &changes)))
        (section("steps", "Steps of the ramp", true, table("step-rows", &steps)))
        (section("points", "Points so far", true, html! { div #points-parts {} }))
        (section("operations", "Operations", false, table("operation-rows", &operations)))
        (section("failures", "Errors", true, table("failure-rows", &failures)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_loads_nothing_from_elsewhere_and_runs_no_script_but_its_own() {
        let (html, policy) = page();
        assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"));
        assert!(policy.contains("connect-src 'self'"));
        assert_eq!(html.matches("<script>").count(), 1);
        assert_eq!(html.matches("<style>").count(), 1);
        for elsewhere in ["src=", "@import", "url(http", " onclick", " style=\""] {
            assert!(!html.contains(elsewhere), "{elsewhere}");
        }
    }

    #[test]
    fn what_scripts_look_for_by_name_is_there() {
        let (html, _) = page();
        let script = script(&SCRIPTS);
        let named = script.split("byId(\"").skip(1);
        for name in named.filter_map(|rest| rest.split('"').next()) {
            assert!(html.contains(&format!("id=\"{name}\"")), "{name}");
        }
    }

    /// Returns the global declarations of a script, which all joined scripts share.
    fn declared(script: &str) -> impl Iterator<Item = &str> {
        let words = ["const ", "let ", "class ", "function ", "async function "];
        script.lines().filter_map(move |line| {
            let rest = words.iter().find_map(|word| line.strip_prefix(word))?;
            let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
            rest.split(|letter| !is_part(letter)).next()
        })
    }

    #[test]
    fn a_name_is_declared_once_or_no_script_runs_at_all() {
        use crate::html::document::{COMPONENTS, SCRIPT};
        for scripts in [&SCRIPTS[..], &[SCRIPT]] {
            let scripts = COMPONENTS.iter().chain(scripts);
            let mut names: Vec<&str> = scripts.flat_map(|script| declared(script)).collect();
            assert!(names.len() > 50, "{names:?}");
            names.sort_unstable();
            let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
            assert_eq!(twice, None);
        }
    }
}
