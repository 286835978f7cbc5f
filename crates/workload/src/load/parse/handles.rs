//! Tracking of open handles, to report unknown ones and writes through handles of files outside the
//! client's tree.

use std::collections::HashMap;

/// A position in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SourcePosition {
    pub(super) line: u32,
    pub(super) column: u32,
}

/// Error in the use of a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HandleError {
    /// No previous line opened the handle.
    Unknown,
    /// The handle was closed on that line.
    Closed(u32),
    /// A write to a file outside, opened on that line.
    Outside(u32),
}

#[derive(Debug, Clone, Copy)]
struct Opened {
    line: u32,
    is_outside: bool,
    /// Line that closed it; 0 while it is open.
    closed: u32,
}

/// Unresolved uses in a loop: the next iteration starts with the handles at the end of this one.
#[derive(Debug, Default)]
struct InLoop {
    unknown: HashMap<u64, SourcePosition>,
    written: HashMap<u64, SourcePosition>,
    outside: HashMap<u64, u32>,
}

/// The handles of a load.
#[derive(Debug, Default)]
pub(super) struct ParsedHandles {
    open: HashMap<u64, Opened>,
    in_loop: InLoop,
    /// Whether a handle with a random number was opened: any other may equal it.
    any: bool,
    outside: Option<u32>,
    random_write: Option<SourcePosition>,
}

impl ParsedHandles {
    /// Records that a file was opened as `handle`.
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

    /// Records that a file was opened as a handle that is only known at run time.
    pub(super) fn open_any(&mut self) {
        self.any = true;
    }

    /// Whether that handle is open according to the previous lines.
    pub(super) fn is_open(&self, handle: u64) -> bool {
        self.open.get(&handle).is_some_and(|open| open.closed == 0)
    }

    /// Records the use of a handle.
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

    /// Records a write through a handle that is only known at run time.
    pub(super) fn written_any(&mut self, spot: SourcePosition) {
        self.random_write = self.random_write.or(Some(spot));
    }

    /// Records that a handle was closed. In a loop, the closing line may precede the opening line,
    /// so nothing is concluded there.
    pub(super) fn close(&mut self, handle: u64, line: u32, in_loop: bool) {
        if let Some(open) = self.open.get_mut(&handle).filter(|_| !in_loop) {
            open.closed = line;
        }
    }

    /// Returns the errors of unresolved uses at the end of the outermost loop.
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
            // Uses after the opening line were already reported.
            (spot.line < *line).then_some((handle, spot, HandleError::Outside(*line)))
        });
        unknown.chain(written).collect()
    }

    /// Returns a write through a handle that may belong to a file outside.
    pub(super) fn end(&self) -> Option<(SourcePosition, u32)> {
        Some((self.random_write?, self.outside?))
    }
}
