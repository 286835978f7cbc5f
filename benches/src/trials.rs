//! Error rates of trials of two servers (`filestone ab`) in simulated runs: false alarms for equal
//! servers, and detection of real differences.

use clap::Args;
use filestone_interop::processors;
use filestone_interop::table::lay_out;
use filestone_measure::comparison::ab::{Arm, Trial, group};
use filestone_measure::comparison::{ComparisonOptions, ComparisonVerdict, RunValue};
use filestone_measure::measure::figures::{
    IntervalUnavailable, Quantity, RunFigure, Statistic, TimeKind,
};
use filestone_workload::random::{Generator, RandomStream, RngExt, exponential, stream};
use std::ops::RangeInclusive;

/// Permitted range of false alarms, in percent.
const ALARMS: RangeInclusive<f64> = 3.5..=6.5;
/// Least share of trials, in percent, that must detect a difference of 3 %: 19 of 20.
const TOLD: f64 = 95.0;
const DETECT: f64 = 0.02;
const POWER: f64 = 0.8;
const PAIRS_MAX: u64 = 500;

/// Options of `cargo xtask trials`.
#[derive(Debug, Clone, Args)]
pub struct TrialsOptions {
    /// Trials for each case
    #[arg(long, default_value_t = 1000)]
    pub tries: u64,
    /// Seed of the first of them
    #[arg(long, default_value_t = 1)]
    pub first_seed: u64,
}

/// Random variation of runs.
#[derive(Debug, Clone, Copy)]
struct Noise {
    name: &'static str,
    /// Relative standard deviation of single runs.
    deviation: f64,
    /// Relative slowdown of each run from the previous one.
    drift: f64,
    /// Probability of a disturbance.
    disturbed: f64,
    /// Mean slowdown by a disturbance, as a logarithm.
    disturbance: f64,
}

/// Levels of noise: the medians of equal runs of the built-in server differ by 2.5 % on a busy
/// virtual machine; a quiet one is at the lower end.
const NOISES: [Noise; 5] = [
    Noise::new("0.5 %", 0.005, 0.0, 0.0, 0.0),
    Noise::new("2.5 %", 0.025, 0.0, 0.0, 0.0),
    Noise::new("2.5 %, drift of 0.1 % a run", 0.025, 0.001, 0.0, 0.0),
    Noise::new("2.5 %, one run in 20 disturbed", 0.025, 0.0, 0.05, 0.05),
    Noise::new("2.5 %, one run in 40 starved", 0.025, 0.0, 0.025, 1.0),
];

impl Noise {
    const fn new(
        name: &'static str,
        deviation: f64,
        drift: f64,
        disturbed: f64,
        disturbance: f64,
    ) -> Self {
        Self {
            name,
            deviation,
            drift,
            disturbed,
            disturbance,
        }
    }

    /// Samples the logarithm of the simulated result of a run of an arm that is slower by the share
    /// `slower`.
    fn run(&self, slower: f64, number: f64, random: &mut Generator) -> f64 {
        let disturbance = if random.random::<f64>() < self.disturbed {
            exponential(random, self.disturbance)
        } else {
            0.0
        };
        slower.ln_1p() + self.deviation * normal(random) + self.drift * number + disturbance
    }
}

/// Samples a value of the standard normal distribution (Box and Muller).
fn normal(random: &mut Generator) -> f64 {
    let radius = (2.0 * exponential(random, 1.0)).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

/// Verdict of a trial, and its number of pairs.
struct Tried {
    verdict: ComparisonVerdict,
    pairs: u64,
}

fn tried(noise: &Noise, slower: f64, seed: u64) -> Tried {
    let figure = RunFigure::of_all(Quantity::Time(TimeKind::Response, Statistic::P50));
    let question = ComparisonOptions {
        tolerance: 0.0,
        detect: DETECT,
        judged: vec![figure],
    };
    let mut trial = Trial::new(question, POWER, PAIRS_MAX);
    let mut random = stream(seed, RandomStream::Permutations, 1);
    let mut runs = 0.0;
    for number in 0.. {
        for pair in group(seed, number).chunks(2) {
            let mut run = |arm: Arm| {
                runs += 1.0;
                let slower = if arm == Arm::B { slower } else { 0.0 };
                let value = noise.run(slower, runs, &mut random).exp();
                vec![RunValue {
                    figure,
                    value,
                    own: Err(IntervalUnavailable::NotRecorded),
                }]
            };
            let (first, second) = (run(pair[0]), run(pair[1]));
            match pair[0] {
                Arm::A => trial.add(&first, &second),
                Arm::B => trial.add(&second, &first),
            }
        }
        if trial.look() {
            break;
        }
    }
    Tried {
        verdict: trial.found().verdict,
        pairs: trial.pairs(),
    }
}

/// Counts, and returns whether every case is within its bar.
pub fn run(options: &TrialsOptions) -> bool {
    let mut all_hold = true;
    let mut cells = vec![];
    for slower in [0.0, 0.03] {
        for noise in &NOISES {
            let seeds = options.first_seed..options.first_seed + options.tries;
            let tried = processors::for_seeds(seeds, |seed| tried(noise, slower, seed));
            let share = |verdicts: &[ComparisonVerdict]| {
                let is = tried.iter().filter(|one| verdicts.contains(&one.verdict));
                100.0 * is.count() as f64 / tried.len().max(1) as f64
            };
            let alarms = share(&[ComparisonVerdict::Worse, ComparisonVerdict::Better]);
            let holds = if slower > 0.0 {
                share(&[ComparisonVerdict::Worse]) >= TOLD
            } else {
                ALARMS.contains(&alarms)
            };
            all_hold &= holds && tried.len() as u64 == options.tries;
            let pairs: u64 = tried.iter().map(|one| one.pairs).sum();
            let percent = |verdict: ComparisonVerdict| format!("{:.1}", share(&[verdict]));
            cells.push(vec![
                noise.name.to_owned(),
                format!("{:.0} %", 100.0 * slower),
                percent(ComparisonVerdict::Worse),
                percent(ComparisonVerdict::Better),
                percent(ComparisonVerdict::NotWorse),
                percent(ComparisonVerdict::Inconclusive),
                format!("{:.1}", pairs as f64 / tried.len().max(1) as f64),
                if holds { "" } else { "!" }.to_owned(),
            ]);
        }
    }
    let head = [
        "runs differ by",
        "B slower by",
        "worse",
        "better",
        "not worse",
        "cannot tell",
        "pairs",
        "",
    ];
    print!("{}", lay_out(&head, &cells, false));
    println!(
        "of {} trials each, in percent, with --min-effect {:.0}% at {:.0} % power; ! is not within the bar: \
         {:.1} to {:.1} % alarms where there is no difference, {TOLD:.0} % told of 3 %",
        options.tries,
        100.0 * DETECT,
        100.0 * POWER,
        ALARMS.start(),
        ALARMS.end()
    );
    all_hold
}
