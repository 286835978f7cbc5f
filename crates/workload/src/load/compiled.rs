//! A compiled load file: compact, immutable, shared by all clients.

use super::code::{self, CompiledOperation, Instruction, Operand, Position};
use super::expected::Expected;
use super::generation::Generation;
use super::names::{NameId, Names};
use super::number::Number;
use super::verb;
use crate::operation::OpKind;
use std::time::Duration;

/// A compiled load file.
#[derive(Debug)]
pub struct Load {
    pub(super) name: String,
    pub(super) generation: Generation,
    pub(super) lines: u32,
    pub(super) operations: u64,
    pub(super) has_stamps: bool,
    pub(super) code: Vec<u8>,
    pub(super) names: Names,
    pub(super) expressions: Vec<Number>,
    /// Texts of random strings.
    pub(super) texts: Vec<Box<[u8]>>,
    /// Patterns of WRITEPATTERN lines that fill writes, each repeated a whole number of times.
    pub(super) patterns: Vec<Box<[u8]>>,
    /// Slots whose strings are moved below `clients` if they are outside.
    pub(super) moved_slots: u16,
    pub(super) lines_by_kind: [u64; OpKind::COUNT],
}

impl Load {
    /// Creates an empty load of that generation.
    pub fn empty(generation: Generation) -> Self {
        Self {
            name: String::new(),
            generation,
            lines: 0,
            operations: 0,
            has_stamps: false,
            code: Vec::new(),
            names: Names::default(),
            expressions: Vec::new(),
            texts: Vec::new(),
            patterns: Vec::new(),
            moved_slots: 0,
            lines_by_kind: [0; OpKind::COUNT],
        }
    }

    /// Returns the name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the generation, which determines the grammar.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// Returns the number of lines of the file, including comments and blank ones.
    pub fn lines(&self) -> u64 {
        u64::from(self.lines)
    }

    /// Returns the number of lines that are operations. Repetitions do not count, and dbench 1's
    /// CREATE counts once although it opens and closes.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Returns the number of lines of that kind; CREATE counts as OpenX.
    pub fn lines_of(&self, kind: OpKind) -> u64 {
        self.lines_by_kind
            .get(kind.index())
            .copied()
            .unwrap_or_default()
    }

    /// Returns the kinds that occur, in the order of [`OpKind::ALL`].
    pub fn kinds(&self) -> Vec<OpKind> {
        let occurs = |kind: &OpKind| self.lines_of(*kind) > 0;
        OpKind::ALL.iter().copied().filter(occurs).collect()
    }

    /// Whether any line has a time stamp.
    pub fn has_stamps(&self) -> bool {
        self.has_stamps
    }

    /// Returns the name with that id, with `client1` in place of the client's number. A name with
    /// random strings is returned as in the file.
    pub fn path(&self, id: u32) -> Vec<u8> {
        self.names.template(id)
    }

    /// Returns the approximate memory use in bytes.
    pub fn size(&self) -> usize {
        self.code.len() + self.names.size()
    }

    /// Returns the operations in the order of the lines. Loops and repetitions are not unrolled;
    /// [`StepView::times`] returns their number.
    pub fn steps(&self) -> Steps<'_> {
        Steps {
            load: self,
            position: Position::default(),
            times: vec![1],
            repeat: 1,
        }
    }
}

/// An operation as in the file, before evaluation.
#[derive(Debug, Clone, Copy)]
pub struct StepView<'a> {
    load: &'a Load,
    step: CompiledOperation,
    line: u32,
    times: u64,
}

impl<'a> StepView<'a> {
    /// Returns the line number in the file, from 1.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// Returns the kind for counting.
    pub fn kind(&self) -> OpKind {
        self.step.kind
    }

    /// Returns the expected result.
    pub fn expected(&self) -> Expected {
        self.step.expected
    }

    /// Returns the time stamp.
    pub fn stamp(&self) -> Option<Duration> {
        self.step.stamp
    }

    /// Returns the number of executions per iteration of one client, from REPEAT and LOOP.
    pub fn times(&self) -> u64 {
        self.times
    }

    /// Returns the id of the first name.
    pub fn path_id(&self) -> Option<u32> {
        self.name(0)
    }

    /// Returns the id of a name. The second name of a rename is the new one, of LINK3 the existing
    /// file, of SYMLINK3 the target.
    pub(super) fn name(&self, index: usize) -> Option<NameId> {
        let (names, _) = verb::operands(self.step.kind);
        self.step.names.iter().take(names).nth(index).copied()
    }

    /// Returns the first name, with `client1` in place of the client's number.
    pub fn path(&self) -> Option<Vec<u8>> {
        self.path_id().map(|id| self.load.path(id))
    }

    /// Returns the number at that position, in the order of the line; `None` if there is none or it
    /// is only known at run time.
    ///
    /// NTCreateX: options, disposition, handle. OpenX: size, handle. ReadX and
    /// WriteX: handle, offset, size, transferred. Locks: handle, offset, size
    /// (NLM: offset, size). FIND_FIRST: level, max, count. READ3 and WRITE3:
    /// offset, size, stable. ACCESS3: wanted, granted.
    pub fn number(&self, place: usize) -> Option<u64> {
        let (_, numbers) = verb::operands(self.step.kind);
        match self.step.numbers.iter().take(numbers).nth(place)? {
            Operand::Literal(value) => Some(*value),
            Operand::Expression(_) => None,
        }
    }
}

/// Iterator of [`Load::steps`].
#[derive(Debug, Clone)]
pub struct Steps<'a> {
    load: &'a Load,
    position: Position,
    times: Vec<u64>,
    repeat: u64,
}

impl<'a> Iterator for Steps<'a> {
    type Item = StepView<'a>;

    fn next(&mut self) -> Option<StepView<'a>> {
        loop {
            let outer = self.times.last().copied().unwrap_or(1);
            match code::read(&self.load.code, &mut self.position)? {
                Instruction::Operation(step) => {
                    let times = outer.saturating_mul(std::mem::replace(&mut self.repeat, 1));
                    return Some(StepView {
                        load: self.load,
                        step,
                        line: self.position.line,
                        times,
                    });
                }
                Instruction::Repeat(times) => self.repeat = times,
                Instruction::Loop { times, .. } => self.times.push(outer.saturating_mul(times)),
                Instruction::EndLoop => {
                    self.times.pop();
                }
                Instruction::Sleep(_)
                | Instruction::SetPoint(_)
                | Instruction::WaitPoint { .. }
                | Instruction::Draw { .. }
                | Instruction::Pattern(_) => {}
            }
        }
    }
}
