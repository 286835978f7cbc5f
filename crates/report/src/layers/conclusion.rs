//! Conclusion of a comparison of layers in one sentence: where the time is spent, computed by
//! subtraction.

use super::differences::DifferenceEstimate;

/// Returns half the 95 % interval of a weighted sum of the layers' times; `None` if unknown.
type Chance<'a> = &'a dyn Fn(&[f64]) -> Option<f64>;

/// Describes where the time is spent, if subtraction shows it: layers and microseconds per
/// operation, in the order of the runs.
pub fn sentence(layers: &[(&str, f64)], chance: Chance<'_>) -> String {
    let place = |wanted: &str| layers.iter().position(|(layer, _)| *layer == wanted);
    let (local, tcp) = (place("local"), place("tcp"));
    let is_served = |(layer, _): &(&str, f64)| !matches!(*layer, "local" | "tcp");
    let served = layers.iter().position(is_served);
    let protocol = served.map_or("", |served| layers[served].0);
    let work = |place| ("the work of the local file system", place);
    let exchange = |place| ("one exchange over bare TCP", place);
    match (local, tcp, served) {
        (Some(local), Some(tcp), Some(served)) => {
            let rest = format!("the server and {protocol} itself");
            split(layers, served, &[work(local), exchange(tcp)], &rest, chance)
        }
        (Some(local), None, Some(served)) => {
            let rest = format!("the network, the server and {protocol} itself");
            split(layers, served, &[work(local)], &rest, chance)
        }
        (None, Some(tcp), Some(served)) => {
            let rest = format!("the server, its file system and {protocol} itself");
            split(layers, served, &[exchange(tcp)], &rest, chance)
        }
        (Some(local), Some(tcp), None) => format!(
            "an operation takes {local:.1} usecs on the local file system, and one exchange of \
             its size {tcp:.1} over bare TCP; what a file server adds to both, a run with nfs: \
             would show",
            local = layers[local].1,
            tcp = layers[tcp].1,
        ),
        _ => side_by_side(layers, chance),
    }
}

/// Returns the remainder of the whole after subtraction of the separately measured parts; whole and
/// parts are positions among the layers.
fn split(
    layers: &[(&str, f64)],
    whole: usize,
    parts: &[(&str, usize)],
    remainder: &str,
    chance: Chance<'_>,
) -> String {
    let mut weights = vec![0.0; layers.len()];
    weights[whole] = 1.0;
    parts.iter().for_each(|(_, place)| weights[*place] = -1.0);
    let sum = |weights: &[f64]| -> f64 {
        let terms = layers.iter().zip(weights);
        terms.map(|((_, time), weight)| time * weight).sum()
    };
    let protocol = layers[whole].0;
    let (whole, rest) = (
        layers[whole].1,
        DifferenceEstimate::new(sum(&weights), chance(&weights)),
    );
    let timed: Vec<(&str, f64)> = parts
        .iter()
        .map(|(name, place)| (*name, layers[*place].1))
        .collect();
    let listed: Vec<String> = timed
        .iter()
        .map(|(name, time)| format!("{time:.1} are {name}"))
        .collect();
    let listed = listed.join(", ");
    if rest.value < 0.0 {
        let names: Vec<String> = timed
            .iter()
            .map(|(name, time)| format!("{name} ({time:.1})"))
            .collect();
        let together = if parts.len() > 1 { " together" } else { "" };
        return format!(
            "an operation takes {whole:.1} usecs over {protocol}, less than {}{together}: how much of \
             it is {remainder}, these runs cannot tell",
            names.join(" and ")
        );
    }
    if rest.may_be_chance() {
        return format!(
            "of {whole:.1} usecs per operation over {protocol}, {listed}; what remains for {remainder}, \
             {rest}, {}",
            rest.doubt()
        );
    }
    let remains = format!(
        "of {whole:.1} usecs per operation over {protocol}, {listed}, and {:.1} remain for {remainder}",
        rest.value
    );
    // Finds the part that is significantly the largest: the differences between each part and the
    // remainder, as sums of layers.
    let mut all: Vec<(&str, f64, Vec<f64>)> = vec![(remainder, rest.value, weights)];
    all.extend(parts.iter().map(|(name, place)| {
        let mut weights = vec![0.0; layers.len()];
        weights[*place] = 1.0;
        (*name, layers[*place].1, weights)
    }));
    all.sort_by(|one, other| other.1.total_cmp(&one.1));
    let [(largest, time, of_largest), (_, _, of_next), ..] = all.as_slice() else {
        return remains;
    };
    let lead = beyond(of_largest, of_next);
    if DifferenceEstimate::new(sum(&lead), chance(&lead)).may_be_chance() {
        return format!("{remains}; which part is the largest, these runs cannot tell");
    }
    let share = 100.0 * time / whole.max(f64::MIN_POSITIVE);
    format!("{remains}; the largest part, {share:.0} %, is {largest}")
}

/// Subtracts one sum of layers from another.
fn beyond(one: &[f64], other: &[f64]) -> Vec<f64> {
    let pairs = one.iter().zip(other);
    pairs.map(|(one, other)| one - other).collect()
}

/// Compares layers that do not contain each other.
fn side_by_side(layers: &[(&str, f64)], chance: Chance<'_>) -> String {
    let Some(((layer, first), others)) = layers.split_first() else {
        return String::new();
    };
    let is_alike = others.iter().all(|(other, _)| other == layer);
    // Several layers of the same kind are numbered, as in the table.
    let called = |layer: &str, number: usize| {
        if is_alike {
            format!("{layer} {number}")
        } else {
            layer.to_owned()
        }
    };
    let mut text = format!(
        "an operation takes {first:.1} usecs on {}",
        called(layer, 1)
    );
    for (number, (layer, time)) in (2..).zip(others) {
        let mut weights = vec![0.0; layers.len()];
        (weights[0], weights[number - 1]) = (-1.0, 1.0);
        let difference = DifferenceEstimate::new(time - first, chance(&weights));
        let said = if difference.may_be_chance() {
            format!("{difference}, which {}", difference.doubt())
        } else if difference.value < 0.0 {
            format!("{:.1} less", -difference.value)
        } else {
            format!("{:.1} more", difference.value)
        };
        text.push_str(&format!(
            ", {time:.1} on {} ({said})",
            called(layer, number)
        ));
    }
    text
}
