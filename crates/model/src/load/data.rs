//! What the writes of loads take their data from, and the table that holds those of all loads of a
//! run, so that no client needs a copy.

use super::Load;
use filestone_wire::pattern;
use std::sync::{Arc, OnceLock};

/// What the writes of a line take their data from, over and over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineData<'load> {
    /// The data; never empty.
    pub bytes: &'load [u8],
    /// Where they lie in the run's [`DataTable`], twice in a row; `None` if they do not.
    pub lies_at: Option<usize>,
}

impl<'load> LineData<'load> {
    /// Data that are in no table.
    pub const fn apart(bytes: &'load [u8]) -> Self {
        Self {
            bytes,
            lies_at: None,
        }
    }
}

impl LineData<'static> {
    /// Those of a write of one byte, by which programs of Windows extend files, and of what writes
    /// nothing.
    pub const ZERO: Self = Self::apart(&[0]);

    /// What is written unless a WRITEPATTERN says otherwise: a whole period of [`pattern`], bytes
    /// that neither compress nor repeat, one copy for the whole process.
    pub fn usual() -> Self {
        static DATA: OnceLock<Vec<u8>> = OnceLock::new();
        let bytes = DATA.get_or_init(|| {
            let mut data = vec![0; pattern::PERIOD];
            pattern::fill(0, &mut data);
            data
        });
        Self {
            bytes,
            lies_at: Some(0),
        }
    }
}

/// What WRITEPATTERN lines of a load fill writes with, each a whole number of times.
#[derive(Debug, Clone, Default)]
pub(super) struct KeptPatterns {
    kept: Vec<Box<[u8]>>,
    /// Where each lies in a table, counted from where those of its load begin.
    starts: Vec<usize>,
    /// How much room all of them take there.
    len: usize,
}

impl KeptPatterns {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.kept.len()
    }

    /// Keeps one more.
    pub fn push(&mut self, bytes: Box<[u8]>) {
        self.starts.push(self.len);
        self.len += 2 * bytes.len();
        self.kept.push(bytes);
    }

    /// One, of a load whose patterns begin at `first` of a table.
    pub fn get(&self, index: u32, first: usize) -> Option<LineData<'_>> {
        let start = self.starts.get(index as usize)?;
        Some(LineData {
            bytes: self.kept.get(index as usize)?,
            lies_at: Some(first + start),
        })
    }
}

/// The data of all loads of a run, side by side, and each twice in a row, so that a stretch of no more
/// than a period lies in one piece wherever it begins.
#[derive(Debug, Clone)]
pub struct DataTable {
    bytes: Arc<[u8]>,
    starts: Vec<usize>,
}

impl DataTable {
    /// Where the patterns of the first load begin.
    pub(super) const FIRST: usize = 2 * pattern::PERIOD;

    /// The table of a run with these loads.
    pub fn of(loads: &[Arc<Load>]) -> Self {
        let mut bytes = pattern::table();
        let starts = loads.iter().map(|load| {
            let start = bytes.len();
            for kept in &load.patterns.kept {
                bytes.extend_from_slice(kept);
                bytes.extend_from_slice(kept);
            }
            start
        });
        Self {
            starts: starts.collect(),
            bytes: bytes.into(),
        }
    }

    /// What lies in it.
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// Where the patterns of a load begin.
    pub fn start_of(&self, load: usize) -> usize {
        self.starts.get(load).copied().unwrap_or(Self::FIRST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Generation;

    fn load(patterns: &[&[u8]]) -> Arc<Load> {
        let mut load = Load::empty(Generation::Nfs);
        for pattern in patterns {
            load.patterns.push((*pattern).into());
        }
        Arc::new(load)
    }

    #[test]
    fn data_lie_where_they_say_twice_in_a_row() {
        let loads = [load(&[b"abc", b"de"]), load(&[]), load(&[b"f"])];
        let table = DataTable::of(&loads);
        assert_eq!(table.start_of(0), DataTable::FIRST);
        assert!(table.bytes().ends_with(b"abcabcdedeff"));
        let mut all = vec![LineData::usual()];
        for (number, load) in loads.iter().enumerate() {
            let first = table.start_of(number);
            all.extend((0..).map_while(|index| load.patterns.get(index, first)));
        }
        assert_eq!(all.len(), 4);
        for data in all {
            let start = data.lies_at.expect("it is in the table");
            let there = &table.bytes()[start..][..2 * data.bytes.len()];
            assert!(there == data.bytes.repeat(2));
        }
    }
}
