//! Fleet plans in TOML: keys and their meaning.
//!
//! Every error message contains the line. An unknown key is an error, because ignoring a setting
//! would measure something other than the user requested.

use super::setting::{SETTINGS, whole};
use crate::plan::{
    AccessPattern, Direction, DistributionShape, FleetPlan, GroupPlan, HealthPlan, Identities,
    LeftoverPolicy, RampPlan, Ranges, SampleScope, ValueDistribution, supplementary_gids,
};
use filestone_workload::load::diagnostic::suggestion;
use filestone_workload::quantity;
use std::fmt;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// An example plan with comments.
pub const EXAMPLE: &str = include_str!("example.toml");

const TOP: [&str; 8] = [
    "target",
    "duration",
    "seed",
    "connect_rate",
    "report",
    "ramp",
    "health",
    "group",
];
const RAMP: [&str; 2] = ["clients", "every"];
const HEALTH: [&str; 4] = ["connect", "response", "errors", "lateness"];
pub(super) const GROUP: [&str; 31] = [
    "name",
    "count",
    "direction",
    "reads",
    "target",
    "source",
    "uid",
    "gid",
    "gids",
    "machine_name",
    "read_size",
    "write_size",
    "file_size",
    "draw",
    "draw_each",
    "offsets",
    "files",
    "rate",
    "pattern",
    "checksums",
    "stable",
    "sync_after_write",
    "sync_before_close",
    "append",
    "unlink_first",
    "prefix",
    "quiesce_files",
    "quiesce_bytes",
    "quiesce_after",
    "grace",
    "retry",
];

/// Content of a fleet file.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetFile {
    /// Targets, in the order of their indices.
    pub targets: Vec<TargetText>,
    /// The fleet.
    pub fleet: FleetPlan,
    /// Length of the run; with a ramp, of its last step.
    pub duration_ns: Option<u64>,
    /// Seed of the random streams.
    pub seed: Option<u64>,
    /// Number of clients that are connected per second.
    pub connect_rate: Option<f64>,
    /// Length of a report row.
    pub report_ns: Option<u64>,
}

/// A target as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetText {
    /// The text.
    pub text: String,
    /// Line number.
    pub line: usize,
}

/// Error in a fleet file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetFileError {
    /// Line number.
    pub line: usize,
    /// The error message.
    pub message: String,
    /// A suggestion, if there is one.
    pub help: Option<String>,
}

impl fmt::Display for FleetFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.message)
    }
}

impl std::error::Error for FleetFileError {}

type Read<T> = Result<T, FleetFileError>;

/// Parses a plan; `name` is its name in the record.
pub fn parse(name: &str, text: &str) -> Read<FleetFile> {
    let document = DeTable::parse(text).map_err(|error| FleetFileError {
        line: line_at(text, error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
        help: None,
    })?;
    let top = Section::new("the plan", document.get_ref(), &TOP, text, 1)?;
    let mut targets = Targets::default();
    let usual = match top.value("target") {
        Some(value) => targets.places(&value)?,
        None => vec![],
    };
    let ramp = top.section("ramp", &RAMP)?;
    let health = top.section("health", &HEALTH)?;
    let groups = groups(&top, &mut targets, &usual)?;
    Ok(FleetFile {
        targets: targets.0,
        duration_ns: top.read("duration", quantity::positive_duration)?,
        seed: top.read("seed", seed)?,
        connect_rate: top.read("connect_rate", quantity::rate)?,
        report_ns: top.read("report", quantity::positive_duration)?,
        fleet: FleetPlan {
            name: name.into(),
            groups,
            more_targets: vec![],
            ramp: ramp.map(|section| ramp_of(&section)).transpose()?,
            health: health.map_or(Ok(HealthPlan::default()), |section| health_of(&section))?,
            clients_per_thread: 1,
            left_over: LeftoverPolicy::default(),
            keep_files: false,
        },
    })
}

fn ramp_of(section: &Section<'_>) -> Read<RampPlan> {
    let missing = |key| section.error(&format!("a ramp needs \"{key}\""));
    let clients = section.read("clients", whole)?;
    let every_ns = section.read("every", quantity::positive_duration)?;
    Ok(RampPlan {
        clients: clients.ok_or_else(|| missing("clients"))?,
        every_ns: every_ns.ok_or_else(|| missing("every"))?,
    })
}

fn health_of(section: &Section<'_>) -> Read<HealthPlan> {
    Ok(HealthPlan {
        connect_time_ns: section.read("connect", quantity::positive_duration)?,
        response_time_ns: section.read("response", quantity::positive_duration)?,
        errors: section.read("errors", share)?,
        lateness_ns: section.read("lateness", quantity::positive_duration)?,
    })
}

fn groups(top: &Section<'_>, targets: &mut Targets, usual: &[u32]) -> Read<Vec<GroupPlan>> {
    let Some(value) = top.value("group") else {
        return Err(top.error("there is no [[group]] in the plan"));
    };
    let Some(tables) = value.value.as_array() else {
        return Err(value.error("groups are written as [[group]]"));
    };
    let mut groups: Vec<GroupPlan> = Vec::new();
    let mut readers = Vec::new();
    for table in tables.iter() {
        let line = line_at(top.text, table.span().start);
        let Some(entries) = table.get_ref().as_table() else {
            return Err(value.error("groups are written as [[group]]"));
        };
        let section = Section::new("a group", entries, &GROUP, top.text, line)?;
        let mut group = group_of(&section, groups.len())?;
        group.targets = match section.value("target") {
            Some(value) => targets.places(&value)?,
            None => usual.to_vec(),
        };
        if let Some(value) = section.value("reads") {
            readers.push((groups.len(), value.text()?, value.line));
        }
        groups.push(group);
    }
    for (place, wanted, line) in readers {
        let found = groups.iter().position(|group| group.name == wanted);
        let Some(found) = found else {
            let names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
            return Err(FleetFileError {
                line,
                message: format!("reads = \"{wanted}\": there is no such group"),
                help: Some(format!("the groups are {}", names.join(", "))),
            });
        };
        if let Some(group) = groups.get_mut(place) {
            group.reads = Some(found as u32);
        }
    }
    Ok(groups)
}

fn group_of(section: &Section<'_>, place: usize) -> Read<GroupPlan> {
    let name = section.read("name", text)?;
    let name = name.unwrap_or_else(|| format!("group-{}", place + 1));
    let count = section.read("count", whole)?;
    let count =
        count.ok_or_else(|| section.error("a group needs \"count\", the number of its clients"))?;
    let direction = section.read("direction", direction)?;
    let usual = GroupPlan::new(&name, count, direction.unwrap_or(Direction::Write));
    let flag = |key, usual| section.flag(key).map(|flag| flag.unwrap_or(usual));
    let mut group = GroupPlan {
        sources: section.read("source", str::parse)?.unwrap_or_default(),
        identities: Identities {
            uids: section
                .read("uid", str::parse::<Ranges<u32>>)?
                .unwrap_or_default(),
            gids: section
                .read("gid", str::parse::<Ranges<u32>>)?
                .unwrap_or_default(),
            supplementary_gids: section.read("gids", supplementary_gids)?,
            machine_name: section.read("machine_name", text)?,
        },
        drawing: ValueDistribution {
            shape: section.read("draw", shape)?.unwrap_or_default(),
            each: section.read("draw_each", each)?.unwrap_or_default(),
        },
        offsets: section.read("offsets", offsets)?.unwrap_or(usual.offsets),
        checksums: flag("checksums", usual.checksums)?,
        stable: flag("stable", usual.stable)?,
        sync_after_write: flag("sync_after_write", usual.sync_after_write)?,
        sync_before_close: flag("sync_before_close", usual.sync_before_close)?,
        append: flag("append", usual.append)?,
        unlink_first: flag("unlink_first", usual.unlink_first)?,
        prefix: section
            .read("prefix", text)?
            .unwrap_or(usual.prefix.clone()),
        ..usual
    };
    for setting in &SETTINGS {
        section.read(setting.key, |text| setting.read(text, &mut group))?;
    }
    Ok(group)
}

fn text(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

fn seed(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "expected a whole number")
}

fn share(text: &str) -> Result<f64, String> {
    let (number, factor) = match text.strip_suffix('%') {
        Some(percent) => (percent, 0.01),
        None => (text, 1.0),
    };
    let number: Option<f64> = number.trim().parse().ok();
    let share = number.map(|number| number * factor);
    share
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "expected a share such as 1% or 0.01".into())
}

fn direction(text: &str) -> Result<Direction, String> {
    Ok(match text {
        "write" => Direction::Write,
        "read" => Direction::Read,
        "both" => Direction::Both,
        _ => return Err("expected write, read or both".into()),
    })
}

fn shape(text: &str) -> Result<DistributionShape, String> {
    Ok(match text {
        "uniform" => DistributionShape::Uniform,
        "log-uniform" => DistributionShape::LogUniform,
        _ => return Err("expected uniform or log-uniform".into()),
    })
}

fn each(text: &str) -> Result<SampleScope, String> {
    Ok(match text {
        "file" => SampleScope::File,
        "client" => SampleScope::Client,
        _ => return Err("expected file or client".into()),
    })
}

fn offsets(text: &str) -> Result<AccessPattern, String> {
    Ok(match text {
        "sequential" => AccessPattern::Sequential,
        "random" => AccessPattern::Random,
        _ => return Err("expected sequential or random".into()),
    })
}

/// Returns the line number of a byte of a text, counted from 1.
fn line_at(text: &str, at: usize) -> usize {
    let before = text.as_bytes().iter().take(at);
    1 + before.filter(|byte| **byte == b'\n').count()
}

/// The targets of a plan, without duplicates.
#[derive(Debug, Default)]
struct Targets(Vec<TargetText>);

impl Targets {
    /// Returns the indices of a target, or of a list of targets.
    fn places(&mut self, value: &Value<'_>) -> Read<Vec<u32>> {
        let texts = match value.value {
            DeValue::Array(entries) => entries
                .iter()
                .map(|entry| entry.get_ref().as_str().map(str::to_owned))
                .collect::<Option<Vec<_>>>()
                .filter(|texts| !texts.is_empty())
                .ok_or_else(|| value.error("expected a target, or a list of them"))?,
            _ => vec![value.text()?],
        };
        let place = |text: String| {
            let known = self.0.iter().position(|target| target.text == text);
            let place = known.unwrap_or_else(|| {
                let line = value.line;
                self.0.push(TargetText { text, line });
                self.0.len() - 1
            });
            place as u32
        };
        Ok(texts.into_iter().map(place).collect())
    }
}

/// A table of the plan with valid keys only.
struct Section<'t> {
    table: &'t DeTable<'t>,
    text: &'t str,
    line: usize,
}

/// A value and its position.
struct Value<'t> {
    key: &'static str,
    value: &'t DeValue<'t>,
    line: usize,
}

impl Value<'_> {
    fn error(&self, what: &str) -> FleetFileError {
        FleetFileError {
            line: self.line,
            message: format!("{}: {what}", self.key),
            help: None,
        }
    }

    /// Returns a text or a number as it is written.
    fn text(&self) -> Read<String> {
        Ok(match self.value {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
            DeValue::Float(number) => number.as_str().to_owned(),
            _ => return Err(self.error("expected a text or a number")),
        })
    }
}

impl<'t> Section<'t> {
    /// Creates a section; `what` describes the table in messages.
    fn new(
        what: &str,
        table: &'t DeTable<'t>,
        keys: &[&str],
        text: &'t str,
        line: usize,
    ) -> Read<Self> {
        for key in table.keys() {
            let name = key.get_ref();
            if !keys.contains(&name.as_ref()) {
                let near = suggestion(name.as_bytes(), keys.iter().copied());
                return Err(FleetFileError {
                    line: line_at(text, key.span().start),
                    message: format!("\"{name}\" is not a key of {what}"),
                    help: Some(match near {
                        Some(near) => format!("did you mean {near}?"),
                        None => format!("the keys are {}", keys.join(", ")),
                    }),
                });
            }
        }
        Ok(Self { table, text, line })
    }

    fn error(&self, what: &str) -> FleetFileError {
        FleetFileError {
            line: self.line,
            message: what.into(),
            help: None,
        }
    }

    fn value(&self, key: &'static str) -> Option<Value<'t>> {
        let value: &Spanned<DeValue<'_>> = self.table.get(key)?;
        Some(Value {
            key,
            line: line_at(self.text, value.span().start),
            value: value.get_ref(),
        })
    }

    fn section(&self, key: &'static str, keys: &[&str]) -> Read<Option<Section<'t>>> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        match value.value.as_table() {
            Some(table) => {
                Self::new(&format!("[{key}]"), table, keys, self.text, value.line).map(Some)
            }
            None => Err(value.error(&format!("written as [{key}]"))),
        }
    }

    fn read<T, E: fmt::Display>(
        &self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Read<Option<T>> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        let text = value.text()?;
        match parse(&text) {
            Ok(parsed) => Ok(Some(parsed)),
            Err(error) => {
                // Some errors already contain the given value.
                let (told, given) = (error.to_string(), format!("\"{text}\": "));
                let told = told.strip_prefix(&given).unwrap_or(&told);
                Err(value.error(&format!("{given}{told}")))
            }
        }
    }

    fn flag(&self, key: &'static str) -> Read<Option<bool>> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        match value.value {
            DeValue::Boolean(flag) => Ok(Some(*flag)),
            _ => Err(value.error("expected true or false")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ValueRange;

    #[test]
    fn the_example_is_a_plan() {
        let file = parse("example", EXAMPLE).expect("it parses");
        let clients = file.fleet.clients();
        assert_eq!(file.fleet.check(clients, file.targets.len()), Ok(()));
        // Every key occurs, in use or as a comment.
        for key in TOP.iter().chain(&RAMP).chain(&HEALTH).chain(&GROUP) {
            let shown = [format!("{key} ="), format!("[{key}]"), format!("[[{key}]]")];
            assert!(shown.iter().any(|shown| EXAMPLE.contains(shown)), "{key}");
        }
        // Also with all settings that are commented out.
        let all: Vec<&str> = EXAMPLE
            .lines()
            .map(|line| line.strip_prefix("#: ").unwrap_or(line))
            .collect();
        let all = parse("all", &all.join("\n")).expect("all of it parses");
        assert_eq!(
            all.fleet.check(all.fleet.clients(), all.targets.len()),
            Ok(())
        );
        assert_ne!(all, file);
    }

    #[test]
    fn a_plan_says_what_each_group_does() {
        let text = "\
target = [\"nfs://a/x\", \"nfs://b/x\"]
duration = 30
[[group]]
name = \"w\"
count = 3
write_size = \"4K..64K\"
rate = \"1..2Mbit/s\"
source = \"127.1.0.1-127.1.0.3\"
uid = 1000
[[group]]
name = \"r\"
count = 2
direction = \"read\"
reads = \"w\"
target = \"nfs://b/x\"
quiesce_files = 7
";
        let file = parse("x", text).expect("a plan");
        let targets: Vec<&str> = file
            .targets
            .iter()
            .map(|target| target.text.as_str())
            .collect();
        assert_eq!(targets, ["nfs://a/x", "nfs://b/x"]);
        assert_eq!(file.duration_ns, Some(30_000_000_000));
        let [writers, readers] = file.fleet.groups.as_slice() else {
            panic!("two groups");
        };
        assert_eq!(
            writers.write_size,
            ValueRange {
                min: 4096,
                max: 65_536
            }
        );
        assert_eq!(
            (&writers.targets, &readers.targets),
            (&vec![0, 1], &vec![1])
        );
        assert_eq!(readers.reads, Some(0));
        assert_eq!(writers.identities.uids.of_client(5), Some(1000));
        assert_eq!(readers.quiesce.files, Some(7));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let group = "[[group]]\ncount = 1\n";
        for (text, wanted, help) in [
            (
                "durtion = 3\n",
                "1: \"durtion\" is not a key of the plan",
                "did you mean duration?",
            ),
            (
                "[[group]]\ncount = 1\nreed_size = 4\n",
                "3: \"reed_size\" is not a key of a group",
                "did you mean read_size?",
            ),
            (
                "[[group]]\ncount = 1\nwrite_size = \"8K..4K\"\n",
                "3: write_size: \"8K..4K\": the least is greater",
                "",
            ),
            (
                "[[group]]\ncount = 1\nrate = \"5 MB\"\n",
                "3: rate: \"5 MB\": expected a rate",
                "",
            ),
            (
                "[[group]]\ncount = 1\nreads = \"x\"\n",
                "3: reads = \"x\": there is no such group",
                "the groups are group-1",
            ),
            (
                "[[group]]\nname = \"a\"\n",
                "1: a group needs \"count\"",
                "",
            ),
            (
                "[[group]]\ncount = 0\n",
                "2: count: \"0\": expected a whole number, 1",
                "",
            ),
            ("[ramp]\nclients = 1\n", "1: a ramp needs \"every\"", ""),
            (
                "[ramp]\nstep = 1\n",
                "2: \"step\" is not a key of [ramp]",
                "the keys are clients, every",
            ),
            ("seed = 1\n", "1: there is no [[group]]", ""),
            ("a = = 1\n", "1: ", ""),
            (
                "[[group]]\ncount = 1\nstable = \"yes\"\n",
                "3: stable: expected true or false",
                "",
            ),
            (
                "[health]\nerrors = \"200%\"\n",
                "2: errors: \"200%\": expected a share",
                "",
            ),
            (
                "[[group]]\ncount = 1\nuid = \"a-b\"\n",
                "3: uid: \"a-b\": expected a number",
                "",
            ),
            (
                "group = 3\n",
                "1: group: groups are written as [[group]]",
                "",
            ),
        ] {
            let text = if text.starts_with("[ramp]") || text.starts_with("[health]") {
                format!("{text}{group}")
            } else {
                text.to_owned()
            };
            let error = parse("x", &text).expect_err(&text);
            assert!(error.to_string().starts_with(wanted), "{error}");
            assert_eq!(error.help.unwrap_or_default(), help, "{wanted}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_plan_or_an_error(text in ".{0,200}") {
            let _ = parse("x", &text);
        }
    }
}
