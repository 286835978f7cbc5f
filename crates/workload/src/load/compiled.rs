//! A load file, compiled: compact, immutable, shared by all clients.

use super::code::{self, Instruction, Operand, Position, Step};
use super::expected::Expected;
use super::generation::Generation;
use super::names::{NameId, Names};
use super::number::Number;
use super::verb;
use crate::operation::OpKind;
use std::time::Duration;

/// A load file, compiled.
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
    /// What WRITEPATTERN lines fill writes with, each a whole number of times.
    pub(super) patterns: Vec<Box<[u8]>>,
    /// Slots whose strings are put below `clients` when they are elsewhere.
    pub(super) moved_slots: u16,
    pub(super) lines_by_kind: [u64; OpKind::COUNT],
}

impl Load {
    /// An empty load of that generation.
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

    /// The file that it came from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whose grammar it has.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// How many lines the file has, comments and blank ones included.
    pub fn lines(&self) -> u64 {
        u64::from(self.lines)
    }

    /// How many of its lines are operations. Repetitions do not count, and dbench
    /// 1's CREATE counts once although it opens and closes.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// How many lines there are of that kind; CREATE's is an OpenX.
    pub fn lines_of(&self, kind: OpKind) -> u64 {
        self.lines_by_kind
            .get(kind.index())
            .copied()
            .unwrap_or_default()
    }

    /// The kinds that occur, in the order of [`OpKind::ALL`].
    pub fn kinds(&self) -> Vec<OpKind> {
        let occurs = |kind: &OpKind| self.lines_of(*kind) > 0;
        OpKind::ALL.iter().copied().filter(occurs).collect()
    }

    /// Whether any line has a time stamp.
    pub fn has_stamps(&self) -> bool {
        self.has_stamps
    }

    /// The name of that id, with `client1` where the client's own number goes.
    /// Of a name with random strings in it, what the file has.
    pub fn path(&self, id: u32) -> Vec<u8> {
        self.names.template(id)
    }

    /// Bytes that it takes in memory, about.
    pub fn size(&self) -> usize {
        self.code.len() + self.names.size()
    }

    /// Its operations in the order of the lines, loops and repetitions not
    /// unrolled but told by [`StepView::times`].
    pub fn steps(&self) -> Steps<'_> {
        Steps {
            load: self,
            position: Position::default(),
            times: vec![1],
            repeat: 1,
        }
    }
}

/// One operation as the file has it, before anything is worked out.
#[derive(Debug, Clone, Copy)]
pub struct StepView<'a> {
    load: &'a Load,
    step: Step,
    line: u32,
    times: u64,
}

impl<'a> StepView<'a> {
    /// Its line in the file, from 1.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// What it is counted as.
    pub fn kind(&self) -> OpKind {
        self.step.kind
    }

    /// What it expects.
    pub fn expected(&self) -> Expected {
        self.step.expected
    }

    /// Its time stamp.
    pub fn stamp(&self) -> Option<Duration> {
        self.step.stamp
    }

    /// How often one pass of one client carries it out, as REPEAT and LOOP say.
    pub fn times(&self) -> u64 {
        self.times
    }

    /// The id of its first name.
    pub fn path_id(&self) -> Option<u32> {
        self.name(0)
    }

    /// The id of a name; the second is of a rename the new one, of LINK3 the existing
    /// file, of SYMLINK3 the text.
    pub(super) fn name(&self, index: usize) -> Option<NameId> {
        let (names, _) = verb::operands(self.step.kind);
        self.step.names.iter().take(names).nth(index).copied()
    }

    /// Its first name, with `client1` where the client's own number goes.
    pub fn path(&self) -> Option<Vec<u8>> {
        self.path_id().map(|id| self.load.path(id))
    }

    /// Its number at that place, in the order of the line; `None` when there is
    /// none there or it is only known when it runs.
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
