use super::*;
use filestone_report::parts::reference::help_line;
use std::path::Path;

#[test]
fn every_page_of_docs_is_a_topic() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut files = Vec::new();
    for (folder, _) in FOLDERS {
        for entry in std::fs::read_dir(docs.join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let path = path
                    .strip_prefix(&docs)
                    .expect("below docs")
                    .with_extension("");
                files.push(path.to_str().expect("UTF-8").to_string());
            }
        }
    }
    let mut topics: Vec<&str> = PAGES.iter().map(|page| page.path).collect();
    files.sort();
    topics.sort_unstable();
    assert_eq!(
        topics, files,
        "crates/cli/src/topics/table.rs lists the pages of docs"
    );
}

#[test]
fn names_are_unique_and_lead_to_a_topic() {
    let aliases = ALIASES.iter().map(|(alias, _)| *alias);
    let mut names: Vec<&str> = names().chain(aliases).collect();
    for name in &names {
        assert!(matches!(lookup(name), Lookup::Found(_)), "{name}");
        assert_eq!(slug(name), *name);
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    for page in &PAGES {
        assert!(
            page.about.chars().count() <= 80 - 3 - NAME_WIDTH,
            "{}",
            page.about
        );
    }
}

#[test]
fn only_code_and_tables_are_wider_than_the_page() {
    for page in &PAGES {
        let text = rendered(&page.markdown, 80);
        let text = anstream::adapter::strip_str(&text).to_string();
        for line in text.lines().filter(|line| line.chars().count() > 80) {
            // A path, a link or a table may contain a longer word.
            let is_row = line.contains("  ") || !line.trim_start_matches("- ").contains(' ');
            assert!(is_row, "{}: {line}", page.path);
        }
        assert!(!text.contains("]("), "{}: a link", page.path);
        assert_eq!(rendered("", 80), "");
    }
}

#[test]
fn a_topic_is_a_page_a_section_or_a_term() {
    let found = |word: &str| match lookup(word) {
        Lookup::Found(topic) => (
            topic
                .markdown
                .lines()
                .next()
                .unwrap_or_default()
                .to_string(),
            topic.part_of,
        ),
        other => panic!("{word}: {other:?}"),
    };
    assert_eq!(found("gates"), ("# Gates".into(), None));
    assert_eq!(found("docs/reference/gates.md").1, None);
    assert_eq!(found("docs/reference/gates.md#grammar").1, Some("gates"));
    assert_eq!(found("output").0, "## `--output DIR`");
    assert_eq!(
        found("percentiles"),
        ("### Percentiles".into(), Some("reports"))
    );
    assert_eq!(found("Percentiles").1, Some("reports"));
    assert_eq!(
        found("cpu-run-delay"),
        ("### cpu-run-delay".into(), Some("validity"))
    );
    assert_eq!(found("waited-for-processor").0, "### cpu-run-delay");
    assert_eq!(found("gates#grammar"), ("## Grammar".into(), Some("gates")));
    assert_eq!(found("goodput").1, Some("glossary"));
    assert!(
        found("open loop")
            .0
            .starts_with("**open loop**: operations are due")
    );
    assert_eq!(found("exit-codes").0, "    Exit codes:");
    assert!(matches!(lookup("target-lost"), Lookup::Several(topics) if topics.len() == 2));
    for word in ["", "gates#", "nowhere#grammar", "gates#nothing", "#", "é"] {
        assert_eq!(lookup(word), Lookup::Unknown, "{word}");
    }
}

#[test]
fn every_rule_and_caveat_has_a_section() {
    let kinds = PAGES
        .iter()
        .filter(|page| ["doctor", "explain", "validity"].contains(&page.name()));
    for page in kinds {
        for heading in headings(&page.markdown) {
            let topic = format!("{}#{}", page.name(), heading.slug);
            assert!(matches!(lookup(&topic), Lookup::Found(_)), "{topic}");
        }
    }
    assert_eq!(
        help_line("docs/reference/explain.md#link"),
        "filestone help explain#link"
    );
}

#[test]
fn markdown_as_text() {
    let page = "# A `page`\n\nProse with a [link](a.md#b), `[code](c)`, **bold `**x**`** words and\n\
        ![a picture](p.png). It goes on and on.\n\n- an item that is longer than the width of forty columns\n\
        \x20 and goes on\n10. ten\n\n    code   stays, however long the line of it may be\n\n```\n# fenced\n```\n\n\
        ## Second\n\n| name | meaning |\n|---|---|\n| `a\\|b` | one of **two**, as [said](d.md) in the documents |\n";
    insta::assert_snapshot!(anstream::adapter::strip_str(&rendered(page, 40)).to_string());
    let emphasised = rendered("**bold** and `**code**`", 40);
    assert_eq!(emphasised, "\u{1b}[1mbold\u{1b}[0m and `**code**`\n");
}

#[test]
fn help_texts_name_topics_that_exist() {
    let mut command = crate::command();
    command.build();
    let mut commands: Vec<clap::Command> = command.get_subcommands().cloned().collect();
    commands.extend(
        commands
            .clone()
            .iter()
            .flat_map(clap::Command::get_subcommands)
            .cloned(),
    );
    commands.push(command.clone());
    let mut count = 0;
    for mut one in commands {
        let help = one.render_long_help().to_string();
        for part in help.split("filestone help ").skip(1) {
            let is_part = |letter: char| letter.is_alphanumeric() || "-#".contains(letter);
            let word = part
                .split(|letter| !is_part(letter))
                .next()
                .unwrap_or_default();
            let is_command = command.find_subcommand(word).is_some();
            let is_upper = word.chars().all(char::is_uppercase);
            let exists = is_command || lookup(word) != Lookup::Unknown;
            assert!(exists || is_upper, "{}: {word}", one.get_name());
            count += 1;
        }
    }
    assert!(count > 8, "{count}");
}
