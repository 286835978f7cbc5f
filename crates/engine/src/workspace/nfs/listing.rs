//! Directories, page by page, to their end.
//!
//! A server decides where a page ends and what its cookies are; a listing that
//! leads in a circle, or does not lead anywhere, is broken off.

use crate::nfs3::calls::{Nfs, Outcome};
use filestone_wire::nfs3::{FileType, Handle, Procedure, Verifier};

/// Pages of one listing at most; at 8 KB a page, some hundred million names.
const PAGES_MAX: u64 = 1 << 20;

/// Where a listing is.
#[derive(Debug, Default)]
pub(crate) struct Position {
    pub cookie: u64,
    pub cookieverf: Verifier,
    pages: u64,
    /// An earlier cookie; one that comes again means a circle. It is replaced at
    /// every power of two of pages, so that a circle of any length is met.
    remembered: u64,
}

impl Position {
    /// Moves on to the next page; why not, if that leads nowhere.
    pub fn advance(
        &mut self,
        last_cookie: Option<u64>,
        cookieverf: Verifier,
    ) -> Result<(), &'static str> {
        let Some(cookie) = last_cookie else {
            return Err("a page without entries that is not the last");
        };
        if cookie == self.remembered || cookie == self.cookie {
            return Err("the listing leads in a circle");
        }
        self.pages += 1;
        if self.pages > PAGES_MAX {
            return Err("the listing does not end");
        }
        if self.pages.is_power_of_two() {
            self.remembered = cookie;
        }
        self.cookie = cookie;
        self.cookieverf = cookieverf;
        Ok(())
    }
}

impl Nfs {
    /// READDIR until `wanted` says yes to a name; whether it did.
    pub fn find_name(
        &mut self,
        directory: &Handle,
        count: u32,
        mut wanted: impl FnMut(&[u8]) -> bool,
    ) -> Outcome<bool> {
        let mut at = Position::default();
        loop {
            let page = self.names_page(directory, (at.cookie, at.cookieverf), count)?;
            if page.entries.iter().any(|entry| wanted(entry.name)) {
                return Ok(true);
            }
            if page.eof {
                return Ok(false);
            }
            let last = page.entries.last().map(|entry| entry.cookie);
            let moved = at.advance(last, page.cookieverf);
            moved.map_err(|what| self.violated(Procedure::Readdir, what))?;
            self.0.go_on()?;
        }
    }

    /// READDIRPLUS to the end, or until `wanted` has enough and says so.
    pub fn each_entry(
        &mut self,
        directory: &Handle,
        count: u32,
        mut has_enough: impl FnMut(&[u8], Option<FileType>) -> bool,
    ) -> Outcome<()> {
        let mut at = Position::default();
        loop {
            let page = self.entries_page(directory, (at.cookie, at.cookieverf), count)?;
            for entry in &page.entries {
                let file_type = entry.name_attributes.map(|attributes| attributes.file_type);
                if has_enough(entry.name, file_type) {
                    return Ok(());
                }
            }
            if page.eof {
                return Ok(());
            }
            let last = page.entries.last().map(|entry| entry.cookie);
            let moved = at.advance(last, page.cookieverf);
            moved.map_err(|what| self.violated(Procedure::Readdirplus, what))?;
            self.0.go_on()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(cookies: impl Iterator<Item = u64>) -> Result<u64, &'static str> {
        let mut at = Position::default();
        for cookie in cookies {
            at.advance(Some(cookie), [0; 8])?;
        }
        Ok(at.pages)
    }

    #[test]
    fn a_listing_goes_on_while_its_cookies_are_new() {
        assert_eq!(pages(1..1000), Ok(999));
    }

    #[test]
    fn a_circle_of_any_length_is_met() {
        for len in [1, 2, 3, 7, 100] {
            let circle = (1..=len).cycle().take(10_000);
            assert_eq!(pages(circle), Err("the listing leads in a circle"), "{len}");
        }
    }

    #[test]
    fn a_page_without_entries_ends_it() {
        assert!(Position::default().advance(None, [0; 8]).is_err());
    }
}
