//! The fields of a plan that rules refer to: keys of the stored plan, and options.

macro_rules! fields {
    ($($field:ident = $key:literal $(, $option:literal)?;)*) => {
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

            /// Returns the option of the command line that sets the field; `None` if there is none.
            pub const fn option(self) -> Option<&'static str> {
                match self { $(Field::$field => fields!(@option $($option)?),)* }
            }
        }
    };
    (@option) => { None };
    (@option $option:literal) => { Some($option) };
}

fields! {
    Arrivals = "arrivals", "--arrivals";
    BytesPerSecond = "bytes_per_s", "--rate";
    Clients = "clients", "--clients";
    ClientsPerThread = "clients_per_thread", "--clients-per-thread";
    ConnectRate = "connections_per_s", "--connect-rate";
    ConnectionsPerClient = "connections_per_client", "--connections-per-client";
    Cost = "cost", "--cost";
    Count = "count", "--count";
    Counts = "counts", "--mix";
    Curve = "steering", "--curve";
    Dialect = "dialect", "--dialect";
    Durable = "durable", "--durable";
    Duration = "duration_ns", "--duration";
    Encryption = "encryption", "--encrypt";
    Expect = "expect", "--expect";
    FilesPerClient = "files_per_client", "--files";
    Gates = "gates", "--fail-if";
    Gids = "gids", "--gid";
    InFlight = "in_flight", "--in-flight";
    Interval = "interval_ns", "--report-interval";
    Levels = "levels", "--load-levels";
    ListingBytes = "listing_bytes";
    Loads = "loads";
    MachineName = "machine_name", "--machine-name";
    MoreTargets = "more_targets", "--layer";
    NoFeedback = "feedback", "--no-feedback";
    Objective = "steering", "--slo";
    OnLost = "on_lost", "--on-lost";
    Oplock = "oplock", "--oplock";
    Operation = "operation";
    OwnFiles = "own_files", "--create-files";
    OfferedLoad = "offered_load_ops_per_s", "--offered";
    Peak = "peak_ops_per_s", "--peak";
    Pin = "pin", "--pin";
    PointTime = "point_ns", "--point-duration";
    PointWarmUp = "warm_up_max_ns", "--point-warm-up";
    Points = "points", "--points";
    Precision = "precision", "--precision";
    Quantile = "quantile", "--slo";
    ReadData = "read_data", "--data";
    ReadingIdle = "idle_ns", "--idle-baseline";
    ReadingInterval = "interval_ns", "--cost-interval";
    ReadOnly = "read_only", "--read-only";
    RunOnce = "run_once", "--run-once";
    SearchTime = "search_max_ns", "--search-timeout";
    SizeBytes = "size_bytes", "--io-size";
    Sources = "sources", "--source";
    Speed = "speed", "--speed";
    SupplementaryGids = "supplementary_gids", "--gids";
    SymbolicLinks = "symbolic_links_per_client";
    Target = "target", "--layer";
    ThresholdTime = "below_ns", "--slo";
    Timeout = "timeout_ns", "--timeout";
    TransferBytes = "transfer_bytes", "--io-size";
    Transport = "transport", "--transport";
    TruncatedIo = "trunc_io_bytes", "--trunc-io";
    Uids = "uids", "--uid";
    WarmUp = "warm_up_ns", "--warm-up";
    Workers = "workers", "--workers";
    WorkingSet = "working_set_bytes", "--working-set";
}

impl Field {
    /// Returns the option, or the quoted key of a field without one.
    pub fn option_or_key(self) -> String {
        self.option()
            .map_or_else(|| self.quoted_key(), str::to_owned)
    }

    /// Returns the key in quotes, as in the file.
    pub fn quoted_key(self) -> String {
        match self {
            Field::NoFeedback => "\"feedback\": false".into(),
            field => format!("\"{}\"", field.key()),
        }
    }
}
