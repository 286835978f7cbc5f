//! Comparability of two runs: whether they measured the same thing, and whether both are valid, so
//! that a difference between them is a difference of the measured thing.

use super::compared_run::ComparedRun;
use super::json_differences::each_difference;
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

/// Number of differences between plans that are listed one by one; further ones are counted.
const TOLD: usize = 5;
/// Fields of comparable plans that may differ: the address of the server, and settings that do not
/// affect the measurement.
const FREE: [&str; 10] = [
    "seed",
    "interval_ns",
    "gates",
    "target.host",
    "target.port",
    "target.mount_port",
    "target.path",
    "target.directory",
    "workload.file_set.name",
    "workload.remove_set",
];
/// Fields that decide whether data are on stable storage when a write completes.
const DURABILITY: [&str; 5] = ["stability", "stable", "fsync", "sync", "sync_directories"];

/// A property in which compared runs must agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ComparabilityCheck {
    /// Validity of both runs.
    Validity,
    /// Method of measurement.
    Method,
    /// All settings of the plan that affect the measurement, such as operations, sizes and rates.
    Plan,
    /// Durability: whether data are on stable storage when a write completes.
    Durability,
    /// Network path: loopback or a network.
    Path,
    /// Host of the load generator.
    Host,
}

/// A difference that makes two runs incomparable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incompatibility {
    /// Property that differs.
    pub aspect: ComparabilityCheck,
    /// Exact field, such as `clients`; empty if the property alone says it.
    pub place: String,
    /// Value of the base; empty, like `new`, if `place` is the whole message.
    pub base: String,
    /// Value of the new run.
    pub new: String,
}

impl ComparabilityCheck {
    /// List of all properties.
    pub const ALL: [Self; 6] = [
        Self::Validity,
        Self::Method,
        Self::Plan,
        Self::Durability,
        Self::Path,
        Self::Host,
    ];

    /// Returns the name of the property.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Validity => "validity",
            Self::Method => "method",
            Self::Plan => "plan",
            Self::Durability => "durability",
            Self::Path => "path",
            Self::Host => "host",
        }
    }
}

impl FromStr for ComparabilityCheck {
    type Err = UnknownCheck;

    fn from_str(name: &str) -> Result<Self, UnknownCheck> {
        let mut all = Self::ALL.into_iter();
        all.find(|aspect| aspect.name() == name).ok_or(UnknownCheck)
    }
}

/// Error for an unknown property name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no such aspect")]
pub struct UnknownCheck;

impl fmt::Display for Incompatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            aspect,
            place,
            base,
            new,
        } = self;
        f.write_str(aspect.name())?;
        if !place.is_empty() {
            write!(f, ": {place}")?;
        }
        if base.is_empty() && new.is_empty() {
            return Ok(());
        }
        write!(f, ": {base} against {new}")
    }
}

/// Returns the incompatibility of an invalid run, which is comparable to no other run.
pub fn uncounted(run: &ComparedRun, name: impl fmt::Display) -> Option<Incompatibility> {
    let why = run.does_not_count()?;
    Some(Incompatibility {
        aspect: ComparabilityCheck::Validity,
        place: format!("{name} does not count ({why})"),
        base: String::new(),
        new: String::new(),
    })
}

/// Returns the differences that make the runs incomparable.
pub fn differences(base: &ComparedRun, new: &ComparedRun) -> Vec<Incompatibility> {
    let mut found = vec![];
    let mut hold = |aspect: ComparabilityCheck, place: &str, base: String, new: String| {
        if base != new {
            let place = place.into();
            found.push(Incompatibility {
                aspect,
                place,
                base,
                new,
            });
        }
    };
    hold(
        ComparabilityCheck::Method,
        "",
        base.method.to_string(),
        new.method.to_string(),
    );
    let path = |record: &ComparedRun| {
        let words = if record.target.local {
            "this host"
        } else {
            "a network"
        };
        words.to_owned()
    };
    hold(ComparabilityCheck::Path, "", path(base), path(new));
    let account = |record: &ComparedRun| {
        let session = record.target.session.as_ref();
        session.map_or_else(String::new, |session| format!("{:?}", session.account))
    };
    hold(
        ComparabilityCheck::Plan,
        "account",
        account(base),
        account(new),
    );
    let host = |record: &ComparedRun| {
        let host = &record.host;
        format!("{}, {} processors, {}", host.cpu, host.cpus, host.kernel)
    };
    hold(ComparabilityCheck::Host, "", host(base), host(new));
    found.extend(of_plans(base, new));
    found.sort_by_key(|unlike| unlike.aspect);
    found
}

fn of_plans(base: &ComparedRun, new: &ComparedRun) -> Vec<Incompatibility> {
    let value = |run: &ComparedRun| serde_json::to_value(&run.plan).unwrap_or(Value::Null);
    of_values(&value(base), &value(new))
}

fn of_values(base: &Value, new: &Value) -> Vec<Incompatibility> {
    let mut found = vec![];
    each_difference("", base, new, &FREE, &mut |place, base, new| {
        let last = place.rsplit('.').next().unwrap_or(place);
        found.push(Incompatibility {
            aspect: if DURABILITY.contains(&last) {
                ComparabilityCheck::Durability
            } else {
                ComparabilityCheck::Plan
            },
            place: place.into(),
            base: shown(base),
            new: shown(new),
        });
    });
    told(found)
}

/// Keeps the first differences of plans, and adds the number of further ones.
fn told(found: Vec<Incompatibility>) -> Vec<Incompatibility> {
    let (mut plan, mut others): (Vec<Incompatibility>, Vec<Incompatibility>) = found
        .into_iter()
        .partition(|unlike| unlike.aspect == ComparabilityCheck::Plan);
    let more = plan.len().saturating_sub(TOLD);
    plan.truncate(TOLD);
    if more > 0 {
        plan.push(Incompatibility {
            aspect: ComparabilityCheck::Plan,
            place: format!("{more} more"),
            base: String::new(),
            new: String::new(),
        });
    }
    plan.append(&mut others);
    plan
}

/// Formats a value on one line.
fn shown(value: &Value) -> String {
    const SHOWN_MAX: usize = 40;
    let text = match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn unlike(base: Value, new: Value) -> Vec<String> {
        let found = of_values(&base, &new);
        found.iter().map(Incompatibility::to_string).collect()
    }

    #[test]
    fn what_does_not_change_the_measurement_may_differ() {
        let plan = |host: &str, seed: u64| json!({"seed": seed, "target": {"host": host}});
        assert!(unlike(plan("a", 1), plan("b", 2)).is_empty());
        let held = json!({"gates": {"fail_if": ["errors > 0"], "strict": false}});
        assert!(unlike(json!({}), held).is_empty());
    }

    #[test]
    fn each_leaf_is_told_with_its_place_and_durability_as_that() {
        let plan = |clients: u32, stability: &str| json!({"clients": clients, "workload": {"stability": stability, "pin": null}});
        assert_eq!(
            unlike(plan(1, "unstable"), plan(2, "file-sync")),
            [
                "plan: clients: 1 against 2",
                "durability: workload.stability: unstable against file-sync",
            ]
        );
        assert_eq!(
            unlike(json!({"a": 1}), json!({"b": "é".repeat(41)})),
            [
                "plan: a: 1 against none".to_owned(),
                format!("plan: b: none against {}…", "é".repeat(40)),
            ]
        );
    }

    #[test]
    fn of_many_differences_the_first_are_told_and_the_rest_counted() {
        let plan = |value: u32| {
            let leaves = (0..8).map(|leaf| (format!("leaf{leaf}"), value.into()));
            Value::Object(leaves.collect())
        };
        let found = unlike(plan(0), plan(1));
        assert_eq!(found.len(), TOLD + 1);
        assert_eq!(found[TOLD], "plan: 3 more");
    }

    #[test]
    fn an_aspect_is_found_by_its_name() {
        for aspect in ComparabilityCheck::ALL {
            assert_eq!(aspect.name().parse(), Ok(aspect));
        }
        assert!("plans".parse::<ComparabilityCheck>().is_err());
    }
}
