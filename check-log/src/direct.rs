//! Anomalies that a message or an offset shows by itself: aborted reads, garbage, duplicates, inconsistent offsets.

use crate::columns::{MsgId, OpId, Role};
use crate::logs::Entry;
use crate::messages::{MAY_BE_SENT, POLLED, SENT_AGAIN, SENT_FAIL};
use crate::scene::{Evidence, Scene};
use history_core::{Datum, OpKind};

/// Anomalies of one type: how many, and the first or worst of them.
pub(crate) type Found = (usize, Vec<Evidence>);

/// Calls for each message that an op polled, in order.
pub(crate) fn each_polled(scene: Scene<'_>, mut call: impl FnMut(OpId, MsgId)) {
    let ops = &scene.seen.ops;
    for op in ops.ids() {
        for (segment, range) in ops.segments(op) {
            if segment.role() == Role::Polled {
                ops.messages(range).for_each(|msg| call(op, msg));
            }
        }
    }
}

/// Calls for each message that an op sent, in order.
pub(crate) fn each_sent(scene: Scene<'_>, mut call: impl FnMut(OpId, MsgId)) {
    let ops = &scene.seen.ops;
    for op in ops.ids() {
        for (segment, range) in ops.segments(op) {
            if segment.role() == Role::Sent {
                ops.messages(range).for_each(|msg| call(op, msg));
            }
        }
    }
}

/// G1a: an `ok` op polled a message of a failed one. If the message was sent again, before that poll ended, it may be of the other op.
pub(crate) fn aborted_reads(scene: Scene<'_>, shown_max: usize) -> Found {
    if scene.seen.failed.is_empty() {
        return Found::default();
    }
    let (ops, messages) = (&scene.seen.ops, &scene.seen.messages);
    let mut failed = scene.seen.failed.clone();
    failed.sort_unstable();
    let mut found: Vec<(MsgId, OpId)> = Vec::new();
    each_polled(scene, |reader, msg| {
        if !ops.is_ok(reader) || !messages.has(msg, SENT_FAIL) {
            return;
        }
        let began_later = |writer: OpId| {
            ops.kind(writer) != OpKind::Fail && ops.invoked(writer).is_some_and(|invoked| invoked > ops.index(reader))
        };
        if !messages.has(msg, SENT_AGAIN) || messages.writer(msg).is_some_and(began_later) {
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

/// Messages that were polled and that nobody sent.
pub(crate) fn phantoms(scene: Scene<'_>, shown_max: usize) -> Found {
    let messages = &scene.seen.messages;
    let is_phantom = |msg: &MsgId| messages.has(*msg, POLLED) && !messages.has(*msg, MAY_BE_SENT | SENT_FAIL);
    let found: Vec<MsgId> = messages.ids().filter(is_phantom).collect();
    if found.is_empty() {
        return Found::default();
    }
    // The first reader of each.
    let mut readers = vec![OpId::NONE; found.len()];
    each_polled(scene, |op, msg| {
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

/// Ops that polled what they sent: one for each op and key.
pub(crate) fn precommitted_reads(scene: Scene<'_>, shown_max: usize) -> Found {
    let (ops, messages) = (&scene.seen.ops, &scene.seen.messages);
    let mut found: Vec<(OpId, MsgId)> = Vec::new();
    let mut sent: Vec<MsgId> = Vec::new();
    for op in ops.ids() {
        sent.clear();
        let of_role = |role| ops.segments(op).filter(move |(segment, _)| segment.role() == role);
        sent.extend(of_role(Role::Sent).flat_map(|(_, range)| ops.messages(range)));
        if sent.is_empty() {
            continue;
        }
        sent.sort_unstable();
        let first = found.len();
        for msg in of_role(Role::Polled).flat_map(|(_, range)| ops.messages(range)) {
            let is_new = |(_, other): &(OpId, MsgId)| messages.key(*other) != messages.key(msg);
            if sent.binary_search(&msg).is_ok() && found[first..].iter().all(is_new) {
                found.push((op, msg));
            }
        }
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

/// Messages at several offsets, fewest first.
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
        evidence.sentences.push(format!("So {value} stands at {} offsets, although it was sent once", run.len()));
        evidence.place = Some((key, run.iter().take(3).map(|entry| entry.offset).collect()));
        evidence
    };
    (found.len(), found.iter().take(shown_max).map(evidence).collect())
}

/// Offsets with several messages, fewest first.
pub(crate) fn inconsistent_offsets(scene: Scene<'_>, blurred: &[Entry], shown_max: usize) -> Found {
    let messages = &scene.seen.messages;
    let mut at: Vec<(u32, u32)> = Vec::new();
    for entry in blurred {
        let key = messages.key(entry.msg);
        let index = scene.logs.index_from(key, entry.offset);
        if scene.logs.at(key, index).len() > 1 {
            at.push((key.number(), index));
        }
    }
    at.sort_unstable();
    at.dedup();
    let entries = |(key, index): &(u32, u32)| scene.logs.at((*key).into(), *index);
    at.sort_by_key(|at| entries(at).len());
    let evidence = |at: &(u32, u32)| {
        let run = entries(at);
        let (key, offset) = (messages.key(run[0].msg), run[0].offset);
        let values: Vec<Datum> = run.iter().take(shown_max).map(|entry| scene.message(entry.msg)).collect();
        let mut evidence = Evidence::new(scene, key, Vec::new())
            .fact("offset", Datum::Int(offset))
            .fact("index", Datum::from(at.1))
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
    (at.len(), at.iter().take(shown_max).map(evidence).collect())
}
