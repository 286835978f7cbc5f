//! Sources of readings, and the log of their readings.

use super::command::CommandSource;
use super::exporter::Exporter;
use super::host::HostFiles;
use super::process::ServerProcess;
use super::source::Source;
use super::{ReadingError, host, path};
use crate::control::ServerRates;
use filestone_measure::cost::proc_text::HostScope;
use filestone_measure::cost::{
    CostCounter, CounterReading, MeasuredAt, ReadingPhase, SourceRecord,
};
use filestone_measure::measure::costs::RunPath;
use filestone_measure::measure::run_record::Target;
use filestone_plan::plan::{CostPlan, Plan};
use std::time::Instant;

/// Sources of a run's readings.
pub struct Sources<'plan> {
    /// The sources and times of the plan.
    pub plan: &'plan CostPlan,
    /// The sources, with their readings.
    pub book: ReadingLog,
    /// The network path to the target, if it has an address.
    pub path: Option<RunPath>,
}

/// Opens the sources that a plan names, if it does; with this host's interface, if operations use
/// one.
pub fn open<'plan>(
    plan: &'plan Plan,
    target: &Target,
) -> Result<Option<Sources<'plan>>, ReadingError> {
    let Some(cost) = &plan.cost else {
        return Ok(None);
    };
    let path = path::to(plan, target);
    let interface = path.as_ref().map(|path| path.interface.as_str());
    let book = open_all(cost, interface)?;
    Ok(Some(Sources {
        plan: cost,
        book,
        path,
    }))
}

fn open_all(plan: &CostPlan, interface: Option<&str>) -> Result<ReadingLog, ReadingError> {
    let scope = HostScope {
        processors: plan.processors.clone(),
        interface: plan.interface.clone(),
    };
    let mut sources: Vec<(MeasuredAt, Box<dyn Source>)> = Vec::new();
    if let Some(pid) = plan.process {
        sources.push((MeasuredAt::Server, Box::new(ServerProcess::new(pid))));
    }
    if plan.this_host {
        let files = HostFiles::new("/proc", host::OF_SERVER, scope.clone());
        sources.push((MeasuredAt::Server, Box::new(files)));
    }
    if let Some(url) = &plan.metrics {
        let exporter = Exporter::new(url, scope.clone());
        sources.push((MeasuredAt::Server, Box::new(exporter)));
    }
    if let Some(line) = &plan.command {
        sources.push((
            MeasuredAt::Server,
            Box::new(CommandSource::new(line, scope)),
        ));
    }
    if let Some(interface) = interface {
        let scope = HostScope {
            processors: vec![],
            interface: Some(interface.into()),
        };
        let files = HostFiles::new(&format!("interface {interface}"), host::OF_CLIENT, scope);
        sources.push((MeasuredAt::LoadGenerator, Box::new(files)));
    }
    let mut book = ReadingLog::new(sources);
    // A source that cannot be read is reported before the run, not after it.
    book.try_all()?;
    Ok(book)
}

/// Sources with the readings taken from them.
pub struct ReadingLog {
    pages: Vec<Page>,
}

struct Page {
    vantage: MeasuredAt,
    source: Box<dyn Source>,
    readings: Vec<(Instant, CounterReading)>,
    failed: u64,
    first_failure: Option<String>,
}

impl ReadingLog {
    pub(super) fn new(sources: Vec<(MeasuredAt, Box<dyn Source>)>) -> Self {
        let page = |(vantage, source)| Page {
            vantage,
            source,
            readings: Vec::new(),
            failed: 0,
            first_failure: None,
        };
        Self {
            pages: sources.into_iter().map(page).collect(),
        }
    }

    /// Reads all sources once, and drops the readings.
    fn try_all(&mut self) -> Result<(), ReadingError> {
        let mut pages = self.pages.iter_mut();
        pages.try_for_each(|page| page.source.read().map(drop))
    }

    /// Reads all sources, one after the other; each reading has its own time.
    pub fn read(&mut self, phase: ReadingPhase) {
        self.pages.iter_mut().for_each(|page| page.read(phase));
    }

    /// Returns the rates per second of each source of the server between its last two readings.
    pub fn rates(&self) -> Vec<ServerRates> {
        let pages = self.pages.iter();
        pages
            .filter(|page| page.vantage == MeasuredAt::Server)
            .filter_map(Page::rates)
            .collect()
    }

    /// Returns the records of the sources; times count from the start of the window.
    pub fn finish(self, opened: Instant) -> Vec<SourceRecord> {
        let page = |page: Page| SourceRecord {
            name: page.source.name(),
            measured_at: page.vantage,
            readings: moments_from(opened, page.readings),
            failed: page.failed,
            first_failure: page.first_failure,
        };
        self.pages.into_iter().map(page).collect()
    }
}

impl Page {
    fn rates(&self) -> Option<ServerRates> {
        let [.., (before, earlier), (now, later)] = self.readings.as_slice() else {
            return None;
        };
        // A source that has restarted its counters in the meantime has no rates.
        let seconds = now.saturating_duration_since(*before).as_secs_f64();
        let is_same = earlier.started == later.started && seconds > 0.0;
        let rate = |(counter, count): (&CostCounter, &u64)| {
            let earlier = earlier.counters.get(counter)?;
            let more = count.saturating_sub(*earlier);
            Some((*counter, more as f64 / seconds))
        };
        is_same.then(|| ServerRates {
            source: self.source.name(),
            per_s: later.counters.iter().filter_map(rate).collect(),
        })
    }

    fn read(&mut self, phase: ReadingPhase) {
        let began = Instant::now();
        match self.source.read() {
            Ok(reading) => {
                let half = began.elapsed() / 2;
                let reading = CounterReading {
                    phase,
                    uncertainty_ns: half.as_nanos() as u64,
                    ..reading
                };
                self.readings.push((began + half, reading));
            }
            Err(error) => {
                self.failed += 1;
                self.first_failure.get_or_insert_with(|| error.to_string());
            }
        }
    }
}

fn moments_from(opened: Instant, readings: Vec<(Instant, CounterReading)>) -> Vec<CounterReading> {
    let relative = |(at, reading): (Instant, CounterReading)| {
        let after = at.saturating_duration_since(opened).as_nanos() as i64;
        let before = opened.saturating_duration_since(at).as_nanos() as i64;
        CounterReading {
            moment_ns: after - before,
            ..reading
        }
    };
    readings.into_iter().map(relative).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A source that replies every second time.
    struct Moody(u64);

    impl Source for Moody {
        fn name(&self) -> String {
            "moody".into()
        }

        fn read(&mut self) -> Result<CounterReading, ReadingError> {
            self.0 += 1;
            if self.0.is_multiple_of(2) {
                let what = "no".into();
                let url = self.0.to_string();
                return Err(ReadingError::Exporter { url, what });
            }
            Ok(CounterReading {
                counters: [(CostCounter::Interrupts, self.0)].into(),
                ..CounterReading::default()
            })
        }
    }

    #[test]
    fn a_source_that_stops_answering_is_told_and_not_waited_for() {
        let mut book = ReadingLog::new(vec![(MeasuredAt::Server, Box::new(Moody(0)))]);
        let before = Instant::now();
        book.read(ReadingPhase::Idle);
        (0..4).for_each(|_| book.read(ReadingPhase::Load));
        // There are two more between the last two successful readings.
        let rates = book.rates();
        assert_eq!(rates[0].source, "moody");
        assert_eq!(rates[0].per_s[0].0, CostCounter::Interrupts);
        assert!(rates[0].per_s[0].1 > 0.0);
        let opened = before + Duration::from_secs(3600);
        let records = book.finish(opened);
        let [record] = records.as_slice() else {
            panic!("{records:?}");
        };
        let counts = record.readings.iter();
        let counts: Vec<_> = counts
            .map(|one| one.count(CostCounter::Interrupts))
            .collect();
        assert_eq!(counts, [Some(1), Some(3), Some(5)]);
        assert_eq!(record.failed, 2);
        assert_eq!(record.first_failure.as_deref(), Some("2: no"));
        // The window opens in an hour.
        let moments = record.readings.iter().map(|one| one.moment_ns);
        assert!(moments.clone().all(|moment| moment < -3_500_000_000_000));
        assert!(moments.is_sorted());
    }
}
