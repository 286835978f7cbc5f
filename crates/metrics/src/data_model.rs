//! The messages of Prometheus' `metrics.proto` (package `io.prometheus.client`,
//! prometheus/client_model) that filestone uses, with the code that prost derives. Building needs
//! neither `protoc` nor a compiler of `.proto` files.

use prost::{Enumeration, Message};

/// `LabelPair`.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct LabelPair {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

/// `MetricType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Enumeration)]
#[repr(i32)]
pub enum MetricType {
    Counter = 0,
    Gauge = 1,
    Histogram = 4,
}

/// `Counter`.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Counter {
    #[prost(double, tag = "1")]
    pub value: f64,
}

/// `Gauge`.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Gauge {
    #[prost(double, tag = "1")]
    pub value: f64,
}

/// `Histogram`: a classic and a native one of the same values.
#[derive(Clone, PartialEq, Message)]
pub struct Histogram {
    #[prost(uint64, tag = "1")]
    pub sample_count: u64,
    #[prost(double, tag = "2")]
    pub sample_sum: f64,
    #[prost(message, repeated, tag = "3")]
    pub bucket: Vec<Bucket>,
    #[prost(sint32, tag = "5")]
    pub schema: i32,
    #[prost(double, tag = "6")]
    pub zero_threshold: f64,
    #[prost(uint64, tag = "7")]
    pub zero_count: u64,
    #[prost(message, repeated, tag = "12")]
    pub positive_span: Vec<BucketSpan>,
    #[prost(sint64, repeated, tag = "13")]
    pub positive_delta: Vec<i64>,
}

/// `Bucket` of a classic histogram.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Bucket {
    #[prost(uint64, tag = "1")]
    pub cumulative_count: u64,
    #[prost(double, tag = "2")]
    pub upper_bound: f64,
}

/// `BucketSpan`: consecutive buckets of a native histogram, each span with its distance from the one before
/// and its length.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct BucketSpan {
    #[prost(sint32, tag = "1")]
    pub offset: i32,
    #[prost(uint32, tag = "2")]
    pub length: u32,
}

/// `Metric`: one set of labels and its value.
#[derive(Clone, PartialEq, Message)]
pub struct Metric {
    #[prost(message, repeated, tag = "1")]
    pub label: Vec<LabelPair>,
    #[prost(message, optional, tag = "2")]
    pub gauge: Option<Gauge>,
    #[prost(message, optional, tag = "3")]
    pub counter: Option<Counter>,
    #[prost(message, optional, boxed, tag = "7")]
    pub histogram: Option<Box<Histogram>>,
}

/// `MetricFamily`.
#[derive(Clone, PartialEq, Message)]
pub struct MetricFamily {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub help: String,
    #[prost(enumeration = "MetricType", tag = "3")]
    pub r#type: i32,
    #[prost(message, repeated, tag = "4")]
    pub metric: Vec<Metric>,
    #[prost(string, tag = "5")]
    pub unit: String,
}
