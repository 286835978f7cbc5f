//! The fields of a plan that rules refer to.

macro_rules! fields {
    ($($field:ident = $key:literal;)*) => {
        /// A field of a plan.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[expect(missing_docs, reason = "each is the field with its key")]
        pub enum Field { $($field,)* }

        impl Field {
            /// All fields, in the order of their declaration.
            pub const ALL: &'static [Field] = &[$(Field::$field,)*];

            /// Returns the key in a stored plan.
            pub const fn key(self) -> &'static str {
                match self { $(Field::$field => $key,)* }
            }
        }
    };
}

fields! {
    Arrivals = "arrivals";
    BytesPerSecond = "bytes_per_s";
    Clients = "clients";
    ClientsPerThread = "clients_per_thread";
    ConnectRate = "connections_per_s";
    ConnectionsPerClient = "connections_per_client";
    Cost = "cost";
    Count = "count";
    Counts = "counts";
    Curve = "steering";
    Dialect = "dialect";
    Durable = "durable";
    Duration = "duration_ns";
    Encryption = "encryption";
    Expect = "expect";
    FilesPerClient = "files_per_client";
    Gates = "gates";
    Gids = "gids";
    InFlight = "in_flight";
    Interval = "interval_ns";
    Levels = "levels";
    ListingBytes = "listing_bytes";
    Loads = "loads";
    MachineName = "machine_name";
    MoreTargets = "more_targets";
    NoFeedback = "feedback";
    Objective = "steering";
    OnLost = "on_lost";
    Oplock = "oplock";
    Operation = "operation";
    OwnFiles = "own_files";
    OfferedLoad = "offered_load_ops_per_s";
    Peak = "peak_ops_per_s";
    Pin = "pin";
    PointTime = "point_ns";
    PointWarmUp = "warm_up_max_ns";
    Points = "points";
    Precision = "precision";
    Quantile = "quantile";
    ReadData = "read_data";
    ReadingIdle = "idle_ns";
    ReadingInterval = "interval_ns";
    ReadOnly = "read_only";
    RunOnce = "run_once";
    SearchTime = "search_max_ns";
    SizeBytes = "size_bytes";
    Sources = "sources";
    Speed = "speed";
    SupplementaryGids = "supplementary_gids";
    SymbolicLinks = "symbolic_links_per_client";
    Target = "target";
    ThresholdTime = "below_ns";
    Timeout = "timeout_ns";
    TransferBytes = "transfer_bytes";
    Transport = "transport";
    TruncatedIo = "trunc_io_bytes";
    Uids = "uids";
    WarmUp = "warm_up_ns";
    Workers = "workers";
    WorkingSet = "working_set_bytes";
}

impl Field {
    /// Returns the key in quotes, as in the file.
    pub fn quoted_key(self) -> String {
        match self {
            Field::NoFeedback => "\"feedback\": false".into(),
            field => format!("\"{}\"", field.key()),
        }
    }
}
