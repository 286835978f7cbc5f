//! Directives: lines that are not operations but control the others.

use super::super::code::{Instruction, Position};
use super::super::number::c_number;
use super::super::random_string::{self, SLOTS};
use super::super::status;
use super::super::verb;
use super::handles::SourcePosition;
use super::tokens::{self, LineToken};
use super::{Compiler, OpenLoop, shown};

/// Maximum nesting depth of loops.
const DEEPEST_LOOP: usize = 64;
/// Maximum length of a pattern, and minimum length of its stored form.
const LONGEST_PATTERN: usize = 4_096;
const KEPT_PATTERN: usize = 1 << 16;
/// Maximum number of different patterns of a file: 17 MiB when stored.
const MOST_PATTERNS: usize = 256;
/// Maximum number of different RANDOMSTRING texts of a file.
const MOST_TEXTS: usize = 1 << 16;

impl Compiler {
    /// Parses the line if it is a directive. Returns whether it is one.
    pub(super) fn directive_line(&mut self, line: &[u8]) -> bool {
        let begin = line.len() - line.trim_ascii_start().len();
        let text = line.get(begin..).unwrap_or_default();
        let end = text.iter().position(|byte| matches!(byte, b' ' | b'\t'));
        let (word, rest) = text.split_at(end.unwrap_or(text.len()));
        let is = |directive: &&&str| directive.as_bytes().eq_ignore_ascii_case(word);
        let (word, begin) = match verb::DIRECTIVES.iter().find(is) {
            Some(word) => (*word, begin),
            // smbtorture and dbench 3 have Sleep with a time stamp before it.
            None => return self.stamped_sleep(line),
        };
        self.recognised += 1;
        let spot = self.spot(begin as u32 + 1);
        let offset = (line.len() - rest.len()) as u32;
        if word == "WRITEPATTERN" {
            self.pattern(spot, rest.get(1..).unwrap_or_default());
        } else {
            match tokens::words(rest, true) {
                Ok(words) => self.directive(word, spot, words.all(), offset),
                Err(bad) => self.wrong(bad.column + offset, bad.what.to_owned(), None),
            }
        }
        true
    }

    fn stamped_sleep(&mut self, line: &[u8]) -> bool {
        if !line
            .trim_ascii_start()
            .first()
            .is_some_and(u8::is_ascii_digit)
        {
            return false;
        }
        let Ok(words) = tokens::words(line, true) else {
            return false;
        };
        match words.all() {
            [_, word, rest @ ..] if word.text.eq_ignore_ascii_case(b"SLEEP") => {
                self.recognised += 1;
                let spot = self.spot(word.column);
                self.directive("SLEEP", spot, rest, 0);
                true
            }
            _ => false,
        }
    }

    fn directive(
        &mut self,
        word: &'static str,
        spot: SourcePosition,
        words: &[LineToken<'_>],
        offset: u32,
    ) {
        if word != "RANDOMSTRING" && word != "REPEAT" {
            self.repeat_without_operation();
        }
        match (word, words) {
            ("LOOP", [times]) => self.begin_loop(spot, times, offset),
            ("ENDLOOP", []) => self.end_loop(spot),
            ("REPEAT", [times]) => {
                self.repeat_without_operation();
                let times = self.directive_number(times, offset);
                self.repeat = Some((spot, times));
            }
            ("SLEEP", [time]) => self.sleep(time, offset),
            ("SLEEP", [time, status]) if status::looks_like_status(status.text) => {
                self.sleep(time, offset);
            }
            ("SETSP", [point]) => {
                let point = self.directive_number(point, offset);
                self.handed_out(&Instruction::SetPoint(point));
            }
            ("WAITSP", [client, point]) => self.wait(client, point, offset),
            ("RANDOMSTRING", [slot, text]) => self.random_string(slot, text, offset),
            _ => {
                let usage = match word {
                    "LOOP" => "LOOP times",
                    "ENDLOOP" => "ENDLOOP, with nothing after it",
                    "REPEAT" => "REPEAT times",
                    "SLEEP" => "SLEEP microseconds",
                    "SETSP" => "SETSP point",
                    "WAITSP" => "WAITSP client point",
                    _ => "RANDOMSTRING slot \"text\"",
                };
                let count = words.len();
                self.wrong_at(
                    spot,
                    format!("{word} does not take {count} arguments"),
                    Some(format!("a line reads: {usage}")),
                );
                if word == "LOOP" {
                    // Opened so that its ENDLOOP has a partner.
                    self.open_loop(spot, 1);
                }
            }
        }
    }

    fn directive_number(&mut self, word: &LineToken<'_>, offset: u32) -> u64 {
        c_number(word.text).unwrap_or_else(|fault| {
            self.wrong(
                word.column + offset,
                format!("\"{}\" {}", shown(word.text), fault.what()),
                Some("a number as in C: 10, 0xa, 012".to_owned()),
            );
            1
        })
    }

    /// Writes an instruction that is returned to the runner.
    fn handed_out(&mut self, instruction: &Instruction) {
        self.writer.directive(self.line, instruction);
        if let Some(inner) = self.loops.last_mut() {
            inner.hands_out = true;
        }
    }

    fn sleep(&mut self, time: &LineToken<'_>, offset: u32) {
        let microseconds = self.directive_number(time, offset);
        self.handed_out(&Instruction::Sleep(microseconds));
    }

    fn wait(&mut self, client: &LineToken<'_>, point: &LineToken<'_>, offset: u32) {
        let number = self.directive_number(client, offset);
        let point = self.directive_number(point, offset);
        match u32::try_from(number) {
            Ok(client) => self.handed_out(&Instruction::WaitPoint { client, point }),
            Err(_) => self.wrong(
                client.column + offset,
                format!("there is no client {number}"),
                Some("clients are numbered from 0".to_owned()),
            ),
        }
    }

    fn begin_loop(&mut self, spot: SourcePosition, times: &LineToken<'_>, offset: u32) {
        let times = self.directive_number(times, offset);
        if self.loops.len() == DEEPEST_LOOP {
            self.wrong_at(
                spot,
                format!("more than {DEEPEST_LOOP} loops in each other"),
                None,
            );
        }
        self.open_loop(spot, times);
    }

    fn open_loop(&mut self, spot: SourcePosition, times: u64) {
        let end = Position::default();
        let instruction = Instruction::Loop { times, end };
        let place = self.writer.directive(self.line, &instruction);
        self.loops.push(OpenLoop {
            spot,
            place,
            times,
            hands_out: false,
        });
    }

    fn end_loop(&mut self, spot: SourcePosition) {
        let Some(open) = self.loops.pop() else {
            self.wrong_at(spot, "ENDLOOP without LOOP".to_owned(), None);
            return;
        };
        self.writer.directive(self.line, &Instruction::EndLoop);
        // Iterations without any instruction for the runner are equal: one is enough, and no client
        // can wait for their end.
        let times = if open.hands_out {
            open.times
        } else {
            open.times.min(1)
        };
        self.writer.close_loop(open.place, times);
        match self.loops.last_mut() {
            Some(outer) => outer.hands_out |= open.hands_out && times > 0,
            None => self.end_of_loops(),
        }
    }

    /// Reports a REPEAT without a following operation.
    pub(super) fn repeat_without_operation(&mut self) {
        if let Some((spot, _)) = self.repeat.take() {
            self.wrong_at(
                spot,
                "no operation follows this REPEAT".to_owned(),
                Some(
                    "REPEAT stands right before an operation; LOOP … ENDLOOP repeats anything"
                        .to_owned(),
                ),
            );
        }
    }

    fn random_string(&mut self, slot: &LineToken<'_>, text: &LineToken<'_>, offset: u32) {
        let number = self.directive_number(slot, offset);
        let Some(slot) = u8::try_from(number)
            .ok()
            .filter(|slot| usize::from(*slot) < SLOTS)
        else {
            let column = slot.column + offset;
            self.wrong(
                column,
                format!("there is no random string {number}"),
                Some("0 to 9".to_owned()),
            );
            return;
        };
        self.slots |= 1 << slot;
        if let Some(fault) = random_string::fault(text.text) {
            let what = format!("the random string \"{}\" {fault}", shown(text.text));
            self.wrong(text.column + offset, what, None);
            return;
        }
        if self.texts.len() >= MOST_TEXTS {
            self.wrong(
                text.column + offset,
                format!("more than {MOST_TEXTS} RANDOMSTRING lines"),
                None,
            );
            return;
        }
        let index = self.texts.len() as u32;
        self.texts.push(text.text.into());
        self.writer
            .directive(self.line, &Instruction::Draw { slot, text: index });
    }

    fn pattern(&mut self, spot: SourcePosition, text: &[u8]) {
        self.repeat_without_operation();
        if text.is_empty() || text.len() > LONGEST_PATTERN {
            self.wrong_at(
                spot,
                format!("a pattern of {} bytes", text.len()),
                Some(format!("WRITEPATTERN takes 1 to {LONGEST_PATTERN} bytes, from one blank after it to the end of the line")),
            );
            return;
        }
        let index = match self.seen_patterns.get(text) {
            Some(index) => *index,
            None if self.patterns.len() >= MOST_PATTERNS => {
                self.wrong_at(
                    spot,
                    format!("more than {MOST_PATTERNS} different patterns"),
                    None,
                );
                return;
            }
            None => {
                let index = self.patterns.len() as u32;
                let times = KEPT_PATTERN.div_ceil(text.len());
                self.patterns.push(text.repeat(times).into());
                self.seen_patterns.insert(text.into(), index);
                index
            }
        };
        self.writer
            .directive(self.line, &Instruction::Pattern(index));
    }
}
