//! Texts of docs/ that the program contains, compressed by the build script: they are a third of its data.

use flate2::read::GzDecoder;
use std::io::Read as _;

/// Returns the text of `docs/PATH EXTENSION`, both literals.
macro_rules! packed_text {
    ($path:literal, $extension:literal) => {
        $crate::packed::text(include_bytes!(concat!(
            env!("OUT_DIR"),
            "/docs/",
            $path,
            $extension,
            ".gz"
        )))
    };
}
pub(crate) use packed_text;

/// Decompresses a text.
///
/// # Panics
///
/// Panics if the build script wrote something else.
pub fn text(gzip: &[u8]) -> String {
    let mut text = String::new();
    let read = GzDecoder::new(gzip).read_to_string(&mut text);
    read.expect("the build script compressed a text");
    text
}
