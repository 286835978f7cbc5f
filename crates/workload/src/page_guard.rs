//! Detection of a directory listing that never ends.
//!
//! A server decides on the end of a page of a directory and on the next page. A server that repeats
//! pages would keep a client busy forever: NFS has cookies that can be circular, and SMB has only
//! the pages themselves.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Maximum number of pages of one listing; with 8 KB per page, some hundred million names.
const PAGES_MAX: u64 = 1 << 20;

/// The pages of one listing.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageGuard {
    pages: u64,
    previous: Option<u64>,
    /// Hash of an earlier page; if it occurs again, the listing is circular. It is replaced when
    /// the number of pages is a power of two, so that a cycle of any length is detected.
    remembered: Option<u64>,
}

/// Hash of the names of one page.
#[derive(Debug, Default)]
pub struct PageNames(DefaultHasher);

impl PageNames {
    /// Adds the next name of the page.
    pub fn add(&mut self, name: &[u8]) {
        name.hash(&mut self.0);
    }

    /// Returns the hash of a whole page.
    pub fn of<'n>(names: impl Iterator<Item = &'n [u8]>) -> Self {
        let mut page = Self::default();
        names.for_each(|name| page.add(name));
        page
    }
}

impl PageGuard {
    /// Registers a page that is not the last one. Returns the reason if the listing makes no
    /// progress. Each name occurs once in a directory, so no two pages have the same names.
    pub fn page(&mut self, names: &PageNames) -> Result<(), &'static str> {
        let page = Some(names.0.finish());
        if page == self.previous || page == self.remembered {
            return Err("the listing leads in a circle");
        }
        self.pages += 1;
        if self.pages > PAGES_MAX {
            return Err("the listing does not end");
        }
        self.previous = page;
        if self.pages.is_power_of_two() {
            self.remembered = page;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(pages: impl Iterator<Item = u64>) -> Result<u64, &'static str> {
        let mut guard = PageGuard::default();
        for page in pages {
            let name = page.to_string();
            guard.page(&PageNames::of([name.as_bytes(), b"x"].into_iter()))?;
        }
        Ok(guard.pages)
    }

    #[test]
    fn a_listing_goes_on_while_its_pages_are_new() {
        assert_eq!(listed(0..1000), Ok(1000));
    }

    #[test]
    fn the_last_page_again_and_a_circle_of_any_length_are_met() {
        let last_again = (0..10).chain(std::iter::repeat_n(9, 2));
        assert_eq!(listed(last_again), Err("the listing leads in a circle"));
        for len in [1, 2, 3, 7, 100] {
            let circle = (0..len).cycle().take(10_000);
            assert_eq!(
                listed(circle),
                Err("the listing leads in a circle"),
                "{len}"
            );
        }
    }
}
