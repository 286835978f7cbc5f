//! Iteration of one client over a load: position, random strings, previous numbers and loops, and
//! the evaluated action of the next line.
//!
//! This module does not wait or read clocks: pauses, time stamps and sequence points are returned
//! as [`ScriptAction`] to the runner.

use super::Load;
use super::action::LoadAction;
use super::action_numbers;
use super::code::{self, CompiledOperation, Instruction, NUMBERS, Operand, Position};
use super::data::{LineData, PatternPlaces};
use super::diagnostic::shown;
use super::expected::Expected;
use super::generation::Generation;
use super::names::{self, NameId, NameLocation};
use super::number::{EvalContext, Number};
use super::random_string::{self, SLOTS};
use super::{safety, verb};
use crate::operation::OpKind;
use crate::payload::Payload;
use crate::random::{Generator, RandomStream, stream};
use std::sync::Arc;
use std::time::Duration;

/// Next action of a client; `L` is the description of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptAction<L> {
    /// Execute a line.
    Operation(L),
    /// Wait for this time (SLEEP); later time stamps are relative to its end.
    Sleep(Duration),
    /// Publish this sequence point of this client (SETSP).
    SetSequencePoint(u64),
    /// Continue when that client's sequence point is this one or a later one (WAITSP).
    WaitSequencePoint {
        /// Number of the client.
        client: u32,
        /// The sequence point.
        point: u64,
    },
    /// End of the file; the next call starts the next iteration.
    EndOfPass,
}

/// A line to execute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line<'script> {
    /// Line number in the file, from 1.
    pub number: u32,
    /// Due time, relative to the start of the iteration or to the last directive that restarts the
    /// clock; `None` without a time stamp.
    pub stamp: Option<Duration>,
    /// The action.
    pub action: LoadAction<'script>,
    /// The expected result.
    pub expected: Expected,
    /// Data of writes.
    pub data: LineData<'script>,
    /// Other data, which are verified when they are read.
    pub payload: Option<&'script Payload>,
}

/// A name or number that is invalid at run time, which only happens with random strings and
/// expressions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ScriptError {
    /// Line number in the file.
    pub line: u32,
    /// Description of the error.
    pub message: String,
}

/// A loop that is being executed.
#[derive(Debug, Clone, Copy)]
struct Running {
    begin: Position,
    /// Number of iterations after this one.
    left: u64,
}

/// A line that is being repeated.
#[derive(Debug, Clone, Copy)]
struct Repeating {
    begin: Position,
    /// Number of executions that are left.
    left: u64,
    /// Whether it was not executed yet.
    is_first: bool,
}

/// Next action without the content of a line, only with its time stamp. [`Script::line`] returns
/// the content.
pub type Peek = ScriptAction<Option<Duration>>;

/// Iteration of one client over a load.
#[derive(Debug, Clone)]
pub struct Script {
    load: Arc<Load>,
    client: u32,
    clients: u32,
    /// `client` and its number.
    own_name: Vec<u8>,
    random: Generator,
    position: Position,
    loops: Vec<Running>,
    repeating: Option<Repeating>,
    /// The next line, if it was already read ahead.
    ahead: Option<CompiledOperation>,
    /// Numbers of the previous operation.
    previous: [u64; NUMBERS],
    slots: [Vec<u8>; SLOTS],
    pattern: Option<u32>,
    /// Positions of the load's patterns in the run's table, if it has one.
    places: PatternPlaces,
    first: Vec<u8>,
    second: Vec<u8>,
    scratch: Vec<u8>,
}

impl Script {
    /// Creates the script of client `client` (from 0) of `clients`; `seed` determines all random
    /// numbers and strings.
    pub fn new(load: Arc<Load>, client: u32, clients: u32, seed: u64) -> Self {
        Self {
            load,
            client,
            clients,
            own_name: format!("client{client}").into_bytes(),
            random: stream(seed, RandomStream::Script, u64::from(client)),
            position: Position::default(),
            loops: Vec::new(),
            repeating: None,
            ahead: None,
            previous: [0; NUMBERS],
            slots: Default::default(),
            pattern: None,
            places: PatternPlaces::default(),
            first: Vec::new(),
            second: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Sets the positions of the load's patterns in the run's `DataTable`.
    #[must_use]
    pub fn with_patterns_at(self, places: PatternPlaces) -> Self {
        Self { places, ..self }
    }

    /// Sets the number of the first client in names.
    pub fn counted_from(self, first_number: u32) -> Self {
        let number = self.client.saturating_add(first_number);
        Self {
            own_name: format!("client{number}").into_bytes(),
            ..self
        }
    }

    /// Returns the next action. Never loops without returning one. After an error it continues with
    /// the following line.
    #[allow(clippy::should_implement_trait)] // what it hands out borrows from it
    pub fn next(&mut self) -> Result<ScriptAction<Line<'_>>, ScriptError> {
        Ok(match self.ahead() {
            Peek::Operation(_) => match self.line()? {
                Some(line) => ScriptAction::Operation(line),
                None => ScriptAction::EndOfPass,
            },
            Peek::Sleep(pause) => ScriptAction::Sleep(pause),
            Peek::SetSequencePoint(point) => ScriptAction::SetSequencePoint(point),
            Peek::WaitSequencePoint { client, point } => {
                ScriptAction::WaitSequencePoint { client, point }
            }
            Peek::EndOfPass => ScriptAction::EndOfPass,
        })
    }

    /// Reads the next action ahead. A line stays ahead until [`line`](Self::line) returns it; all
    /// other actions are consumed.
    #[inline]
    pub fn ahead(&mut self) -> Peek {
        if let Some(step) = &self.ahead {
            return Peek::Operation(step.stamp);
        }
        self.advance()
    }

    /// Returns the kind of the line that was read ahead, if there is one.
    #[inline]
    pub fn kind_ahead(&self) -> Option<OpKind> {
        self.ahead.as_ref().map(|step| step.kind)
    }

    /// Returns the line that was read ahead, if there is one. After an error, the following one is
    /// next.
    #[inline]
    pub fn line(&mut self) -> Result<Option<Line<'_>>, ScriptError> {
        match self.ahead.take() {
            Some(step) => self.work_out(&step).map(Some),
            None => Ok(None),
        }
    }

    /// Moves to the next instruction for the runner. The compiler ensures that every iteration of a
    /// loop has one.
    #[inline]
    fn advance(&mut self) -> Peek {
        loop {
            if let Some(step) = self.repeated() {
                return self.come_to(step);
            }
            let Some(instruction) = code::read(&self.load.code, &mut self.position) else {
                self.begin_pass();
                return Peek::EndOfPass;
            };
            match instruction {
                Instruction::Operation(step) => return self.come_to(step),
                Instruction::Sleep(microseconds) => {
                    return Peek::Sleep(Duration::from_micros(microseconds));
                }
                Instruction::SetPoint(point) => return Peek::SetSequencePoint(point),
                Instruction::WaitPoint { client, point } => {
                    return Peek::WaitSequencePoint { client, point };
                }
                Instruction::Draw { slot, text } => self.draw(slot, text),
                Instruction::Pattern(index) => self.pattern = Some(index),
                Instruction::Repeat(times) => self.begin_repeating(times),
                Instruction::Loop { times, end } => self.begin_loop(times, end),
                Instruction::EndLoop => self.end_loop(),
            }
        }
    }

    #[inline]
    fn come_to(&mut self, step: CompiledOperation) -> Peek {
        let stamp = step.stamp;
        self.ahead = Some(step);
        Peek::Operation(stamp)
    }

    fn begin_pass(&mut self) {
        self.position = Position::default();
        self.loops.clear();
        self.repeating = None;
        self.previous = [0; NUMBERS];
        self.pattern = None;
        self.slots.iter_mut().for_each(Vec::clear);
    }

    /// Returns the line that is being repeated. Only its first execution has a time stamp: the
    /// others follow immediately.
    #[inline]
    fn repeated(&mut self) -> Option<CompiledOperation> {
        let repeating = self.repeating.as_mut()?;
        if repeating.left == 0 {
            self.repeating = None;
            return None;
        }
        repeating.left -= 1;
        let is_first = std::mem::replace(&mut repeating.is_first, false);
        self.position = repeating.begin;
        match code::read(&self.load.code, &mut self.position) {
            Some(Instruction::Operation(step)) => Some(CompiledOperation {
                stamp: step.stamp.filter(|_| is_first),
                ..step
            }),
            _ => {
                self.repeating = None;
                None
            }
        }
    }

    fn begin_repeating(&mut self, times: u64) {
        if times == 0 {
            // With zero repetitions, the operation is skipped.
            code::read(&self.load.code, &mut self.position);
        } else {
            self.repeating = Some(Repeating {
                begin: self.position,
                left: times,
                is_first: true,
            });
        }
    }

    fn begin_loop(&mut self, times: u64, end: Position) {
        match times.checked_sub(1) {
            Some(left) => self.loops.push(Running {
                begin: self.position,
                left,
            }),
            None => self.position = end,
        }
    }

    fn end_loop(&mut self) {
        match self.loops.last_mut() {
            Some(running) if running.left > 0 => {
                running.left -= 1;
                self.position = running.begin;
            }
            _ => {
                self.loops.pop();
            }
        }
    }

    fn draw(&mut self, slot: u8, text: u32) {
        let text = self.load.texts.get(text as usize);
        if let (Some(text), Some(slot)) = (text, self.slots.get_mut(usize::from(slot))) {
            random_string::draw(text, &mut self.random, slot);
        }
    }

    /// Evaluates a line.
    #[inline]
    fn work_out(&mut self, step: &CompiledOperation) -> Result<Line<'_>, ScriptError> {
        let numbers = self.numbers(step)?;
        self.previous = self.remembered(step.kind, numbers);
        let (names, _) = verb::operands(step.kind);
        if names > 0 {
            self.name(step, 0)?;
        }
        if names > 1 {
            self.name(step, 1)?;
        }
        let number = self.position.line;
        let (kind, numbers) = match self.load.generation {
            Generation::Smb => action_numbers::by_path(step.kind, numbers),
            Generation::Dbench1 | Generation::Dbench2 | Generation::Cifs | Generation::Nfs => {
                (step.kind, numbers)
            }
        };
        let action = LoadAction::from_operands(kind, &self.first, &self.second, numbers);
        let action = action.map_err(|message| ScriptError {
            line: number,
            message,
        })?;
        Ok(Line {
            number,
            stamp: step.stamp,
            action,
            expected: step.expected,
            data: self.data(&action),
            payload: None,
        })
    }

    /// Returns the numbers to which `+` in the next line is relative. The handle of an OPEN by path
    /// is in the position of another line's size, and does not count.
    #[inline]
    fn remembered(&self, kind: OpKind, numbers: [u64; NUMBERS]) -> [u64; NUMBERS] {
        if kind == OpKind::NtCreateX && self.load.generation == Generation::Smb {
            let [options, flags, ..] = numbers;
            return [options, flags, 0, 0];
        }
        numbers
    }

    fn data(&self, action: &LoadAction<'_>) -> LineData<'_> {
        let pattern = self.pattern.map(|index| index as usize);
        let place = pattern.and_then(|index| self.places.get(index).copied());
        match pattern.and_then(|index| self.load.patterns.get(index)) {
            Some(bytes) => LineData {
                bytes,
                lies_at: place.flatten(),
            },
            // `--one-byte-write-fix` relies on it.
            None if matches!(action, LoadAction::WriteX { len: 1, .. }) => LineData::ZERO,
            None => LineData::usual(),
        }
    }

    #[inline]
    fn numbers(&mut self, step: &CompiledOperation) -> Result<[u64; NUMBERS], ScriptError> {
        let mut numbers = [0; NUMBERS];
        for (place, (number, operand)) in numbers.iter_mut().zip(step.numbers).enumerate() {
            *number = match operand {
                Operand::Literal(value) => value,
                Operand::Expression(index) => self.evaluate(index, place)?,
            };
        }
        Ok(numbers)
    }

    fn evaluate(&mut self, index: u32, place: usize) -> Result<u64, ScriptError> {
        let around = EvalContext {
            previous: self.previous.get(place).copied().unwrap_or(0),
            client: self.client,
            clients: self.clients,
        };
        let value = match self.load.expressions.get(index as usize) {
            Some(Number::Text(text)) => {
                random_string::substitute(text, &self.slots, &mut self.scratch);
                match Number::parse(&self.scratch) {
                    Ok(number) => number.evaluate(&around, &mut self.random),
                    Err(fault) => {
                        let what = format!("\"{}\" {}", shown(&self.scratch), fault.what());
                        return Err(self.error(what));
                    }
                }
            }
            Some(Number::Path(text)) => {
                random_string::substitute(text, &self.slots, &mut self.scratch);
                Some(self.handle_of_drawn()?)
            }
            Some(number) => number.evaluate(&around, &mut self.random),
            None => None,
        };
        value.ok_or_else(|| self.error("a number that is none".to_owned()))
    }

    /// Returns the handle of the path with random strings.
    fn handle_of_drawn(&self) -> Result<u64, ScriptError> {
        let mut relative = Vec::new();
        names::normalise(&self.scratch, &mut relative).map_err(|fault| {
            self.error(format!("\"{}\" {}", shown(&self.scratch), fault.what()))
        })?;
        Ok(names::handle_of(&relative))
    }

    fn error(&self, what: String) -> ScriptError {
        ScriptError {
            line: self.position.line,
            message: what,
        }
    }

    /// Evaluates the name at that position into its buffer.
    #[inline]
    fn name(&mut self, step: &CompiledOperation, place: usize) -> Result<(), ScriptError> {
        let id = step.names.get(place).copied().unwrap_or(0);
        if self.load.names.has_slots(id) {
            return self.random_name(step, place, id);
        }
        let out = if place == 0 {
            &mut self.first
        } else {
            &mut self.second
        };
        self.load.names.expand(id, &self.own_name, out);
        Ok(())
    }

    /// Evaluates a name with random strings: it must pass the checks of the compiler, now that it
    /// is known.
    fn random_name(
        &mut self,
        step: &CompiledOperation,
        place: usize,
        id: NameId,
    ) -> Result<(), ScriptError> {
        let text = self.load.names.template(id);
        let mut name = Vec::new();
        random_string::substitute(&text, &self.slots, &mut name);
        if step.kind == OpKind::SymLink && place == 1 {
            self.keep(place, &name);
            return safety::link_text(&name).map_err(|what| self.error(what.to_owned()));
        }
        let mut relative = Vec::new();
        names::normalise(&name, &mut relative)
            .map_err(|fault| self.error(format!("\"{}\" {}", shown(&name), fault.what())))?;
        if safety::is_moved(&text, self.load.moved_slots) {
            relative = safety::moved(relative);
        }
        let changes = safety::changes(step.kind, step.only_opens(), place);
        let is_refused = match names::place(&relative) {
            NameLocation::Inside => false,
            NameLocation::Clients => changes && !safety::may_be_clients(step.kind),
            NameLocation::Marker | NameLocation::Outside => changes,
        };
        if is_refused {
            let what = format!(
                "\"{}\" is not in clients/, so {} may not change it",
                shown(&relative),
                step.kind.name()
            );
            return Err(self.error(what));
        }
        if step.kind == OpKind::Deltree && names::place(&relative) == NameLocation::Clients {
            relative = safety::OWN_TREE.to_vec();
        }
        self.keep(place, &relative);
        Ok(())
    }

    /// Copies a name to its buffer, with the client's number.
    fn keep(&mut self, place: usize, name: &[u8]) {
        let out = if place == 0 {
            &mut self.first
        } else {
            &mut self.second
        };
        out.clear();
        let own_name = &self.own_name;
        names::replace_placeholder(name, out, |out| out.extend_from_slice(own_name));
    }
}

#[cfg(test)]
mod tests;
