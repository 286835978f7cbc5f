//! Points of a read study: NULL and GETATTR as baselines, and reads of one byte and more, over UDP
//! and TCP.

use super::parameter::{SweepParameter, SweepValue};
use super::value_kind::ValueKind;
use filestone_plan::plan::limits::{DATAGRAM_SIZE_MAX, SIZE_MAX};

/// Pseudo-option that is the study's first parameter.
pub const CALL: &str = "call";
/// Names of the baselines.
pub const BASELINES: [&str; 2] = ["null", "getattr"];
/// Step between read sizes, in bytes.
const STEP: u32 = 256;
/// Largest size reached in steps; from there on sizes double.
const STEPS_MAX: u32 = 8192;
/// Additional sizes where a reply fills an Ethernet packet, over TCP and over UDP.
const AT_THE_MTU: [u32; 3] = [1312, 1344, 1376];
const TRANSPORTS: [&str; 2] = ["tcp", "udp"];

/// Longest read, in bytes, that a server answers in full, over each transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// Over TCP.
    pub tcp: u32,
    /// Over UDP.
    pub udp: u32,
}

impl ReadLimits {
    /// Largest sizes used for a server with unknown limits.
    pub const UNKNOWN: Self = Self {
        tcp: SIZE_MAX,
        udp: DATAGRAM_SIZE_MAX,
    };

    fn of(self, transport: &str) -> u32 {
        match transport {
            "udp" => self.udp,
            _ => self.tcp,
        }
    }

    /// Applies a server's announced maximum for one transport; 0 means unknown.
    pub fn with(self, transport: &str, said_bytes: u64) -> Self {
        let said = u32::try_from(said_bytes).unwrap_or(u32::MAX);
        let limited = |known: u32| if said > 0 { known.min(said) } else { known };
        match transport {
            "udp" => Self {
                udp: limited(self.udp),
                ..self
            },
            _ => Self {
                tcp: limited(self.tcp),
                ..self
            },
        }
    }
}

/// Returns the sizes up to a server's maximum, including the maximum.
fn sizes(max: u32) -> Vec<u32> {
    let steps = (1..=STEPS_MAX / STEP).map(|step| step * STEP);
    let doubled = std::iter::successors(Some(STEPS_MAX), |size| size.checked_mul(2));
    let doubled = doubled.take_while(|size| *size <= SIZE_MAX);
    let mut sizes: Vec<u32> = [1, max]
        .into_iter()
        .chain(AT_THE_MTU)
        .chain(steps)
        .chain(doubled)
        .filter(|size| *size <= max)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn calls(max: u32) -> Vec<SweepValue> {
    let baselines = BASELINES.map(|name| SweepValue {
        text: name.into(),
        number: None,
    });
    let reads = sizes(max).into_iter().map(|size| SweepValue {
        text: size.to_string(),
        number: Some(size.into()),
    });
    baselines.into_iter().chain(reads).collect()
}

fn transports() -> [SweepValue; 2] {
    TRANSPORTS.map(|name| SweepValue {
        text: name.into(),
        number: None,
    })
}

/// Returns the parameters of the study.
pub fn parameters(limits: ReadLimits) -> Vec<SweepParameter> {
    vec![
        SweepParameter {
            name: CALL.into(),
            // Sizes are plain bytes because the steps are finer than a tenth of a KiB.
            kind: ValueKind::Number,
            values: calls(limits.tcp.max(limits.udp)),
            is_logarithmic: false,
        },
        SweepParameter {
            name: "transport".into(),
            kind: ValueKind::Word,
            values: transports().to_vec(),
            is_logarithmic: false,
        },
    ]
}

/// Returns the points: a call and a transport each, grouped by transport.
pub fn points(limits: ReadLimits) -> Vec<Vec<SweepValue>> {
    let of_transport = |transport: SweepValue| {
        let calls = calls(limits.of(&transport.text)).into_iter();
        calls
            .map(|call| vec![call, transport.clone()])
            .collect::<Vec<_>>()
    };
    transports().into_iter().flat_map(of_transport).collect()
}

/// Returns a cheap call over each transport, which asks the server for its maximum.
pub fn asked() -> [[SweepValue; 2]; 2] {
    transports().map(|transport| {
        let getattr = SweepValue {
            text: BASELINES[1].into(),
            number: None,
        };
        [getattr, transport]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_in_fine_steps_and_go_on_to_the_maximum() {
        let all = sizes(SIZE_MAX);
        assert_eq!(all[..7], [1, 256, 512, 768, 1024, 1280, 1312]);
        assert_eq!(all[7..10], [1344, 1376, 1536]);
        // One byte, 32 steps, three at the MTU, and seven doublings.
        assert_eq!(all.len(), 1 + 32 + 3 + 7);
        assert_eq!(all.last(), Some(&(1 << 20)));
        assert_eq!(sizes(60_000)[35..], [8192, 16_384, 32_768, 60_000]);
        assert_eq!(sizes(600), [1, 256, 512, 600]);
    }

    #[test]
    fn each_transport_has_the_baselines_and_what_the_server_takes_over_it() {
        let limits = ReadLimits::UNKNOWN.with("tcp", 131_072).with("udp", 0);
        let limits = limits.with("udp", 32_768);
        let points = points(limits);
        let over = |name: &str| {
            let of = points.iter().filter(|point| point[1].text == name);
            of.count()
        };
        assert_eq!((over("tcp"), over("udp")), (2 + 40, 2 + 38));
        assert_eq!(parameters(limits)[0].values.len(), 42);
    }
}
