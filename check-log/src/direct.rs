//! Anomalies of single messages or offsets: aborted reads, garbage, duplicates, inconsistent offsets.

use crate::columns::messages::{POLLED, POLLED_OK, SENT_FAIL, is_aborted};
use crate::columns::sightings::{Role, Word};
use crate::columns::{Function, MsgId, OpId};
use crate::logs::Entry;
use crate::scene::{Evidence, Scene};
use history_core::{Datum, OpKind};

/// Anomalies of one type: their number, and the first or worst of them.
pub(crate) type Found = (usize, Vec<Evidence>);

/// Calls `call` for each message that an op polled, in order.
pub(crate) fn each_polled(scene: Scene<'_>, mut call: impl FnMut(OpId, MsgId)) {
    for op in scene.seen.ops.ids() {
        each_of(scene, op, Role::Polled, |msg| call(op, msg));
    }
}

/// Calls `call` for each message that an op polled, unless it was settled at the poll and still is: an `ok` op had sent
/// it, and no other op ever sent it.
pub(crate) fn each_polled_unsettled(scene: Scene<'_>, mut call: impl FnMut(OpId, MsgId)) {
    for op in scene.seen.ops.ids() {
        each_of_unsettled(scene, op, |msg| call(op, msg));
    }
}

fn each_of_unsettled(scene: Scene<'_>, op: OpId, mut call: impl FnMut(MsgId)) {
    if scene.seen.sent_after_ok {
        return each_of(scene, op, Role::Polled, call);
    }
    let ops = &scene.seen.ops;
    for (segment, range) in ops.segments(op) {
        if segment.role() == Role::Polled {
            for (_, word) in ops.shown.words(range) {
                if let Word::Other(msg) = word {
                    call(msg);
                }
            }
        }
    }
}

/// Calls `call` for each message that an op sent or polled, in order.
pub(crate) fn each_of(scene: Scene<'_>, op: OpId, role: Role, mut call: impl FnMut(MsgId)) {
    for (segment, range) in scene.seen.ops.segments(op) {
        if segment.role() == role {
            scene.sightings(range).for_each(|seen| call(seen.msg));
        }
    }
}

/// G1a: an `ok` op polled a message of a failed one. If the message was sent again before that poll ended, it may be
/// that of the other op.
pub(crate) fn aborted_reads(scene: Scene<'_>, shown_max: usize) -> Found {
    if scene.seen.failed.is_empty() {
        return Found::default();
    }
    let (ops, messages) = (&scene.seen.ops, &scene.seen.messages);
    let mut failed = scene.seen.failed.clone();
    failed.sort_unstable();
    let mut found: Vec<(MsgId, OpId)> = Vec::new();
    each_polled_unsettled(scene, |reader, msg| {
        // An op that could not be decoded may also have sent the message.
        let is_known = || scene.seen.first_unknown().is_none_or(|first| ops.index(reader) < first);
        if !ops.is_ok(reader) || !messages.has(msg, SENT_FAIL) || !is_known() {
            return;
        }
        let began_later = |writer: OpId| {
            ops.kind(writer) != OpKind::Fail && ops.invoked(writer).is_some_and(|invoked| invoked > ops.index(reader))
        };
        if is_aborted(messages.flags(msg)) || messages.writer(msg).is_some_and(began_later) {
            found.push((msg, reader));
        }
    });
    let evidence = |(msg, reader): &(MsgId, OpId)| {
        let writer = failed[failed.partition_point(|entry| entry.0 < *msg)].1;
        let key = messages.key(*msg);
        let value = scene.message(*msg);
        Evidence::new(scene, key, vec![writer, *reader])
            .fact("value", value.clone())
            .sentence(format!("T1 sent {value} to {} and failed, so the message must never be seen", scene.key(key)))
            .sentence(format!("T2 is ok and polled {value}"))
            .around(scene, &[*msg])
    };
    (found.len(), found.iter().take(shown_max).map(evidence).collect())
}

/// Messages that were polled and that no op sent. An op that failed or crashed may poll a message of a failed send.
pub(crate) fn phantoms(scene: Scene<'_>, shown_max: usize) -> Found {
    let messages = &scene.seen.messages;
    let flag = if scene.seen.unrecorded_failures.is_empty() { POLLED } else { POLLED_OK };
    let is_phantom = |msg: &MsgId| messages.has(*msg, flag) && messages.is_unsent(*msg);
    let found: Vec<MsgId> = messages.ids().filter(is_phantom).collect();
    if found.is_empty() {
        return Found::default();
    }
    // The first reader of each message.
    let mut readers = vec![OpId::NONE; found.len()];
    each_polled_unsettled(scene, |op, msg| {
        if let Ok(at) = found.binary_search(&msg)
            && readers[at] == OpId::NONE
        {
            readers[at] = op;
        }
    });
    let evidence = |(msg, reader): (&MsgId, &OpId)| {
        let (key, value) = (messages.key(*msg), scene.message(*msg));
        Evidence::new(scene, key, vec![*reader])
            .fact("value", value.clone())
            .sentence(format!(
                "T1 polled {value} from {}, and no op of the history sends {value} there",
                scene.key(key)
            ))
            .around(scene, &[*msg])
    };
    (found.len(), found.iter().zip(&readers).take(shown_max).map(evidence).collect())
}

/// Ops that polled messages which they sent themselves: one anomaly per op and key.
pub(crate) fn precommitted_reads(scene: Scene<'_>, shown_max: usize) -> Found {
    let (ops, messages) = (&scene.seen.ops, &scene.seen.messages);
    let mut found: Vec<(OpId, MsgId)> = Vec::new();
    let mut sent: Vec<MsgId> = Vec::new();
    for op in ops.ids().filter(|op| ops.function(*op) == Function::Txn) {
        sent.clear();
        each_of(scene, op, Role::Sent, |msg| sent.push(msg));
        if sent.is_empty() {
            continue;
        }
        sent.sort_unstable();
        let first = found.len();
        // A message that was settled before the op ended was not sent by the op itself.
        each_of_unsettled(scene, op, |msg| {
            let is_new = |(_, other): &(OpId, MsgId)| messages.key(*other) != messages.key(msg);
            if sent.binary_search(&msg).is_ok() && found[first..].iter().all(is_new) {
                found.push((op, msg));
            }
        });
    }
    let evidence = |(op, msg): &(OpId, MsgId)| {
        let (key, value) = (messages.key(*msg), scene.message(*msg));
        Evidence::new(scene, key, vec![*op])
            .fact("value", value.clone())
            .sentence(format!(
                "T1 sent {value} to {} and polled it in the same {}: what it sends is not visible before it commits",
                scene.key(key),
                scene.noun(*op)
            ))
            .around(scene, &[*msg])
    };
    (found.len(), found.iter().take(shown_max).map(evidence).collect())
}

/// Messages at several offsets, those with the fewest offsets first.
pub(crate) fn duplicates(scene: Scene<'_>, blurred: &[Entry], shown_max: usize) -> Found {
    let runs = blurred.chunk_by(|a, b| a.msg == b.msg);
    let mut found: Vec<&[Entry]> = runs.filter(|run| run.len() > 1).collect();
    found.sort_by_key(|run| run.len());
    let evidence = |run: &&[Entry]| {
        let msg = run[0].msg;
        let (key, value) = (scene.seen.messages.key(msg), scene.message(msg));
        let offsets: Vec<Datum> = run.iter().map(|entry| Datum::Int(entry.offset)).collect();
        let mut evidence = Evidence::new(scene, key, Vec::new())
            .fact("value", value.clone())
            .fact("count", Datum::Int(i64::try_from(run.len()).unwrap_or(i64::MAX)))
            .fact("offsets", offsets);
        for entry in run.iter().take(3) {
            let name = evidence.name(entry.op);
            let (offset, key) = (entry.offset, scene.key(key));
            evidence.sentences.push(format!("{name} shows {value} at offset {offset} of {key}"));
        }
        evidence.sentences.push(format!("So {value} is at {} offsets, although it was sent once", run.len()));
        evidence.place = Some((key, run.iter().take(3).map(|entry| entry.offset).collect()));
        evidence
    };
    (found.len(), found.iter().take(shown_max).map(evidence).collect())
}

/// Offsets with several messages, those with the fewest messages first.
pub(crate) fn inconsistent_offsets(scene: Scene<'_>, shown_max: usize) -> Found {
    let mut found = scene.logs.crowds();
    found.sort_by_key(Vec::len);
    let evidence = |run: &Vec<Entry>| {
        let (key, offset) = (scene.seen.messages.key(run[0].msg), run[0].offset);
        let values: Vec<Datum> = run.iter().take(shown_max).map(|entry| scene.message(entry.msg)).collect();
        let mut evidence = Evidence::new(scene, key, Vec::new())
            .fact("offset", Datum::Int(offset))
            .fact("index", Datum::from(scene.logs.index_from(key, offset)))
            .fact("values", values);
        for entry in run.iter().take(3) {
            let name = evidence.name(entry.op);
            let (value, key) = (scene.message(entry.msg), scene.key(key));
            evidence.sentences.push(format!("{name} shows {value} at offset {offset} of {key}"));
        }
        evidence.sentences.push(format!("So offset {offset} holds {} messages, although it can hold one", run.len()));
        evidence.place = Some((key, vec![offset]));
        evidence
    };
    (found.len(), found.iter().take(shown_max).map(evidence).collect())
}
