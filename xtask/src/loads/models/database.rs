//! Transactions on a database in files: docs/loads/database.md.

use super::draw::{LoadRng, LogNormal};
use super::writer::{Handle, Writer};
use std::collections::BTreeSet;

const PAGE: u64 = 8192;
const TABLES: [(&str, u64); 3] = [
    (r"base\orders.dat", 8 << 20),
    (r"base\stock.dat", 6 << 20),
    (r"base\people.dat", 4 << 20),
];
const INDEX: (&str, u64) = (r"base\index.dat", 2 << 20);
const CONTROL: &str = r"base\control";
/// Maximum length of a log file; then the next one is started.
const SEGMENT: u64 = 512 << 10;
const TRANSACTIONS: u64 = 460;
/// Number of transactions between two checkpoints.
const CHECKPOINT_EVERY: u64 = 20;
/// Bytes per write when the tables are filled at the start.
const FILL: u64 = 65_536;
/// Block size of the log.
const LOG_BLOCK: u64 = 512;

const RECORDS: LogNormal = LogNormal {
    median: 2_048,
    sigma_centioctaves: 120,
    min: LOG_BLOCK,
    max: 32 << 10,
};

struct Database<'a> {
    out: &'a mut Writer,
    draw: LoadRng,
    tables: Vec<(Handle, u64)>,
    index: (Handle, u64),
    control: Handle,
    log: Handle,
    segment: u64,
    log_end: u64,
    /// Pages changed in memory and not yet written to the files: table and page.
    dirty: BTreeSet<(usize, u64)>,
}

/// Writes the whole load.
pub(super) fn write(out: &mut Writer, draw: LoadRng) {
    let mut database = start(out, draw);
    for number in 1..=TRANSACTIONS {
        database.transact();
        if number % CHECKPOINT_EVERY == 0 {
            database.checkpoint();
        }
    }
    database.stop();
}

/// Creates, fills and opens the files.
fn start(out: &mut Writer, draw: LoadRng) -> Database<'_> {
    out.mkdir("base");
    out.mkdir(r"base\log");
    for (path, len) in TABLES.into_iter().chain([INDEX, (CONTROL, PAGE)]) {
        let handle = out.create(path);
        out.write_run(handle, 0, len, FILL);
        out.flush(handle);
        out.close(handle);
    }
    out.query_path(CONTROL);
    let control = out.open(CONTROL);
    out.read(control, 0, LOG_BLOCK);
    let tables = TABLES.map(|(path, len)| (open_table(out, path), len / PAGE));
    let index = (open_table(out, INDEX.0), INDEX.1 / PAGE);
    out.query_path(&segment_name(1));
    let log = out.create(&segment_name(1));
    Database {
        out,
        draw,
        tables: tables.to_vec(),
        index,
        control,
        log,
        segment: 1,
        log_end: 0,
        dirty: BTreeSet::new(),
    }
}

fn open_table(out: &mut Writer, path: &str) -> Handle {
    out.query_path(path);
    let handle = out.open(path);
    out.query_file(handle);
    handle
}

fn segment_name(number: u64) -> String {
    format!(r"base\log\{number:06}")
}

impl Database<'_> {
    /// Returns a page of a table: four in five from the first fifth.
    fn hot_page(&mut self, pages: u64) -> u64 {
        let hot = pages / 5;
        if self.draw.one_in(5) {
            hot + self.draw.below(pages - hot)
        } else {
            self.draw.below(hot)
        }
    }

    /// Executes a transaction: rows are locked, looked up and read, some changed; the log is
    /// flushed, which commits the transaction.
    fn transact(&mut self) {
        let which = self.draw.below(TABLES.len() as u64) as usize;
        let (table, pages) = self.tables[which];
        let row = self.hot_page(pages) * PAGE;
        self.out.lock(table, row, PAGE);
        let (index, index_pages) = self.index;
        let leaf = self.hot_page(index_pages);
        self.out.read(index, leaf * PAGE, PAGE);
        self.out.read(table, row, PAGE);
        for _ in 0..self.draw.between(1, 5) {
            let other = self.draw.below(TABLES.len() as u64) as usize;
            let (handle, pages) = self.tables[other];
            let page = self.hot_page(pages);
            self.out.read(handle, page * PAGE, PAGE);
            if self.draw.one_in(3) {
                self.dirty.insert((other, page));
            }
        }
        self.dirty.insert((which, row / PAGE));
        self.log();
        self.out.unlock(table, row, PAGE);
    }

    /// Extends the log by whole blocks and flushes it.
    fn log(&mut self) {
        let len = self.draw.size(&RECORDS).next_multiple_of(LOG_BLOCK);
        self.out.write(self.log, self.log_end, len);
        self.out.flush(self.log);
        self.log_end += len;
        if self.log_end > SEGMENT {
            self.next_segment();
        }
    }

    fn next_segment(&mut self) {
        self.out.close(self.log);
        self.segment += 1;
        let name = segment_name(self.segment);
        self.out.query_path(&name);
        self.log = self.out.create(&name);
        self.log_end = 0;
    }

    /// Writes changed pages to their files, in order; then older logs are not needed.
    fn checkpoint(&mut self) {
        for (which, page) in std::mem::take(&mut self.dirty) {
            let (table, _) = self.tables[which];
            self.out.write(table, page * PAGE, PAGE);
        }
        for (table, _) in self.tables.clone() {
            self.out.flush(table);
        }
        self.out.write(self.control, 0, LOG_BLOCK);
        self.out.flush(self.control);
        let current = segment_name(self.segment);
        let old: Vec<String> = self
            .out
            .names(r"base\log")
            .map(|name| format!(r"base\log\{name}"))
            .filter(|path| *path != current)
            .collect();
        for path in old {
            self.out.unlink(&path);
        }
    }

    fn stop(self) {
        let handles = self.tables.iter().map(|(handle, _)| *handle);
        for handle in handles.chain([self.index.0, self.control, self.log]) {
            self.out.close(handle);
        }
    }
}
