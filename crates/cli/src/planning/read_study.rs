//! Converts `--read-study TARGET` to the points of a sweep: NULL and GETATTR as baselines, and
//! reads of one byte and more, over UDP and TCP.

use crate::error::Error;
use crate::options::cost::CostOptions;
use crate::options::probe::ProbeOptions;
use crate::report::sweep::study::{BASELINES, CALL};
use filestone_measure::sweep::{SweepParameter, SweepValue, ValueKind};
use filestone_plan::plan::limits::{DATAGRAM_SIZE_MAX, SIZE_MAX};

/// Step between read sizes, in bytes.
const STEP: u32 = 256;
/// Largest size reached in steps; from there on sizes double.
const STEPS_MAX: u32 = 8192;
/// Additional sizes where a reply fills an Ethernet packet, over TCP and over UDP.
const AT_THE_MTU: [u32; 3] = [1312, 1344, 1376];
const TRANSPORTS: [&str; 2] = ["tcp", "udp"];
const MILLISECOND: u64 = 1_000_000;
/// Defaults of a run: 86 points of three runs take 13 minutes.
const WINDOW: u64 = 2000 * MILLISECOND;
const WARM_UP: u64 = 200 * MILLISECOND;
const IDLE: u64 = 500 * MILLISECOND;
const READINGS: u64 = 500 * MILLISECOND;
/// Number of runs of each point, and the pause between two.
pub const RUNS: u32 = 3;
pub const PAUSE: u64 = 100 * MILLISECOND;

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

/// Returns the command line of a point, with the further words behind `--`.
pub fn line_of_point(target: &str, point: &[SweepValue], more: &[String]) -> Vec<String> {
    let [call, transport] = point else {
        return vec![];
    };
    let transport = format!("--transport={}", transport.text);
    let mut line = match call.number {
        Some(_) => vec![
            "probe".into(),
            "read".into(),
            format!("--io-size={}", call.text),
        ],
        None => vec!["probe".into(), call.text.clone()],
    };
    line.extend([target.into(), transport]);
    line.extend(more.iter().cloned());
    line
}

/// Sets the defaults of the study in the probe of a point.
pub fn prepare(probe: &mut ProbeOptions, cost: &CostOptions) {
    let load = &mut probe.load;
    if load.count.is_none() {
        load.duration.get_or_insert(WINDOW);
    }
    load.warm_up.get_or_insert(WARM_UP);
    // Calibration would be repeated at each point.
    probe.calibration.no_calibrate = true;
    probe.report.cost = CostOptions {
        cost: true,
        idle_baseline: cost.idle_baseline.or(Some(IDLE)),
        cost_interval: cost.cost_interval.or(Some(READINGS)),
        ..cost.clone()
    };
}

/// Rejects options behind `--` that the study sets itself, or that belong before `--`.
pub fn refuse(more: &[String]) -> Result<(), Error> {
    let is_given = |name: &str| {
        let words = more.iter().filter_map(|word| word.strip_prefix("--"));
        words
            .into_iter()
            .any(|word| word.split('=').next() == Some(name))
    };
    let own = ["io-size", "size", "transport", "seed"];
    if let Some(name) = own.into_iter().find(|name| is_given(name)) {
        return Err(
            Error::usage(format!("--{name} behind --: the study says it itself"))
                .with_help("further options of probe stand there, such as --in-flight"),
        );
    }
    if let Some(word) = more.iter().find(|word| is_cost(word)) {
        return Err(Error::usage(format!(
            "{word} behind --: of the study it stands before --"
        )));
    }
    Ok(())
}

fn is_cost(word: &str) -> bool {
    word.starts_with("--server-") || word == "--cost" || word.starts_with("--cost-")
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
        let line =
            |place: usize| line_of_point("nfs://s/f", &points[place], &["-j2".into()]).join(" ");
        assert_eq!(line(1), "probe getattr nfs://s/f --transport=tcp -j2");
        assert_eq!(
            line(3),
            "probe read --io-size=256 nfs://s/f --transport=tcp -j2"
        );
        assert_eq!(parameters(limits)[0].values.len(), 42);
    }

    #[test]
    fn what_the_study_says_itself_must_not_stand_behind_it() {
        for word in [
            "--io-size=3",
            "--transport=udp",
            "--seed=1",
            "--server-pid=7",
            "--cost",
        ] {
            assert!(refuse(&[word.into()]).is_err(), "{word}");
        }
        assert!(refuse(&["-j".into(), "8".into(), "--server".into()]).is_ok());
    }
}
