//! Data of the writes of loads, and the table with the data of all loads of a run, so that no
//! client needs a copy.

use super::Load;
use filestone_wire::pattern;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Data of the writes of a line, which are repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineData<'load> {
    /// The data; never empty.
    pub bytes: &'load [u8],
    /// Position in the run's [`DataTable`], which contains them twice in a row; `None` if they are
    /// not in it.
    pub lies_at: Option<u32>,
}

impl<'load> LineData<'load> {
    /// Data that are not in a table.
    pub const fn apart(bytes: &'load [u8]) -> Self {
        Self {
            bytes,
            lies_at: None,
        }
    }
}

impl LineData<'static> {
    /// Data of one-byte writes, which Windows programs use to extend files, and of lines without
    /// data.
    pub const ZERO: Self = Self::apart(&[0]);

    /// Default data without a WRITEPATTERN: a whole period of [`pattern`], bytes that neither
    /// compress nor repeat, one copy for the whole process.
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

/// The data of all loads of a run, each twice in a row, so that a range of at most one period is
/// contiguous from any start position.
#[derive(Debug, Clone)]
pub struct DataTable {
    bytes: Arc<[u8]>,
    places: Vec<PatternPlaces>,
}

/// Positions of the patterns of one load in the run's [`DataTable`].
pub type PatternPlaces = Arc<[Option<u32>]>;

impl DataTable {
    /// Maximum size; each client copies patterns that do not fit.
    const BYTES_MAX: usize = 64 << 20;

    /// Creates the table of a run with these loads.
    pub fn of(loads: &[Arc<Load>]) -> Self {
        let mut bytes = pattern::table();
        let mut seen = HashMap::new();
        let mut place = |kept: &[u8]| match seen.get(kept) {
            Some(place) => Some(*place),
            None if bytes.len() + 2 * kept.len() > Self::BYTES_MAX => None,
            None => {
                let place = bytes.len() as u32;
                bytes.extend_from_slice(kept);
                bytes.extend_from_slice(kept);
                seen.insert(kept.to_vec(), place);
                Some(place)
            }
        };
        let places = loads
            .iter()
            .map(|load| load.patterns.iter().map(|kept| place(kept)).collect());
        Self {
            places: places.collect(),
            bytes: bytes.into(),
        }
    }

    /// Returns the content of the table.
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// Returns the positions of the patterns of a load.
    pub fn places_of(&self, load: usize) -> PatternPlaces {
        self.places.get(load).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Generation;

    fn load(patterns: impl IntoIterator<Item = Vec<u8>>) -> Arc<Load> {
        let mut load = Load::empty(Generation::Nfs);
        load.patterns.extend(patterns.into_iter().map(Into::into));
        Arc::new(load)
    }

    #[test]
    fn data_lie_where_they_say_twice_in_a_row_and_no_data_come_twice() {
        let word = |text: &str| text.as_bytes().to_vec();
        let loads = [
            load([word("abc"), word("de")]),
            load([]),
            load([word("f"), word("abc")]),
        ];
        let table = DataTable::of(&loads);
        assert!(table.bytes().ends_with(b"abcabcdedeff"));
        assert_eq!(table.bytes().len(), 2 * pattern::PERIOD + 12);
        let first = 2 * pattern::PERIOD as u32;
        let places = |load| table.places_of(load).to_vec();
        assert_eq!(places(0), [Some(first), Some(first + 6)]);
        assert_eq!(places(1), []);
        assert_eq!(places(2), [Some(first + 10), Some(first)]);
        let usual = LineData::usual();
        assert_eq!(usual.lies_at, Some(0));
        assert!(table.bytes().starts_with(&usual.bytes.repeat(2)));
    }

    #[test]
    fn what_a_table_has_no_room_for_is_not_in_it() {
        let many = (0..40_u8).map(|number| vec![number; 1 << 20]);
        let table = DataTable::of(&[load(many)]);
        // 2 MiB belong to the default pattern, and 31 times 2 are left.
        assert_eq!(table.bytes().len(), 64 << 20);
        assert_eq!(table.places_of(0).iter().flatten().count(), 31);
    }
}
