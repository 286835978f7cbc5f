//! Loads as a work type: work items of clients of load files.

use super::script::Line;
use crate::kind::OpKind;
use crate::language::{WorkItem, WorkType};

/// Work type of lines of load files and the steps between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {}

impl WorkType for Lines {
    type WorkItem<'a> = LoadWork<'a>;
}

/// Work item of a client of a load.
#[derive(Debug, Clone, Copy)]
pub enum LoadWork<'a> {
    /// A line.
    Line(Line<'a>),
    /// Close the handles that the iteration has left open, before the next one; not measured.
    EndPass,
    /// Remove the client's tree; not measured.
    RemoveTree,
}

impl WorkItem for LoadWork<'_> {
    #[inline]
    fn kind(&self) -> OpKind {
        match self {
            LoadWork::Line(line) => line.action.kind(),
            LoadWork::EndPass => OpKind::Close,
            LoadWork::RemoveTree => OpKind::Deltree,
        }
    }
}
