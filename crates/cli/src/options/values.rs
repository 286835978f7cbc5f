//! Values of single options: parsers that say what would have been right.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use filestone_plan::plan::TICK_NANOS;
use filestone_plan::plan::limits::{
    CLIENTS_OF_REPLAY_MAX, CONNECT_RATE_MAX, COPY_SIZE_MAX, INTERVAL_MAX_NANOS, PROCESSORS_MAX,
    SIZE_MAX, SPEED_RANGE,
};
use filestone_workload::kind::READDIR_PLUS;
use filestone_workload::operation::OpKind;
use filestone_workload::quantity;
use filestone_workload::text::bytes_text;

/// A list of processors. A type of its own, since clap takes a `Vec` for a repeated option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Processors(pub Vec<u32>);

/// A `--pin`: `0`, `0,2`, `0-3,8`.
pub fn processors(text: &str) -> Result<Processors, String> {
    let expected = || "expected processors such as 0, 0,2 or 0-3 (numbers below 1024)".to_string();
    let number = |text: &str| -> Result<u32, String> {
        let number = text.trim().parse().map_err(|_| expected())?;
        if number < PROCESSORS_MAX {
            Ok(number)
        } else {
            Err(expected())
        }
    };
    let mut list = Vec::new();
    for part in text.split(',') {
        match part.split_once('-') {
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last)?);
                if first > last {
                    return Err(expected());
                }
                list.extend(first..=last);
            }
            None => list.push(number(part)?),
        }
    }
    Ok(Processors(list))
}

/// Other names of verbs of files: those of SMB2, and one of READDIRPLUS.
const OTHER_NAMES: [(&str, OpKind); 6] = [
    ("echo", OpKind::Null),
    ("query-info", OpKind::GetAttr),
    ("set-info", OpKind::SetAttr),
    ("query-directory", OpKind::ReadDir),
    (READDIR_PLUS, OpKind::ReadDirPlus),
    ("flush", OpKind::Commit),
];

/// What a probe asks, by its name or by that of SMB2, whatever its case.
pub fn operation_parser() -> impl TypedValueParser<Value = OpKind> {
    let value = |kind: OpKind| {
        let others = OTHER_NAMES.iter().filter(move |(_, of)| *of == kind);
        PossibleValue::new(kind.name()).aliases(others.map(|(name, _)| *name))
    };
    PossibleValuesParser::new(OpKind::probed().map(value)).try_map(|name| {
        let is_name = |(other, _): &&(&str, OpKind)| other.eq_ignore_ascii_case(&name);
        let other = OTHER_NAMES.iter().find(is_name).map(|(_, kind)| *kind);
        other
            .or_else(|| OpKind::from_name(&name))
            .ok_or("expected an operation")
    })
}

/// Bytes per call.
pub fn size(text: &str) -> Result<u32, String> {
    match quantity::bytes(text)? {
        0 => Err("the size must be at least 1 byte".into()),
        bytes if bytes > u64::from(SIZE_MAX) => Err(format!(
            "the size must be at most {} per call",
            bytes_text(SIZE_MAX.into())
        )),
        bytes => Ok(bytes as u32),
    }
}

/// Bytes per operation: of a copy in as many calls as it takes, of others per call.
pub fn operation_size(text: &str) -> Result<u32, String> {
    match quantity::bytes(text)? {
        0 => Err("the size must be at least 1 byte".into()),
        bytes if bytes > u64::from(COPY_SIZE_MAX) => Err(format!(
            "the size must be at most {} per call, and {} per copy",
            bytes_text(SIZE_MAX.into()),
            bytes_text(COPY_SIZE_MAX.into())
        )),
        bytes => Ok(bytes as u32),
    }
}

/// A number in a range.
pub fn within<const MIN: u32, const MAX: u32>(text: &str) -> Result<u32, String> {
    let number = text
        .parse()
        .ok()
        .filter(|number| (MIN..=MAX).contains(number));
    number.ok_or_else(|| format!("expected a number from {MIN} to {MAX}"))
}

/// A port to connect to.
pub fn port(text: &str) -> Result<u16, String> {
    let port = text.parse().ok().filter(|port| *port > 0);
    port.ok_or_else(|| "expected a port from 1 to 65535".into())
}

/// A port to listen on.
pub fn port_or_any(text: &str) -> Result<u16, String> {
    text.parse()
        .map_err(|_| "expected a port from 1 to 65535, or 0 for any".into())
}

/// A number of operations.
pub fn count(text: &str) -> Result<u64, String> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| "expected a number of operations of at least 1".into())
}

/// A seed.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("expected a number from 0 to {}", u64::MAX))
}

/// An address to listen on.
pub fn address(text: &str) -> Result<std::net::IpAddr, String> {
    text.parse()
        .map_err(|_| "expected an IP address such as 0.0.0.0, 10.0.0.5 or ::1".into())
}

/// Connections per second.
pub fn connect_rate(text: &str) -> Result<f64, String> {
    let rate = quantity::rate(text).ok();
    let rate = rate.filter(|rate| *rate <= CONNECT_RATE_MAX);
    rate.ok_or_else(|| {
        "expected connections per second such as 500, 1k or 1000/s, at most 1M".into()
    })
}

/// Length of a file.
pub fn file_size(text: &str) -> Result<u64, String> {
    const FILE_SIZE_MAX: u64 = 1 << 50;
    match quantity::bytes(text)? {
        0 => Err("the file must be at least 1 byte long".into()),
        bytes if bytes > FILE_SIZE_MAX => Err("the file must be at most 1024 TiB long".into()),
        bytes => Ok(bytes),
    }
}

/// What the built-in server's share takes at once.
pub fn share_limit(text: &str) -> Result<u32, String> {
    let bytes = u32::try_from(quantity::bytes(text)?).ok();
    let bytes = bytes.filter(|bytes| (4 << 10..=1 << 20).contains(bytes));
    bytes.ok_or_else(|| "it must be from 4K to 1M".into())
}

/// Rows are made of ticks, so their period is a whole number of them.
pub fn mark(text: &str) -> Result<u64, String> {
    let nanos = quantity::duration(text)?;
    if nanos.is_multiple_of(TICK_NANOS) && nanos <= INTERVAL_MAX_NANOS {
        Ok(nanos)
    } else {
        Err("the time between rows must be a multiple of 100 ms, at most 1h".into())
    }
}

/// Clients of a replay.
pub fn clients_of_replay(text: &str) -> Result<u32, String> {
    let clients = text
        .parse()
        .ok()
        .filter(|clients| (1..=CLIENTS_OF_REPLAY_MAX).contains(clients));
    clients.ok_or_else(|| {
        format!("expected a number of clients from 1 to {CLIENTS_OF_REPLAY_MAX}; each has a thread")
    })
}

/// File data per second, with or without `/s`.
pub fn per_second(text: &str) -> Result<f64, String> {
    match quantity::bytes(text.strip_suffix("/s").unwrap_or(text))? {
        0 => Err("the rate must be at least 1 byte per second".into()),
        bytes => Ok(bytes as f64),
    }
}

/// How many times as fast time stamps are replayed.
pub fn speed(text: &str) -> Result<f64, String> {
    let speed = text
        .parse()
        .ok()
        .filter(|speed| SPEED_RANGE.contains(speed));
    speed.ok_or_else(|| "expected a factor from 0.5 to 100".into())
}

/// The most bytes of a read or write.
pub fn truncated_io(text: &str) -> Result<u64, String> {
    match quantity::bytes(text)? {
        0 => Err("reads and writes must be left at least 1 byte".into()),
        bytes => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_lists_and_ranges() {
        assert_eq!(processors("0,2-4"), Ok(Processors(vec![0, 2, 3, 4])));
        for text in ["", "4-2", "a", "0-99999", "1,,2"] {
            assert!(processors(text).is_err(), "{text}");
        }
    }
}
