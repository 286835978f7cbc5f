//! The pattern of `filestone_wire::pattern` and zeros, as memory that replies can reference.
//!
//! The table, created once per process, is long enough that a READ at any offset is one slice.

use std::sync::LazyLock;

use filestone_wire::pattern;

use super::run::ByteSlice;

/// Allocated, since the program's file would contain a static array.
pub static ZEROS: LazyLock<Vec<u8>> = LazyLock::new(|| vec![0; 128 << 10]);

/// Two periods, so that up to one period from any offset is one slice.
static TABLE: LazyLock<Vec<u8>> = LazyLock::new(pattern::table);

/// Creates the table now, so that the first READ does not wait for it.
pub fn prepare() {
    LazyLock::force(&TABLE);
}

/// Passes `len` bytes of the pattern from `offset` on to `visit`.
pub fn runs(mut offset: u64, mut len: u64, visit: &mut impl FnMut(ByteSlice)) {
    let table: &'static [u8] = &TABLE;
    while len > 0 {
        let start = (offset % pattern::PERIOD as u64) as usize;
        let stop = start + len.min(pattern::PERIOD as u64) as usize;
        let run = table.get(start..stop).unwrap_or_default();
        visit(ByteSlice::Static(run));
        offset += run.len() as u64;
        len -= run.len() as u64;
    }
}

/// Passes `len` zeros to `visit`.
pub fn zeros(mut len: u64, visit: &mut impl FnMut(ByteSlice)) {
    let zeros: &'static [u8] = &ZEROS;
    while len > 0 {
        let run = &zeros[..len.min(zeros.len() as u64) as usize];
        visit(ByteSlice::Static(run));
        len -= run.len() as u64;
    }
}

/// Appends `len` bytes of the pattern from `offset` on.
pub fn append(offset: u64, len: usize, bytes: &mut Vec<u8>) {
    runs(offset, len as u64, &mut |run| {
        bytes.extend_from_slice(run.bytes())
    });
}
