//! The queries of the dashboard.

use crate::tidy;
use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Path of the dashboard.
const PATH: &str = "docs/grafana/filestone.json";

/// Queries of a dashboard, with panel titles and legends.
pub struct Dashboard(Vec<Query>);

/// A query.
pub struct Query {
    pub panel: String,
    pub legend: String,
    text: String,
}

impl Dashboard {
    pub fn read() -> Result<Self> {
        let path = tidy::root()?.join(PATH);
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let document: Value = serde_json::from_str(&text).context(PATH)?;
        let panels = document["panels"].as_array().context("no panels")?;
        let mut queries = Vec::new();
        for panel in panels {
            let targets = panel["targets"].as_array();
            for target in targets.into_iter().flatten() {
                let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                queries.push(Query {
                    panel: word(&panel["title"]),
                    legend: word(&target["legendFormat"]),
                    text: word(&target["expr"]),
                });
            }
        }
        Ok(Self(queries))
    }

    /// Returns all queries.
    pub fn queries(&self) -> &[Query] {
        &self.0
    }

    /// Returns the query with this legend in the panel with this title.
    pub fn query(&self, panel: &str, legend: &str) -> Result<&Query> {
        let found = self
            .0
            .iter()
            .find(|query| (query.panel.as_str(), query.legend.as_str()) == (panel, legend));
        match found {
            Some(query) => Ok(query),
            None => bail!("{PATH}: \"{panel}\" has no query \"{legend}\""),
        }
    }
}

impl Query {
    /// Returns the query as Grafana sends it, with everything selected and rates over this number
    /// of seconds.
    pub fn over(&self, seconds: u64) -> String {
        self.text
            .replace("$__rate_interval", &format!("{seconds}s"))
            .replace("$instance", ".*")
            .replace("$operation", ".*")
    }
}
