//! The formats of metrics, and content negotiation.

/// A format for exposing metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Protocol buffers of Prometheus, the only format with native histograms.
    ProtocolBuffers,
    /// OpenMetrics 1.0.0, as text.
    OpenMetrics,
    /// Older text format of Prometheus, the default if the client requests none of the others.
    Text,
}

impl Format {
    /// Returns the format that an `Accept` header prefers; among equally preferred formats, the
    /// richest.
    pub fn wanted(accept: &str) -> Self {
        let mut best = (Self::Text, 0);
        for range in accept.split(',').take(RANGES_MAX) {
            if let Some(format) = Self::of_range(range) {
                let quality = quality(range);
                if quality > 0 && (quality, format.richness()) > (best.1, best.0.richness()) {
                    best = (format, quality);
                }
            }
        }
        best.0
    }

    fn of_range(range: &str) -> Option<Self> {
        let mut parts = range.split(';').map(str::trim);
        let media_type = parts.next()?.to_ascii_lowercase();
        let has = |wanted: &str| parts.clone().any(|part| part.eq_ignore_ascii_case(wanted));
        match media_type.as_str() {
            "application/vnd.google.protobuf" => {
                let is_ours =
                    has("proto=io.prometheus.client.MetricFamily") && has("encoding=delimited");
                is_ours.then_some(Self::ProtocolBuffers)
            }
            "application/openmetrics-text" => Some(Self::OpenMetrics),
            "text/plain" | "text/*" | "*/*" => Some(Self::Text),
            _ => None,
        }
    }

    const fn richness(self) -> u8 {
        match self {
            Self::ProtocolBuffers => 2,
            Self::OpenMetrics => 1,
            Self::Text => 0,
        }
    }

    /// Returns the value of the `Content-Type` header.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::ProtocolBuffers => {
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
            }
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// Maximum number of media ranges of an `Accept` header that are evaluated; Prometheus sends five.
const RANGES_MAX: usize = 32;

/// Returns the quality value of a media range in thousandths (RFC 9110, section 12.4.2).
fn quality(range: &str) -> u16 {
    let parts = range.split(';').skip(1).map(str::trim);
    let said = parts
        .filter_map(|part| part.split_once('='))
        .find(|(name, _)| name.eq_ignore_ascii_case("q"));
    let quality = match said {
        Some((_, value)) => value.trim().parse::<f64>().unwrap_or(0.0),
        None => 1.0,
    };
    // Out-of-range values are clamped; NaN becomes 0.
    (quality.clamp(0.0, 1.0) * 1000.0) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_the_one_that_is_wanted_most() {
        const PROMETHEUS: &str = "application/openmetrics-text;version=1.0.0,\
            application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        const WITH_NATIVE: &str = "application/vnd.google.protobuf;\
            proto=io.prometheus.client.MetricFamily;encoding=delimited,\
            application/openmetrics-text;version=1.0.0;q=0.8,text/plain;q=0.5";
        for (accept, format) in [
            ("", Format::Text),
            ("*/*", Format::Text),
            ("text/html,application/xhtml+xml,*/*;q=0.8", Format::Text),
            (PROMETHEUS, Format::OpenMetrics),
            (WITH_NATIVE, Format::ProtocolBuffers),
            (
                "text/plain, application/openmetrics-text; q=0.9",
                Format::Text,
            ),
            (
                "application/openmetrics-text;q=0, text/plain;q=0.1",
                Format::Text,
            ),
            (
                "application/vnd.google.protobuf;encoding=text",
                Format::Text,
            ),
            ("application/openmetrics-text;q=never", Format::Text),
            ("APPLICATION/OpenMetrics-Text ; Q=0.4", Format::OpenMetrics),
        ] {
            assert_eq!(Format::wanted(accept), format, "{accept}");
        }
    }

    #[test]
    fn a_header_without_an_end_is_looked_at_for_a_while() {
        let long = "application/x,".repeat(100_000) + "application/openmetrics-text";
        assert_eq!(Format::wanted(&long), Format::Text);
    }
}
