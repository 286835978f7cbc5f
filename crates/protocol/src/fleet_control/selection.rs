//! Selection of clients: a group, a range of it, one client, or a pattern for names.

use super::Refusal;
use filestone_measure::measure::fleet_record::ALL;
use filestone_plan::plan::FleetPlan;
use filestone_workload::load::diagnostic::suggestion;

/// Returns the clients that a text selects, ordered by number.
///
/// The text consists of parts separated by commas. A part is the name of a group, `writers[0..499]`
/// or `writers[7]`, `writers/7`, a pattern with `*` and `?` that matches names of groups or of
/// clients (`writers/7`), or `all`.
pub fn clients_of(text: &str, plan: &FleetPlan) -> Result<Vec<u32>, Refusal> {
    let mut clients = Vec::new();
    for part in text.split(',').map(str::trim) {
        let before = clients.len();
        add_part(part, plan, &mut clients)?;
        if clients.len() == before {
            return Err(unknown(part, plan));
        }
    }
    clients.sort_unstable();
    clients.dedup();
    Ok(clients)
}

/// Returns the name of a client.
pub(super) fn name_of(client: u32, plan: &FleetPlan) -> String {
    plan.member(client).map_or(String::new(), |member| {
        format!("{}/{}", member.group.name, member.number)
    })
}

fn add_part(part: &str, plan: &FleetPlan, clients: &mut Vec<u32>) -> Result<(), Refusal> {
    if let Some(place) = place_of(part, plan) {
        let first = plan.first_of(place);
        let count = plan.groups.get(place).map_or(0, |group| group.count);
        clients.extend(first..first + count);
    } else if let Some((name, range)) = range_of(part) {
        let place = place_of(name, plan).ok_or_else(|| unknown(name, plan))?;
        add_range(range, place, plan, clients)?;
    } else if part.contains(['*', '?']) {
        add_pattern(part, plan, clients);
    } else if let Some((name, number)) = part.rsplit_once('/') {
        let place = place_of(name, plan).ok_or_else(|| unknown(name, plan))?;
        add_range(number, place, plan, clients)?;
    } else if part == ALL {
        clients.extend(0..plan.clients());
    }
    Ok(())
}

fn place_of(name: &str, plan: &FleetPlan) -> Option<usize> {
    plan.groups.iter().position(|group| group.name == name)
}

/// Splits `writers[0..499]` into the group and the text in brackets.
fn range_of(part: &str) -> Option<(&str, &str)> {
    part.strip_suffix(']')?.rsplit_once('[')
}

fn add_range(
    range: &str,
    place: usize,
    plan: &FleetPlan,
    clients: &mut Vec<u32>,
) -> Result<(), Refusal> {
    let Some(group) = plan.groups.get(place) else {
        return Ok(());
    };
    let (name, last) = (&group.name, group.count.saturating_sub(1));
    let numbers = range.split_once("..").unwrap_or((range, range));
    let parsed: (Result<u32, _>, Result<u32, _>) = (numbers.0.parse(), numbers.1.parse());
    let (Ok(from), Ok(to)) = parsed else {
        let what = format!("\"{range}\" is no range of clients of \"{name}\"");
        return Err(Refusal::new(what).with_help(format!("{name}[0..{last}] are all of them")));
    };
    if from > to || to > last {
        return Err(Refusal::new(format!(
            "{name}[{range}]: the clients of \"{name}\" are 0 to {last}, the least before the greatest"
        )));
    }
    let first = plan.first_of(place);
    clients.extend(first + from..=first + to);
    Ok(())
}

fn add_pattern(pattern: &str, plan: &FleetPlan, clients: &mut Vec<u32>) {
    let mut first = 0;
    for group in &plan.groups {
        let all = first..first + group.count;
        first = all.end;
        if matches(pattern, &group.name) {
            clients.extend(all);
            continue;
        }
        let named = |number: &u32| matches(pattern, &format!("{}/{number}", group.name));
        let numbers = (0..group.count).filter(named);
        clients.extend(numbers.map(|number| all.start + number));
    }
}

/// Returns whether a name matches a pattern: `*` is any text, `?` one byte.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut of_name) = (0, 0);
    // Position of the last `*`, and end of the part of the name that it matches.
    let mut star: Option<(usize, usize)> = None;
    while of_name < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, of_name));
                at += 1;
            }
            Some(byte) if *byte == b'?' || name.get(of_name) == Some(byte) => {
                (at, of_name) = (at + 1, of_name + 1);
            }
            _ => {
                let Some((place, reach)) = star else {
                    return false;
                };
                star = Some((place, reach + 1));
                (at, of_name) = (place + 1, reach + 1);
            }
        }
    }
    pattern
        .get(at..)
        .is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}

fn unknown(part: &str, plan: &FleetPlan) -> Refusal {
    let names: Vec<&str> = plan
        .groups
        .iter()
        .map(|group| group.name.as_str())
        .collect();
    let near = suggestion(part.as_bytes(), names.iter().copied());
    let what = if part.contains(['*', '?']) {
        format!("no client has a name like \"{part}\"")
    } else {
        format!("there is no group \"{part}\"")
    };
    Refusal::new(what).with_help(match near {
        Some(near) => format!("did you mean {near}?"),
        None => format!("the groups are {}", names.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_plan::examples::pairs;

    #[test]
    fn groups_ranges_patterns_and_clients_are_named() {
        let plan = pairs();
        let named = |text| clients_of(text, &plan);
        for (text, wanted) in [
            ("writers", vec![0, 1, 2, 3]),
            ("readers[1..2]", vec![5, 6]),
            ("readers[0]", vec![4]),
            ("writers/3", vec![3]),
            ("*ers", (0..8).collect()),
            ("*/2", vec![2, 6]),
            ("w*/?", vec![0, 1, 2, 3]),
            ("all", (0..8).collect()),
            ("readers/0, writers[2..3], writers/3", vec![2, 3, 4]),
        ] {
            assert_eq!(named(text), Ok(wanted), "{text}");
        }
        for (text, wanted, help) in [
            (
                "writer",
                "there is no group \"writer\"",
                "did you mean writers?",
            ),
            (
                "x-*",
                "no client has a name like \"x-*\"",
                "the groups are writers, readers",
            ),
            ("writers[1..4]", "writers[1..4]: the clients", ""),
            ("writers[3..1]", "writers[3..1]: the clients", ""),
            (
                "writers[a]",
                "\"a\" is no range",
                "writers[0..3] are all of them",
            ),
            (
                "",
                "there is no group \"\"",
                "the groups are writers, readers",
            ),
            (
                "writers,,readers",
                "there is no group \"\"",
                "the groups are writers, readers",
            ),
        ] {
            let refusal = named(text).expect_err(text);
            assert!(refusal.what.starts_with(wanted), "{}", refusal.what);
            assert_eq!(refusal.help.unwrap_or_default(), help, "{text}");
        }
    }

    #[test]
    fn patterns_are_those_of_shells() {
        for (pattern, name, is_match) in [
            ("*", "", true),
            ("a*b*c", "aXbXbXc", true),
            ("a*b*c", "aXbX", false),
            ("??", "ab", true),
            ("??", "abc", false),
            ("a**", "a", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, name), is_match, "{pattern} {name}");
        }
    }
}
