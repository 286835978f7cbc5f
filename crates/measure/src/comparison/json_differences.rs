//! Differences between two JSON documents.

use serde_json::Value;

/// Calls `tell` with the place of each value that differs between two documents, and both values;
/// `null` stands for a missing one. `place` is the place of the documents, empty for whole ones;
/// places in `free` may differ.
pub fn each_difference(
    place: &str,
    base: &Value,
    new: &Value,
    free: &[&str],
    tell: &mut dyn FnMut(&str, &Value, &Value),
) {
    if base == new || free.contains(&place) {
        return;
    }
    let (Value::Object(one), Value::Object(other)) = (base, new) else {
        return tell(place, base, new);
    };
    let added = other.keys().filter(|key| !one.contains_key(*key));
    for key in one.keys().chain(added) {
        let below = match place {
            "" => key.clone(),
            place => format!("{place}.{key}"),
        };
        let [base, new] = [one, other].map(|object| object.get(key).unwrap_or(&Value::Null));
        each_difference(&below, base, new, free, tell);
    }
}
