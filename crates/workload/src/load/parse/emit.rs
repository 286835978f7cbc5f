//! Writing of parsed operations to the compiled form, and tracking of handles and files.

use super::super::code::{CompiledOperation, Instruction, Operand};
use super::super::expected::Expected;
use super::super::names::{NameId, NameLocation};
use super::super::safety;
use super::super::verb::{FileEffect, effect};
use super::Compiler;
use super::handles::{HandleError, SourcePosition};
use crate::operation::OpKind;

/// Columns of the arguments of a line, for messages.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ColumnSpans {
    pub(super) names: [u32; 2],
    pub(super) numbers: [u32; 4],
}

impl Compiler {
    /// Writes an operation.
    pub(super) fn emit(&mut self, step: &CompiledOperation) {
        let mut hands_out = true;
        if let Some((spot, times)) = self.repeat.take() {
            hands_out = times > 0;
            if times != 1 {
                self.writer
                    .directive(spot.line, &Instruction::Repeat(times));
            }
        }
        if let Some(inner) = self.loops.last_mut() {
            inner.hands_out |= hands_out;
        }
        self.has_stamps |= step.stamp.is_some();
        self.writer.operation(self.line, step);
    }

    /// Counts the line as an operation.
    pub(super) fn count(&mut self, kind: OpKind) {
        self.operations += 1;
        if let Some(count) = self.lines_by_kind.get_mut(kind.index()) {
            *count += 1;
        }
    }

    /// Tracks the handles of an operation, and reports wrong ones.
    pub(super) fn follow_handles(
        &mut self,
        step: &CompiledOperation,
        place: Option<NameLocation>,
        columns: &ColumnSpans,
    ) {
        let in_loop = self.is_in_loop();
        let [first, _, third, _] = step.numbers;
        let (handle, column) = match step.kind {
            OpKind::NtCreateX => (third, columns.numbers[2]),
            _ => (first, columns.numbers[0]),
        };
        let spot = SourcePosition {
            line: self.line,
            column,
        };
        let writes = match effect(step.kind) {
            FileEffect::Opens => return self.opened(step, handle, place, spot),
            FileEffect::ReadsOpenFile | FileEffect::NeedsWriteAccess => false,
            FileEffect::WritesOpenFile => true,
            FileEffect::Reads | FileEffect::Locks | FileEffect::Modifies => return,
        };
        let Operand::Literal(handle) = handle else {
            if writes {
                self.handles.written_any(spot);
            }
            return;
        };
        let verdict = self.handles.used(handle, spot, writes, in_loop);
        let is_failure = step.expected.is_failure();
        match verdict {
            Err(bad @ HandleError::Outside(_)) => self.bad_handle(handle, spot, bad),
            Err(bad) if !is_failure => self.bad_handle(handle, spot, bad),
            _ => {}
        }
        if step.kind == OpKind::Close {
            self.handles.close(handle, self.line, in_loop);
        }
    }

    fn opened(
        &mut self,
        step: &CompiledOperation,
        handle: Operand,
        place: Option<NameLocation>,
        spot: SourcePosition,
    ) {
        let is_outside = matches!(place, Some(NameLocation::Outside | NameLocation::Marker));
        if step.expected.is_failure() {
            return;
        }
        match handle {
            Operand::Literal(handle) => {
                let in_loop = self.is_in_loop();
                self.handles.open(handle, self.line, is_outside, in_loop);
            }
            Operand::Expression(_) => {
                self.handles.open_any();
                if is_outside {
                    self.wrong_at(
                        spot,
                        "the handle of a file outside clients/ is only known when it runs"
                            .to_owned(),
                        Some("a plain number, so that nothing can write to it".to_owned()),
                    );
                }
            }
        }
    }

    fn bad_handle(&mut self, handle: u64, spot: SourcePosition, bad: HandleError) {
        let named = self.named_handles.get(&handle);
        let (handle, open) = match named {
            Some(path) => (format!("\"{path}\""), "OPEN of it"),
            None => (format!("handle {handle}"), "NTCreateX with this handle"),
        };
        let (what, help) = match bad {
            HandleError::Unknown => (
                format!("{handle} is not open: no line before this one opens it"),
                format!("an {open} that is expected to succeed must come first"),
            ),
            HandleError::Closed(line) => (
                format!("{handle} is not open any more: line {line} closed it"),
                format!("an {open} must come between"),
            ),
            HandleError::Outside(line) => (
                format!(
                    "{handle} is a file outside clients/, opened on line {line}, and must not be changed"
                ),
                "only files in clients/ are written to; others may be read".to_owned(),
            ),
        };
        self.wrong_at(spot, what, Some(help));
    }

    /// Reports the errors that are known at the end of the outermost loop.
    pub(super) fn end_of_loops(&mut self) {
        for (handle, spot, bad) in self.handles.end_of_loops() {
            self.bad_handle(handle, spot, bad);
        }
    }

    /// Tracks the files that an operation creates, and reports names that cannot exist.
    pub(super) fn follow_files(&mut self, step: &CompiledOperation, columns: &ColumnSpans) {
        let [first, second] = step.names;
        let [first_column, second_column] = columns.names;
        if step.expected == Expected::Success {
            match must_exist(step) {
                Some(0) => self.check_existence(first, first_column),
                Some(_) => self.check_existence(second, second_column),
                None => {}
            }
        }
        if step.expected.is_failure() || matches!(step.expected, Expected::Number(_)) {
            return;
        }
        match step.kind {
            OpKind::NtCreateX if step.only_opens() && !wants_directory(step) => {}
            OpKind::NtCreateX
            | OpKind::OpenX
            | OpKind::MkDir
            | OpKind::Create
            | OpKind::SymLink
            | OpKind::Link => self.makes(first, false),
            OpKind::Rename => self.makes(second, true),
            _ => {}
        }
    }

    fn makes(&mut self, name: NameId, with_content: bool) {
        if self.names.has_slots(name) {
            self.existence.made_anything();
        } else if with_content {
            self.existence.made_with_content(name);
        } else {
            self.existence.made(name);
        }
    }

    fn check_existence(&mut self, name: NameId, column: u32) {
        if self.names.has_slots(name) || !self.existence.is_missing(name) {
            return;
        }
        let template = self.names.template(name);
        if template.iter().any(|byte| b"*?<>\"".contains(byte)) {
            return;
        }
        let shown = super::shown(&template);
        self.wrong(
            column,
            format!("\"{shown}\" does not exist: no line before this one makes it"),
            Some("create it first, or expect the failure".to_owned()),
        );
    }
}

fn wants_directory(step: &CompiledOperation) -> bool {
    let [options, ..] = step.numbers;
    match options {
        Operand::Literal(options) => options & super::super::action::OPTION_DIRECTORY != 0,
        Operand::Expression(_) => true,
    }
}

/// Returns the index of the name that must exist for the operation to succeed.
fn must_exist(step: &CompiledOperation) -> Option<usize> {
    match step.kind {
        OpKind::NtCreateX => (step.only_opens() && !wants_directory(step)).then_some(0),
        OpKind::Unlink
        | OpKind::RmDir
        | OpKind::Rename
        | OpKind::QueryPathInformation
        | OpKind::GetAttr
        | OpKind::SetAttr
        | OpKind::Lookup
        | OpKind::Access
        | OpKind::ReadLink
        | OpKind::Read
        | OpKind::Write
        | OpKind::Remove
        | OpKind::ReadDirPlus
        | OpKind::PathConf
        | OpKind::Commit
        | OpKind::Lock4
        | OpKind::Unlock4
        | OpKind::Test4 => Some(0),
        OpKind::Link => Some(1),
        _ => None,
    }
}

/// Whether an operation modifies the object with its name at that position.
pub(super) fn changes(step: &CompiledOperation, place: usize) -> bool {
    safety::changes(step.kind, step.only_opens(), place)
}
