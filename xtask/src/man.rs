//! The man pages, generated from the definitions of the command line: the text of `--help` in the
//! sections of a man page.

use anyhow::{Context, Result};
use clap::{Args, Command};
use clap_mangen::Man as Sections;
use clap_mangen::roff::{Roff, bold, roman};
use std::collections::BTreeMap;
use std::path::Path;

/// Options of `cargo xtask man`.
#[derive(Debug, Clone, Args)]
pub struct Man {
    /// Only check that the pages in man/ are what they would be now
    #[arg(long)]
    pub check: bool,
}

/// Reads the pages in a folder, by name.
fn pages(folder: &Path, extension: &str) -> Result<BTreeMap<String, String>> {
    let mut pages = BTreeMap::new();
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("{}: cannot be listed", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == extension) {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            pages.insert(name, std::fs::read_to_string(&path)?);
        }
    }
    Ok(pages)
}

/// Generates the pages of a command and of all its subcommands, by file name.
fn made(command: &Command) -> Result<BTreeMap<String, String>> {
    let mut pages = BTreeMap::new();
    for below in command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
    {
        pages.append(&mut made(below)?);
    }
    pages.insert(format!("{}.1", display_name(command)), page(command)?);
    Ok(pages)
}

/// Returns the complete command line, built: commands have their full names.
fn manual() -> Command {
    let mut manual = filestone_cli::manual().disable_help_subcommand(true);
    manual.build();
    manual
}

fn display_name(command: &Command) -> &str {
    command.get_display_name().unwrap_or(command.get_name())
}

fn page(command: &Command) -> Result<String> {
    // clap_mangen omits descriptions that the short help omits.
    let mut command = command
        .clone()
        .mut_args(|arg| arg.hide_short_help(false))
        .subcommand_help_heading("COMMANDS");
    if command.get_overridden_usage().is_none() {
        let usage = command.render_usage().to_string();
        let usage = usage.trim_start_matches("Usage:").trim().to_string();
        command = command.override_usage(usage);
    }
    let arguments = command.clone().mut_args(|arg| {
        let is_hidden = arg.is_hide_set() || !arg.is_positional();
        let heading = arg.get_help_heading().unwrap_or("Arguments").to_string();
        arg.hide(is_hidden).help_heading(heading)
    });
    let options = command.clone().mut_args(|arg| {
        let is_hidden = arg.is_hide_set() || arg.is_positional();
        arg.hide(is_hidden)
    });
    let sections = Sections::new(command.clone());
    let mut text = Vec::new();
    sections.render_name_section(&mut text)?;
    sections.render_synopsis_section(&mut text)?;
    sections.render_description_section(&mut text)?;
    if command.has_subcommands() {
        sections.render_subcommands_section(&mut text)?;
    }
    Sections::new(arguments).render_options_section(&mut text)?;
    Sections::new(options).render_options_section(&mut text)?;
    let end = command.get_after_long_help().or(command.get_after_help());
    let end = end.map_or_else(String::new, ToString::to_string);
    let mut last = Roff::new();
    sections_of(&end, &mut last);
    see_also(&command, &mut last);
    last.to_writer(&mut text)?;
    // Each part starts with the same preamble.
    let preamble = Roff::new().render();
    let text = String::from_utf8(text)?.replace(&preamble, "");
    Ok(preamble + &title(&command) + &text)
}

/// Returns the line with name, section, date (empty: it would differ from build to build), source
/// and manual. Disables hyphenation, because words may be names of options, and justification.
fn title(command: &Command) -> String {
    let name = display_name(command).to_uppercase();
    let version = env!("CARGO_PKG_VERSION");
    format!(".TH \"{name}\" \"1\" \"\" \"filestone {version}\" \"filestone manual\"\n.nh\n.ad l\n")
}

/// Adds the text after the options of a help text. A line that ends with a colon, before indented
/// lines, is a section heading; indented lines are kept as they are.
fn sections_of(text: &str, page: &mut Roff) {
    let mut is_kept = false;
    let mut has_section = false;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let is_indented = line.starts_with(' ');
        if is_indented != is_kept && !line.is_empty() {
            page.control(if is_indented { "nf" } else { "fi" }, []);
            is_kept = is_indented;
        }
        let before_indented = lines.peek().is_some_and(|next| next.starts_with(' '));
        match line.strip_suffix(':').filter(|_| before_indented) {
            Some(heading) => {
                page.control("SH", [section(heading).as_str()]);
                has_section = true;
                if heading.contains(',') {
                    page.text([roman(line)]);
                }
            }
            None if line.is_empty() => {
                page.control("PP", []);
            }
            None => {
                if !has_section {
                    page.control("SH", ["NOTES"]);
                    has_section = true;
                }
                page.text([roman(line)]);
            }
        }
    }
    if is_kept {
        page.control("fi", []);
    }
}

/// Returns the name of a section in the style of man pages.
fn section(heading: &str) -> String {
    match heading.split_once(',').map_or(heading, |(name, _)| name) {
        "Exit codes" => "EXIT STATUS".into(),
        "Environment variables" => "ENVIRONMENT".into(),
        name => name.to_uppercase(),
    }
}

/// Adds references to the parent command, subcommands, commands that the help names, and the
/// reference manual.
fn see_also(command: &Command, page: &mut Roff) {
    let own = display_name(command);
    let help = command.clone().render_long_help().to_string();
    let mut names: Vec<String> = Vec::new();
    if let Some((above, _)) = own.rsplit_once('-') {
        names.push(above.into());
    }
    let manual = manual();
    let all = manual.get_subcommands().filter(|other| {
        let name = other.get_name();
        let is_named = help.contains(&format!("filestone {name}"));
        command.get_name() == "filestone" || is_named
    });
    names.extend(all.map(|other| display_name(other).to_string()));
    names.extend(
        command
            .get_subcommands()
            .map(|below| display_name(below).to_string()),
    );
    names.sort();
    names.dedup();
    page.control("SH", ["SEE ALSO"]);
    let names = names.iter().filter(|name| *name != own);
    let mut line = Vec::new();
    for name in names {
        if !line.is_empty() {
            line.push(roman(", "));
        }
        line.extend([bold(name.as_str()), roman("(1)")]);
    }
    page.text(line);
    page.control("PP", []);
    let first = own.split('-').nth(1).unwrap_or_default();
    let mut words = [command.get_name(), first].into_iter();
    let topic = words.find_map(filestone_cli::topic_of_command);
    page.text([roman(match topic {
        Some(topic) => {
            format!("The reference: filestone help {topic} --page. All topics: filestone help")
        }
        None => "All topics of the reference: filestone help".into(),
    })]);
}

/// Writes the pages and the JSON schemas, or with `--check` lists those that are not current.
pub fn run(options: &Man) -> Result<bool> {
    let schemas = filestone_cli::derived_schemas().into_iter();
    let schemas = schemas.map(|(name, schema)| (format!("{name}.json"), schema));
    let are_pages_current = update("man", "1", &made(&manual())?, options.check)?;
    let are_schemas_current = update("docs/schema", "json", &schemas.collect(), options.check)?;
    Ok(are_pages_current && are_schemas_current)
}

/// Writes the files that differ in a folder; with `check`, only lists them. Returns whether the
/// folder is now current.
fn update(
    folder: &str,
    extension: &str,
    new: &BTreeMap<String, String>,
    check: bool,
) -> Result<bool> {
    let path = filestone_interop::root().join(folder);
    let old = if path.is_dir() {
        pages(&path, extension)?
    } else {
        BTreeMap::new()
    };
    let stale: Vec<&String> = new
        .keys()
        .chain(old.keys().filter(|name| !new.contains_key(*name)))
        .filter(|name| new.get(*name) != old.get(*name))
        .collect();
    if check {
        for name in &stale {
            eprintln!(
                "error: {folder}/{name}: is not what the options and types say now\nhelp: run `cargo xtask man` and commit the result"
            );
        }
        return Ok(stale.is_empty());
    }
    std::fs::create_dir_all(&path)?;
    for name in stale {
        let file = path.join(name);
        match new.get(name) {
            Some(page) => std::fs::write(&file, page)?,
            None => std::fs::remove_file(&file)?,
        }
        println!("{folder}/{name}");
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Arg;

    /// Returns the text in one line, with single spaces.
    fn words(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the rendered text of a part of a page, in one line.
    fn plain(roff: &str) -> String {
        let lines = roff.lines().filter(|line| !line.starts_with('.'));
        let text = lines.collect::<Vec<_>>().join(" ");
        let fonts = ["\\fB", "\\fI", "\\fR", "\\&"];
        let text = fonts.iter().fold(text, |text, font| text.replace(font, ""));
        let text = text.replace("\\*(Aq", "'").replace("\\-", "-");
        words(&text.replace("\\\\", "\\"))
    }

    /// Returns the entry of an argument in a page, with its section.
    fn entry<'page>(page: &'page str, arg: &Arg) -> (&'page str, &'page str) {
        let name = match arg.get_long() {
            Some(long) => format!("--{long}"),
            None => arg.get_short().map_or_else(
                || arg.get_value_names().expect("a name").join(" "),
                |short| format!("-{short}"),
            ),
        };
        for section in page.split("\n.SH ").skip(1) {
            for entry in section.split("\n.TP\n").skip(1) {
                let head = plain(entry.lines().next().unwrap_or_default());
                let mut names = head.split([',', ' ', '[', ']', '=']);
                if names.any(|one| one == name)
                    || head.starts_with(&format!("[{name}"))
                    || head.starts_with(&format!("<{name}"))
                {
                    return (section.lines().next().unwrap_or_default(), entry);
                }
            }
        }
        panic!("{name} is missing in the page");
    }

    fn same_text(command: &Command, arg: &Arg, page: &str, help: &str) {
        let at = format!("{} {}", display_name(command), arg.get_id());
        let (section, entry) = entry(page, arg);
        let entry = plain(entry);
        let described = arg.get_long_help().or(arg.get_help());
        let described = described.map_or_else(String::new, |text| words(&text.to_string()));
        assert!(!described.is_empty(), "{at}: has no description");
        let mut texts = vec![described];
        if !arg.is_hide_possible_values_set() && arg.get_action().takes_values() {
            let values = arg.get_possible_values();
            let values = values.iter().filter(|value| !value.is_hide_set());
            texts.extend(values.filter_map(|value| {
                let help = words(&value.get_help()?.to_string());
                Some(format!("{}: {help}", value.get_name()))
            }));
        }
        let defaults = arg
            .get_default_values()
            .iter()
            .map(|value| value.to_string_lossy());
        let defaults: Vec<_> = defaults.collect();
        if !defaults.is_empty()
            && arg.get_action().takes_values()
            && !arg.is_hide_default_value_set()
        {
            texts.push(format!("[default: {}]", defaults.join(" ")));
        }
        for text in texts {
            assert!(help.contains(&text), "{at}: --help has not: {text}\n{help}");
            assert!(
                entry.contains(&text),
                "{at}: the page has not: {text}\n{entry}"
            );
        }
        if let Some(heading) = arg.get_help_heading() {
            assert_eq!(section.trim_matches('"'), heading.to_uppercase(), "{at}");
        }
    }

    fn check(command: &Command, pages: &BTreeMap<String, String>) -> usize {
        let page = &pages[&format!("{}.1", display_name(command))];
        let help = words(&command.clone().render_long_help().to_string());
        let arguments = command.get_arguments().filter(|arg| !arg.is_hide_set());
        let mut count = 0;
        for arg in arguments {
            same_text(command, arg, page, &help);
            count += 1;
        }
        let below = command
            .get_subcommands()
            .filter(|below| !below.is_hide_set());
        count + below.map(|below| check(below, pages)).sum::<usize>()
    }

    #[test]
    fn every_option_has_the_same_text_in_help_and_page() {
        let manual = manual();
        let pages = made(&manual).expect("pages");
        let count = check(&manual, &pages);
        assert!(count > 500, "{count} options");
    }

    #[test]
    fn pages_have_a_title_a_synopsis_and_references() {
        let pages = made(&manual()).expect("pages");
        let version = env!("CARGO_PKG_VERSION");
        let probe = &pages["filestone-probe.1"];
        let title = format!(
            ".TH \"FILESTONE-PROBE\" \"1\" \"\" \"filestone {version}\" \"filestone manual\"\n"
        );
        assert!(probe.contains(&title), "{probe}");
        assert!(plain(probe).contains("filestone probe [OPTIONS] <OP> [TARGET]"));
        assert!(probe.contains(".SH EXAMPLES\n.nf\n"), "{probe}");
        let main = &pages["filestone.1"];
        for section in [
            "COMMANDS",
            "EXIT STATUS",
            "UNITS",
            "ENVIRONMENT",
            "FILES",
            "SEE ALSO",
        ] {
            assert!(
                main.contains(&format!("\n.SH {section}\n"))
                    || main.contains(&format!("\n.SH \"{section}\"\n")),
                "{section}"
            );
        }
        for (name, page) in &pages {
            assert_eq!(page.matches(".TH ").count(), 1, "{name}");
            assert_eq!(
                page.matches(".nf\n").count(),
                page.matches(".fi\n").count(),
                "{name}"
            );
        }
    }

    #[test]
    fn the_end_of_a_help_text_becomes_sections() {
        let mut page = Roff::new();
        let text = "Not a heading: prose.\n\nExit codes:\n  0    done\n       really\nMore.\n\nUnits, as printed:\n  K   1024";
        sections_of(text, &mut page);
        let expected = ".SH NOTES\nNot a heading: prose.\n.PP\n.SH \"EXIT STATUS\"\n.nf\n  0    done\n       really\n.fi\n\
            More.\n.PP\n.SH UNITS\nUnits, as printed:\n.nf\n  K   1024\n.fi\n";
        assert!(page.render().ends_with(expected), "{}", page.render());
    }
}
