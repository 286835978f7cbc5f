//! Topics of `filestone help`: pages of docs/, sections of them, terms of the glossary, and the
//! parts at the end of `filestone --help`. All are built into the program, which may be installed
//! alone.

pub mod ending;
mod markdown;
mod table;

pub use markdown::rendered;

use filestone_measure::measure::caveat::ValidityRule;
use filestone_workload::load::diagnostic::suggestion;
use markdown::{Heading, headings};
use table::{ALIASES, DocumentationPage, FOLDERS, PAGES};

/// Columns of a topic in the list.
const NAME_WIDTH: usize = 21;

/// A text about a topic.
#[derive(Debug, PartialEq, Eq)]
pub struct Topic {
    /// Text in Markdown.
    pub markdown: String,
    /// Page that contains it, unless it is a whole page.
    pub part_of: Option<&'static str>,
}

/// Result of looking up a word.
#[derive(Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The word is a topic.
    Found(Topic),
    /// Several pages have a section with this heading: each as a topic.
    Several(Vec<String>),
    /// The word is not a topic.
    Unknown,
}

/// Returns the topic that a word names: a page, `page#heading`, an alias, a heading or a term.
pub fn lookup(word: &str) -> Lookup {
    // Accepts the name of a file of docs/, with a section or without.
    let file = word.rsplit_once('/').map_or(word, |(_, file)| file);
    let word = file.replace(".md", "");
    if let Some((page, heading)) = word.split_once('#') {
        return page_named(page)
            .and_then(|page| section(page, &slug(heading)))
            .into();
    }
    let word = slug(&word);
    let part = ending::PARTS.iter().find(|(name, _, _)| *name == word);
    if let Some((_, _, text)) = part {
        return Lookup::Found(Topic {
            markdown: as_code(text),
            part_of: None,
        });
    }
    if let Some(page) = page_named(&word) {
        return Lookup::Found(Topic {
            markdown: page.markdown.clone(),
            part_of: None,
        });
    }
    if let Some(rule) = ValidityRule::named(&word).filter(|rule| rule.id != word) {
        return lookup(rule.id);
    }
    if let Some((_, meant)) = ALIASES.iter().find(|(alias, _)| *alias == word) {
        return lookup(meant);
    }
    let sections = PAGES
        .iter()
        .filter_map(|page| Some((page, section(page, &word)?)));
    let mut sections: Vec<_> = sections.collect();
    match sections.len() {
        0 => term(&word).into(),
        1 => Lookup::Found(sections.remove(0).1),
        _ => {
            let topics = sections
                .iter()
                .map(|(page, _)| format!("{}#{word}", page.name()));
            Lookup::Several(topics.collect())
        }
    }
}

impl From<Option<Topic>> for Lookup {
    fn from(found: Option<Topic>) -> Self {
        found.map_or(Lookup::Unknown, Lookup::Found)
    }
}

/// Returns the topic about a command of this name.
pub fn of_command(name: &str) -> Option<&'static str> {
    let page = PAGES
        .iter()
        .map(DocumentationPage::name)
        .find(|page| *page == name);
    page.or_else(|| {
        let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
        alias.map(|(alias, _)| *alias)
    })
}

/// Returns the names in the list of topics.
pub fn names() -> impl Iterator<Item = &'static str> {
    let parts = ending::PARTS.iter().map(|(name, _, _)| *name);
    parts.chain(PAGES.iter().map(DocumentationPage::name))
}

/// Returns the topic whose name is most similar to a word, also among `others`.
pub fn near(word: &str, others: &[String]) -> Option<String> {
    let headings = PAGES.iter().flat_map(|page| headings(&page.markdown));
    let headings = headings.map(|heading| heading.slug);
    let aliases = ALIASES.iter().map(|(alias, _)| (*alias).to_string());
    let own = names().map(String::from);
    let candidates: Vec<String> = others.iter().cloned().chain(own).chain(aliases).collect();
    let far: Vec<String> = headings.chain(terms().map(|(term, _)| term)).collect();
    let word = slug(word);
    let nearest = |of: &[String]| {
        let found = suggestion(word.as_bytes(), of.iter().map(String::as_str));
        found.map(String::from)
    };
    nearest(&candidates).or_else(|| nearest(&far))
}

/// Lists the topics, one per line.
pub fn list() -> String {
    let mut text = String::new();
    let mut line = |name: &str, about: &str| {
        text.push_str(&format!("  {name:<NAME_WIDTH$} {about}\n"));
    };
    for (name, about, _) in ending::PARTS {
        line(name, about);
    }
    for (folder, heading) in FOLDERS {
        text.push_str(&format!("\n{heading}:\n"));
        for page in PAGES.iter().filter(|page| page.folder() == folder) {
            text.push_str(&format!("  {:<NAME_WIDTH$} {}\n", page.name(), page.about));
        }
    }
    text
}

fn page_named(name: &str) -> Option<&'static DocumentationPage> {
    PAGES.iter().find(|page| page.name() == name)
}

/// Returns a section of a page, up to the next one of its level.
fn section(page: &'static DocumentationPage, slug: &str) -> Option<Topic> {
    let headings = headings(&page.markdown);
    let first = headings.iter().position(|heading| heading.slug == slug)?;
    let Heading { level, line, .. } = headings[first];
    let next = headings[first + 1..]
        .iter()
        .find(|next| next.level <= level);
    let lines = page.markdown.lines().skip(line);
    let lines = lines.take(next.map_or(usize::MAX, |next| next.line - line));
    let lines: Vec<&str> = lines.collect();
    Some(Topic {
        markdown: lines.join("\n"),
        part_of: Some(page.name()),
    })
}

/// Returns the terms of the glossary's tables with their rows.
fn terms() -> impl Iterator<Item = (String, &'static str)> {
    let glossary = page_named("glossary").map_or("", |page| page.markdown.as_str());
    let rows = glossary.lines().filter(|line| line.starts_with("| **"));
    rows.flat_map(|row| {
        let cell = row.split('|').nth(1).unwrap_or_default();
        let bold = cell.split("**").skip(1).step_by(2);
        let terms = bold.flat_map(|bold| bold.split([',', '/']));
        terms.map(move |term| (slug(term), row))
    })
}

/// Returns the row of the glossary about a term.
fn term(word: &str) -> Option<Topic> {
    let (_, row) = terms().find(|(term, _)| term == word)?;
    let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
    let literature = cells.get(2).filter(|name| **name != "–");
    let literature =
        literature.map_or_else(String::new, |name| format!(". In the literature: {name}"));
    let meaning = cells.get(1).unwrap_or(&"");
    Some(Topic {
        markdown: format!("{}: {meaning}{literature}", cells[0]),
        part_of: Some("glossary"),
    })
}

/// Indents lines as a code block.
fn as_code(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

/// Converts a word to its form in links to headings.
fn slug(text: &str) -> String {
    markdown::slug(text.trim())
}

#[cfg(test)]
mod tests;
