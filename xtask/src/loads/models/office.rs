//! Users who work with documents on a file server: docs/loads/office.md.

use super::draw::{LoadRng, LogNormal};
use super::writer::{Handle, Writer};

/// Approximate number of operations of the load.
const OPERATIONS: u64 = 10_800;
/// Number of documents at the start.
const DOCUMENTS: u64 = 150;
/// Minimum number of documents: below it none are deleted.
const FEWEST: usize = 120;
/// Size of all files in bytes above which saved documents get shorter instead of longer.
const LIVE_HIGH: u64 = 17 << 20;
/// Maximum number of documents kept open for paging.
const KEPT_OPEN: usize = 14;
/// The shared ledger: fixed records in a file of constant length.
const LEDGER: &str = r"Shared\Ledger.dbf";
const LEDGER_LEN: u64 = 1 << 20;
/// Offset of locks. Database engines of the time locked far beyond the data, so that locks exclude
/// other locks but not reads.
const LOCKS_AT: u64 = 0x7000_0000;

const FOLDERS: [(&str, &str); 4] = [
    ("Reports", "doc"),
    ("Sheets", "xls"),
    ("Slides", "ppt"),
    ("Letters", "rtf"),
];
const LIBRARIES: [(&str, u64); 5] = [
    ("Spell.dll", 180_224),
    ("Charts.dll", 143_360),
    ("Fonts.dll", 69_632),
    ("Normal.dot", 28_672),
    ("Macros.xla", 53_248),
];

const SIZES: LogNormal = LogNormal {
    median: 24 << 10,
    sigma_centioctaves: 190,
    min: 512,
    max: 1 << 20,
};
/// Sizes of programs' reads and writes; small ones are more frequent.
const CHUNKS: [u64; 7] = [4096, 4096, 8192, 16384, 32768, 61440, 65536];
const SAVE_CHUNKS: [u64; 5] = [4096, 8192, 32768, 65536, 65536];

struct Office<'a> {
    out: &'a mut Writer,
    draw: LoadRng,
    documents: Vec<String>,
    kept: Vec<(Handle, String)>,
    serial: u64,
}

/// Writes the whole load.
pub(super) fn write(out: &mut Writer, draw: LoadRng) {
    let mut office = Office {
        out,
        draw,
        documents: Vec::new(),
        kept: Vec::new(),
        serial: 0,
    };
    office.populate();
    while office.out.operations() < OPERATIONS {
        office.act();
    }
    while let Some((handle, _)) = office.kept.pop() {
        office.out.close(handle);
    }
}

impl Office<'_> {
    /// Creates the initial files.
    fn populate(&mut self) {
        self.out.query_fs();
        for folder in ["Programs", "Shared", "Spool"]
            .into_iter()
            .chain(FOLDERS.map(|(folder, _)| folder))
        {
            self.out.query_path(folder);
            self.out.directory(folder);
        }
        for (name, len) in LIBRARIES {
            self.write_new(&format!(r"Programs\{name}"), len, 65536);
        }
        self.write_new(LEDGER, LEDGER_LEN, 65536);
        for _ in 0..DOCUMENTS {
            let path = self.new_name();
            let len = self.draw.size(&SIZES);
            self.write_new(&path, len, 65536);
            self.documents.push(path);
        }
    }

    /// Executes one action of a user.
    fn act(&mut self) {
        match self.draw.below(100) {
            0..18 => self.browse(),
            18..33 => self.load_library(),
            33..62 => self.view(),
            62..73 => self.page(),
            73..82 => self.save(),
            82..87 => self.book(),
            87..91 => self.begin_document(),
            91..95 => self.throw_away(),
            95..96 => self.print(),
            _ => self.keep_open(),
        }
    }

    fn new_name(&mut self) -> String {
        self.serial += 1;
        let (folder, extension) = self.draw.pick(&FOLDERS);
        format!(r"{folder}\Paper{:03}.{extension}", self.serial)
    }

    fn write_new(&mut self, path: &str, len: u64, chunk: u64) {
        let handle = self.out.create(path);
        self.out.write_run(handle, 0, len, chunk);
        self.out.close(handle);
    }

    /// Returns a document that is not open; recent and popular ones are preferred.
    fn closed_document(&mut self) -> usize {
        let count = self.documents.len() as u64;
        loop {
            let index = self.draw.low_below(count) as usize;
            let path = &self.documents[index];
            if !self.kept.iter().any(|(_, kept)| kept == path) {
                return index;
            }
        }
    }

    /// Browses a folder: sizes and dates of its files.
    fn browse(&mut self) {
        let (folder, _) = self.draw.pick(&FOLDERS);
        self.out.query_fs();
        self.out.query_path(folder);
        self.out.find(folder, "*");
        self.out.query_path(&format!(r"{folder}\desktop.ini"));
        self.out.query_path(&format!(r"{folder}\thumbs.db"));
        self.out.find(folder, "<.tmp");
        let names: Vec<String> = self.out.names(folder).map(str::to_owned).collect();
        for _ in 0..self.draw.between(1, 5) {
            let name = &names[self.draw.below(names.len() as u64) as usize];
            self.out.query_path(&format!(r"{folder}\{name}"));
        }
    }

    /// A program searches for a library in the document's directory, then in its own.
    fn load_library(&mut self) {
        let (folder, _) = self.draw.pick(&FOLDERS);
        let (name, len) = self.draw.pick(&LIBRARIES);
        self.out.try_open(&format!(r"{folder}\{name}"));
        if self.draw.one_in(8) {
            self.out.query_path(&format!(r"{folder}\Plugins\{name}"));
        }
        self.out.query_path(name);
        let handle = self.out.open(&format!(r"Programs\{name}"));
        self.out.query_file(handle);
        let pages = len / 4096;
        for _ in 0..self.draw.between(1, 4) {
            let page = self.draw.below(pages);
            self.out.read(handle, page * 4096, 4096);
        }
        self.out.close(handle);
    }

    /// Reads a document from start to end.
    fn view(&mut self) {
        let index = self.closed_document();
        let path = self.documents[index].clone();
        self.out.query_path(&path);
        self.out.try_open(&owner_file(&path));
        let handle = self.out.open(&path);
        self.out.query_file(handle);
        let len = self.out.len(&path);
        self.out.read(handle, 0, len.min(512));
        let chunk = self.reading_chunk(len);
        self.out.read_run(handle, 0, len, chunk);
        self.out.close(handle);
    }

    /// Returns the size of reads; programs read long documents in long pieces.
    fn reading_chunk(&mut self, len: u64) -> u64 {
        let least = if len > 256 << 10 { 32768 } else { 4096 };
        self.draw.pick(&CHUNKS).max(least)
    }

    /// Opens a document and leaves it open; closes the one open longest.
    fn keep_open(&mut self) {
        let index = self.closed_document();
        let path = self.documents[index].clone();
        self.out.query_path(&path);
        let handle = self.out.open(&path);
        self.out.query_file(handle);
        self.kept.push((handle, path));
        if self.kept.len() > KEPT_OPEN {
            let (handle, _) = self.kept.remove(0);
            self.out.close(handle);
        }
    }

    /// Pages through open documents: 4 KiB at random offsets.
    fn page(&mut self) {
        if self.kept.is_empty() {
            self.keep_open();
        }
        for _ in 0..self.draw.between(4, 12) {
            let which = self.draw.below(self.kept.len() as u64) as usize;
            let (handle, path) = &self.kept[which];
            let (handle, len) = (*handle, self.out.len(path));
            let page = self.draw.below(len.div_ceil(4096));
            let at = page * 4096;
            self.out.read(handle, at, (len - at).min(4096));
        }
    }

    /// Changes a document: it is read, written to a temporary file, and the two are swapped, so
    /// that a complete document exists at any time.
    fn save(&mut self) {
        let index = self.closed_document();
        let path = self.documents[index].clone();
        let owner = owner_file(&path);
        self.serial += 1;
        let (folder, _) = path.rsplit_once('\\').unwrap_or_default();
        let temporary = format!(r"{folder}\Save{:04}.tmp", self.serial);
        let backup = format!("{}.bak", path.rsplit_once('.').unwrap_or_default().0);

        self.out.query_path(&path);
        self.out.query_path(&owner);
        let owner_handle = self.out.create(&owner);
        self.out.write(owner_handle, 0, 54);
        let old = self.out.open(&path);
        self.out.query_file(old);
        let len = self.out.len(&path);
        let chunk = self.reading_chunk(len);
        self.out.read_run(old, 0, len, chunk);

        self.out.find(folder, "Save*.tmp");
        let new = self.out.create(&temporary);
        let new_len = self.saved_len(len);
        self.write_document(new, new_len);
        self.out.set_times(new);
        self.out.close(new);
        self.out.close(old);

        self.out.query_path(&backup);
        self.out.rename(&path, &backup);
        self.out.rename(&temporary, &path);
        self.out.unlink(&backup);
        self.out.close(owner_handle);
        self.out.unlink(&owner);
    }

    /// Returns the length of a document of `len` bytes after an edit: from 7/8 to 5/4 of that, or
    /// shorter if the total size is high.
    fn saved_len(&mut self, len: u64) -> u64 {
        let eighths = if self.out.live() > LIVE_HIGH {
            self.draw.between(5, 8)
        } else {
            self.draw.between(7, 10)
        };
        (len * eighths / 8 + self.draw.below(512)).clamp(SIZES.min, SIZES.max)
    }

    /// Writes a document's bytes: the last byte first to reserve the space, as Windows' cache
    /// manager does, then from the start.
    fn write_document(&mut self, handle: Handle, len: u64) {
        self.out.query_fs();
        self.out.write(handle, len - 1, 1);
        self.out.query_file(handle);
        let least = if len > 256 << 10 { 32768 } else { 4096 };
        let chunk = self.draw.pick(&SAVE_CHUNKS).max(least);
        self.out.write_run(handle, 0, len, chunk);
        if self.draw.one_in(2) {
            self.out.flush(handle);
        }
    }

    /// Changes records of the shared ledger, each under its lock.
    fn book(&mut self) {
        self.out.query_path(LEDGER);
        let ledger = self.out.open(LEDGER);
        self.out.read(ledger, 0, 512);
        for _ in 0..self.draw.between(2, 5) {
            let record = self.draw.low_below(LEDGER_LEN / 2048);
            self.out.lock(ledger, LOCKS_AT + record, 1);
            self.out.read(ledger, record * 2048 / 4096 * 4096, 4096);
            if self.draw.one_in(2) {
                self.out.write(ledger, record * 2048, 2048);
            }
            self.out.unlock(ledger, LOCKS_AT + record, 1);
        }
        self.out.flush(ledger);
        self.out.close(ledger);
    }

    /// Creates a new document from the template.
    fn begin_document(&mut self) {
        let path = self.new_name();
        self.out.query_path(&path);
        self.out.try_open(&path);
        self.out.read_whole(r"Programs\Normal.dot", 4096);
        let handle = self.out.create(&path);
        let len = self.draw.size(&SIZES);
        let len = if self.out.live() > LIVE_HIGH {
            len.min(16 << 10)
        } else {
            len
        };
        self.write_document(handle, len);
        self.out.set_times(handle);
        self.out.close(handle);
        self.documents.insert(0, path);
    }

    /// Deletes a document: it is looked up, deleted, and looked up again without success.
    fn throw_away(&mut self) {
        if self.documents.len() <= FEWEST {
            return self.begin_document();
        }
        let index = self.closed_document();
        let path = self.documents.remove(index);
        let (folder, name) = path.rsplit_once('\\').unwrap_or_default();
        let (stem, _) = name.rsplit_once('.').unwrap_or_default();
        self.out.find(folder, name);
        self.out.query_path(&path);
        self.out.unlink(&path);
        self.out.find(folder, &format!("{stem}.*"));
        self.out.query_path(&path);
    }

    /// Prints: a page description is spooled, read by the printer's queue, and deleted.
    fn print(&mut self) {
        self.serial += 1;
        let path = format!(r"Spool\Job{:04}.prn", self.serial);
        let len = self.draw.between(48 << 10, 320 << 10);
        self.out.find("Spool", "*.prn");
        self.write_new(&path, len, 61440);
        self.out.query_path(&path);
        self.out.read_whole(&path, 65536);
        self.out.unlink(&path);
    }
}

/// Returns the name of the file that contains the current user of a document.
fn owner_file(path: &str) -> String {
    let (folder, name) = path.rsplit_once('\\').unwrap_or_default();
    format!(r"{folder}\~{name}.lck")
}
