//! `filestone check`: what load files contain, and what each layer would refuse of
//! them. Nothing is sent.

use crate::error::Error;
use crate::load_source::{load_source, read_load};
use crate::options::{CheckFormat, CheckOptions};
use crate::render::census::{self, CheckedLoad, LayerVerdict};
use crate::{Exit, console};
use filestone_model::load::census::take;
use filestone_model::load::refusals::{LayerKind, refusals};
use std::path::Path;
use std::sync::Arc;

/// Random numbers of a census come from here, so that it is the same every time.
const SEED: u64 = 1;

/// The layers that there are, as `--on` calls them.
const LAYERS: [(&str, LayerKind); 3] = [
    ("local", LayerKind::Local),
    ("tcp", LayerKind::Tcp),
    ("nfs3", LayerKind::Nfs3 { nlm: false }),
];

/// Reads the loads and prints what is in those that can be replayed.
pub fn run(options: &CheckOptions) -> Result<Exit, Error> {
    let mut checked = Vec::new();
    let mut exit = Exit::Done;
    for word in &options.loads {
        match check(word) {
            Ok(load) => checked.push(load),
            Err(errors) => {
                errors.iter().for_each(console::error);
                // The first load that is wrong decides.
                if let (Exit::Done, Some(error)) = (exit, errors.first()) {
                    exit = Exit::Code(error.exit_code());
                }
            }
        }
    }
    let text = match (options.format, options.layers) {
        (CheckFormat::Json, _) => census::document(&checked)?,
        (CheckFormat::Text, true) => pages(&checked, census::layers),
        (CheckFormat::Text, false) => pages(&checked, census::page),
    };
    console::result(&text)?;
    Ok(exit)
}

fn pages(checked: &[CheckedLoad], page: fn(&CheckedLoad) -> String) -> String {
    let pages: Vec<String> = checked.iter().map(page).collect();
    pages.join("\n\n")
}

fn check(word: &Path) -> Result<CheckedLoad, Vec<Error>> {
    let source = load_source(word).map_err(|error| vec![error])?;
    let load = Arc::new(read_load(&source)?);
    Ok(CheckedLoad {
        load: load.name().into(),
        generation: load.generation(),
        lines: load.lines(),
        contents: take(&load, SEED),
        layers: LAYERS
            .iter()
            .map(|&(layer, kind)| LayerVerdict {
                layer,
                refusals: refusals(&load, kind),
            })
            .collect(),
    })
}
