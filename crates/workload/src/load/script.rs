//! One client's walk through a load: where it is, what its random strings,
//! previous numbers and loops are, and what the next line asks with all of that
//! worked out.
//!
//! Nothing here waits or reads a clock: pauses, stamps and sequence points are
//! handed out as [`Next`] and are the runner's business.

use super::Load;
use super::action::Action;
use super::build_action;
use super::code::{self, Instruction, NUMBERS, Operand, Position, Step};
use super::data::{LineData, PatternPlaces};
use super::diagnostic::shown;
use super::expected::Expected;
use super::generation::Generation;
use super::names::{self, NameId, Place};
use super::number::{EvalContext, Number};
use super::random_string::{self, SLOTS};
use super::{safety, verb};
use crate::operation::OpKind;
use crate::payload::Payload;
use crate::random::{Generator, RandomStream, stream};
use std::sync::Arc;
use std::time::Duration;

/// What a client does next; what is known of a line is an `L`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next<L> {
    /// Carry out a line.
    Operation(L),
    /// Wait so long (SLEEP); times of later stamps count from its end.
    Sleep(Duration),
    /// Publish this sequence point of this client (SETSP).
    SetSequencePoint(u64),
    /// Go on when that client's sequence point is this one or a later one (WAITSP).
    WaitSequencePoint {
        /// Which client.
        client: u32,
        /// Which point.
        point: u64,
    },
    /// The file is at its end; asked again, it begins anew.
    EndOfPass,
}

/// A line to carry out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line<'script> {
    /// Its number in the file, from 1.
    pub number: u32,
    /// When it is due, counted from the begin of the pass or from the last
    /// directive that restarts the clock; `None` without a stamp.
    pub stamp: Option<Duration>,
    /// What it asks.
    pub action: Action<'script>,
    /// What should come of it.
    pub expected: Expected,
    /// What writes take their data from.
    pub data: LineData<'script>,
    /// Other data, where they are looked at again.
    pub payload: Option<&'script Payload>,
}

/// A name or number that cannot be used, met while the load runs: only random
/// strings and expressions can come to that.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ScriptError {
    /// Its number in the file.
    pub line: u32,
    /// What is wrong with it.
    pub message: String,
}

/// A loop that is being run.
#[derive(Debug, Clone, Copy)]
struct Running {
    begin: Position,
    /// Times that are left after this one.
    left: u64,
}

/// A line that is being repeated.
#[derive(Debug, Clone, Copy)]
struct Repeating {
    begin: Position,
    /// Times that are left.
    left: u64,
    /// Whether it was not run yet.
    is_first: bool,
}

/// What comes next, without what a line asks: of a line, its stamp. [`Script::line`] hands it out.
pub type Peek = Next<Option<Duration>>;

/// One client's walk through a load.
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
    /// The line that comes next, if it was looked at.
    ahead: Option<Step>,
    /// Numbers of the operation before.
    previous: [u64; NUMBERS],
    slots: [Vec<u8>; SLOTS],
    pattern: Option<u32>,
    /// Where the load's patterns lie in the run's table, if it has one.
    places: PatternPlaces,
    first: Vec<u8>,
    second: Vec<u8>,
    scratch: Vec<u8>,
}

impl Script {
    /// The walk of client `client` (from 0) of `clients`; `seed` decides all
    /// random numbers and strings.
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

    /// The same, of a load whose patterns lie there in the run's `DataTable`.
    #[must_use]
    pub fn with_patterns_at(self, places: PatternPlaces) -> Self {
        Self { places, ..self }
    }

    /// The same, with names that count clients from `first_number`.
    pub fn counted_from(self, first_number: u32) -> Self {
        let number = self.client.saturating_add(first_number);
        Self {
            own_name: format!("client{number}").into_bytes(),
            ..self
        }
    }

    /// What comes next. Never loops without handing something out. After an error
    /// it goes on with the line that follows.
    #[allow(clippy::should_implement_trait)] // what it hands out borrows from it
    pub fn next(&mut self) -> Result<Next<Line<'_>>, ScriptError> {
        Ok(match self.ahead() {
            Peek::Operation(_) => match self.line()? {
                Some(line) => Next::Operation(line),
                None => Next::EndOfPass,
            },
            Peek::Sleep(pause) => Next::Sleep(pause),
            Peek::SetSequencePoint(point) => Next::SetSequencePoint(point),
            Peek::WaitSequencePoint { client, point } => Next::WaitSequencePoint { client, point },
            Peek::EndOfPass => Next::EndOfPass,
        })
    }

    /// Looks at what comes next. A line stays ahead until it is asked for; all else is over with
    /// having been looked at.
    #[inline]
    pub fn ahead(&mut self) -> Peek {
        if let Some(step) = &self.ahead {
            return Peek::Operation(step.stamp);
        }
        self.advance()
    }

    /// The kind of the line that is ahead, if it was looked at.
    #[inline]
    pub fn kind_ahead(&self) -> Option<OpKind> {
        self.ahead.as_ref().map(|step| step.kind)
    }

    /// The line that is ahead, if there is one. After an error, what follows it is next.
    #[inline]
    pub fn line(&mut self) -> Result<Option<Line<'_>>, ScriptError> {
        match self.ahead.take() {
            Some(step) => self.work_out(&step).map(Some),
            None => Ok(None),
        }
    }

    /// Goes on to the next instruction that is somebody else's business. The
    /// compiler sees to it that every turn of a loop has one.
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
    fn come_to(&mut self, step: Step) -> Peek {
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

    /// The line that is being repeated, once more. Only its first time has a
    /// stamp: the others follow at once.
    #[inline]
    fn repeated(&mut self) -> Option<Step> {
        let repeating = self.repeating.as_mut()?;
        if repeating.left == 0 {
            self.repeating = None;
            return None;
        }
        repeating.left -= 1;
        let is_first = std::mem::replace(&mut repeating.is_first, false);
        self.position = repeating.begin;
        match code::read(&self.load.code, &mut self.position) {
            Some(Instruction::Operation(step)) => Some(Step {
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
            // None at all: the operation is read over.
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

    /// What a line asks, with everything worked out.
    #[inline]
    fn work_out(&mut self, step: &Step) -> Result<Line<'_>, ScriptError> {
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
        let put_together = match self.load.generation {
            Generation::Smb => build_action::action_by_path,
            Generation::Dbench1 | Generation::Dbench2 | Generation::Cifs | Generation::Nfs => {
                build_action::action
            }
        };
        let action =
            put_together(step.kind, &self.first, &self.second, numbers).map_err(|what| {
                ScriptError {
                    line: number,
                    message: what,
                }
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

    /// What the next line goes on from with `+`. The handle of an OPEN by path stands where others
    /// have a size, and is none of its numbers.
    #[inline]
    fn remembered(&self, kind: OpKind, numbers: [u64; NUMBERS]) -> [u64; NUMBERS] {
        if kind == OpKind::NtCreateX && self.load.generation == Generation::Smb {
            let [options, flags, ..] = numbers;
            return [options, flags, 0, 0];
        }
        numbers
    }

    fn data(&self, action: &Action<'_>) -> LineData<'_> {
        let pattern = self.pattern.map(|index| index as usize);
        let place = pattern.and_then(|index| self.places.get(index).copied());
        match pattern.and_then(|index| self.load.patterns.get(index)) {
            Some(bytes) => LineData {
                bytes,
                lies_at: place.flatten(),
            },
            // `--one-byte-write-fix` looks for it.
            None if matches!(action, Action::WriteX { len: 1, .. }) => LineData::ZERO,
            None => LineData::usual(),
        }
    }

    #[inline]
    fn numbers(&mut self, step: &Step) -> Result<[u64; NUMBERS], ScriptError> {
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

    /// The handle that stands for the path that was drawn.
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

    /// Works out the name at that place into its buffer.
    #[inline]
    fn name(&mut self, step: &Step, place: usize) -> Result<(), ScriptError> {
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

    /// A name with random strings in it: what was checked when the file was
    /// compiled is checked again now that it is known.
    fn random_name(&mut self, step: &Step, place: usize, id: NameId) -> Result<(), ScriptError> {
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
            Place::Inside => false,
            Place::Clients => changes && !safety::may_be_clients(step.kind),
            Place::Marker | Place::Outside => changes,
        };
        if is_refused {
            let what = format!(
                "\"{}\" is not in clients/, so {} may not change it",
                shown(&relative),
                step.kind.name()
            );
            return Err(self.error(what));
        }
        if step.kind == OpKind::Deltree && names::place(&relative) == Place::Clients {
            relative = safety::OWN_TREE.to_vec();
        }
        self.keep(place, &relative);
        Ok(())
    }

    /// Puts a name into its buffer, the client's number in it.
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
