//! Report of `filestone ab`: a comparison of two sides whose runs were interleaved.

use super::comparison::document::ComparisonDocument;
use super::comparison::{self, Compared, Method, ReadRun, document};
use super::document::Document;
use crate::JsonSchema;
use filestone_measure::comparison::ab::{PAIRS_MIN, Trial};
use filestone_workload::text::counted;
use serde::Serialize;

/// Format version of [`AbDocument`]; increased when the shape changes.
const FORMAT: u32 = 1;

/// Interleaved blocks and the result.
#[derive(Debug)]
pub struct AbResult {
    /// Seed of the order.
    pub seed: u64,
    /// Final planned number of blocks.
    pub planned: u64,
    /// Side of each block, in order.
    pub order: String,
    /// Invalid blocks, with reasons.
    pub invalid: Vec<String>,
    /// Reason why no more blocks were made.
    pub end: AbEnd,
    /// Runs of A that are paired with one of B.
    pub base: Vec<ReadRun>,
    /// Runs of B that are paired with one of A.
    pub new: Vec<ReadRun>,
    /// Statistics of the trial.
    pub trial: Trial,
}

/// Report of the trial: a comparison with interleaved sides.
#[derive(Debug)]
pub struct AbReport {
    /// The compared sides and their comparison.
    pub compared: Compared,
    /// Reason why no more blocks were made.
    end: AbEnd,
    planned: u64,
    order: String,
    invalid: Vec<String>,
    seed: u64,
    pairs: u64,
}

/// Reason why no more blocks were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AbEnd {
    /// The result was clear.
    Clear,
    /// The planned number of blocks was made.
    All,
    /// Interrupted by ^C.
    Interrupted,
    /// A server did not start, ended or was disconnected.
    Failed,
}

/// Output of `filestone ab --format json`, and `ab.json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AbDocument {
    /// Format version of this document.
    pub format: u32,
    /// Reason why no more blocks were made.
    pub end: AbEnd,
    /// Final planned number of blocks.
    pub planned: u64,
    /// Side of each block, in the order of time, such as `abbabaab`.
    pub order: String,
    /// Invalid blocks, which were repeated, with reasons.
    pub invalid: Vec<String>,
    /// Seed of the order; run k of a side uses this seed plus k − 1.
    pub seed: u64,
    /// Both sides: the deciding figures by pairs of blocks, the others as in `filestone compare`.
    pub comparison: ComparisonDocument,
}

impl AbReport {
    /// Creates the report of a trial.
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

    /// Whether there are enough pairs for a result.
    pub fn is_enough(&self) -> bool {
        self.pairs >= PAIRS_MIN
    }

    /// Returns the report for people.
    pub fn report(&self) -> Document {
        let end = match self.end {
            AbEnd::Clear | AbEnd::All => None,
            AbEnd::Interrupted => Some("Interrupted: what follows is of the pairs before."),
            AbEnd::Failed => Some("Ended by an error: what follows is of the pairs before."),
        };
        let invalid = self.invalid.iter();
        let document = Document::default()
            .prose(end)
            .facts(invalid.map(|block| ("made again", block.clone())));
        if self.is_enough() {
            return document.with(comparison::report(&self.compared));
        }
        document.prose([format!(
            "cannot tell: {} of blocks, of {PAIRS_MIN} at least",
            counted(self.pairs, "pair")
        )])
    }

    /// Returns the document for programs.
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
