//! The run of the checker: each op is decoded once and becomes a row.

mod hidden;
mod unread;

use crate::analysis;
use crate::certain::Certain;
use crate::columns::messages::{
    INVOKED_NAMELESSLY, MAY_BE_SENT, Messages, POLLED_OK, SENT_AGAIN, SENT_FAIL, SENT_OK, is_aborted,
};
use crate::columns::sightings::Item;
use crate::columns::{Function, KeyId, MsgId, NO_OFFSET, OpId, Row};
use crate::decode;
use crate::kafka::Kafka;
use crate::seen::Seen;
use history_core::cast::Cast as _;
use history_core::{
    Budget, Expected, FunctionsInFlight, HistoryError, NAMELESS, NextStep, Op, OpFault, OpKind, OpUse, Pair, Report,
    Run, Verdict,
};
use std::ops::ControlFlow;

const EXPECTED: Expected = Expected {
    ops: ":send, :poll and :txn of [:send key message] and [:poll {key [[offset message]]}], :assign and :subscribe",
    observation: "ok :poll of a message, nor ok :send with an offset",
};

/// The maximum number of different causes of crashed ops that are kept.
const CAUSES_MAX: usize = 64;

/// An invocation that waits for its completion.
#[derive(Clone, Debug)]
struct Open {
    row: Row,
    /// Whether the invocation has a value.
    has_value: bool,
    /// Whether its completion was not understood.
    is_unread: bool,
    items: Vec<Item>,
}

pub(crate) struct LogRun {
    options: Kafka,
    seen: Seen,
    functions: FunctionsInFlight,
    /// By slot: the invocation in flight.
    open: Vec<Option<Open>>,
    /// Invocations whose clients are unknown, or whose completions are missing or were not understood.
    unanswered: Vec<Open>,
    /// The number of invocations that may send and whose clients are unknown, without those that may have completed.
    nameless_open: u64,
    /// Whether some invocation has no process.
    has_nameless: bool,
    violated: bool,
    items: Vec<Item>,
    /// Lists that can be reused for the items of later invocations.
    spare: Vec<Vec<Item>>,
    excused: Vec<KeyId>,
    scratch: Vec<MsgId>,
}

impl LogRun {
    pub(crate) fn new(options: Kafka) -> LogRun {
        LogRun {
            options,
            seen: Seen::default(),
            functions: FunctionsInFlight::default(),
            open: Vec::new(),
            unanswered: Vec::new(),
            nameless_open: 0,
            has_nameless: false,
            violated: false,
            items: Vec::new(),
            spare: Vec::new(),
            excused: Vec::new(),
            scratch: Vec::new(),
        }
    }

    fn take(&mut self, op: &Op<'_>) -> Result<OpUse, OpFault> {
        if op.kind != OpKind::Invoke {
            return self.complete(op);
        }
        let Some(function) = decode::function(op) else { return decode::other(op) };
        let mut items = self.decode(op, function)?;
        if op.value.is_nil() && matches!(function, Function::Send | Function::Txn) {
            self.hide(op);
        }
        for item in &mut items {
            if let Item::Send { msg, offset, .. } = item {
                *offset = NO_OFFSET;
                self.begin(*msg)?;
                if op.pair == Pair::Alone {
                    self.seen.messages.set(*msg, INVOKED_NAMELESSLY);
                }
            }
        }
        let mut row = Row::of(op, function, Some(self.seen.oks));
        (row.kind, row.invoked, row.invoked_time_ns) = (OpKind::Info, Some(op.index), op.time);
        self.items = self.spare.pop().unwrap_or_default();
        // The list has the capacity of the longest op so far.
        items.shrink_to_fit();
        let mut open = Open { row, has_value: !op.value.is_nil(), is_unread: false, items };
        match op.pair {
            Pair::Invokes { slot } => {
                let slot = slot.to_usize();
                if slot >= self.open.len() {
                    self.open.resize(slot + 1, None);
                }
                // The invocation in this slot never got a completion.
                self.unanswered.extend(self.open[slot].replace(open));
            }
            Pair::Alone | Pair::Completes { .. } => {
                self.nameless_open += u64::from(matches!(function, Function::Send | Function::Txn));
                (open.row.invoked, open.row.oks_before) = (None, None);
                self.unanswered.push(open);
            }
        }
        Ok(OpUse::Understood)
    }

    fn decode(&mut self, op: &Op<'_>, function: Function) -> Result<Vec<Item>, OpFault> {
        let mut items = std::mem::take(&mut self.items);
        items.clear();
        decode::items(op, function, &mut self.seen.messages, &mut items)?;
        // A run takes two words.
        if 2 * items.len() >= self.seen.ops.shown.room() {
            return Err(OpFault::limit("more than 2^31 messages sent and polled"));
        }
        Ok(items)
    }

    /// Records that an op sends a message.
    fn begin(&mut self, msg: MsgId) -> Result<(), OpFault> {
        let messages = &mut self.seen.messages;
        if messages.has(msg, MAY_BE_SENT) {
            return Err(sent_twice(messages, msg));
        }
        messages.set(msg, MAY_BE_SENT | if messages.has(msg, SENT_FAIL) { SENT_AGAIN } else { 0 });
        Ok(())
    }

    fn complete(&mut self, op: &Op<'_>) -> Result<OpUse, OpFault> {
        let invocation = self.take_open(op);
        let Some(function) = decode::function(op) else {
            let other = decode::other(op);
            if matches!(other, Err(OpFault::Undecodable(_))) && op.kind == OpKind::Fail {
                return Ok(self.ignore_failed(op, invocation));
            }
            // The client may continue after this op.
            self.abandon(invocation);
            return other;
        };
        let items = match verify_recorded(op, function, invocation.as_ref())
            .and_then(|()| self.completed(op, function, invocation.as_ref()))
        {
            Ok(items) => items,
            Err(OpFault::Undecodable(reason)) if op.kind == OpKind::Fail => {
                self.end_unread(op);
                self.seen.ignored.push(op, &reason, false);
                return Ok(self.ignore_failed(op, invocation));
            }
            Err(fault) => {
                self.abandon(invocation);
                return Err(fault);
            }
        };
        let oks_before = invocation.as_ref().and_then(|open| open.row.oks_before);
        let function = match &invocation {
            Some(Open { row: Row { function: Function::AssignFromStart, .. }, .. }) if function == Function::Assign => {
                Function::AssignFromStart
            }
            _ => function,
        };
        let observed = self.enter(&Row::of(op, function, oks_before), &items);
        if op.kind == OpKind::Info && !function.is_assignment() {
            self.note_cause(op);
        }
        self.items = items;
        self.spare.extend(invocation.map(|open| open.items));
        Ok(if observed { OpUse::Observed } else { OpUse::Understood })
    }

    /// Keeps an invocation whose completion is not understood: it may have happened.
    #[cold]
    fn abandon(&mut self, invocation: Option<Open>) {
        self.unanswered.extend(invocation.map(|open| Open { is_unread: true, ..open }));
    }

    fn take_open(&mut self, op: &Op<'_>) -> Option<Open> {
        let Pair::Completes { slot, invoked, .. } = op.pair else { return None };
        self.open.get_mut(slot.to_usize())?.take().filter(|open| open.row.index == invoked)
    }

    /// The items of a completion; if it has no value, those of its invocation.
    fn completed(&mut self, op: &Op<'_>, function: Function, invocation: Option<&Open>) -> Result<Vec<Item>, OpFault> {
        // An op that is not understood must leave no trace.
        self.excused.clear();
        decode::rebalanced(op, &mut self.seen.messages, &mut self.excused)?;
        let mut items = self.decode(op, function)?;
        let is_hidden = invocation.is_some_and(|open| self.is_hidden(open));
        match invocation {
            Some(open) if op.value.is_nil() => items.extend_from_slice(&open.items),
            Some(open) if !is_hidden => {
                add_omitted_sends(&mut items, open, op.kind)?;
                verify_polls(&items, open, op.kind)?;
            }
            _ => {
                for msg in items.iter().filter_map(sent) {
                    self.begin_at_completion(op, msg)?;
                }
            }
        }
        if let Some(open) = invocation
            && (!op.value.is_nil() || op.kind == OpKind::Fail)
        {
            self.reveal(open);
        }
        self.see_unrecorded(op, function, invocation);
        Ok(items)
    }

    /// Records that an op sends a message which its invocation does not contain. If the invocation of the op is
    /// unknown, the message may be that of an operation in flight.
    fn begin_at_completion(&mut self, op: &Op<'_>, msg: MsgId) -> Result<(), OpFault> {
        let messages = &self.seen.messages;
        let is_in_flight = messages.has(msg, MAY_BE_SENT) && messages.writer(msg).is_none() && op.pair == Pair::Alone;
        if op.kind != OpKind::Fail {
            return if is_in_flight { Ok(()) } else { self.begin(msg) };
        }
        // A failed send may be repeated. But an op that may have happened may have sent the message, unless this is the
        // completion of that op.
        let is_other = messages.has(msg, MAY_BE_SENT) && !(is_in_flight && messages.has(msg, INVOKED_NAMELESSLY));
        if is_other { Err(sent_twice(messages, msg)) } else { Ok(()) }
    }

    /// Adds a row. Returns true if it shows a message in a log.
    fn enter(&mut self, row: &Row, items: &[Item]) -> bool {
        let excused = std::mem::take(&mut self.excused);
        let is_excused = |key: KeyId| !excused.is_empty() && excused.binary_search(&key).is_ok();
        let op = OpId::new(self.seen.ops.len());
        // If the invocation is unknown, an op that completes later may have sent a message that this op polls. So may
        // an op that was not understood, or one that does not record what it sends.
        let knows_senders = row.oks_before.is_some() && self.seen.first_unknown().is_none();
        let mut certain = Certain::new(&mut self.seen.messages, (op, row.kind), knows_senders);
        certain.look(items, is_excused, &mut self.scratch);
        self.violated |= certain.violated;
        let shows = certain.shows && row.kind == OpKind::Ok;
        if row.oks_before.is_none() && row.kind != OpKind::Fail {
            self.seen.first_uninvoked.get_or_insert(row.index);
        }
        if !self.seen.related && row.kind != OpKind::Fail {
            self.relate(op, items);
        }
        let messages = &mut self.seen.messages;
        self.seen.ops.push(row);
        self.seen.ops.shown.push(items, messages, is_excused);
        for item in items {
            if let Item::Send { msg, .. } = item {
                // The message has another writer now, so earlier polls of it are not settled any more.
                self.seen.sent_after_ok |= messages.has(*msg, SENT_OK);
                messages.set_writer(*msg, op);
                match row.kind {
                    OpKind::Ok => messages.set(*msg, SENT_OK),
                    OpKind::Fail => {
                        messages.clear(*msg, MAY_BE_SENT);
                        messages.set(*msg, SENT_FAIL);
                        self.seen.failed.push((*msg, op));
                        self.violated |=
                            knows_senders && messages.has(*msg, POLLED_OK) && is_aborted(messages.flags(*msg));
                    }
                    OpKind::Info | OpKind::Invoke => {}
                }
            }
        }
        self.seen.oks += u32::from(row.kind == OpKind::Ok);
        self.excused = excused;
        shows
    }

    /// Records whether an op has a log in common with an earlier op.
    fn relate(&mut self, op: OpId, items: &[Item]) {
        for item in items {
            if let Item::Polled(key) | Item::Send { key, .. } = *item {
                self.seen.related |= *self.seen.first_of.entry(key).or_insert(op) != op;
            }
        }
    }

    #[cold]
    fn note_cause(&mut self, op: &Op<'_>) {
        let Some(error) = op.extra.get("error") else { return };
        let text = error.to_string();
        if self.seen.causes.len() < CAUSES_MAX || self.seen.causes.contains_key(&text) {
            *self.seen.causes.entry(text).or_default() += 1;
        }
    }

    /// Adds rows for operations without a completion: they may have happened.
    fn push_unanswered(&mut self) {
        let mut rest: Vec<Open> = std::mem::take(&mut self.unanswered);
        rest.extend(std::mem::take(&mut self.open).into_iter().flatten());
        // An invocation without a process belongs to the completion that sent the same message, if there is one.
        let is_answered =
            |item: &Item| matches!(item, Item::Send { msg, .. } if self.seen.messages.writer(*msg).is_some());
        rest.retain(|open| {
            let sends = open.items.iter().any(|item| matches!(item, Item::Send { .. }));
            sends && (open.row.oks_before.is_some() || !open.items.iter().any(is_answered))
        });
        rest.sort_unstable_by_key(|open| open.row.index);
        for open in &rest {
            self.excused.clear();
            if open.is_unread {
                // Other ops of its process may have followed it.
                self.seen.lapses.push((OpId::new(self.seen.ops.len()), open.row.process));
            }
            self.enter(&open.row, &open.items);
        }
    }
}

#[cold]
fn sent_twice(messages: &Messages, msg: MsgId) -> OpFault {
    let (value, key) = (messages.datum(msg), messages.key_datum(messages.key(msg)));
    OpFault::Blocking(format!(
        "{value} is sent to {key} a second time: the messages of a log must differ, so that each has one place"
    ))
}

/// Verifies that the invocation or the completion of an ok op records its content. Otherwise an acknowledged message
/// may be lost, and the position of the client is unknown after the op.
fn verify_recorded(op: &Op<'_>, function: Function, invocation: Option<&Open>) -> Result<(), OpFault> {
    if op.kind != OpKind::Ok || !op.value.is_nil() {
        return Ok(());
    }
    let polls = |open: &Open| open.items.iter().any(|item| matches!(item, Item::Poll));
    let expected = match invocation {
        // An invocation does not contain the result of a poll.
        Some(open) if open.has_value && !polls(open) => return Ok(()),
        _ if function.is_assignment() => "a vector of keys",
        _ => "a vector of micro-ops",
    };
    Err(OpFault::Undecodable(format!("expected {expected}, found nil")))
}

/// The message that an item sends.
fn sent(item: &Item) -> Option<MsgId> {
    if let Item::Send { msg, .. } = item { Some(*msg) } else { None }
}

/// Verifies that an ok op contains the polls of its invocation. Otherwise it may have polled any message.
fn verify_polls(items: &[Item], open: &Open, kind: OpKind) -> Result<(), OpFault> {
    let polls = |items: &[Item]| items.iter().filter(|item| matches!(item, Item::Poll)).count();
    let (found, expected) = (polls(items), polls(&open.items));
    if kind != OpKind::Ok || found >= expected {
        return Ok(());
    }
    let index = open.row.index;
    Err(OpFault::Undecodable(format!(
        "the op has fewer polls ({found}) than its invocation at index {index} ({expected}): a completion repeats the polls"
    )))
}

/// Adds the sends of the invocation that a completion omits. A crashed or failed op may have results for only some of
/// its sends.
fn add_omitted_sends(items: &mut Vec<Item>, open: &Open, kind: OpKind) -> Result<(), OpFault> {
    if open.items.iter().filter_map(sent).eq(items.iter().filter_map(sent)) {
        return Ok(());
    }
    *items = with_omitted_sends(items, &open.items).filter(|_| kind != OpKind::Ok).ok_or_else(|| {
        let index = open.row.index;
        OpFault::Undecodable(format!(
            "the op's sends differ from those of its invocation at index {index}: a completion repeats the sends in their order"
        ))
    })?;
    Ok(())
}

/// The items of a completion, with the sends of its invocation that it omits, in the order of the invocation. Other
/// items between two sends stay after the first of them. `None` if the completion has other sends, or another order.
#[cold]
fn with_omitted_sends(completed: &[Item], invoked: &[Item]) -> Option<Vec<Item>> {
    let mut all = Vec::new();
    let mut completed = completed.iter().copied().peekable();
    for item in invoked.iter().filter(|item| sent(item).is_some()) {
        while let Some(other) = completed.next_if(|item| sent(item).is_none()) {
            all.push(other);
        }
        all.push(completed.next_if(|next| sent(next) == sent(item)).unwrap_or(*item));
    }
    all.extend(completed);
    let sends = |items: &[Item]| items.iter().filter(|item| sent(item).is_some()).count();
    (sends(&all) == sends(invoked)).then_some(all)
}

impl Run for LogRun {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        if !self.seen.ops.participants.see(op) {
            return Ok(ControlFlow::Continue(()));
        }
        self.seen.clients += 1;
        let understood = self.functions.see(op).map_err(OpFault::Undecodable);
        if understood.is_err() {
            let invocation = self.take_open(op);
            self.abandon(invocation);
        }
        let (reason, stops) = match understood.and_then(|()| self.take(op)) {
            Ok(op_use) => {
                let is_understood = op_use != OpUse::PassedOver;
                self.has_nameless |= is_understood && op.kind == OpKind::Invoke && op.pair == Pair::Alone;
                self.seen.coverage.count(op, op_use);
                if !self.seen.unread.is_empty() {
                    self.end_unread(op);
                }
                return Ok(ControlFlow::Continue(()));
            }
            Err(OpFault::Undecodable(reason)) => (reason, false),
            Err(OpFault::Blocking(reason)) => (reason, true),
            Err(OpFault::Error(error)) => return Err(error),
        };
        self.seen.coverage.count(op, OpUse::PassedOver);
        self.note_undecoded(op, &reason, stops);
        Ok(if stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn is_violated(&self) -> bool {
        self.violated
    }

    fn violation(&self) -> Option<Report> {
        let report = || {
            let mut report = analysis::report(&self.seen, self.options, false, &Budget::default());
            self.seen.coverage.add_counts(&mut report);
            report
        };
        self.violated.then(report)
    }

    fn finish_early(mut self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        self.settle_all_unread();
        self.settle_hidden();
        Ok(self.conclude(false, budget))
    }

    fn finish(mut self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        self.settle_all_unread();
        self.push_unanswered();
        self.settle_hidden();
        // An op that was not understood may have polled the messages that are missing, and sent those that no op is
        // known to have sent.
        let is_whole = self.seen.first_undecoded.is_none();
        Ok(self.conclude(is_whole, budget))
    }
}

impl LogRun {
    fn conclude(&self, is_whole: bool, budget: &Budget) -> Report {
        let mut report = analysis::report(&self.seen, self.options, is_whole, budget);
        if self.seen.ignored_ops == self.seen.clients && report.verdict != Verdict::Invalid {
            // All ops belong to another workload.
            self.seen.ignored.conclude(&mut report);
        }
        self.seen.coverage.conclude(&EXPECTED, &mut report);
        if report.verdict == Verdict::Valid {
            for doubt in self.doubts() {
                report.verdict = Verdict::Unknown;
                report.notes.push(doubt);
            }
            if self.has_nameless {
                let (note, what) = NAMELESS;
                report.verdict = Verdict::Unknown;
                report.notes.insert(0, note.to_owned());
                report.add_next(NextStep::new(what));
            }
        }
        report
    }

    /// The reasons why a history without violations is unknown.
    fn doubts(&self) -> impl Iterator<Item = String> {
        let unrelated = (!self.seen.related)
            .then(|| "No two ops are about the same log, so nothing could have been wrong.".to_owned());
        // Invocations without a process have a note of their own.
        let untimed = self.seen.first_uninvoked.filter(|_| !self.has_nameless).map(|index| {
            format!(
                "The invocation of the op at index {index} is unknown, so it is unknown whether the history agrees with real time."
            )
        });
        unrelated.into_iter().chain(untimed)
    }
}
