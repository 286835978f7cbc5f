//! Compilation of a source tree: docs/loads/build.md.

use super::draw::{LoadRng, LogNormal};
use super::writer::Writer;

/// Parts of the program, each with a directory of sources and a library.
const PARTS: [&str; 8] = [
    "base", "disk", "draw", "math", "net", "parse", "shell", "text",
];
/// Number of sources in each part.
const UNITS: u64 = 9;
/// Directories of headers, in the search order of the compiler; the source's directory comes before
/// them.
const INCLUDE: [(&str, u64); 3] = [("gen", 6), ("include", 30), (r"include\sys", 24)];
/// Maximum bytes that the compiler and the linker read or write at once.
const CHUNK: u64 = 65536;

const SOURCES: LogNormal = LogNormal {
    median: 8 << 10,
    sigma_centioctaves: 160,
    min: 200,
    max: 256 << 10,
};
const HEADERS: LogNormal = LogNormal {
    median: 2475,
    sigma_centioctaves: 160,
    min: 100,
    max: 64 << 10,
};

struct Unit {
    part: &'static str,
    source: String,
    object: String,
    /// Indices into the list of headers.
    headers: Vec<usize>,
}

struct Header {
    /// Number of directories of [`INCLUDE`] that are searched before the header's directory.
    after: usize,
    name: String,
}

struct Build<'a> {
    out: &'a mut Writer,
    draw: LoadRng,
    headers: Vec<Header>,
    units: Vec<Unit>,
}

/// Writes the whole load.
pub(super) fn write(out: &mut Writer, draw: LoadRng) {
    let mut build = Build {
        out,
        draw,
        headers: Vec::new(),
        units: Vec::new(),
    };
    build.unpack();
    build.choose_headers();
    for part in PARTS {
        build.make_part(part);
    }
    build.link();
    build.make_again();
}

impl Build<'_> {
    /// Unpacks the sources.
    fn unpack(&mut self) {
        for directory in ["include", r"include\sys", "gen", "src"] {
            self.out.mkdir(directory);
        }
        for (after, (directory, count)) in INCLUDE.into_iter().enumerate() {
            for number in 0..count {
                // Names contain the directory of a header, so that no header hides another.
                let initial = &directory[directory.len() - 1..];
                let name = format!("{initial}{number:02}.h");
                let len = self.draw.size(&HEADERS);
                self.unpack_file(&format!(r"{directory}\{name}"), len);
                self.headers.push(Header { after, name });
            }
        }
        for part in PARTS {
            self.out.mkdir(&format!(r"src\{part}"));
            let len = self.draw.size(&HEADERS);
            self.unpack_file(&format!(r"src\{part}\local.h"), len);
            for number in 0..UNITS {
                let source = format!(r"src\{part}\u{number}.c");
                let len = self.draw.size(&SOURCES);
                self.unpack_file(&source, len);
                self.units.push(Unit {
                    part,
                    object: format!(r"src\{part}\u{number}.o"),
                    source,
                    headers: Vec::new(),
                });
            }
        }
    }

    fn unpack_file(&mut self, path: &str, len: u64) {
        let handle = self.out.create(path);
        self.out.write_run(handle, 0, len, 10_240);
        self.out.set_times(handle);
        self.out.close(handle);
    }

    /// Chooses the headers of each unit: a few headers are in nearly every unit.
    fn choose_headers(&mut self) {
        // The popular ones are spread over the directories by their order here.
        let mut order: Vec<usize> = (0..self.headers.len()).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, self.draw.below(last as u64 + 1) as usize);
        }
        for index in 0..self.units.len() {
            let mut headers: Vec<usize> = Vec::new();
            for _ in 0..self.draw.between(4, 12) {
                let header = order[self.draw.low_below(order.len() as u64) as usize];
                if !headers.contains(&header) {
                    headers.push(header);
                }
            }
            self.units[index].headers = headers;
        }
    }

    /// Builds one part: its objects, then its library.
    fn make_part(&mut self, part: &'static str) {
        for index in 0..self.units.len() {
            if self.units[index].part == part {
                self.make_unit(index);
            }
        }
        self.archive(part);
    }

    /// `make` checks whether the object exists, then compiles.
    fn make_unit(&mut self, index: usize) {
        let (source, object) = self.look_at_unit(index);
        self.compile(index, &source);
        self.assemble(&source, &object);
    }

    /// Queries the source and the object of a unit.
    fn look_at_unit(&mut self, index: usize) -> (String, String) {
        let Unit { source, object, .. } = &self.units[index];
        self.out.query_path(object);
        self.out.query_path(source);
        (source.clone(), object.clone())
    }

    /// Reads source and headers, and writes the assembler's text.
    fn compile(&mut self, index: usize, source: &str) {
        let input = self.out.open(source);
        self.out.query_file(input);
        let len = self.out.len(source);
        self.out.read_run(input, 0, len, CHUNK);
        let part = self.units[index].part;
        self.read_header(&format!(r"src\{part}\local.h"));
        for header in self.units[index].headers.clone() {
            self.include(part, header);
        }
        self.out.close(input);
        let assembly = assembly_of(source);
        let output = self.out.create(&assembly);
        // Compilers write through a buffer of the C library.
        self.out.write_run(output, 0, len * 5 / 2, 16_384);
        self.out.close(output);
    }

    /// Searches the directories of the include path in order, until the header is found.
    fn include(&mut self, part: &str, header: usize) {
        let (after, name) = (
            self.headers[header].after,
            self.headers[header].name.clone(),
        );
        self.out.query_path(&format!(r"src\{part}\{name}"));
        for (directory, _) in &INCLUDE[..after] {
            self.out.query_path(&format!(r"{directory}\{name}"));
        }
        let (directory, _) = INCLUDE[after];
        self.read_header(&format!(r"{directory}\{name}"));
    }

    fn read_header(&mut self, path: &str) {
        let handle = self.out.open(path);
        self.out.query_file(handle);
        let len = self.out.len(path);
        self.out.read_run(handle, 0, len, CHUNK);
        self.out.close(handle);
    }

    /// Assembles the text to an object: its sections first, its header last.
    fn assemble(&mut self, source: &str, object: &str) {
        let assembly = assembly_of(source);
        self.out.read_whole(&assembly, CHUNK);
        let len = self.out.len(source);
        let object_len = len + 1_024 + self.draw.below(len);
        let handle = self.out.create(object);
        self.out.write_run(handle, 64, object_len - 64, CHUNK);
        self.out.write(handle, 0, 64);
        self.out.close(handle);
        self.out.unlink(&assembly);
    }

    /// Archives the objects of a part in its library.
    fn archive(&mut self, part: &str) {
        let library = library_of(part);
        self.out.query_path(&library);
        let archive = self.out.create(&library);
        self.out.write(archive, 0, 8);
        let mut end = 8;
        for index in 0..self.units.len() {
            if self.units[index].part != part {
                continue;
            }
            let object = self.units[index].object.clone();
            self.read_header(&object);
            let len = self.out.len(&object);
            self.out.write(archive, end, 60);
            self.out.write_run(archive, end + 60, len, CHUNK);
            end += 60 + len;
        }
        self.out.set_times(archive);
        self.out.close(archive);
    }

    /// Links all libraries to the program.
    fn link(&mut self) {
        self.out.query_path("program");
        for name in ["libc.a", "libm.a"] {
            self.out.query_path(&format!(r"src\{name}"));
        }
        let mut len = 0;
        for part in PARTS {
            let library = library_of(part);
            self.out.query_path(&library);
            self.read_header(&library);
            len += self.out.len(&library);
        }
        let program = self.out.create("program");
        self.out.write_run(program, 4096, len * 3 / 4, CHUNK);
        self.out.write(program, 0, 4096);
        self.out.set_times(program);
        self.out.close(program);
        // Stripped: read, and written to a new file.
        self.out.read_whole("program", CHUNK);
        let stripped = self.out.create("program.new");
        self.out.write_run(stripped, 0, len / 2, CHUNK);
        self.out.close(stripped);
        self.out.unlink("program");
        self.out.rename("program.new", "program");
    }

    /// Runs `make` again: it checks all files and finds nothing to do.
    fn make_again(&mut self) {
        for part in PARTS {
            let directory = format!(r"src\{part}");
            self.out.find(&directory, "*");
            self.out.query_path(&library_of(part));
            self.out.query_path(&format!(r"{directory}\local.h"));
        }
        for index in 0..self.units.len() {
            self.look_at_unit(index);
        }
        for header in 0..self.headers.len() {
            let Header { after, name } = &self.headers[header];
            let path = format!(r"{}\{name}", INCLUDE[*after].0);
            self.out.query_path(&path);
        }
        self.out.query_path("program");
    }
}

fn assembly_of(source: &str) -> String {
    source.replace(".c", ".s")
}

fn library_of(part: &str) -> String {
    format!(r"src\{part}.a")
}
