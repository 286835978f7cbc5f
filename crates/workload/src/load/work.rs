//! Loads as a language: what clients of load files are asked.

use super::script::Line;
use crate::kind::OpKind;
use crate::language::{WorkItem, WorkType};

/// Lines of load files, and what comes between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {}

impl WorkType for Lines {
    type WorkItem<'a> = LoadWork<'a>;
}

/// What a client of a load is asked.
#[derive(Debug, Clone, Copy)]
pub enum LoadWork<'a> {
    /// A line.
    Line(Line<'a>),
    /// To close what the pass has left open, before the next pass. Not measured.
    EndPass,
    /// To take its tree away. Not measured.
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
