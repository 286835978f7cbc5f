//! Reads load files, plain or gzip, line by line: memory holds the compiled load and one line,
//! regardless of the length of the file.

use crate::error::ErrorCategory;
use filestone_workload::load::{Compiler, LONGEST_LINE, Load, LoadErrors};
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Bytes read from a file at once.
const BUFFER: usize = 1 << 16;
/// Maximum unpacked length of a load file: 4 GiB. A small gzip file may expand to far more.
const LONGEST_FILE: u64 = 1 << 32;
/// First bytes of a gzip file (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Error returned when a load file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadFileError {
    /// The file cannot be opened or read.
    #[error("{name}: cannot read: {source}")]
    Unreadable {
        /// Path of the file.
        name: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The gzip data of the file are damaged or truncated.
    #[error("{name}: the gzip data are damaged: {source}")]
    Damaged {
        /// Path of the file.
        name: String,
        /// Error of the decoder.
        source: io::Error,
    },
    /// The file is longer than the maximum.
    #[error("{name}: more than {LONGEST_FILE} bytes")]
    TooLong {
        /// Path of the file.
        name: String,
    },
    /// The file can be read, but its content is invalid.
    #[error(transparent)]
    Wrong(#[from] LoadErrors),
}

impl LoadFileError {
    /// Returns the cause of the error.
    pub fn category(&self) -> ErrorCategory {
        match self {
            LoadFileError::Unreadable { source, .. } => match source.kind() {
                io::ErrorKind::NotFound
                | io::ErrorKind::PermissionDenied
                | io::ErrorKind::IsADirectory
                | io::ErrorKind::NotADirectory => ErrorCategory::Usage,
                _ => ErrorCategory::Environment,
            },
            LoadFileError::Damaged { .. }
            | LoadFileError::TooLong { .. }
            | LoadFileError::Wrong(_) => ErrorCategory::Usage,
        }
    }
}

/// Reads and compiles the load file at `path`.
pub fn read(path: &Path) -> Result<Load, LoadFileError> {
    let name = path.display().to_string();
    let unreadable = |source| LoadFileError::Unreadable {
        name: name.clone(),
        source,
    };
    let file = File::open(path).map_err(unreadable)?;
    let mut file = BufReader::with_capacity(BUFFER, file);
    let is_packed = file.fill_buf().map_err(unreadable)?.starts_with(&GZIP);
    if is_packed {
        read_gzip(&name, file)
    } else {
        compile(&name, file)
    }
}

/// Unpacks and compiles a load.
pub fn read_gzip(name: &str, packed: impl BufRead) -> Result<Load, LoadFileError> {
    let unpacked = BufReader::with_capacity(BUFFER, MultiGzDecoder::new(packed));
    compile(name, unpacked).map_err(|error| match error {
        LoadFileError::Unreadable { name, source } => LoadFileError::Damaged { name, source },
        other => other,
    })
}

/// Compiles the text of a load.
pub fn read_text(name: &str, text: &str) -> Result<Load, LoadErrors> {
    let mut compiler = Compiler::new(name);
    for line in text.lines() {
        compiler.line(line.as_bytes());
    }
    compiler.finish()
}

fn compile(name: &str, from: impl BufRead) -> Result<Load, LoadFileError> {
    let mut compiler = Compiler::new(name);
    let mut from = from.take(LONGEST_FILE);
    let mut line = Vec::new();
    while !compiler.is_hopeless() && next_line(&mut from, &mut line, name)? {
        if line.len() > LONGEST_LINE && !line.ends_with(b"\n") {
            compiler.line_too_long();
        } else {
            compiler.line(&line);
        }
    }
    if from.limit() == 0 {
        return Err(LoadFileError::TooLong {
            name: name.to_owned(),
        });
    }
    Ok(compiler.finish()?)
}

/// Reads one line, but never much more of it than the maximum length of a line. Returns `false` at
/// the end.
fn next_line(
    from: &mut impl BufRead,
    line: &mut Vec<u8>,
    name: &str,
) -> Result<bool, LoadFileError> {
    line.clear();
    // The longest line, its line end, and one more byte by which the compiler detects a longer
    // line.
    let longest = LONGEST_LINE as u64 + 3;
    let read = from.take(longest).read_until(b'\n', line);
    read.map(|bytes| bytes > 0)
        .map_err(|source| LoadFileError::Unreadable {
            name: name.to_owned(),
            source,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;
    use std::path::PathBuf;

    const LOAD: &str = "CREATE3 \"/clients/client1/a\" 0x0\nREMOVE3 \"/clients/client1/a\" 0x0\n";

    /// A file that is removed when the test ends.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str, content: &[u8]) -> Self {
            let file = format!("filestone-load-{}-{name}", std::process::id());
            let path = std::env::temp_dir().join(file);
            std::fs::write(&path, content).expect("the temporary directory is writable");
            Self(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn packed(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(content).expect("memory takes it");
        encoder.finish().expect("memory takes it")
    }

    fn fault(name: &str, content: &[u8]) -> String {
        let file = Scratch::new(name, content);
        match read(&file.0) {
            Ok(_) => panic!("{name} is no load file"),
            Err(error) => {
                assert_eq!(error.category(), ErrorCategory::Usage);
                error.to_string()
            }
        }
    }

    #[test]
    fn plain_and_packed_files_are_the_same() {
        let plain = Scratch::new("plain", LOAD.as_bytes());
        let gzip = Scratch::new("gzip", &packed(LOAD.as_bytes()));
        for file in [&plain, &gzip] {
            let load = read(&file.0).expect("it is a load file");
            assert_eq!((load.operations(), load.lines()), (2, 2));
        }
    }

    #[test]
    fn what_is_no_load_file_is_told_in_one_message() {
        assert!(fault("empty", b"").contains("no operation in it"));
        assert!(fault("binary", b"\x7fELF\x02\x01\x01\0\0").contains("not a load file"));
        assert!(
            fault("prose", b"Dear Sir,\nplease find\nattached\nthe\n")
                .lines()
                .count()
                <= 2
        );
        let mut cut = packed(LOAD.as_bytes());
        cut.truncate(cut.len() - 12);
        assert!(fault("cut", &cut).contains("damaged"));
    }

    #[test]
    fn a_line_without_end_is_not_kept() {
        // Unpacked, this is one line of 64 MiB.
        let bomb = packed(&vec![b'x'; 64 << 20]);
        let message = fault("bomb", &bomb);
        assert!(message.contains("longer than 65536 bytes"), "{message}");
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = read(Path::new("/nonexistent/a.load")).expect_err("it is not there");
        assert_eq!(error.category(), ErrorCategory::Usage);
        assert!(
            error
                .to_string()
                .starts_with("/nonexistent/a.load: cannot read")
        );
    }

    #[test]
    fn loads_that_are_brought_along_are_compiled_from_text() {
        let load = read_text("built-in", LOAD).expect("it is a load");
        assert_eq!((load.name(), load.operations()), ("built-in", 2));
        assert!(read_text("built-in", "REMOVE4 \"/clients/client1/a\" 0x0").is_err());
    }
}
