//! The compact form of a load: a few bytes per line instead of several dozen.
//!
//! Every instruction consists of its opcode, the line distance to the previous one, and its
//! arguments as numbers of seven bits per byte (LEB128). Only [`CodeWriter`] generates it, so reading
//! has no errors: missing bytes are read as zero.

use super::expected::Expected;
use super::names::NameId;
use super::verb::operands;
use crate::operation::OpKind;
use std::time::Duration;

/// Maximum number of names of an operation.
pub(super) const NAMES: usize = 2;
/// Maximum number of numbers of an operation.
pub(super) const NUMBERS: usize = 4;

const SLEEP: u8 = 0x80;
const SET_POINT: u8 = 0x81;
const WAIT_POINT: u8 = 0x82;
const DRAW: u8 = 0x83;
const PATTERN: u8 = 0x84;
const REPEAT: u8 = 0x85;
const LOOP: u8 = 0x86;
const END_LOOP: u8 = 0x87;

const STAMPED: u8 = 0x10;
const EXPRESSIONS: u8 = 0x20;
const EXPECTED: u8 = 0x0f;
const EXPECTED_SUCCESS: u8 = 0;
const EXPECTED_ANYTHING: u8 = 1;
const EXPECTED_FAILURE: u8 = 2;
const EXPECTED_NT: u8 = 3;
const EXPECTED_NUMBER: u8 = 4;
const EXPECTED_FAILURE_OR_SHORT: u8 = 5;

/// Rotation of an NT status, in bits: its severity (the two highest bits) comes first, and the
/// result is short, because nearly all errors have no other high bits.
const SEVERITY_BITS: u32 = 2;

/// Value of a disposition or of flags that only open an existing file for reading: FILE_OPEN, or
/// the read flag.
pub(super) const ONLY_OPENS: u64 = 1;

/// A number of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operand {
    /// A constant.
    Literal(u64),
    /// Index of one of the load's expressions.
    Expression(u32),
}

/// An operation, before names and numbers are evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CompiledOperation {
    pub(super) kind: OpKind,
    pub(super) expected: Expected,
    pub(super) stamp: Option<Duration>,
    pub(super) names: [NameId; NAMES],
    pub(super) numbers: [Operand; NUMBERS],
}

impl CompiledOperation {
    /// Whether an open requires an existing file: FILE_OPEN (MS-CIFS 2.2.4.64.1), or flags for
    /// reading.
    pub(super) fn only_opens(&self) -> bool {
        let [_, how, ..] = self.numbers;
        how == Operand::Literal(ONLY_OPENS)
    }
}

/// An instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Instruction {
    Operation(CompiledOperation),
    /// Pause in microseconds.
    Sleep(u64),
    SetPoint(u64),
    WaitPoint {
        client: u32,
        point: u64,
    },
    /// Fills a slot from a text.
    Draw {
        slot: u8,
        text: u32,
    },
    /// Sets the pattern of writes.
    Pattern(u32),
    /// Repeats the next operation.
    Repeat(u64),
    /// Repeats the instructions up to `EndLoop`; `end` is the position after it.
    Loop {
        times: u64,
        end: Position,
    },
    EndLoop,
}

/// Position of the next instruction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) at: usize,
    pub(super) line: u32,
}

/// Writes instructions.
#[derive(Debug, Default)]
pub(super) struct CodeWriter {
    code: Vec<u8>,
    line: u32,
}

impl CodeWriter {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.code.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.code.push(value as u8);
    }

    fn start(&mut self, opcode: u8, line: u32) {
        self.code.push(opcode);
        self.varint(u64::from(line.wrapping_sub(self.line)));
        self.line = line;
    }

    /// Writes an operation.
    pub(super) fn operation(&mut self, line: u32, step: &CompiledOperation) {
        let (names, numbers) = operands(step.kind);
        let (class, number) = class_of(step.expected);
        let used = step.numbers.get(..numbers).unwrap_or_default();
        let expressions = used.iter().any(|n| matches!(n, Operand::Expression(_)));
        let flags = class
            | if step.stamp.is_some() { STAMPED } else { 0 }
            | if expressions { EXPRESSIONS } else { 0 };
        self.start(step.kind.index() as u8, line);
        self.code.push(flags);
        if let Some(number) = number {
            self.varint(u64::from(number));
        }
        if let Some(stamp) = step.stamp {
            self.varint(u64::try_from(stamp.as_nanos()).unwrap_or(u64::MAX));
        }
        for name in step.names.iter().take(names) {
            self.varint(u64::from(*name));
        }
        for operand in used {
            let (tag, value) = match *operand {
                Operand::Literal(value) => (0, value),
                Operand::Expression(index) => (1, u64::from(index)),
            };
            if expressions {
                self.code.push(tag);
            }
            self.varint(value);
        }
    }

    /// Writes a directive. For a `Loop`, returns the position of its end marker.
    pub(super) fn directive(&mut self, line: u32, instruction: &Instruction) -> usize {
        match *instruction {
            Instruction::Operation(step) => self.operation(line, &step),
            Instruction::Sleep(microseconds) => self.simple(SLEEP, line, microseconds),
            Instruction::SetPoint(point) => self.simple(SET_POINT, line, point),
            Instruction::WaitPoint { client, point } => {
                self.simple(WAIT_POINT, line, u64::from(client));
                self.varint(point);
            }
            Instruction::Draw { slot, text } => {
                self.simple(DRAW, line, u64::from(slot));
                self.varint(u64::from(text));
            }
            Instruction::Pattern(index) => self.simple(PATTERN, line, u64::from(index)),
            Instruction::Repeat(times) => self.simple(REPEAT, line, times),
            Instruction::Loop { times, end } => {
                self.start(LOOP, line);
                let place = self.code.len();
                self.code.extend_from_slice(&loop_arguments(times, end));
                return place;
            }
            Instruction::EndLoop => self.start(END_LOOP, line),
        }
        0
    }

    fn simple(&mut self, opcode: u8, line: u32, value: u64) {
        self.start(opcode, line);
        self.varint(value);
    }

    /// Writes the number of iterations of the loop at `place`, and its end at the current position.
    pub(super) fn close_loop(&mut self, place: usize, times: u64) {
        let end = Position {
            at: self.code.len(),
            line: self.line,
        };
        if let Some(slot) = self.code.get_mut(place..place + LOOP_ARGUMENTS) {
            slot.copy_from_slice(&loop_arguments(times, end));
        }
    }

    /// Returns the complete code.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.code.shrink_to_fit();
        self.code
    }
}

/// These arguments are only known at the end of the loop, so they have a fixed length.
const LOOP_ARGUMENTS: usize = 24;

fn loop_arguments(times: u64, end: Position) -> [u8; LOOP_ARGUMENTS] {
    let mut bytes = [0; LOOP_ARGUMENTS];
    let words = [times, end.at as u64, u64::from(end.line)];
    for (place, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    bytes
}

/// Returns the encoding of an expectation: its class, and a number for classes that need one.
fn class_of(expected: Expected) -> (u8, Option<u32>) {
    match expected {
        Expected::Success => (EXPECTED_SUCCESS, None),
        Expected::Anything => (EXPECTED_ANYTHING, None),
        Expected::Failure => (EXPECTED_FAILURE, None),
        Expected::FailureOrShort => (EXPECTED_FAILURE_OR_SHORT, None),
        Expected::Nt(status) => (EXPECTED_NT, Some(status.rotate_left(SEVERITY_BITS))),
        Expected::Number(number) => (EXPECTED_NUMBER, Some(number)),
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    #[inline]
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.rest.split_first() else {
            return 0;
        };
        self.rest = rest;
        *first
    }

    #[inline]
    fn varint(&mut self) -> u64 {
        let mut value = 0;
        let mut shift = 0;
        loop {
            let byte = self.byte();
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 || shift > 63 {
                return value;
            }
        }
    }

    fn word(&mut self) -> u64 {
        let Some((word, rest)) = self.rest.split_first_chunk() else {
            return 0;
        };
        self.rest = rest;
        u64::from_le_bytes(*word)
    }

    #[inline]
    fn step(&mut self, kind: OpKind) -> CompiledOperation {
        let flags = self.byte();
        let expected = match flags & EXPECTED {
            EXPECTED_SUCCESS => Expected::Success,
            EXPECTED_FAILURE => Expected::Failure,
            EXPECTED_FAILURE_OR_SHORT => Expected::FailureOrShort,
            EXPECTED_NT => Expected::Nt((self.varint() as u32).rotate_right(SEVERITY_BITS)),
            EXPECTED_NUMBER => Expected::Number(self.varint() as u32),
            _ => Expected::Anything,
        };
        let stamp = (flags & STAMPED != 0).then(|| Duration::from_nanos(self.varint()));
        let (name_count, number_count) = operands(kind);
        let mut names = [0; NAMES];
        for name in names.iter_mut().take(name_count) {
            *name = self.varint() as NameId;
        }
        let mut numbers = [Operand::Literal(0); NUMBERS];
        for number in numbers.iter_mut().take(number_count) {
            let is_expression = flags & EXPRESSIONS != 0 && self.byte() == 1;
            let value = self.varint();
            *number = if is_expression {
                Operand::Expression(value as u32)
            } else {
                Operand::Literal(value)
            };
        }
        CompiledOperation {
            kind,
            expected,
            stamp,
            names,
            numbers,
        }
    }
}

/// Reads the instruction at `position` and moves to the next; `None` at the end.
#[inline]
pub(super) fn read(code: &[u8], position: &mut Position) -> Option<Instruction> {
    let rest = code.get(position.at..).unwrap_or_default();
    let (opcode, rest) = rest.split_first()?;
    let mut reader = Reader { rest };
    position.line = position.line.wrapping_add(reader.varint() as u32);
    let instruction = match *opcode {
        SLEEP => Instruction::Sleep(reader.varint()),
        SET_POINT => Instruction::SetPoint(reader.varint()),
        WAIT_POINT => Instruction::WaitPoint {
            client: reader.varint() as u32,
            point: reader.varint(),
        },
        DRAW => Instruction::Draw {
            slot: reader.varint() as u8,
            text: reader.varint() as u32,
        },
        PATTERN => Instruction::Pattern(reader.varint() as u32),
        REPEAT => Instruction::Repeat(reader.varint()),
        LOOP => Instruction::Loop {
            times: reader.word(),
            end: Position {
                at: reader.word() as usize,
                line: reader.word() as u32,
            },
        },
        END_LOOP => Instruction::EndLoop,
        index => Instruction::Operation(reader.step(*OpKind::ALL.get(usize::from(index))?)),
    };
    position.at = code.len() - reader.rest.len();
    Some(instruction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_again() {
        let step = |kind, expected, stamp| CompiledOperation {
            kind,
            expected,
            stamp,
            names: [0; NAMES],
            numbers: [Operand::Literal(0); NUMBERS],
        };
        let mut with_expression = step(OpKind::Write, Expected::Number(70), Some(Duration::ZERO));
        with_expression.names = [300, 0];
        with_expression.numbers[0] = Operand::Expression(5);
        with_expression.numbers[1] = Operand::Literal(u64::MAX);
        let mut instructions = vec![
            Instruction::Operation(with_expression),
            Instruction::Sleep(1_000_000),
            Instruction::SetPoint(7),
            Instruction::WaitPoint {
                client: 3,
                point: u64::MAX,
            },
            Instruction::Draw { slot: 9, text: 1 },
            Instruction::Pattern(2),
            Instruction::Repeat(1 << 63),
            Instruction::Loop {
                times: 1 << 63,
                end: Position { at: 99, line: 3 },
            },
            Instruction::EndLoop,
        ];
        for expected in [
            Expected::Success,
            Expected::Anything,
            Expected::Failure,
            Expected::Nt(0xc000_0034),
            Expected::Nt(0x8000_0006),
            Expected::Nt(u32::MAX),
        ] {
            instructions.push(Instruction::Operation(step(OpKind::FsStat, expected, None)));
        }
        let mut writer = CodeWriter::default();
        for (number, instruction) in instructions.iter().enumerate() {
            writer.directive(number as u32 * 1_000, instruction);
        }
        let code = writer.finish();
        let mut position = Position::default();
        for (number, instruction) in instructions.iter().enumerate() {
            assert_eq!(read(&code, &mut position).as_ref(), Some(instruction));
            assert_eq!(position.line, number as u32 * 1_000);
        }
        assert_eq!(read(&code, &mut position), None);
    }
}
