//! Counts of a load's content.

use filestone_workload::text::thousands;
use std::collections::BTreeMap;

/// Counts of a load's content.
#[derive(Debug, Clone, Default)]
pub struct LoadStatistics {
    /// By verb: number of operations, and of those that fail as expected.
    pub verbs: BTreeMap<String, (u64, u64)>,
    /// Expected failures by status.
    pub statuses: BTreeMap<String, u64>,
    pub bytes_read: u64,
    pub bytes_written: u64,
    /// Largest total size of all files, in bytes.
    pub live_most: u64,
    /// Largest number of files at a time.
    pub files_most: u64,
    /// Largest number of directories at a time, including the client's.
    pub directories_most: u64,
    /// Largest size of a file, in bytes.
    pub file_longest: u64,
    /// Largest number of handles open at a time.
    pub open_most: u64,
    /// Largest number of path components below the client's directory.
    pub depth_most: u64,
}

impl LoadStatistics {
    pub fn add(&mut self, verb: &str, status: &str) {
        let (count, failed) = self.verbs.entry(verb.to_owned()).or_default();
        *count += 1;
        if status != "NT_STATUS_OK" {
            *failed += 1;
            *self.statuses.entry(status.to_owned()).or_default() += 1;
        }
    }

    pub fn operations(&self) -> u64 {
        self.verbs.values().map(|(count, _)| count).sum()
    }

    pub fn failures(&self) -> u64 {
        self.statuses.values().sum()
    }

    #[cfg(test)]
    pub fn count(&self, verb: &str) -> u64 {
        self.verbs.get(verb).map_or(0, |(count, _)| *count)
    }

    /// Renders the counts as a table for the load's page.
    pub fn table(&self) -> String {
        let mut verbs: Vec<_> = self.verbs.iter().collect();
        verbs.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        let mut rows = vec![
            "| operation | count | fail as expected |".to_owned(),
            "|---|--:|--:|".to_owned(),
        ];
        for (verb, (count, failed)) in verbs {
            rows.push(format!(
                "| {verb} | {} | {} |",
                thousands(*count),
                thousands(*failed)
            ));
        }
        rows.push(format!(
            "| together | {} | {} |",
            thousands(self.operations()),
            thousands(self.failures())
        ));
        rows.push(String::new());
        rows.push("| what | how much |".to_owned());
        rows.push("|---|--:|".to_owned());
        for (what, much) in [
            ("bytes read", self.bytes_read),
            ("bytes written", self.bytes_written),
            ("live set, at most (bytes)", self.live_most),
            ("longest file (bytes)", self.file_longest),
            ("files at once, at most", self.files_most),
            ("directories at once, at most", self.directories_most),
            ("components of a path, at most", self.depth_most),
            ("handles open at once, at most", self.open_most),
        ] {
            rows.push(format!("| {what} | {} |", thousands(much)));
        }
        for (status, count) in &self.statuses {
            rows.push(format!("| `{status}` | {} |", thousands(*count)));
        }
        rows.push(String::new());
        rows.join("\n")
    }
}
