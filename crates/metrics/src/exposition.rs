//! Encoding of metrics.

use crate::MetricsSnapshot;
use crate::format::Format;
use crate::text;
use prost::Message as _;
use std::fmt;

/// Metrics encoded in one of the formats.
#[derive(Debug, Clone)]
pub struct Exposition {
    /// Value of the `Content-Type` header.
    pub content_type: &'static str,
    /// The encoded metrics.
    pub body: Vec<u8>,
}

/// Error returned when metrics cannot be encoded.
#[derive(Debug, thiserror::Error)]
#[error("the metrics cannot be written down: {0}")]
pub struct ExpositionError(String);

impl MetricsSnapshot {
    /// Encodes the snapshot.
    pub fn expose(self, format: Format) -> Result<Exposition, ExpositionError> {
        let families = self.families();
        let body = match format {
            Format::ProtocolBuffers => {
                let mut body = Vec::new();
                for family in &families {
                    let encoded = family.encode_length_delimited(&mut body);
                    encoded.map_err(ExpositionError::of)?;
                }
                body
            }
            Format::OpenMetrics | Format::Text => text::write(&families, format)
                .map_err(ExpositionError::of)?
                .into_bytes(),
        };
        Ok(Exposition {
            content_type: format.content_type(),
            body,
        })
    }
}

impl ExpositionError {
    fn of(error: impl fmt::Display) -> Self {
        Self(error.to_string())
    }
}
