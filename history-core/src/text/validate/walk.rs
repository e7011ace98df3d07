//! Iterates over the text of a history, and skips what cannot be read.

use super::checks::Checks;
use super::findings::{Findings, Remark};
use super::resync::{self, Next};
use super::{Problems, Rule};
use crate::error::{ErrorKind, HistoryError};
use crate::ops::batch::Batch;
use crate::ops::row::Row;
use crate::text::read::{
    Block, Blocks, Intervals, Parts, Peers, Sniffed, Steps, Stop, binary, no_first_value, sniff, too_long,
};
use crate::text::syntax::FaultKind;
use crate::{FirstValue, Format, Limits, Position, Reader, TimeUnit};

pub(super) struct Walk<'s> {
    blocks: Blocks<'s>,
    format: Option<Format>,
    limits: Limits,
    /// The unit of times, if one was given.
    unit: Option<TimeUnit>,
    first_value: FirstValue,
    session_names: Vec<String>,
    each_max: usize,
    steps: Option<Steps>,
    /// The intervals, which are checked at the end, when they are sorted.
    intervals: Option<Box<Intervals>>,
    batch: Batch,
    checks: Checks,
    findings: Findings,
    /// The search for an op, after one that cannot be read.
    skipping: Option<Skip>,
    /// The number of ops that could not be read.
    unreadable: usize,
}

#[derive(Clone, Copy)]
struct Skip {
    /// The column where the op that cannot be read begins.
    column: usize,
    /// Whether the next block begins in the middle of a line.
    mid_line: bool,
    /// The position of the error.
    position: Position,
    /// Whether brackets were skipped since then.
    passed_ops: bool,
}

/// What to do after a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    More,
    /// Nothing: the whole text was checked.
    End,
    /// Nothing: the rest of the text was not checked.
    Stop,
}

impl<'s> Walk<'s> {
    pub(super) fn new(reader: Reader<'s>, each_max: usize) -> Walk<'s> {
        let Parts { blocks, format, limits, unit, first_value, session_names, pairing } = reader.into_parts();
        Walk {
            blocks,
            format,
            limits,
            unit,
            first_value,
            session_names,
            each_max,
            steps: None,
            intervals: None,
            batch: Batch::new(),
            checks: Checks::new(pairing),
            findings: Findings::new(each_max),
            skipping: None,
            unreadable: 0,
        }
    }

    pub(super) fn run(mut self) -> Problems {
        if let Err(error) = self.tell_binary() {
            self.error(error);
        }
        let complete = loop {
            match self.block() {
                Then::More => {}
                Then::End => break true,
                Then::Stop => break false,
            }
        };
        if complete {
            self.sorted();
        }
        let in_container = self.steps.as_ref().is_some_and(Steps::saw_container);
        if complete && self.checks.ops() == 0 && !self.findings.has_errors() && !in_container {
            self.error(HistoryError::new(ErrorKind::NotAnOp, "it contains no op").expected(crate::ops::row::OP));
        }
        self.checks.finish(&mut self.findings);
        let (list, counts) = self.findings.finish();
        Problems {
            format: self.format,
            ops: self.checks.ops(),
            list,
            counts,
            complete,
            unmatched: self.checks.unmatched(),
        }
    }

    /// Checks the ops of the intervals, if all intervals could be read.
    fn sorted(&mut self) {
        let Some(mut intervals) = self.intervals.take() else { return };
        if self.findings.has_errors() {
            return;
        }
        if let Err(error) = intervals.sort(Some(self.checks.pairing())) {
            return self.error(error);
        }
        loop {
            self.batch.clear();
            match intervals.hand_out(&mut self.batch) {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => return self.error(error),
            }
            for i in 0..self.batch.len() {
                self.checks.op(&mut self.batch, i, None, &mut self.findings);
            }
        }
    }

    fn error(&mut self, error: HistoryError) {
        self.findings.add_error(error, &self.batch.tape.source, self.batch.starts_at);
    }

    /// Reports the op at the beginning of a block as too long.
    fn too_long(&mut self, block: &Block) {
        let text = &self.batch.tape.source;
        self.error(too_long(self.limits.op_bytes_max, self.format, text, block.start, block.place));
    }

    /// Detects whether the format is binary.
    fn tell_binary(&mut self) -> Result<(), HistoryError> {
        if self.format.is_none() {
            self.format = binary(self.blocks.head()?);
        }
        Ok(())
    }

    /// Checks the ops of another checker's format, up to the first that cannot be read: where to continue after it is
    /// unknown.
    fn peers(&mut self, mut peers: Peers) -> Then {
        loop {
            self.batch.clear();
            let read = peers.read(&mut self.blocks, &mut self.batch, &self.limits);
            for i in 0..self.batch.len() {
                self.checks.op(&mut self.batch, i, None, &mut self.findings);
            }
            match read {
                Ok(true) => {}
                Ok(false) => return Then::End,
                Err(error) => {
                    self.error(error);
                    return Then::Stop;
                }
            }
        }
    }

    /// Checks the next block.
    fn block(&mut self) -> Then {
        let names = std::mem::take(&mut self.session_names);
        if let Some(format) = self.format
            && let Some(peers) = Peers::new(format, self.first_value, names, &self.limits)
        {
            return self.peers(peers);
        }
        self.batch.clear();
        let block = match self.blocks.fill(self.batch.tape.source.to_mut()) {
            Ok(block) => block,
            Err(error) => {
                self.error(error);
                return Then::Stop;
            }
        };
        self.batch.starts_at = block.offset();
        let is_too_long = block.carried > self.limits.op_bytes_max;
        let format = match self.format {
            Some(format) => format,
            None if is_too_long => {
                self.too_long(&block);
                return Then::Stop;
            }
            None => match sniff(&self.batch.tape.source, &block) {
                Ok(Sniffed::Known(format)) => format,
                Ok(Sniffed::More(space)) => return self.keep(&block, block.start + space),
                Err(error) => {
                    self.error(error);
                    return Then::Stop;
                }
            },
        };
        self.format = Some(format);
        if format.is_of_sessions() {
            self.blocks.put_back(self.batch.tape.source.to_mut(), &block);
            return Then::More;
        }
        if self.first_value != FirstValue::OfFormat {
            self.error(no_first_value(format));
            return Then::Stop;
        }
        self.steps.get_or_insert_with(|| Steps::new(format));
        if format == Format::Intervals {
            self.intervals.get_or_insert_with(|| Box::new(Intervals::new(self.unit, 0)));
        }
        let mut from = block.start;
        if is_too_long {
            self.too_long(&block);
            self.unreadable += 1;
            let position = block.place.position();
            self.skipping = Some(Skip { column: self.column(from), mid_line: true, position, passed_ops: false });
        }
        if let Some(skip) = self.skipping.take() {
            match self.skip(skip, &block, format) {
                Ok(at) => from = at,
                Err(then) => return then,
            }
        }
        self.ops(&block, format, from)
    }

    fn column(&self, at: usize) -> usize {
        resync::column(&self.batch.tape.source, at)
    }

    fn keep(&mut self, block: &Block, consumed: usize) -> Then {
        self.blocks.keep(&self.batch.tape.source, block, consumed);
        if block.last { Then::End } else { Then::More }
    }

    /// Returns where the next op begins in a block, or what to do if there is none.
    fn skip(&mut self, skip: Skip, block: &Block, format: Format) -> Result<usize, Then> {
        let text = &self.batch.tape.source;
        let next = if skip.mid_line {
            match memchr::memchr(b'\n', &text.as_bytes()[block.start..]) {
                Some(end) => resync::next(text, format, block.start + end + 1, skip.column),
                None => Next::MidLine,
            }
        } else {
            resync::next(text, format, block.start, skip.column)
        };
        self.go_on(next, skip, block, block.start)
    }

    /// Continues after an op that cannot be read, with the text from `from` on.
    fn go_on(&mut self, next: Next, mut skip: Skip, block: &Block, from: usize) -> Result<usize, Then> {
        let consumed = match next {
            Next::At(at) => {
                if let Some(steps) = &mut self.steps {
                    steps.resume();
                }
                return Ok(at);
            }
            Next::Unclear(line) => line,
            Next::MidLine => block.end,
        };
        skip.mid_line = next == Next::MidLine;
        skip.passed_ops |= self.batch.tape.source[from.min(consumed)..consumed].contains('{');
        self.skipping = Some(skip);
        if block.last && skip.passed_ops {
            let message = "no later line begins an op, so the rest of the text was not checked";
            self.stopped(skip.position, message.into());
            return Err(Then::Stop);
        }
        Err(self.keep(block, consumed))
    }

    /// Checks the ops of a block, from `from` on.
    fn ops(&mut self, block: &Block, format: Format, mut from: usize) -> Then {
        // The block from the last op on: later places are counted from there.
        let mut left = *block;
        // The start of an op at which reading was tried a second time.
        let mut again = None;
        loop {
            let Some(steps) = &mut self.steps else { return Then::Stop };
            let scanned = steps.scan(&mut self.batch.tape, block, from);
            self.found(&mut left);
            let stop = match scanned {
                Ok(consumed) if block.last || consumed >= block.end => return self.keep(block, consumed),
                Ok(consumed) => Err(consumed),
                Err(stop) => Ok(stop),
            };
            let (start, reach) = match &stop {
                Err(start) => (*start, block.end),
                Ok(Stop { fault, start }) if fault.kind == FaultKind::Incomplete => (*start, block.end),
                Ok(Stop { fault, start }) => (*start, fault.at.unwrap_or(block.end)),
            };
            let next = match (resync::inside(&mut self.batch.tape, format, start, reach), stop) {
                (Some(at), _) => {
                    self.not_closed(&left, start, at);
                    Next::At(at)
                }
                (None, Err(consumed)) => return self.keep(block, consumed),
                (None, Ok(stop)) => self.unread(stop, reach, &left, format, &mut again),
            };
            self.unreadable += 1;
            let position = left.place_of(&self.batch.tape.source, reach).position();
            let skip = Skip { column: self.column(start), mid_line: false, position, passed_ops: false };
            match self.go_on(next, skip, block, reach) {
                Ok(at) => from = at,
                Err(then) => return then,
            }
            if self.unreadable > self.each_max {
                let message =
                    format!("{} ops could not be read; the rest of the text was not checked", self.unreadable);
                self.stopped(position, message);
                return Then::Stop;
            }
        }
    }

    /// Reports a value that cannot be read. Returns where to continue.
    fn unread(
        &mut self,
        Stop { fault, start }: Stop,
        reach: usize,
        left: &Block,
        format: Format,
        again: &mut Option<usize>,
    ) -> Next {
        let Some(steps) = &self.steps else { return Next::MidLine };
        let kind = fault.kind;
        let error = steps.sited(fault, &self.batch.tape.source, left);
        self.error(error);
        let text = &self.batch.tape.source;
        // The error may be before this op, for example a missing comma. Then the op is valid.
        if kind == FaultKind::Syntax && reach == start && text[start..].starts_with('{') && *again != Some(start) {
            *again = Some(start);
            return Next::At(start);
        }
        resync::after(text, format, start, reach)
    }

    fn stopped(&mut self, position: Position, message: String) {
        let text = (&*self.batch.tape.source, self.batch.starts_at);
        self.findings.add(Rule::Stopped, Some(position), text, || Remark::new(message));
    }

    fn not_closed(&mut self, left: &Block, start: usize, next: usize) {
        let text = &self.batch.tape.source;
        let (position, next) = (left.place_of(text, start).position(), left.place_of(text, next).position());
        let message = format!("this op is not closed before the next one begins in line {}", next.line);
        self.error(
            HistoryError::new(ErrorKind::Syntax, message).expected("its closing brackets and quotes").at(position),
        );
    }

    /// Checks the values that were found. Afterwards `left` begins with the last of them.
    fn found(&mut self, left: &mut Block) {
        let Some(steps) = &mut self.steps else { return };
        for found in steps.found() {
            left.place.advance(&self.batch.tape.source.as_bytes()[left.start..found.start]);
            left.start = found.start;
            let (place, position) = (left.place, left.place.position());
            if found.end - found.start > self.limits.op_bytes_max {
                let text = &self.batch.tape.source;
                let error = too_long(self.limits.op_bytes_max, self.format, text, found.start, place);
                self.findings.add_error(error, &self.batch.tape.source, self.batch.starts_at);
                continue;
            }
            if let Some(intervals) = &mut self.intervals {
                if let Err(error) = intervals.push(&self.batch.tape, *found, place, &self.limits) {
                    self.findings.add_error(error, &self.batch.tape.source, self.batch.starts_at);
                }
                continue;
            }
            match Row::read(&self.batch.tape, found.node, position, self.unit) {
                Ok(row) => {
                    self.batch.records.to_mut().push(row);
                    let i = self.batch.records.len() - 1;
                    self.checks.op(&mut self.batch, i, Some(found.node), &mut self.findings);
                }
                Err(fault) => {
                    let error = crate::text::read::fault_error(fault, place);
                    self.findings.add_error(error, &self.batch.tape.source, self.batch.starts_at);
                }
            }
        }
        steps.note_end(&self.batch.tape.source, left, left.start, left.place);
    }
}
