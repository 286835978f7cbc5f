//! Directory listings, page by page.
//!
//! A server chooses the page ends and cookies; a listing that loops or makes no progress is
//! aborted.

use super::NfsActionResult;
use super::link::NfsCallHandle;
use super::procedures::{ListingCursor, called};
use filestone_wire::nfs3::{
    Fattr3, FileType, Handle, Procedure, Status, Verifier, readdir, readdirplus,
};
use filestone_workload::page_guard::{PageGuard, PageNames};

/// Position of a listing.
#[derive(Debug, Default)]
struct Position {
    start: ListingCursor,
    pages: u64,
    /// An earlier cookie; its repetition means a loop. It is replaced at every power of two of
    /// pages, so that a loop of any length is detected.
    remembered: u64,
    /// Loop detection by names, for a server with new cookies each time.
    guard: PageGuard,
}

impl Position {
    /// Advances to the next page; returns an error if the listing loops or makes no progress.
    fn advance(&mut self, next: &NextPage) -> Result<(), &'static str> {
        let Some(cookie) = next.last_cookie else {
            return Err("a page without entries that is not the last");
        };
        if cookie == self.remembered || cookie == self.start.cookie {
            return Err("the listing leads in a circle");
        }
        self.guard.page(&next.names)?;
        self.pages += 1;
        if self.pages.is_power_of_two() {
            self.remembered = cookie;
        }
        let cookieverf = next.cookieverf;
        self.start = ListingCursor { cookie, cookieverf };
        Ok(())
    }
}

/// Continuation after a page.
enum After {
    /// No more pages: the listing ends there, or the caller has seen enough.
    End,
    /// Another page.
    Page(NextPage),
}

/// Data that lead from a page to the next one.
struct NextPage {
    /// The cookie of its last entry; `None` if it has no entries.
    last_cookie: Option<u64>,
    cookieverf: Verifier,
    /// Names in the page.
    names: PageNames,
}

/// An object of the server with its attributes.
#[derive(Debug, Clone, Copy)]
pub struct ObjectWithAttributes {
    /// The file handle.
    pub handle: Handle,
    /// The attributes.
    pub attributes: Fattr3,
}

/// Names of a page, with the objects that the server returned.
type Named = Vec<(Box<[u8]>, Option<ObjectWithAttributes>)>;

/// Bytes of a page with handles.
const PAGE: u32 = 32 << 10;

impl NfsCallHandle {
    /// Advances to the next page; returns whether there is one.
    fn turn(&self, procedure: Procedure, at: &mut Position, after: After) -> NfsActionResult<bool> {
        let After::Page(next) = after else {
            return Ok(false);
        };
        let moved = at.advance(&next);
        moved.map_err(|what| self.violated(called(procedure), what))?;
        self.check_cancelled()?;
        Ok(true)
    }

    /// Sends READDIR until `wanted` accepts a name; returns whether it did.
    pub async fn find_name(
        &self,
        directory: &Handle,
        count: u32,
        mut wanted: impl FnMut(&[u8]) -> bool,
    ) -> NfsActionResult<bool> {
        let mut at = Position::default();
        loop {
            let page = self.names_page(directory, at.start, count, |page| {
                let is_found = page.entries.iter().any(|entry| wanted(entry.name));
                (is_found, After::names(page.eof || is_found, &page))
            });
            let (is_found, after) = page.await?;
            if is_found || !self.turn(Procedure::Readdir, &mut at, after)? {
                return Ok(is_found);
            }
        }
    }

    /// Visits the names of a directory, with the types that the server returns, to the end or until
    /// `has_enough` returns true; uses READDIR on a server without READDIRPLUS (RFC 1813, section
    /// 3.3.17).
    pub async fn each_entry(
        &self,
        directory: &Handle,
        count: u32,
        mut has_enough: impl FnMut(&[u8], Option<FileType>) -> bool,
    ) -> NfsActionResult<()> {
        match self.read_entries(directory, count, &mut has_enough).await {
            Err(failure) if failure.is(Status::NOTSUPP) => {
                let listed = self.find_name(directory, count, |name| has_enough(name, None));
                listed.await.map(drop)
            }
            listed => listed,
        }
    }

    /// Sends READDIRPLUS to the end, or until `has_enough` returns true.
    pub async fn read_entries(
        &self,
        directory: &Handle,
        count: u32,
        mut has_enough: impl FnMut(&[u8], Option<FileType>) -> bool,
    ) -> NfsActionResult<()> {
        let mut at = Position::default();
        loop {
            let page = self.entries_page(directory, at.start, count, |page| {
                let is_enough = page.entries.iter().any(|entry| {
                    let file_type = entry.name_attributes.map(|attributes| attributes.file_type);
                    has_enough(entry.name, file_type)
                });
                After::entries(page.eof || is_enough, &page)
            });
            let after = page.await?;
            if !self.turn(Procedure::Readdirplus, &mut at, after)? {
                return Ok(());
            }
        }
    }

    /// Returns an object with its attributes; `None` if it does not exist.
    pub async fn find_object(
        &self,
        directory: &Handle,
        name: &[u8],
    ) -> NfsActionResult<Option<ObjectWithAttributes>> {
        let found = match self.lookup(directory, name).await {
            Err(failure) if failure.is(Status::NOENT) => return Ok(None),
            found => found?,
        };
        let handle = found.handle;
        let attributes = match found.attributes {
            Some(attributes) => attributes,
            None => self.attributes(&handle).await?,
        };
        Ok(Some(ObjectWithAttributes { handle, attributes }))
    }

    /// Visits the objects of a directory whose names are wanted, until `each` returns true.
    ///
    /// A server may omit data that READDIRPLUS requests, or not support that procedure (RFC 1813,
    /// section 3.3.17): then each wanted name is looked up.
    pub async fn each_object(
        &self,
        directory: &Handle,
        is_wanted: impl Fn(&[u8]) -> bool,
        mut each: impl FnMut(&[u8], &ObjectWithAttributes) -> bool,
    ) -> NfsActionResult<()> {
        let mut at = Position::default();
        loop {
            let (page, after) = match self.plus_page(directory, &at, &is_wanted).await {
                Err(failure) if failure.is(Status::NOTSUPP) => {
                    self.plain_page(directory, &at, &is_wanted).await?
                }
                page => page?,
            };
            for (name, object) in page {
                self.check_cancelled()?;
                let object = match object {
                    Some(object) => Some(object),
                    None => self.find_object(directory, &name).await?,
                };
                if object.is_some_and(|object| each(&name, &object)) {
                    return Ok(());
                }
            }
            if !self.turn(Procedure::Readdirplus, &mut at, after)? {
                return Ok(());
            }
        }
    }

    async fn plus_page(
        &self,
        directory: &Handle,
        at: &Position,
        is_wanted: &impl Fn(&[u8]) -> bool,
    ) -> NfsActionResult<(Named, After)> {
        let page = self.entries_page(directory, at.start, PAGE, |page| {
            let wanted = page.entries.iter().filter(|entry| is_wanted(entry.name));
            let names = wanted.map(|entry| {
                let told = entry.name_handle.zip(entry.name_attributes);
                let object = told.map(|(handle, attributes)| ObjectWithAttributes {
                    handle: handle.into(),
                    attributes,
                });
                (entry.name.into(), object)
            });
            (names.collect(), After::entries(page.eof, &page))
        });
        page.await
    }

    async fn plain_page(
        &self,
        directory: &Handle,
        at: &Position,
        is_wanted: &impl Fn(&[u8]) -> bool,
    ) -> NfsActionResult<(Named, After)> {
        let page = self.names_page(directory, at.start, PAGE, |page| {
            let wanted = page.entries.iter().filter(|entry| is_wanted(entry.name));
            let names = wanted.map(|entry| (entry.name.into(), None)).collect();
            (names, After::names(page.eof, &page))
        });
        page.await
    }
}

impl After {
    /// Returns the continuation after a READDIR page.
    fn names(is_end: bool, page: &readdir::ReplyOk<'_>) -> Self {
        if is_end {
            return After::End;
        }
        After::Page(NextPage {
            last_cookie: page.entries.last().map(|entry| entry.cookie),
            cookieverf: page.cookieverf,
            names: PageNames::of(page.entries.iter().map(|entry| entry.name)),
        })
    }

    /// Returns the continuation after a READDIRPLUS page.
    fn entries(is_end: bool, page: &readdirplus::ReplyOk<'_>) -> Self {
        if is_end {
            return After::End;
        }
        After::Page(NextPage {
            last_cookie: page.entries.last().map(|entry| entry.cookie),
            cookieverf: page.cookieverf,
            names: PageNames::of(page.entries.iter().map(|entry| entry.name)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(cookies: impl Iterator<Item = u64>) -> Result<u64, &'static str> {
        let mut at = Position::default();
        for (page, cookie) in cookies.enumerate() {
            at.advance(&page_of(Some(cookie), &page.to_string()))?;
        }
        Ok(at.pages)
    }

    fn page_of(last_cookie: Option<u64>, name: &str) -> NextPage {
        NextPage {
            last_cookie,
            cookieverf: [0; 8],
            names: PageNames::of(std::iter::once(name.as_bytes())),
        }
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
    fn the_same_names_behind_new_cookies_are_a_circle() {
        let mut at = Position::default();
        assert_eq!(at.advance(&page_of(Some(7), "a")), Ok(()));
        let again = at.advance(&page_of(Some(8), "a"));
        assert_eq!(again, Err("the listing leads in a circle"));
    }

    #[test]
    fn a_page_without_entries_ends_it() {
        assert!(Position::default().advance(&page_of(None, "")).is_err());
    }
}
