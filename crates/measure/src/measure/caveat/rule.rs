//! The rule behind a caveat, and the macro that declares all caveats in one table.

use super::Caveat;
use crate::measure::validity_record::Validity;
use filestone_workload::threshold::Threshold;

/// A rule, and the consequence for a run that breaks it.
#[derive(Debug, Clone, Copy)]
pub struct ValidityRule {
    /// Name of the rule: that of its caveat in the record, and of its section.
    pub id: &'static str,
    /// Its former names, which records of older versions have and options accept.
    pub former: &'static [&'static str],
    /// Threshold of its figure, if it has one.
    pub threshold: Option<Threshold>,
    /// Best validity of a run that breaks the rule.
    pub leaves: Validity,
    /// Threshold in the same unit, above which a run that breaks the rule is invalid.
    pub most: Option<Threshold>,
}

/// Declares the enum of all caveats, their rules and their texts.
///
/// An entry has the figures of its sentence as fields, and these lines:
///
/// ```text
/// rule "id", formerly "other-id": VERDICT, THRESHOLD, "unit", at most THRESHOLD, of FIGURE;
/// sentence EXPRESSION;
/// reason EXPRESSION;
/// advice EXPRESSION;
/// ```
///
/// The expressions have references to the fields by their names. A rule without a figure ends after
/// its verdict. A run is invalid if the `FIGURE` of a rule exceeds the threshold after `at most`.
/// `reason` is for rules that make a run invalid: the sentence in a few words. Advice is a text or
/// `None`. Entries are in the order of the schema of records; `order` is that of the rules in texts
/// and in `docs/reference/validity.md`, and does not compile without one of them.
macro_rules! caveats {
    (
        order { $($ordered:ident),* $(,)? }
        $(
            $(#[$attribute:meta])*
            $caveat:ident $({ $($(#[$of_field:meta])* $field:ident: $kind:ty),* $(,)? })?
            rule $id:literal $(, formerly $former:literal)*: $leaves:ident $(, $figure:expr, $unit:literal $(, at most $most:expr, of $extent:expr)?)?;
            sentence $sentence:expr;
            $(reason $reason:expr;)?
            advice $advice:expr;
        )*
    ) => {
        /// A reason to doubt a figure.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "caveat")]
        #[allow(missing_docs)] // the fields are the figures of the sentence
        pub enum Caveat {
            $(
                $(#[$attribute])*
                #[serde(rename = $id $(, alias = $former)*)]
                $caveat $({ $($(#[$of_field])* $field: $kind),* })?,
            )*
        }

        #[allow(non_upper_case_globals)] // each has the name of its caveat
        impl ValidityRule {
            $(const $caveat: Self = Self {
                id: $id,
                former: &[$($former),*],
                threshold: caveats!(@threshold $($figure, $unit)?),
                leaves: Validity::$leaves,
                most: caveats!(@threshold $($($most, $unit)?)?),
            };)*
        }

        /// Table of all rules.
        pub const RULES: &[ValidityRule] = &[$(ValidityRule::$ordered),*];

        #[allow(unused_variables)] // an expression uses some of the fields
        impl Caveat {
            /// Returns the rule that a run with this caveat breaks.
            const fn rule(&self) -> ValidityRule {
                match self { $(Self::$ordered { .. } => ValidityRule::$ordered,)* }
            }

            /// Returns whether the run exceeds the threshold up to which the rule leaves it valid.
            fn is_beyond(&self) -> bool {
                match self { $(Self::$caveat $({ $($field),* })? => caveats!(@beyond $($($most, $extent)?)?),)* }
            }

            /// Returns the sentence, the reason if it differs from that, and the advice.
            fn texts(&self) -> (String, Option<String>, Option<&'static str>) {
                match self {
                    $(Self::$caveat $({ $($field),* })? => {
                        (String::from($sentence), caveats!(@reason $($reason)?), Option::from($advice))
                    })*
                }
            }
        }
    };
    (@threshold) => { None };
    (@threshold $figure:expr, $unit:literal) => { Some(Threshold { figure: $figure, unit: $unit }) };
    (@beyond) => { false };
    (@beyond $most:expr, $extent:expr) => { $extent > $most };
    (@reason) => { None };
    (@reason $reason:expr) => { Some(String::from($reason)) };
}

impl ValidityRule {
    /// Returns the rule of this name, or that formerly had it.
    pub fn named(name: &str) -> Option<&'static Self> {
        let mut rules = super::RULES.iter();
        rules.find(|rule| rule.id == name || rule.former.contains(&name))
    }
}

impl Caveat {
    /// Returns the name of its rule.
    pub const fn id(&self) -> &'static str {
        self.rule().id
    }

    /// Returns the best validity of a run with this caveat, from its rule and the extent of the
    /// violation.
    pub fn leaves(&self) -> Validity {
        if self.is_beyond() {
            Validity::DoesNotCount
        } else {
            self.rule().leaves
        }
    }

    /// Returns the sentence, and what to do about the caveat.
    pub fn sentence(&self) -> (String, Option<&'static str>) {
        let (sentence, _, advice) = self.texts();
        (sentence, advice)
    }

    /// Returns why a run with this caveat is invalid, in a few words with the figure.
    pub fn reason(&self) -> String {
        let (sentence, reason, _) = self.texts();
        reason.unwrap_or(sentence)
    }

    /// Returns whether the figures of the record cannot be trusted at all.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Caveat::LedgerOutOfBalance { .. })
    }
}
