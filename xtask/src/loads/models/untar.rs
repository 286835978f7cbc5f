//! An archive of small files that is unpacked, then searched: docs/loads/untar.md.

use super::draw::{LoadRng, LogNormal};
use super::writer::Writer;

const DIRECTORIES: usize = 110;
const FILES: u64 = 1_600;
/// Maximum number of components of a directory's path.
const DEEPEST: usize = 5;
/// GNU tar's record: 20 blocks of 512 bytes.
const RECORD: u64 = 10_240;

const SIZES: LogNormal = LogNormal {
    median: 2_475,
    sigma_centioctaves: 220,
    min: 0,
    max: 512 << 10,
};
const EXTENSIONS: [&str; 6] = ["c", "h", "txt", "py", "mk", "png"];

/// Writes the whole load.
pub(super) fn write(out: &mut Writer, mut draw: LoadRng) {
    let directories = grow(&mut draw);
    let files = spread(&mut draw, directories.len());
    for (directory, count) in directories.iter().zip(&files) {
        out.mkdir(directory);
        for number in 0..*count {
            let path = file_name(directory, number, &mut draw);
            let len = draw.size(&SIZES);
            let handle = out.create(&path);
            out.write_run(handle, 0, len, RECORD);
            out.set_times(handle);
            out.close(handle);
        }
    }
    // The times of directories are set last, because creating files in them changes the times.
    for directory in directories.iter().rev() {
        let handle = out.open_directory(directory);
        out.set_times(handle);
        out.close(handle);
    }
    look_through(out, &directories);
}

/// Returns the directories, parents first: each new one is created in a random existing one, as in
/// the generative model of Agrawal et al.
fn grow(draw: &mut LoadRng) -> Vec<String> {
    let mut directories = vec!["t".to_owned()];
    let mut serial = 0;
    while directories.len() < DIRECTORIES {
        let parent = &directories[draw.below(directories.len() as u64) as usize];
        if parent.split('\\').count() < DEEPEST {
            serial += 1;
            directories.push(format!(r"{parent}\d{serial}"));
        }
    }
    directories.sort();
    directories
}

/// Returns the number of files in each directory: most have few, a few have many.
fn spread(draw: &mut LoadRng, directories: usize) -> Vec<u64> {
    let mut files = vec![0; directories];
    let mut order: Vec<usize> = (0..directories).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, draw.below(last as u64 + 1) as usize);
    }
    for _ in 0..FILES {
        files[order[draw.low_below(directories as u64) as usize]] += 1;
    }
    files
}

fn file_name(directory: &str, number: u64, draw: &mut LoadRng) -> String {
    format!(r"{directory}\f{number:02}.{}", draw.pick(&EXTENSIONS))
}

/// Lists every directory and queries each name in it.
fn look_through(out: &mut Writer, directories: &[String]) {
    for directory in directories {
        out.find(directory, "*");
        let names: Vec<String> = out.names(directory).map(str::to_owned).collect();
        for name in names {
            out.query_path(&format!(r"{directory}\{name}"));
        }
    }
}
