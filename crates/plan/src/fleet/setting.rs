//! The settings of a group that can be changed while its clients run: parsing, time of effect and
//! output; and the reasons why the others cannot be changed.
//!
//! A plan in TOML and a change use the same parsers, so that both accept and reject the same
//! values.

use super::rate_text;
use crate::plan::{AccessPattern, Direction, FleetPlan, GroupPlan, ValueRange};
use filestone_workload::load::diagnostic::suggestion;
use filestone_workload::payload::Pattern;
use filestone_workload::quantity;
use std::collections::BTreeMap;
use std::fmt;

/// Time of effect of a changed setting; an earlier time is less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EffectiveFrom {
    /// With the next read or write.
    NextTransfer,
    /// With the next file that a client starts.
    NextFile,
}

impl EffectiveFrom {
    /// Returns the time as part of a sentence.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NextTransfer => "from the next read or write on",
            Self::NextFile => "from the next file on",
        }
    }
}

/// A setting that can be changed while clients run.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Key in a plan.
    pub key: &'static str,
    /// Time of effect of a change.
    pub effective_from: EffectiveFrom,
    read: fn(&str, &mut GroupPlan) -> Result<(), String>,
    show: fn(&GroupPlan) -> String,
}

impl Setting {
    /// Parses a value and stores it in a group.
    pub fn read(&self, text: &str, group: &mut GroupPlan) -> Result<(), String> {
        (self.read)(text, group)
    }

    /// Returns the value of a group as text.
    pub fn show(&self, group: &GroupPlan) -> String {
        (self.show)(group)
    }
}

/// Text for a missing value.
const NONE: &str = "none";

/// Rows of settings: key, time of effect, field of the group, parser, and output of the field.
macro_rules! settings {
    ($($key:literal, $from:ident, $($field:ident).+, $read:expr, $show:expr;)+) => {
        [$(Setting {
            key: $key,
            effective_from: EffectiveFrom::$from,
            read: |text, group| {
                group.$($field).+ = $read(text)?;
                Ok(())
            },
            show: |group| $show(Clone::clone(&group.$($field).+)),
        },)+]
    };
}

/// The settings that can be changed while clients run.
#[rustfmt::skip]
pub const SETTINGS: [Setting; 11] = settings! {
    "rate", NextTransfer, rate, |text| unless_none(text, rate_text::rate), |rate| or_none(rate, rate_text::text);
    "read_size", NextFile, read_size, span, span_text;
    "write_size", NextFile, write_size, span, span_text;
    "file_size", NextFile, file_size, span, span_text;
    "files", NextFile, files, whole, |files: u32| files.to_string();
    "pattern", NextTransfer, pattern, Pattern::parse, |pattern: Pattern| pattern.to_string();
    "quiesce_files", NextTransfer, quiesce.files,
        |text| unless_none(text, |text| whole(text).map(u64::from)),
        |files| or_none(files, |files: u64| files.to_string());
    "quiesce_bytes", NextTransfer, quiesce.bytes,
        |text| unless_none(text, quantity::bytes), |bytes| or_none(bytes, quantity::bytes_text);
    "quiesce_after", NextTransfer, quiesce.after_ns,
        |text| unless_none(text, quantity::positive_duration), |time| or_none(time, quantity::duration_text);
    "grace", NextTransfer, quiesce.grace_ns, quantity::duration, quantity::duration_text;
    "retry", NextTransfer, retry_ns, quantity::duration, quantity::duration_text;
};

fn or_none<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or(NONE.into(), show)
}

/// Returns the reason why a key of a plan cannot be changed while its clients run; `None` if it can
/// be changed, or is not a key.
fn fixed(key: &str) -> Option<&'static str> {
    Some(match key {
        "name" | "prefix" => "names are given before the run begins",
        "count" => "all clients are made before the run begins",
        "target" | "source" | "uid" | "gid" | "gids" | "machine_name" => {
            "where connections come from and go to is decided before the run begins"
        }
        "direction" | "reads" | "draw" | "draw_each" | "offsets" | "append" | "unlink_first"
        | "stable" | "checksums" | "sync_after_write" | "sync_before_close" => {
            "what clients do with their files is decided before the run begins"
        }
        _ => return None,
    })
}

/// Error returned when a setting cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingError {
    /// The error message.
    pub what: String,
    /// The help text.
    pub help: Option<String>,
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for SettingError {}

impl SettingError {
    fn new(what: String) -> Self {
        Self { what, help: None }
    }

    fn with_help(self, help: String) -> Self {
        Self {
            help: Some(help),
            ..self
        }
    }
}

/// A setting and its new value.
#[derive(Debug, Clone, Copy)]
pub struct SettingUpdate<'s> {
    /// The setting.
    pub setting: &'static Setting,
    /// The new value as text.
    pub text: &'s str,
}

/// Returns the settings of these keys with their new values, after checking the values.
pub fn settings_of(
    values: &BTreeMap<String, String>,
) -> Result<Vec<SettingUpdate<'_>>, SettingError> {
    let mut read = Vec::new();
    for (key, text) in values {
        let setting = setting_named(key)?;
        // Parsing depends on the text alone.
        let mut any = GroupPlan::new("", 1, Direction::Write);
        setting
            .read(text, &mut any)
            .map_err(|why| SettingError::new(format!("{key}: \"{text}\": {why}")))?;
        read.push(SettingUpdate { setting, text });
    }
    Ok(read)
}

fn setting_named(key: &str) -> Result<&'static Setting, SettingError> {
    let keys = || SETTINGS.iter().map(|setting| setting.key);
    let changeable = || {
        let keys: Vec<&str> = keys().collect();
        format!("what can be changed is {}", keys.join(", "))
    };
    if let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) {
        return Ok(setting);
    }
    Err(match fixed(key) {
        Some(why) => {
            let what = format!("{key} cannot be changed while clients run: {why}");
            SettingError::new(what).with_help(changeable())
        }
        None => {
            let near = suggestion(key.as_bytes(), keys());
            let error = SettingError::new(format!("\"{key}\" is no setting"));
            error.with_help(near.map_or_else(changeable, |near| format!("did you mean {near}?")))
        }
    })
}

/// Returns group `place` of a fleet, which has the current settings, with new values.
pub fn changed(
    fleet: &FleetPlan,
    place: usize,
    now: &GroupPlan,
    values: &[SettingUpdate<'_>],
) -> Result<GroupPlan, SettingError> {
    let mut group = now.clone();
    for SettingUpdate { setting, text } in values {
        let Setting { key, .. } = setting;
        setting
            .read(text, &mut group)
            .map_err(|why| SettingError::new(format!("{key}: \"{text}\": {why}")))?;
        if let Some(why) = no_use(fleet, place, &group, key) {
            let name = &group.name;
            return Err(SettingError::new(format!("{key}: group \"{name}\" {why}")));
        }
    }
    match fleet.wrong_with(&group, usize::MAX) {
        Some(wrong) => Err(SettingError::new(format!(
            "group \"{}\": {wrong}",
            group.name
        ))),
        None => Ok(group),
    }
}

/// Returns the values that apply to the direction of `group`, if `groups` are changed together: the
/// size of reads has no effect on a group that only writes. A value that none of the groups can use
/// is kept, so that it is rejected.
pub fn values_for<'v>(
    group: &GroupPlan,
    groups: &[&GroupPlan],
    values: &[SettingUpdate<'v>],
) -> Vec<SettingUpdate<'v>> {
    let is_for = |value: &&SettingUpdate<'v>| {
        let has_use = |group: &GroupPlan| is_for_direction(value.setting.key, group.direction);
        has_use(group) || !groups.iter().any(|other| has_use(other))
    };
    values.iter().filter(is_for).copied().collect()
}

/// Whether a setting has an effect on clients with this direction.
fn is_for_direction(key: &str, direction: Direction) -> bool {
    match key {
        "read_size" => direction != Direction::Write,
        "write_size" | "file_size" | "pattern" => direction != Direction::Read,
        _ => true,
    }
}

/// Returns the reason why a setting cannot be changed in this group.
fn no_use(fleet: &FleetPlan, place: usize, group: &GroupPlan, key: &str) -> Option<String> {
    let reads_only = group.direction == Direction::Read;
    let is_read = || {
        let mut groups = fleet.groups.iter();
        groups.find(|other| other.reads == Some(place as u32))
    };
    match key {
        "read_size" if group.direction == Direction::Write => Some("reads nothing".into()),
        "write_size" | "pattern" if reads_only => {
            Some("reads only: its data have been written".into())
        }
        "write_size" if is_read_at_random(fleet, place, group) => {
            Some("is read at random offsets, by writes of the size that the plan has".into())
        }
        "file_size" if reads_only => Some("reads only: its files are as long as they are".into()),
        "files" => is_read().map(|other| {
            let other = &other.name;
            format!("has files that \"{other}\" reads: how many is decided before the run begins")
        }),
        "pattern" if !is_at_hand(fleet, &group.pattern) => Some(
            "can only have patterns whose bytes are ready: those of the plan, and all that have names \
             but incompressible"
                .into(),
        ),
        _ => None,
    }
}

/// Whether files of the group are verified write by write, in random order.
fn is_read_at_random(fleet: &FleetPlan, place: usize, group: &GroupPlan) -> bool {
    let looks = |reader: &GroupPlan| reader.checksums && reader.offsets == AccessPattern::Random;
    let mut groups = fleet.groups.iter();
    let others = groups.any(|other| other.reads == Some(place as u32) && looks(other));
    others || group.direction != Direction::Write && looks(group)
}

/// Whether the bytes of a pattern are available even if the plan does not name it, which applies to
/// small patterns.
pub fn is_always_ready(pattern: &Pattern) -> bool {
    !matches!(pattern, Pattern::Incompressible | Pattern::Custom(_))
}

fn is_at_hand(fleet: &FleetPlan, pattern: &Pattern) -> bool {
    is_always_ready(pattern) || fleet.groups.iter().any(|group| group.pattern == *pattern)
}

fn unless_none<T, E: Into<String>>(
    text: &str,
    read: impl FnOnce(&str) -> Result<T, E>,
) -> Result<Option<T>, String> {
    match text {
        NONE => Ok(None),
        text => read(text).map(Some).map_err(Into::into),
    }
}

/// Parses a whole number, 1 or more.
pub(super) fn whole(text: &str) -> Result<u32, String> {
    let number: Result<u32, _> = text.parse();
    number
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| "expected a whole number, 1 or more".into())
}

/// Parses bytes: one number, or a range.
fn span(text: &str) -> Result<ValueRange<u64>, String> {
    let (min, max) = text.split_once("..").unwrap_or((text, text));
    let (min, max) = (quantity::bytes(min)?, quantity::bytes(max)?);
    if min > max {
        return Err("the least is greater than the greatest".into());
    }
    if min == 0 {
        return Err("nothing is no size".into());
    }
    Ok(ValueRange { min, max })
}

fn span_text(span: ValueRange<u64>) -> String {
    if span.min == span.max {
        return quantity::bytes_text(span.min);
    }
    format!(
        "{}..{}",
        quantity::bytes_text(span.min),
        quantity::bytes_text(span.max)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::pairs;

    fn change(place: usize, key: &str, text: &str) -> Result<GroupPlan, SettingError> {
        let fleet = pairs();
        let values = BTreeMap::from([(key.to_owned(), text.to_owned())]);
        let settings = settings_of(&values)?;
        changed(&fleet, place, &fleet.groups[place], &settings)
    }

    #[test]
    fn every_setting_is_written_as_it_is_read() {
        for (key, text, again) in [
            ("rate", "100Mbit/s", "100Mbit/s"),
            ("rate", "0.5..1.5 kops/s", "500..1500ops/s"),
            ("rate", "none", "none"),
            ("write_size", "4K..65537", "4KiB..65537"),
            ("file_size", "1MB", "1000000"),
            ("pattern", "PRBS_7_0_6", "prbs-7-0-6"),
            ("quiesce_files", "7", "7"),
            ("quiesce_bytes", "2MiB", "2MiB"),
            ("quiesce_after", "1500ms", "1500ms"),
            ("grace", "0", "0ns"),
            ("retry", "1m", "60s"),
        ] {
            let group = change(0, key, text).expect(text);
            let setting = setting_named(key).expect(key);
            assert_eq!(setting.show(&group), again);
            let mut other = pairs().groups.remove(0);
            setting.read(again, &mut other).expect(again);
            assert_eq!(other, group, "{key}");
        }
    }

    #[test]
    fn what_cannot_be_changed_says_why() {
        for (place, key, text, wanted, help) in [
            (
                0,
                "rate",
                "5 MB",
                "rate: \"5 MB\": expected a rate such as",
                "",
            ),
            (
                0,
                "count",
                "5",
                "count cannot be changed while clients run: all",
                "what can",
            ),
            (
                0,
                "target",
                "nfs:",
                "target cannot be changed while",
                "what can",
            ),
            (
                0,
                "direction",
                "read",
                "direction cannot be changed",
                "what can",
            ),
            (
                0,
                "source",
                "127.0.0.1",
                "source cannot be changed",
                "what can",
            ),
            (0, "rat", "5", "\"rat\" is no setting", "did you mean rate?"),
            (
                0,
                "write_size",
                "8K..4K",
                "write_size: \"8K..4K\": the least",
                "",
            ),
            (
                0,
                "write_size",
                "64",
                "group \"writers\": with checksums",
                "",
            ),
            (
                0,
                "read_size",
                "4K",
                "read_size: group \"writers\" reads nothing",
                "",
            ),
            (
                1,
                "write_size",
                "4K",
                "write_size: group \"readers\" reads only",
                "",
            ),
            (
                1,
                "file_size",
                "4K",
                "file_size: group \"readers\" reads only",
                "",
            ),
            (1, "files", "3", "group \"readers\": it reads 3 files", ""),
            (
                0,
                "files",
                "3",
                "files: group \"writers\" has files that \"readers\"",
                "",
            ),
            (
                0,
                "pattern",
                "hex:00ff",
                "pattern: group \"writers\" can only have",
                "",
            ),
            (
                0,
                "pattern",
                "prbs",
                "pattern: \"prbs\": expected hex:BYTES",
                "",
            ),
        ] {
            let error = change(place, key, text).expect_err(wanted);
            assert!(error.what.starts_with(wanted), "{error}");
            let told = error.help.unwrap_or_default();
            assert!(
                told.starts_with(help) && told.is_empty() == help.is_empty(),
                "{told}"
            );
        }
    }

    #[test]
    fn the_size_of_writes_stays_that_are_read_in_any_order() {
        let mut fleet = pairs();
        fleet.groups[1].offsets = AccessPattern::Random;
        let values = BTreeMap::from([("write_size".to_owned(), "8K".to_owned())]);
        let settings = settings_of(&values).expect("it is one");
        let error = changed(&fleet, 0, &fleet.groups[0], &settings).expect_err("it is read");
        assert!(error.what.contains("is read at random offsets"), "{error}");
    }

    #[test]
    fn every_key_of_a_group_can_be_changed_or_says_why_not() {
        for key in super::super::file::GROUP {
            let is_setting = SETTINGS.iter().any(|setting| setting.key == key);
            assert!(is_setting != fixed(key).is_some(), "{key}");
        }
    }
}
