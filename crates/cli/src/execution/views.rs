//! Observers of the runs of a command: rows and a bar, the terminal view, the live page and
//! metrics.

use super::live::Live;
use super::{CalibrationMode, LoadedPlan, measure, plan_of_all};
use crate::error::{Error, reason};
use crate::execution::metrics_observer::MetricsObserver;
use crate::options::live::{LiveOptions, LiveView};
use crate::terminal_view::screen::Screen;
use crate::{advice, console};
use filestone_control::load_control::{RemainingTime, SteeredPoint};
use filestone_host::control::{GeneratorUsage, Observer, ServerRates};
use filestone_host::control_socket::FleetControl;
use filestone_live::event::{Closed, Event, Point, PointFigure};
use filestone_live::feed::Feed;
use filestone_live::http_server::{HttpServer, ListenerLimits, Site, listen};
use filestone_live::metrics_site::MetricsSite;
use filestone_live::publisher::Publisher;
use filestone_live::site::LivePage;
use filestone_live::token::AccessToken;
use filestone_measure::comparison::ComparedRun;
use filestone_measure::measure::fleet_record::{ChangeRecord, GroupRecord};
use filestone_measure::measure::progress::Progress;
use filestone_measure::measure::run_record::{IntervalRecord, Target};
use filestone_measure::measure::{ConnectionsRecord, RunPhase, RunRecord};
use filestone_measure::sweep::PointTally;
use filestone_metrics::Metrics;
use filestone_plan::plan::Plan;
use filestone_report::error::ReportError;
use filestone_report::sweep::MEAN;
use filestone_workload::figure::FigureUnit;
use filestone_workload::recording::IntervalBuffer;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time for open pages to receive the last events.
const LAST_EVENTS: Duration = Duration::from_secs(2);

/// Default time for a last scrape, if metrics were read before.
const LINGER: Duration = Duration::from_secs(15);

/// Observers of runs, apart from the rows.
#[derive(Default)]
pub struct RunObservers {
    /// The terminal view.
    screen: Option<Screen>,
    feed: Option<Feed>,
    page: Option<LivePage>,
    metrics: Option<MetricsSite>,
    /// Time for a last scrape, if set on the command line.
    linger: Option<Duration>,
    hosting: Option<HttpServer>,
    /// End of the last run.
    ended: Cell<Option<Instant>>,
    /// Number of runs that have begun.
    runs: Cell<u32>,
    /// Results of the runs of each point.
    points: RefCell<BTreeMap<String, PointTally>>,
}

impl RunObservers {
    /// Starts the requested servers and prints their addresses. `plans` are those of all runs.
    pub fn open<'p>(
        options: &LiveOptions,
        plans: impl IntoIterator<Item = &'p Plan>,
    ) -> Result<Self, Error> {
        let mut views = Self {
            linger: options.metrics_linger.map(Duration::from_nanos),
            ..Self::default()
        };
        let mut sites = vec![];
        match options.live {
            Some(LiveView::Page(address)) => {
                let feed = views.feed.insert(new_feed());
                let (site, served) = site_of_page(address, feed)?;
                sites.push(site);
                views.page = Some(served);
            }
            // On other terminals the progress line is shown instead.
            Some(LiveView::Terminal) if Screen::is_possible() => {
                views.feed = Some(new_feed());
            }
            Some(LiveView::Terminal) | None => {}
        }
        if let Some(address) = options.metrics {
            let metrics = views.metrics.insert(MetricsSite::new(new_metrics()));
            sites.push(metrics_at(address, metrics)?);
        }
        let pinned: Vec<u32> = plans
            .into_iter()
            .flat_map(|plan| plan.pin.clone())
            .collect();
        if !sites.is_empty() {
            let what = options.first_given().unwrap_or_default();
            let hosting = HttpServer::start(sites, &pinned).map_err(|error| {
                Error::environment(format!("{what} cannot be served: {}", reason(&error)))
            })?;
            views.hosting = Some(hosting);
        }
        if let (Some(LiveView::Terminal), Some(feed)) = (options.live, &views.feed) {
            views.screen = Some(Screen::show(feed, &pinned)?);
        }
        Ok(views)
    }

    /// Runs a job named `name` among several, like [`measure`], and notifies the observers.
    pub fn measure(
        &self,
        name: &str,
        job: &LoadedPlan,
        calibration: CalibrationMode,
        stop: &AtomicBool,
        live: &mut Live<'_>,
    ) -> Result<RunRecord, Error> {
        self.runs.set(self.runs.get() + 1);
        if self.screen.is_some() {
            live.hide();
        }
        let plan = plan_of_all(&job.plan)?;
        let feed = self.feed.as_ref();
        let mut publisher = feed.map(|feed| Publisher::start(feed, self.runs.get(), name, &plan));
        let metrics = self.metrics.as_ref().map(MetricsSite::metrics);
        let mut told = metrics.map(|metrics| MetricsObserver::start(metrics, &plan));
        let measured = {
            let publisher = publisher.as_mut().map(|it| it as &mut dyn Observer);
            let told = told.as_mut().map(|it| it as &mut dyn Observer);
            let first: &mut dyn Observer = &mut *live;
            let mut all = All([first].into_iter().chain(publisher).chain(told).collect());
            measure(job, calibration, stop, &mut all)
        };
        live.finish();
        match (&measured, publisher) {
            (_, None) => {}
            (Ok(record), Some(publisher)) => {
                publisher.end(record, &|caveat| advice::of(caveat, record))
            }
            (Err(error), Some(publisher)) => publisher.fail(&error.message),
        }
        match (&measured, metrics) {
            (_, None) => {}
            (Ok(record), Some(metrics)) => metrics.end(record),
            (Err(_), Some(metrics)) => metrics.fail(),
        }
        self.ended.set(Some(Instant::now()));
        measured
    }

    /// Counts a run of a point and publishes the point's figures.
    pub fn count(&self, name: &str, record: &RunRecord) {
        let Some(feed) = &self.feed else {
            return;
        };
        let mut points = self.points.borrow_mut();
        let tally = points
            .entry(name.into())
            .or_insert_with(|| PointTally::new(MEAN));
        tally.add(&ComparedRun::from(record));
        feed.publish(Event::Point(Arc::new(point_of(name, tally))));
    }

    /// Sends the report to open pages; it is made only if there is a page.
    pub fn offer(&self, report: impl FnOnce() -> Result<String, ReportError>) {
        let Some(page) = &self.page else {
            return;
        };
        // An error in making the report is reported where the report is stored.
        if let Ok(report) = report() {
            page.offer(report, LAST_EVENTS);
        }
    }

    /// Ends the command for open pages, which receive the last events and show the end. Waits for a
    /// last scrape of the metrics, unless `stop` is set.
    pub fn close(mut self, output: Option<&Path>, stop: &AtomicBool) {
        if let Some(feed) = &self.feed {
            let output = output.map(|path| path.display().to_string());
            feed.publish(Event::Closed(Closed { output }));
        }
        // Shows the output that was held back.
        drop(self.screen.take());
        self.linger(stop);
        if let Some(hosting) = self.hosting.take() {
            hosting.end_within(LAST_EVENTS);
        }
    }
}

impl RunObservers {
    /// Waits for a last scrape.
    fn linger(&self, stop: &AtomicBool) {
        let Some(metrics) = &self.metrics else {
            return;
        };
        let most = match self.linger {
            Some(most) => most,
            None if metrics.is_scraped() => LINGER,
            None => return,
        };
        let since = self.ended.get().unwrap_or_else(Instant::now);
        metrics.wait_for_scrape(since, most, || stop.load(Ordering::Relaxed));
    }
}

fn new_feed() -> Feed {
    let words = std::env::args_os().skip(1);
    let words = words.map(|word| word.to_string_lossy().into_owned());
    let words = std::iter::once("filestone".to_owned()).chain(words);
    Feed::new(env!("CARGO_PKG_VERSION"), words.collect())
}

fn new_metrics() -> Arc<Metrics> {
    Arc::new(Metrics::new(filestone_engine::run::tool()))
}

/// Starts the metrics server at this address.
fn metrics_at(address: SocketAddr, metrics: &MetricsSite) -> Result<Site, Error> {
    let refused = |error: std::io::Error| {
        Error::environment(format!("--metrics {address}: {}", reason(&error)))
            .with_help("name another port; 0 takes one that is free")
    };
    let listener = listen(address).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    console::note(&format!("metrics: http://{address}/metrics"));
    Ok(Site {
        listener,
        router: metrics.router(address),
        limits: ListenerLimits::default(),
    })
}

/// Returns the figures of a point's runs, for all operations together.
fn point_of(name: &str, tally: &PointTally) -> Point {
    let known = tally.figures().into_iter();
    let figures = known
        .filter(|known| {
            let figure = known.name.of_operations();
            figure.is_some_and(|figure| figure.operation.is_none())
        })
        .map(|known| PointFigure {
            name: known.name.to_string(),
            unit: match known.name.unit() {
                FigureUnit::OperationsPerSecond => "ops/s",
                FigureUnit::Operations => "",
                unit => unit.name(),
            }
            .into(),
            value: known.value,
            low: known.low(),
            high: known.high(),
        });
    Point {
        series: "points, with 95 % intervals".into(),
        name: name.into(),
        part: String::new(),
        at: None,
        axis: "point".into(),
        runs: u32::try_from(tally.runs()).unwrap_or(u32::MAX),
        figures: figures.collect(),
    }
}

/// Starts the live page at this address.
fn site_of_page(address: SocketAddr, feed: &Feed) -> Result<(Site, LivePage), Error> {
    let refused = |error: std::io::Error| {
        Error::environment(format!("--live={address}: {}", reason(&error)))
            .with_help("name another port, or none: --live alone takes one that is free")
    };
    let listener = listen(address).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    let token = AccessToken::new().map_err(|error| Error::environment(error.to_string()))?;
    let page = LivePage::new(feed.clone(), address, token, crate::live_document());
    console::note(&format!("live page: {}", page.link()));
    let site = Site {
        listener,
        router: page.clone().router(),
        limits: ListenerLimits::default(),
    };
    Ok((site, page))
}

/// Forwards to several observers of one run.
struct All<'o>(Vec<&'o mut dyn Observer>);

impl Observer for All<'_> {
    fn measured(&mut self, record: &RunRecord) {
        self.0.iter_mut().for_each(|one| one.measured(record));
    }

    fn preparing(&mut self, what: &str) {
        self.0.iter_mut().for_each(|one| one.preparing(what));
    }

    fn note(&mut self, what: &str) {
        self.0.iter_mut().for_each(|one| one.note(what));
    }

    fn prepared(&mut self, target: &Target) {
        self.0.iter_mut().for_each(|one| one.prepared(target));
    }

    fn wants_generator(&self) -> bool {
        self.0.iter().any(|one| one.wants_generator())
    }

    fn generator(&mut self, share: &GeneratorUsage) {
        self.0.iter_mut().for_each(|one| one.generator(share));
    }

    fn phase(&mut self, phase: RunPhase) {
        self.0.iter_mut().for_each(|one| one.phase(phase));
    }

    fn connected(&mut self, connections: &ConnectionsRecord) {
        self.0.iter_mut().for_each(|one| one.connected(connections));
    }

    fn counted(&mut self, interval: &mut IntervalBuffer) {
        self.0.iter_mut().for_each(|one| one.counted(interval));
    }

    fn counted_by_hosts(&mut self, interval: &IntervalRecord) {
        self.0
            .iter_mut()
            .for_each(|one| one.counted_by_hosts(interval));
    }

    fn interval(&mut self, record: &IntervalRecord) {
        self.0.iter_mut().for_each(|one| one.interval(record));
    }

    fn steering(&mut self, what: &str, left: Option<RemainingTime>) {
        self.0.iter_mut().for_each(|one| one.steering(what, left));
    }

    fn offered(&mut self, load_ops_per_s: f64) {
        self.0
            .iter_mut()
            .for_each(|one| one.offered(load_ops_per_s));
    }

    fn fleet(&mut self, groups: &dyn Fn() -> Vec<GroupRecord>) {
        self.0.iter_mut().for_each(|one| one.fleet(groups));
    }

    fn point(&mut self, point: &SteeredPoint) {
        self.0.iter_mut().for_each(|one| one.point(point));
    }

    fn progress(&mut self, progress: &Progress) {
        self.0.iter_mut().for_each(|one| one.progress(progress));
    }

    fn server(&mut self, rates: &[ServerRates]) {
        self.0.iter_mut().for_each(|one| one.server(rates));
    }

    fn controllable(&mut self, control: &FleetControl) {
        self.0.iter_mut().for_each(|one| one.controllable(control));
    }

    fn changed(&mut self, change: &ChangeRecord) {
        self.0.iter_mut().for_each(|one| one.changed(change));
    }
}
