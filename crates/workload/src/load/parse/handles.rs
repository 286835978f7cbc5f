//! Which handles a load has opened: to find those that it has not, and writes
//! through handles of files that are not its own.

use std::collections::HashMap;

/// Where in the file something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SourcePosition {
    pub(super) line: u32,
    pub(super) column: u32,
}

/// What is wrong with the use of a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HandleError {
    /// Nothing before it opened it.
    Unknown,
    /// It was closed, on that line.
    Closed(u32),
    /// It writes to a file outside, opened on that line.
    Outside(u32),
}

#[derive(Debug, Clone, Copy)]
struct Opened {
    line: u32,
    is_outside: bool,
    /// Where it was closed; 0 while it is open.
    closed: u32,
}

/// What a loop leaves open until its end is seen: its next turn begins with what
/// the end of this one left.
#[derive(Debug, Default)]
struct InLoop {
    unknown: HashMap<u64, SourcePosition>,
    written: HashMap<u64, SourcePosition>,
    outside: HashMap<u64, u32>,
}

/// The handles of a load.
#[derive(Debug, Default)]
pub(super) struct Handles {
    open: HashMap<u64, Opened>,
    in_loop: InLoop,
    /// A handle with a random number was opened: any other may be that one.
    any: bool,
    outside: Option<u32>,
    random_write: Option<SourcePosition>,
}

impl Handles {
    /// A file is open as `handle`.
    pub(super) fn open(&mut self, handle: u64, line: u32, is_outside: bool, in_loop: bool) {
        self.open.insert(
            handle,
            Opened {
                line,
                is_outside,
                closed: 0,
            },
        );
        if is_outside {
            self.outside = self.outside.or(Some(line));
            if in_loop {
                self.in_loop.outside.insert(handle, line);
            }
        }
    }

    /// A file is open as a handle that is only known when it runs.
    pub(super) fn open_any(&mut self) {
        self.any = true;
    }

    /// Whether that handle is open, as far as the lines so far say.
    pub(super) fn is_open(&self, handle: u64) -> bool {
        self.open.get(&handle).is_some_and(|open| open.closed == 0)
    }

    /// A handle is used.
    pub(super) fn used(
        &mut self,
        handle: u64,
        spot: SourcePosition,
        writes: bool,
        in_loop: bool,
    ) -> Result<(), HandleError> {
        if writes && in_loop {
            self.in_loop.written.entry(handle).or_insert(spot);
        }
        match self.open.get(&handle) {
            Some(open) if writes && open.is_outside => Err(HandleError::Outside(open.line)),
            Some(open) if open.closed > 0 && !self.any => Err(HandleError::Closed(open.closed)),
            Some(_) => Ok(()),
            None if self.any => Ok(()),
            None if in_loop => {
                self.in_loop.unknown.entry(handle).or_insert(spot);
                Ok(())
            }
            None => Err(HandleError::Unknown),
        }
    }

    /// A handle that is only known when it runs is written to.
    pub(super) fn written_any(&mut self, spot: SourcePosition) {
        self.random_write = self.random_write.or(Some(spot));
    }

    /// A handle is closed. In a loop, what closes it may stand before what opens
    /// it, so nothing is concluded there.
    pub(super) fn close(&mut self, handle: u64, line: u32, in_loop: bool) {
        if let Some(open) = self.open.get_mut(&handle).filter(|_| !in_loop) {
            open.closed = line;
        }
    }

    /// The outermost loop ends: what was left open is known now.
    pub(super) fn end_of_loops(&mut self) -> Vec<(u64, SourcePosition, HandleError)> {
        let InLoop {
            unknown,
            written,
            outside,
        } = std::mem::take(&mut self.in_loop);
        let unknown = unknown
            .into_iter()
            .filter(|(handle, _)| !self.any && !self.open.contains_key(handle))
            .map(|(handle, spot)| (handle, spot, HandleError::Unknown));
        let written = written.into_iter().filter_map(|(handle, spot)| {
            let line = outside.get(&handle)?;
            // What stands behind the opening was told already.
            (spot.line < *line).then_some((handle, spot, HandleError::Outside(*line)))
        });
        unknown.chain(written).collect()
    }

    /// A write through a handle that may be one of a file outside.
    pub(super) fn end(&self) -> Option<(SourcePosition, u32)> {
        Some((self.random_write?, self.outside?))
    }
}
