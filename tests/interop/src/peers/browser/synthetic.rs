//! A fleet of 100,000 clients that do nothing, served as one that runs is: this host need not have as many
//! files as they would open.

use anyhow::{Context, Result};
use filestone_host::control_socket::{FleetControl, RequestHandler};
use filestone_live::event::{
    Event, IntervalFigures, KindFigures, LatencySummary, OperationFigures, RunBegun,
};
use filestone_live::feed::Feed;
use filestone_live::http_server::{HttpServer, ListenerLimits, Site, listen};
use filestone_live::site::LivePage;
use filestone_live::token::AccessToken;
use filestone_measure::measure::fleet_record::{
    ClientState, FleetCounters, GroupRecord, StateCount,
};
use filestone_measure::measure::run_record::{Phase, Target};
use filestone_plan::plan::{
    Direction, FleetPlan, GroupPlan, HealthPlan, LeftoverPolicy, LocalTarget, Plan, TargetPlan,
    WorkloadPlan,
};
use filestone_protocol::fleet_control::{ControlAnswer, FleetState, answer};
use filestone_protocol::workload::stream::SharedFleet;
use filestone_workload::time::Timestamp;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

/// The page of a feed that a test fills.
pub struct Served {
    /// The events of the page.
    pub feed: Feed,
    page: LivePage,
    #[expect(dead_code, reason = "it serves until this is dropped")]
    hosting: HttpServer,
}

impl Served {
    /// Serves the page of a command with this name.
    pub fn start(command: &str) -> Result<Self> {
        let feed = Feed::new("0.0.0", vec![command.into()]);
        let listener = listen(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        let token = AccessToken::new().context("no token")?;
        let document = filestone_cli::live_document();
        let page = LivePage::new(feed.clone(), listener.local_addr()?, token, document);
        let site = Site {
            listener,
            router: page.clone().router(),
            limits: ListenerLimits::default(),
        };
        let hosting = HttpServer::start(vec![site], &[])?;
        Ok(Self {
            feed,
            page,
            hosting,
        })
    }

    /// The link of its page.
    pub fn link(&self) -> String {
        self.page.link()
    }
}

/// A fleet that is served.
pub struct Synthetic {
    served: Served,
    told: u64,
}

/// Answers as the controller of a fleet does.
struct Controller {
    shared: SharedFleet,
    began: Instant,
}

impl RequestHandler for Controller {
    fn answer(&mut self, line: &[u8]) -> ControlAnswer {
        let shared = &self.shared;
        let groups = || shared.plan().groups.iter().map(waiting).collect();
        let fleet = FleetState {
            shared,
            now: Timestamp::ZERO.after(self.began.elapsed()),
            is_over: false,
            changes: 0,
            earlier: None,
            groups: &groups,
        };
        answer(&fleet, line).0
    }
}

/// Returns the record of a group whose clients have not begun.
fn waiting(group: &GroupPlan) -> GroupRecord {
    GroupRecord {
        name: group.name.clone(),
        clients: group.count,
        states: vec![StateCount {
            state: ClientState::Waiting,
            clients: group.count,
        }],
        counters: FleetCounters::default(),
        read_bits_per_s: 0.0,
        write_bits_per_s: 0.0,
        read_bits_per_s_20s: 0.0,
        write_bits_per_s_20s: 0.0,
        response_time_buckets: None,
        client_bytes_min: 0,
        client_bytes_max: 0,
    }
}

impl Synthetic {
    /// Serves a fleet with this number of writers.
    pub fn start(clients: u32) -> Result<Self> {
        let fleet = FleetPlan {
            name: "synthetic".into(),
            groups: vec![GroupPlan::new("writers", clients, Direction::Write)],
            more_targets: vec![],
            ramp: None,
            health: HealthPlan::default(),
            clients_per_thread: 1,
            left_over: LeftoverPolicy::default(),
            keep_files: false,
        };
        let target = TargetPlan::Local(LocalTarget { directory: None });
        let plan = Plan::new(
            "fleet",
            target,
            WorkloadPlan::Fleet(Box::new(fleet.clone())),
            1,
        );
        let served = Served::start("a synthetic fleet")?;
        let feed = &served.feed;
        feed.publish(Event::RunBegun(Arc::new(RunBegun {
            number: 1,
            name: String::new(),
            plan: plan.clone(),
        })));
        feed.controllable(FleetControl::new(Controller {
            shared: SharedFleet::new(&plan, &fleet),
            began: Instant::now(),
        }));
        feed.publish(Event::Prepared(Arc::new(Target::default())));
        Ok(Self { served, told: 0 })
    }

    /// The link of its page.
    pub fn link(&self) -> String {
        self.served.link()
    }

    /// Publishes another interval, so that the page has charts to draw, too.
    pub fn interval(&mut self) {
        const SECOND: u64 = 1_000_000_000;
        let (start_ns, end_ns) = (self.told * SECOND, (self.told + 1) * SECOND);
        self.told += 1;
        let figures = OperationFigures {
            scheduled: 1000,
            ok: 1000,
            response_time_ns: Some(LatencySummary {
                count: 1000,
                mean: 1e6,
                p50: 900_000,
                p90: 1_500_000,
                p99: 2_000_000 + self.told,
                p99_9: 3_000_000,
                max: 4_000_000,
            }),
            ..OperationFigures::default()
        };
        self.served
            .feed
            .publish(Event::Interval(Arc::new(IntervalFigures {
                start_ns,
                end_ns,
                phase: Phase::Measure,
                all: figures.clone(),
                kinds: vec![KindFigures {
                    operation: "writex".into(),
                    figures,
                }],
                bytes_sent: 0,
                bytes_received: 0,
                client_cpu_ns: 0,
                resident_bytes: 0,
                dispatch_delay_ns: None,
            })));
    }
}
