//! `filestone check`: contents of load files and mixes, and the operations of load files that each
//! layer would reject. No operation is sent.

use crate::error::Error;
use crate::inputs::load_source::{load_source, read_load};
use crate::inputs::mix_source;
use crate::inputs::mix_source::STANDARD_INPUT;
use crate::options::check::{CheckFormat, CheckOptions};
use crate::{ExitStatus, console};
use filestone_plan::mix;
use filestone_report::document::Document;
use filestone_report::json;
use filestone_report::load_statistics::{self, CheckedLoad, LayerVerdict};
use filestone_report::mixes::{self, CheckedMix};
use filestone_workload::load::diagnostic::suggestion;
use filestone_workload::load::refusals::{LayerKind, refusals};
use filestone_workload::load::statistics;
use serde::Serialize;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Seed of the random numbers in load statistics, so that they are reproducible.
const SEED: u64 = 1;

/// Number of bytes of a file that are inspected to detect its kind.
const BEGINNING: u64 = 4096;

/// Reads the load files and prints the contents of the valid ones.
pub fn run(options: &CheckOptions) -> Result<ExitStatus, Error> {
    let mut checked: Vec<Checked> = Vec::new();
    let mut exit = ExitStatus::Done;
    for word in &options.loads {
        match check(word) {
            Ok(one) => checked.push(one),
            Err(errors) => {
                errors.iter().for_each(console::error);
                // The first invalid load file determines the exit code.
                if let (ExitStatus::Done, Some(error)) = (exit, errors.first()) {
                    exit = ExitStatus::Code(error.exit_code());
                }
            }
        }
    }
    let text = match (options.format, options.layers) {
        (CheckFormat::Json, _) => json::document(&checked)?,
        (CheckFormat::Text, true) => pages(&checked, load_statistics::layers),
        (CheckFormat::Text, false) => pages(&checked, load_statistics::report),
    };
    console::result(&text)?;
    Ok(exit)
}

fn pages(checked: &[Checked], of_load: fn(&CheckedLoad) -> Document) -> String {
    let page = console::page();
    let pages: Vec<String> = checked
        .iter()
        .map(|one| match one {
            Checked::Load(load) => of_load(load).text(page),
            Checked::Mix(mix) => mixes::report(mix).text(page),
        })
        .collect();
    pages.join("\n\n")
}

/// Kind and contents of a checked file.
#[derive(Serialize)]
#[serde(untagged)]
enum Checked {
    Load(Box<CheckedLoad>),
    Mix(CheckedMix),
}

/// Detects from the content whether a file is a load file or a mix: no load file is a valid mix,
/// and no mix a valid load file. The error of an invalid file is that of the kind it resembles.
fn check(word: &Path) -> Result<Checked, Vec<Error>> {
    if word == Path::new(STANDARD_INPUT) {
        // Standard input can be read only once, and only mixes are read from it: nfsstat's output.
        let mix = mix_source::read(STANDARD_INPUT, None).map_err(|error| vec![error])?;
        return Ok(Checked::Mix(CheckedMix::of(&mix)));
    }
    let name = word.to_str().filter(|name| mix::built_in(name).is_some());
    let as_mix = match name {
        Some(name) => mix_source::read(name, None),
        None => mix_source::read_file(word, None),
    };
    let wrong_mix = match as_mix {
        Ok(mix) => return Ok(Checked::Mix(CheckedMix::of(&mix))),
        Err(error) => error,
    };
    match check_load(word) {
        Ok(load) => Ok(Checked::Load(Box::new(load))),
        Err(_) if looks_like_counters(word) => Err(vec![wrong_mix]),
        Err(errors) => Err(errors
            .into_iter()
            .map(|error| with_mixes(word, error))
            .collect()),
    }
}

/// Adds the names of mixes to the error about a name that is neither a file nor a built-in load.
fn with_mixes(word: &Path, error: Error) -> Error {
    let name = word.to_str().filter(|name| !name.contains(['/', '.']));
    let Some(name) = name.filter(|_| !word.exists()) else {
        return error;
    };
    let help = error.help.clone().unwrap_or_default();
    if help.starts_with("did you mean") {
        return error;
    }
    match suggestion(name.as_bytes(), mix::names()) {
        Some(mix) => error.with_help(format!("did you mean {mix}?")),
        None => {
            let mixes: Vec<&str> = mix::names().collect();
            error.with_help(format!("{help}; our own mixes are {}", mixes.join(", ")))
        }
    }
}

/// Whether the beginning of a file contains words that only tables of calls have.
fn looks_like_counters(path: &Path) -> bool {
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| file.take(BEGINNING).read_to_end(&mut beginning));
    let text = String::from_utf8_lossy(&beginning).to_ascii_lowercase();
    let signs = ["nfs", "calls", "getattr", "per-op", "proc3"];
    read.is_ok() && signs.into_iter().any(|sign| text.contains(sign)) && !text.contains("0x")
}

fn check_load(word: &Path) -> Result<CheckedLoad, Vec<Error>> {
    let source = load_source(word).map_err(|error| vec![error])?;
    let load = Arc::new(read_load(&source)?);
    Ok(CheckedLoad {
        load: load.name().into(),
        generation: load.generation(),
        lines: load.lines(),
        contents: statistics::of_pass(&load, SEED),
        layers: LayerKind::ALL
            .iter()
            .map(|&(layer, kind)| LayerVerdict {
                layer,
                refusals: refusals(&load, kind),
            })
            .collect(),
    })
}
