//! What `filestone ab` found: a comparison of both sides, whose runs were made in turn.

use super::comparison::document::ComparisonDocument;
use super::comparison::{self, Compared, Method, ReadRun, document};
use super::parts::page::Page;
use super::parts::units::counted;
use filestone_measure::comparison::ab::{PAIRS_MIN, Trial};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// The shape of [`AbDocument`]; it rises when that changes.
const FORMAT: u32 = 1;

/// What was measured in turn, and what came of it.
#[derive(Debug)]
pub struct AbResult {
    /// What the order comes from.
    pub seed: u64,
    /// Blocks that were planned in the end.
    pub planned: u64,
    /// Of which side each block was.
    pub order: String,
    /// Blocks that did not count, and why.
    pub invalid: Vec<String>,
    /// Why there were no more blocks.
    pub end: AbEnd,
    /// Runs of A that have one of B beside them.
    pub base: Vec<ReadRun>,
    /// And those of B.
    pub new: Vec<ReadRun>,
    /// What was found.
    pub trial: Trial,
}

/// What is told of it: a comparison whose sides were measured in turn.
#[derive(Debug)]
pub struct AbReport {
    /// Both sides, and what was found of them.
    pub compared: Compared,
    /// Why there were no more blocks.
    end: AbEnd,
    planned: u64,
    order: String,
    invalid: Vec<String>,
    seed: u64,
    pairs: u64,
}

/// Why there were no more blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AbEnd {
    /// It was clear.
    Clear,
    /// As many as were planned were made.
    All,
    /// ^C.
    Interrupted,
    /// A server did not start, ended or was lost.
    Failed,
}

/// What `filestone ab --as json` prints, and `ab.json`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AbDocument {
    /// The shape of this document.
    pub format: u32,
    /// Why there were no more blocks.
    pub end: AbEnd,
    /// Blocks that were planned in the end.
    pub planned: u64,
    /// Of which side each block was, in the order of time, such as `abbabaab`.
    pub order: String,
    /// Blocks whose runs did not count, so that they were made again, and why.
    pub invalid: Vec<String>,
    /// What the order comes from; run k of a side has this seed and k − 1.
    pub seed: u64,
    /// Both sides: the figures that decide by pairs of blocks, the others as `filestone compare`
    /// has them.
    pub comparison: ComparisonDocument,
}

impl AbReport {
    /// What there is to tell.
    pub fn of(found: AbResult) -> Self {
        let pairs = found.trial.pairs();
        let (comparison, question) = (found.trial.found().clone(), found.trial.question().clone());
        let [base, new] = [found.trial.base(), found.trial.new_side()];
        let missing = if pairs < PAIRS_MIN {
            vec![]
        } else {
            comparison::missing(base, new, &comparison, &question)
        };
        let compared = Compared {
            base: found.base,
            new: found.new,
            question,
            comparison,
            missing,
            despite: vec![],
            method: Method::InTurn,
        };
        let compared = if pairs < PAIRS_MIN {
            compared
        } else {
            compared.with_failures()
        };
        Self {
            compared,
            end: found.end,
            planned: found.planned,
            order: found.order,
            invalid: found.invalid,
            seed: found.seed,
            pairs,
        }
    }

    /// Whether there are enough pairs to tell anything.
    pub fn is_enough(&self) -> bool {
        self.pairs >= PAIRS_MIN
    }

    /// In words.
    pub fn text(&self, page: Page) -> String {
        let mut text = match self.end {
            AbEnd::Clear | AbEnd::All => String::new(),
            AbEnd::Interrupted => page.prose("Interrupted: what follows is of the pairs before."),
            AbEnd::Failed => page.prose("Ended by an error: what follows is of the pairs before."),
        };
        let invalid = self.invalid.iter();
        text.push_str(&page.facts(invalid.map(|block| ("made again", block.clone()))));
        if self.is_enough() {
            text.push_str(&comparison::text(&self.compared, page));
        } else {
            let told = format!(
                "cannot tell: {} of blocks, of {PAIRS_MIN} at least",
                counted(self.pairs, "pair")
            );
            text.push_str(&page.prose(&told));
        }
        text
    }

    /// For programs.
    pub fn document(&self) -> AbDocument {
        AbDocument {
            format: FORMAT,
            end: self.end,
            planned: self.planned,
            order: self.order.clone(),
            invalid: self.invalid.clone(),
            seed: self.seed,
            comparison: document::of(&self.compared),
        }
    }
}
