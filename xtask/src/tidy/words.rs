//! Plain words in doc comments, as a ratchet: for each pattern of the private dialect and each crate, the number of
//! sentences that match may only fall.

use super::Findings;
use super::tree::{File, Tree};
use regex_lite::Regex;
use std::collections::BTreeMap;

/// The ceilings: one `crate pattern sentences` per line.
const CEILINGS: &str = "xtask/plain-words.txt";

/// A pattern that marks a sentence as dialect.
struct Pattern {
    name: &'static str,
    /// Matched against each sentence.
    matches: &'static str,
    /// Correct uses, which are removed from a sentence before it is matched.
    except: &'static str,
    /// Whether the pattern applies only to the first sentence of a paragraph.
    is_for_first: bool,
    /// Suggested replacement.
    advice: &'static str,
}

const fn pattern(
    name: &'static str,
    matches: &'static str,
    except: &'static str,
    advice: &'static str,
) -> Pattern {
    Pattern {
        name,
        matches,
        except,
        is_for_first: false,
        advice,
    }
}

const PATTERNS: &[Pattern] = &[
    pattern(
        "pronoun-first",
        r"^(What|Who|Whose|How|As whom|By what|In what|Where|Why)\b",
        r"^.*\?$",
        "begin with a noun or a verb: `Options of …`, `Returns …`",
    ),
    pattern(
        "what-comes-of",
        r"\b[Ww]hat (comes|came|becomes|became|has come|has become) of\b",
        "",
        "name the result: outcome, result, state",
    ),
    pattern(
        "come-to",
        r"\b(comes?|came) to\b",
        r"\b(comes?|came) to (the|an|its) end\b",
        "amounts to, reaches, totals",
    ),
    pattern(
        "person",
        r"\b([Ww]hoever|whom(ever)?|[Ww]ho (is|has|had|can|may|will|would|waits|asks|calls|reads))\b",
        r", who ",
        "name the client, the server, the worker or the user",
    ),
    pattern(
        "is-none",
        r"\b(is|are|was|were) none\b",
        r"\b[Tt]here (is|are|was|were) none\b",
        "negate the verb",
    ),
    pattern(
        "of-which",
        r"\b(of|in|by|from|at|with|for|on|over|behind|below) (which|whom)\b",
        "",
        "two sentences, or `whose`",
    ),
    pattern("of-first", r"^Of ", r"^Of course\b", "subject first"),
    pattern(
        "so-many",
        r"\b[Ss]o (many|much|long|often|far)\b",
        r"\b[Ss]o (many|much|long|often|far) (that|as)\b",
        "a number, or `number of`",
    ),
    pattern(
        "stand-lie",
        r"\b(stands?|lies|lie|lay|stood)\b",
        r"\bstands? for\b",
        "is, is stored",
    ),
    pattern(
        "archaic",
        r"\b(anew|afresh|likewise|thereby|meanwhile|as ever|all the same)\b",
        "",
        "again, also, at the same time",
    ),
    pattern(
        "take-away",
        r"\btak(e|es|en|ing) away\b|\btook away\b|takes? (its|their) leave",
        "",
        "remove, log off",
    ),
    pattern("ours", r"\bours?\b", "", "filestone, built-in, generated"),
    pattern(
        "genitive-predicate",
        r"\b(is|are|was|were) (the |a |an )?[\w`:]+'s *([.;:,]|$)|`'s *[.;,]",
        "",
        "`X belongs to Y`",
    ),
    pattern(
        "is-told",
        r"\b(is|are|was|were|be) (said|told|asked|looked at|held against|learnt)\b",
        "",
        "active voice with the acting part",
    ),
    pattern(
        "one-pronoun",
        r"^(None|One|It|They|All|Those|These|That|Them|Nothing|Neither|Either|The same|Not|Yes|It does|Likewise|So|Both|In any case|If (so|not|it (is|does)))\b[^.]{0,30}\.?$",
        "",
        "a sentence with a subject",
    ),
    Pattern {
        is_for_first: true,
        ..pattern(
            "pronoun-subject",
            r"^(It|They|Its|Their|Those|These|Them|One) ",
            "",
            "name the subject",
        )
    },
];

/// Returns the doc comments of a file: first line and joined text of each paragraph.
fn paragraphs(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    let mut is_code = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let doc = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"));
        let Some(words) = doc.filter(|doc| !doc.starts_with('/')).map(str::trim) else {
            (is_open, is_code) = (false, false);
            continue;
        };
        if words.starts_with("```") {
            (is_open, is_code) = (false, !is_code);
        } else if words.is_empty() {
            is_open = false;
        } else if is_code {
        } else if is_open && let Some((_, paragraph)) = found.last_mut() {
            paragraph.push(' ');
            paragraph.push_str(words);
        } else {
            found.push((index + 1, words.to_owned()));
            is_open = true;
        }
    }
    found
}

/// Returns the sentences of a paragraph: each ends with a full stop, a question mark or an
/// exclamation mark before a blank and a capital.
fn sentences(paragraph: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let bytes = paragraph.as_bytes();
    for at in 1..bytes.len().saturating_sub(1) {
        let begins = matches!(bytes[at + 1], b'A'..=b'Z' | b'`' | b'[');
        if bytes[at] == b' ' && matches!(bytes[at - 1], b'.' | b'!' | b'?') && begins {
            found.push(&paragraph[start..at]);
            start = at + 1;
        }
    }
    found.push(&paragraph[start..]);
    found
}

/// Returns the crate of a path.
fn crate_of(path: &str) -> &str {
    path.find("/src/").map_or(path, |end| &path[..end])
}

/// Matching sentences of all crates, by crate and pattern, with their locations.
type Matches = BTreeMap<(String, &'static str), Vec<String>>;

fn matching<'a>(files: impl Iterator<Item = &'a File>) -> Matches {
    let compiled: Vec<_> = PATTERNS
        .iter()
        .map(|pattern| {
            let regex = |text: &str| Regex::new(text).expect("a valid pattern");
            let except = (!pattern.except.is_empty()).then(|| regex(pattern.except));
            (pattern, regex(pattern.matches), except)
        })
        .collect();
    let mut found = Matches::new();
    for file in files {
        for (line, paragraph) in paragraphs(&file.text) {
            for (index, sentence) in sentences(&paragraph).into_iter().enumerate() {
                for (pattern, regex, except) in &compiled {
                    let rest = except
                        .as_ref()
                        .map(|except| except.replace_all(sentence, ""));
                    let is_meant = index == 0 || !pattern.is_for_first;
                    if is_meant && regex.is_match(rest.as_deref().unwrap_or(sentence)) {
                        let key = (crate_of(&file.path).to_owned(), pattern.name);
                        let place = format!("{}:{line}: {sentence}", file.path);
                        found.entry(key).or_default().push(place);
                    }
                }
            }
        }
    }
    found
}

/// Reads the ceilings; reports lines that are malformed or repeated.
fn ceilings(tree: &Tree, findings: &mut Findings) -> BTreeMap<(String, String), usize> {
    let text = tree.file(CEILINGS).map_or("", |file| file.text.as_str());
    let mut ceilings = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let parts: Vec<&str> = line.split_whitespace().collect();
        let ceiling = match parts[..] {
            [folder, name, count] => count.parse().ok().map(|count| (folder, name, count)),
            _ => None,
        };
        let is_new = ceiling.is_some_and(|(folder, name, count)| {
            let key = (folder.to_owned(), name.to_owned());
            ceilings.insert(key, count).is_none()
        });
        if !is_new {
            findings.report(
                CEILINGS,
                format!("{line:?} is malformed or repeated"),
                "write `crate pattern sentences`, once each",
            );
        }
    }
    ceilings
}

pub fn plain_words(tree: &Tree, findings: &mut Findings) {
    let sources = tree.sources("").filter(|file| {
        !file.is_test && file.path.contains("/src/") && !file.path.starts_with("fuzz/")
    });
    let found = matching(sources);
    let mut ceilings = ceilings(tree, findings);
    for ((folder, name), places) in &found {
        let ceiling = ceilings.remove(&(folder.clone(), (*name).to_owned()));
        let ceiling = ceiling.unwrap_or(0);
        let count = places.len();
        let advice = PATTERNS.iter().find(|pattern| pattern.name == *name);
        let advice = advice.map_or("", |pattern| pattern.advice);
        if count > ceiling {
            findings.report(
                places.last().map_or("", String::as_str),
                format!("{count} sentences of {folder} match {name}, more than {ceiling}"),
                format!("write plain technical English: {advice}"),
            );
        } else if count < ceiling {
            findings.report(
                CEILINGS,
                format!("{count} sentences of {folder} match {name}, fewer than {ceiling}"),
                format!("lower the entry: {folder} {name} {count}"),
            );
        }
    }
    for ((folder, name), _) in ceilings {
        findings.report(
            CEILINGS,
            format!("no sentence of {folder} matches {name}"),
            "remove the entry",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<(&'static str, usize)> {
        let file = File::new("crates/x/src/lib.rs".to_owned(), text.to_owned());
        let file = file.expect("tokens");
        let found = matching(std::iter::once(&file));
        found
            .into_iter()
            .map(|((_, name), places)| (name, places.len()))
            .collect()
    }

    #[test]
    fn dialect_is_counted_by_sentence_and_pattern() {
        let text =
            "/// What comes of it. Of a client there is one.\n/// It stands here.\nfn a() {}\n";
        assert_eq!(
            names(text),
            [
                ("of-first", 1),
                ("one-pronoun", 1),
                ("pronoun-first", 1),
                ("stand-lie", 1),
                ("what-comes-of", 1)
            ]
        );
    }

    #[test]
    fn plain_english_code_and_other_comments_are_not() {
        let text = "//! Parses replies (RFC 5531). There are none before the first call.\n\
                    // What a reader sees.\n/// Whether the stream has ended.\n///\n/// ```\n/// What of it\n/// ```\n";
        assert_eq!(names(text), []);
    }

    #[test]
    fn a_pronoun_is_a_subject_in_later_sentences() {
        assert_eq!(
            names("/// It ends.\n"),
            [("one-pronoun", 1), ("pronoun-subject", 1)]
        );
        assert_eq!(
            names("/// A worker thread. It runs until the last client of the run has ended.\n"),
            []
        );
    }
}
