use super::*;
use crate::usage::other_tools::{operations, options};

fn corrected(line: &str) -> Option<Correction> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let all = ["filestone"].into_iter().chain(words.iter().copied());
    let error = crate::command().try_get_matches_from(all).expect_err(line);
    correction(&words, &error)
}

/// Returns the filestone command line in a suggestion, as words.
fn words_of(line: &str) -> Vec<String> {
    let words = line.split_whitespace().skip(1);
    words.map(|word| word.trim_matches('\'').into()).collect()
}

#[test]
fn a_command_line_of_elsewhere_becomes_one_of_ours() {
    let mut text = String::new();
    for line in [
        "read host:/x",
        "stat host:/x",
        "probe stat host:/x",
        "probe fsync host:/x",
        "probe randread host:/x --bs=4k --iodepth=32 --numjobs 4 --runtime 60",
        "randwrite host:/x --block-size 1m",
        "probe randrw host:/x --bs 4k",
        "ls host:/x",
        "nfs://h/x",
        "host:/x --runtime=10",
        "dbench -t 60 4",
        "probe read host:/x --json",
        "probe read host:/x --output-format json",
        "probe read host:/x --loops 3",
        "probe read host:/x --rate 10k",
        "mix host:/x --rate_iops=500 --time 1m --threads 8",
        "probe --name=job --rw=randread --bs=4k --size=1G --iodepth=32 --ioengine=libaio \
         --direct=1 --filename=host:/x/file --time_based --runtime=60 --group_reporting",
        "mix --directory=/mnt/x --bs 8k --qd 4",
        "replay --loadfile client.txt -D /mnt/x -t 60",
        "probe null --inflight 3",
        "prob null",
        "probe gtattr",
    ] {
        let correction = corrected(line);
        text.push_str(&format!("$ filestone {line}\n"));
        for one in correction.iter().flat_map(|one| &one.lines) {
            text.push_str(&format!("  {one}\n"));
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn nothing_far_fetched_is_suggested() {
    for line in [
        "probe null --frobnicate",
        "frobnicate",
        "probe cp host:/x",
        "mix host:/x --duratoin=5x",
        "report x --bs 4k",
    ] {
        assert_eq!(corrected(line), None, "{line}");
    }
}

/// Every word of the table, by itself, gives a valid command line.
#[test]
fn every_foreign_word_is_corrected_to_what_can_be_read() {
    let value = |option: &ForeignOption| match option.ours {
        Equivalent::Option("--format") => "json",
        Equivalent::Option("--duration" | "--warm-up" | "--report-interval") => "2",
        Equivalent::Operation => "randread",
        Equivalent::Target => "host:/x",
        _ => "8",
    };
    let mut lines = Vec::new();
    for option in options() {
        for (word, command) in option
            .words
            .iter()
            .flat_map(|word| option.commands.iter().map(move |command| (word, command)))
        {
            let begin = match (*command, option.ours) {
                ("probe", Equivalent::Operation) => "probe",
                ("probe", _) => "probe read",
                (command, _) => command,
            };
            if option.has_value {
                lines.push(format!("{begin} {word} {}", value(&option)));
                lines.push(format!("{begin} {word}={}", value(&option)));
            } else {
                lines.push(format!("{begin} {word}"))
            }
        }
    }
    for word in operations().flat_map(|operation| operation.words) {
        lines.push(format!("{word} --clients 2").replace("server --clients 2", "server"));
    }
    for line in lines {
        let correction = corrected(&line).unwrap_or_else(|| panic!("{line}: nothing"));
        for corrected in &correction.lines {
            let parsed = parse(&words_of(corrected));
            assert!(parsed.is_ok(), "{line}: {corrected}: {parsed:?}");
        }
    }
}

fn page() -> String {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/coming-from.md");
    std::fs::read_to_string(page).expect("the page is there")
}

#[test]
fn the_page_has_every_foreign_word_and_what_it_is_here() {
    let page = page();
    let row_of = |word: &str, ours: &str| {
        let word = format!("`{word}`");
        let mut rows = page.lines().filter(|line| line.starts_with("| "));
        rows.any(|row| row.contains(&word) && row.contains(ours))
    };
    for option in options() {
        let ours = match option.ours {
            Equivalent::Option(ours) => ours.to_string(),
            Equivalent::Words(ours) => ours.to_string(),
            Equivalent::Load | Equivalent::Operation | Equivalent::Target | Equivalent::Nothing => {
                String::new()
            }
        };
        for word in option.words {
            assert!(row_of(word, &ours), "{word}: {ours}");
        }
    }
    for operation in operations() {
        for word in operation.words {
            let ours = operation.ours.join(" ");
            assert!(row_of(word, &ours), "{word}: {ours}");
        }
    }
}
