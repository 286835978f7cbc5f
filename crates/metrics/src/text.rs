//! Metrics as text: OpenMetrics 1.0.0, and Prometheus' format 0.0.4.

use crate::data_model::{LabelPair, MetricFamily, MetricType};
use crate::format::Format;
use std::fmt::{self, Write};

/// Encodes metric families as text.
pub fn write(families: &[MetricFamily], format: Format) -> Result<String, fmt::Error> {
    let mut text = String::new();
    for family in families {
        heading(&mut text, family, format)?;
        samples(&mut text, family)?;
    }
    if format == Format::OpenMetrics {
        text.push_str("# EOF\n");
    }
    Ok(text)
}

/// Writes the metadata of a family. OpenMetrics names families without the suffix of their samples,
/// and has units and a type for constant labels.
fn heading(text: &mut String, family: &MetricFamily, format: Format) -> fmt::Result {
    let samples = family.name.as_str();
    let (base, kind) = match family.r#type() {
        MetricType::Counter => (samples.strip_suffix("_total"), "counter"),
        MetricType::Gauge => match samples.strip_suffix("_info") {
            Some(base) if format == Format::OpenMetrics => (Some(base), "info"),
            _ => (None, "gauge"),
        },
        MetricType::Histogram => (None, "histogram"),
    };
    let name = match format {
        Format::OpenMetrics => base.unwrap_or(samples),
        Format::Text | Format::ProtocolBuffers => samples,
    };
    writeln!(text, "# HELP {name} {}", escaped(&family.help))?;
    writeln!(text, "# TYPE {name} {kind}")?;
    if format == Format::OpenMetrics && !family.unit.is_empty() {
        writeln!(text, "# UNIT {name} {}", family.unit)?;
    }
    Ok(())
}

fn samples(text: &mut String, family: &MetricFamily) -> fmt::Result {
    let name = family.name.as_str();
    for metric in &family.metric {
        let labels = metric.label.as_slice();
        let value = metric.counter.map(|counter| counter.value);
        if let Some(value) = value.or(metric.gauge.map(|gauge| gauge.value)) {
            sample(text, name, "", None, labels, value)?;
        }
        if let Some(histogram) = &metric.histogram {
            for bucket in &histogram.bucket {
                let end = Some(bucket.upper_bound);
                let count = bucket.cumulative_count as f64;
                sample(text, name, "_bucket", end, labels, count)?;
            }
            sample(text, name, "_sum", None, labels, histogram.sample_sum)?;
            let count = histogram.sample_count as f64;
            sample(text, name, "_count", None, labels, count)?;
        }
    }
    Ok(())
}

fn sample(
    text: &mut String,
    name: &str,
    suffix: &str,
    bucket_end: Option<f64>,
    labels: &[LabelPair],
    value: f64,
) -> fmt::Result {
    write!(text, "{name}{suffix}")?;
    let mut before = '{';
    if let Some(end) = bucket_end {
        write!(text, "{{le=\"{}\"", Number(end))?;
        before = ',';
    }
    for LabelPair { name, value } in labels {
        let value = escaped(value).replace('"', "\\\"");
        write!(text, "{before}{name}=\"{value}\"")?;
        before = ',';
    }
    if before == ',' {
        text.push('}');
    }
    writeln!(text, " {}", Number(value))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

/// A number in the notation of both formats.
struct Number(f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            f64::INFINITY => f.write_str("+Inf"),
            f64::NEG_INFINITY => f.write_str("-Inf"),
            value => write!(f, "{value}"),
        }
    }
}
