//! Polls and sends that skip messages or go back: within an op, and between consecutive ops of a process.

mod position;

use crate::columns::sightings::{Ahead, Role, Word};
use crate::columns::{Function, KeyId, MsgId, OpId, Ops};
use crate::direct::Found;
use crate::scene::{Evidence, Scene};
use history_core::cast::Cast as _;
use history_core::{Datum, IntMap, OpKind};
use position::{Last, Nameless, Position};
use std::cmp::Reverse;

/// Types of anomalies of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Jump {
    IntPollSkip,
    IntNonmonotonicPoll,
    IntSendSkip,
    IntNonmonotonicSend,
    PollSkip,
    NonmonotonicPoll,
    NonmonotonicSend,
}

impl Jump {
    pub(crate) const ALL: [Jump; 7] = [
        Jump::IntPollSkip,
        Jump::IntNonmonotonicPoll,
        Jump::IntSendSkip,
        Jump::IntNonmonotonicSend,
        Jump::PollSkip,
        Jump::NonmonotonicPoll,
        Jump::NonmonotonicSend,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Jump::IntPollSkip => "int-poll-skip",
            Jump::IntNonmonotonicPoll => "int-nonmonotonic-poll",
            Jump::IntSendSkip => "int-send-skip",
            Jump::IntNonmonotonicSend => "int-nonmonotonic-send",
            Jump::PollSkip => "poll-skip",
            Jump::NonmonotonicPoll => "nonmonotonic-poll",
            Jump::NonmonotonicSend => "nonmonotonic-send",
        }
    }

    /// Returns true if both messages belong to one op.
    pub(crate) fn is_within_op(self) -> bool {
        !matches!(self, Jump::PollSkip | Jump::NonmonotonicPoll | Jump::NonmonotonicSend)
    }

    fn is_skip(self) -> bool {
        matches!(self, Jump::IntPollSkip | Jump::IntSendSkip | Jump::PollSkip)
    }

    fn is_send(self) -> bool {
        matches!(self, Jump::IntSendSkip | Jump::IntNonmonotonicSend | Jump::NonmonotonicSend)
    }
}

/// Two messages that are not adjacent, although they should be.
#[derive(Clone, Copy, Debug)]
struct Pair {
    /// The ops that show them: the same op twice, or two ops of one process.
    ops: (OpId, OpId),
    messages: (MsgId, MsgId),
    /// The distance from the first message to the second one in the log.
    delta: i64,
}

/// The pairs found.
#[derive(Debug, Default)]
pub(crate) struct Jumps {
    /// By [`Jump`].
    found: [Vec<Pair>; 7],
    /// By [`Jump`]: whether some pair would not be an anomaly if an op without a process belonged to the same client.
    doubted: [bool; 7],
}

/// The comparison of the polls, or of the sends, of ops.
struct Side {
    role: Role,
    skip: Jump,
    back: Jump,
    /// The type of skips between ops; sends have none.
    next_skip: Option<Jump>,
    next_back: Jump,
    /// By key: the last op with a message of the key, and this message.
    last: Vec<(OpId, MsgId)>,
    /// By number of the process: its position.
    positions: Vec<Position>,
    /// The ops without a process.
    nameless: Nameless,
    /// The last message of each segment of the current op.
    ends: Vec<(KeyId, MsgId)>,
}

/// The current op.
#[derive(Clone, Copy)]
struct Actor {
    op: OpId,
    /// The number of its process, if that is known.
    number: Option<usize>,
}

impl Side {
    fn new(role: Role, keys: usize) -> Side {
        let is_poll = role == Role::Polled;
        Side {
            role,
            skip: if is_poll { Jump::IntPollSkip } else { Jump::IntSendSkip },
            back: if is_poll { Jump::IntNonmonotonicPoll } else { Jump::IntNonmonotonicSend },
            next_skip: is_poll.then_some(Jump::PollSkip),
            next_back: if is_poll { Jump::NonmonotonicPoll } else { Jump::NonmonotonicSend },
            last: vec![(OpId::NONE, MsgId::NONE); keys],
            positions: Vec::new(),
            nameless: Nameless::new(keys),
            ends: Vec::new(),
        }
    }

    /// Processes the next op that is not an assignment.
    fn take(&mut self, scene: Scene<'_>, actor: Actor, jumps: &mut Jumps) {
        let (ops, op) = (&scene.seen.ops, actor.op);
        let kind = ops.kind(op);
        let (looks, moves) = match self.role {
            Role::Polled => (true, kind == OpKind::Ok),
            _ => (kind != OpKind::Fail, kind != OpKind::Fail),
        };
        self.ends.clear();
        // Whether the messages of the op are compared with each other, which only matters without a process.
        let mut is_placed = actor.number.is_none();
        for (segment, range) in ops.segments(op).filter(|(segment, _)| segment.role() == self.role) {
            let key = segment.key();
            let looks_within = self.role == Role::Sent || !segment.is_excused();
            let before =
                actor.number.filter(|_| looks).and_then(|number| self.positions.get(number)?.get(key, &self.nameless));
            let mut meet = |msg: MsgId, end: MsgId| {
                let (last_op, last) = std::mem::replace(&mut self.last[key.at()], (op, end));
                if last_op != op {
                    if let Some(before) = before {
                        jumps.compare_next(scene, before, (op, msg), self.next_skip, self.next_back);
                    }
                } else if looks_within {
                    jumps.compare(scene, op, (last, msg), self.skip, self.back);
                }
            };
            is_placed &= looks_within;
            for (_, word) in ops.shown.words(range) {
                if let Word::Other(msg) = word {
                    is_placed = is_placed && scene.logs.index(msg).is_some();
                }
                match word {
                    Word::Settled(msg) | Word::Other(msg) => meet(msg, msg),
                    Word::Run(first, ahead) => {
                        if let Some(end) = whole_run(scene, key, first, ahead) {
                            meet(first, end);
                        } else {
                            meet(first, first);
                            let messages = &scene.seen.messages;
                            Ahead::of(first, ahead, messages).each(messages, |seen| meet(seen.msg, seen.msg));
                        }
                    }
                }
            }
            if self.last[key.at()].0 == op {
                self.ends.push((key, self.last[key.at()].1));
            }
        }
        if !moves || self.ends.is_empty() {
            return;
        }
        let Some(number) = actor.number else {
            self.ends.iter().for_each(|(key, _)| self.nameless.show(*key, is_placed));
            return;
        };
        if number >= self.positions.len() {
            self.positions.resize_with(number + 1, Position::default);
        }
        for (key, msg) in &self.ends {
            self.positions[number].insert(*key, op, *msg, &self.nameless);
        }
    }

    /// Clears the position of a process after an op that was not understood; those of all processes, if the process of
    /// the op is unknown. The next op of the process that shows a message sets the position again.
    fn lose(&mut self, number: Option<usize>, is_of_anyone: bool) {
        if is_of_anyone {
            self.positions.clear();
        } else if let Some(position) = number.and_then(|number| self.positions.get_mut(number)) {
            position.clear();
        }
    }

    /// Processes an assignment: keys that it does not list have no position any more; after a seek to the beginning,
    /// none has. Without a process, it may be an assignment of any process.
    fn assign(&mut self, ops: &Ops, actor: Actor, scratch: &mut Vec<KeyId>) {
        let op = actor.op;
        match ops.kind(op) {
            OpKind::Ok | OpKind::Info => {}
            OpKind::Fail | OpKind::Invoke => return,
        }
        scratch.clear();
        if ops.function(op) != Function::AssignFromStart || self.role == Role::Sent {
            scratch.extend(ops.segments(op).map(|(segment, _)| segment.key()));
            scratch.sort_unstable();
            scratch.dedup();
        }
        let Some(number) = actor.number else { return self.nameless.keep_only(scratch) };
        if let Some(position) = self.positions.get_mut(number) {
            position.retain(|key| scratch.binary_search(&key).is_ok());
        }
    }
}

/// The last message of a run, if no other message of the log is between its messages.
///
/// If no message and no offset of a log is ambiguous, the places of a run ascend; so its messages are adjacent exactly
/// if their number is that of the places from the first to the last.
fn whole_run(scene: Scene<'_>, key: KeyId, first: MsgId, ahead: u32) -> Option<MsgId> {
    if scene.logs.is_blurred(key) {
        return None;
    }
    let messages = &scene.seen.messages;
    let last = messages.at(key, Ahead::of(first, ahead, messages).last_offset())?;
    (scene.logs.delta(first, last)? == i64::from(ahead.count_ones())).then_some(last)
}

impl Jumps {
    /// Finds all jumps. O(messages sent and polled).
    pub(crate) fn find(scene: Scene<'_>) -> Jumps {
        let ops = &scene.seen.ops;
        let keys = scene.seen.messages.keys();
        let mut sides = [Side::new(Role::Polled, keys), Side::new(Role::Sent, keys)];
        let mut jumps = Jumps::default();
        let mut scratch = Vec::new();
        let mut numbers: IntMap<usize> = IntMap::default();
        let mut lapses = scene.seen.lapses.iter().peekable();
        for op in ops.ids() {
            while let Some((_, process)) = lapses.next_if(|(before, _)| *before <= op) {
                let number = process.and_then(|process| numbers.get(process).copied());
                for side in &mut sides {
                    side.lose(number, process.is_none());
                }
            }
            let number = ops.process(op).map(|process| {
                let next = numbers.len();
                numbers.get(process).copied().unwrap_or_else(|| {
                    numbers.insert(process, next);
                    next
                })
            });
            let actor = Actor { op, number };
            for side in &mut sides {
                if ops.function(op).is_assignment() {
                    side.assign(ops, actor, &mut scratch);
                } else {
                    side.take(scene, actor, &mut jumps);
                }
            }
        }
        jumps
    }

    /// Compares two neighbouring messages of an op.
    #[inline]
    fn compare(&mut self, scene: Scene<'_>, op: OpId, messages: (MsgId, MsgId), skip: Jump, back: Jump) {
        if let Some((jump, delta)) = jump(scene, messages, Some(skip), back) {
            self.found[jump_at(jump)].push(Pair { ops: (op, op), messages, delta });
        }
    }

    /// Compares the last message of a process with its next one.
    #[inline]
    fn compare_next(&mut self, scene: Scene<'_>, last: Last, (op, msg): (OpId, MsgId), skip: Option<Jump>, back: Jump) {
        let messages = (last.msg, msg);
        let Some((jump, delta)) = jump(scene, messages, skip, back) else { return };
        let is_certain = if jump.is_skip() { last.skip_is_certain } else { last.back_is_certain };
        if is_certain {
            self.found[jump_at(jump)].push(Pair { ops: (last.op, op), messages, delta });
        } else {
            self.doubted[jump_at(jump)] = true;
        }
    }

    /// Returns true if some pair would not be an anomaly of a type if an op without a process belonged to the same
    /// client.
    pub(crate) fn is_doubted(&self, jump: Jump) -> bool {
        self.doubted[jump_at(jump)]
    }

    /// The anomalies of a type, the worst first.
    pub(crate) fn found(&self, scene: Scene<'_>, jump: Jump, shown_max: usize) -> Found {
        let all = &self.found[jump_at(jump)];
        let mut shown: Vec<&Pair> = all.iter().collect();
        if jump.is_skip() {
            shown.sort_by_key(|pair| Reverse(pair.delta));
        } else {
            shown.sort_by_key(|pair| pair.delta);
        }
        (all.len(), shown.into_iter().take(shown_max).map(|pair| evidence(scene, jump, pair)).collect())
    }
}

/// The anomaly of two messages that should be adjacent, with their distance. If the place of one is unknown, they
/// cannot be compared.
#[inline]
fn jump(scene: Scene<'_>, messages: (MsgId, MsgId), skip: Option<Jump>, back: Jump) -> Option<(Jump, i64)> {
    let delta = scene.logs.delta(messages.0, messages.1)?;
    let jump = match delta {
        1 => None,
        2.. => skip,
        _ => Some(back),
    };
    jump.map(|jump| (jump, delta))
}

fn jump_at(jump: Jump) -> usize {
    Jump::ALL.iter().position(|other| *other == jump).unwrap_or_default()
}

/// The maximum number of skipped messages of which a witness names the ops that show them.
const SHOWN_SKIPPED_MAX: usize = 1;

/// The maximum number of skipped messages in a fact.
const LISTED_MAX: u32 = 32;

fn evidence(scene: Scene<'_>, jump: Jump, pair: &Pair) -> Evidence {
    let (one, next) = pair.messages;
    let key = scene.seen.messages.key(one);
    let ops = if pair.ops.0 == pair.ops.1 { vec![pair.ops.0] } else { vec![pair.ops.0, pair.ops.1] };
    let (a, b) = ("T1", if ops.len() == 1 { "then" } else { "T2" });
    let verb = if jump.is_send() { "sent" } else { "polled" };
    let values = vec![scene.message(one), scene.message(next)];
    let (place, next_place) = (scene.placed(one), scene.placed(next));
    let key_name = scene.key(key);
    let mut evidence =
        Evidence::new(scene, key, ops).fact("values", values).fact("delta", Datum::Int(pair.delta)).sentence(format!(
            "{a} {verb} {place} {} {key_name}, and {b} {} {next_place}",
            if jump.is_send() { "to" } else { "from" },
            if b == "then" { "next" } else { verb },
        ));
    if jump.is_skip() {
        let (from, to) = (scene.logs.index(one).unwrap_or_default(), scene.logs.index(next).unwrap_or_default());
        let entries = || (from + 1..to).map(|index| scene.logs.chosen(key, index));
        let skipped: Vec<MsgId> = entries().take(LISTED_MAX.to_usize()).map(|entry| entry.msg).collect();
        evidence = evidence.fact("skipped", skipped.iter().map(|msg| scene.message(*msg)).collect::<Vec<_>>());
        for entry in entries().take(SHOWN_SKIPPED_MAX) {
            let name = evidence.name(entry.op);
            evidence.sentences.push(format!("{name} shows {} at offset {}", scene.message(entry.msg), entry.offset));
        }
        let left = (to - from - 1).to_usize() - skipped.len();
        let more = if left == 0 { String::new() } else { format!(" and {left} more") };
        evidence.sentences.push(format!("Skipped messages between them: {}{more}", scene.list(&skipped)));
        evidence = evidence.around(scene, &skipped[..skipped.len().min(1)]);
    } else {
        let (one, next) = (scene.message(one), scene.message(next));
        let sentence = if one == next {
            format!("That is {one} again")
        } else {
            format!("{next} has a lower offset than {one} in the log")
        };
        evidence.sentences.push(sentence);
    }
    evidence.around(scene, &[one, next]).prove_places(scene, &[one, next])
}
