//! Messages that should have been polled: those that consumers have passed, and those that were not polled by the end.

use crate::columns::messages::{POLLED_OK, SENT_OK};
use crate::columns::{Function, KeyId, MsgId, NONE, OpId};
use crate::direct::{Found, each_polled};
use crate::scene::{Evidence, Scene};
use history_core::Datum;
use history_core::cast::Cast as _;

/// The maximum number of messages of one log in a witness.
const LISTED_MAX: usize = 32;

/// Lost writes: messages that took effect, were not polled, and are not after the last message that was polled.
///
/// A message may have several indices, and an index several messages. So the bound is the greatest of the *first*
/// indices of polled messages, and only messages whose *last* index is not beyond it are required.
pub(crate) fn lost_writes(scene: Scene<'_>, shown_max: usize) -> Found {
    let (messages, logs) = (&scene.seen.messages, scene.logs);
    // By key: the greatest first index of a polled message.
    let mut bound: Vec<u32> = vec![NONE; messages.keys()];
    for msg in messages.ids().filter(|msg| messages.has(*msg, POLLED_OK)) {
        if let Some((first, _)) = logs.spread(msg) {
            let bound = &mut bound[messages.key(msg).at()];
            *bound = if *bound == NONE { first } else { first.max(*bound) };
        }
    }
    let is_lost = |msg: &MsgId| {
        let bound = bound[messages.key(*msg).at()];
        !messages.has(*msg, POLLED_OK)
            && bound != NONE
            && logs.spread(*msg).is_some_and(|(_, last)| last <= bound)
            && messages.writer(*msg).is_some_and(|writer| logs.is_committed(writer))
    };
    let lost: Vec<MsgId> = messages.ids().filter(is_lost).collect();
    if lost.is_empty() {
        return Found::default();
    }
    // By key: the first op that polled the message at the bound.
    let mut max_reads: Vec<Option<(OpId, MsgId)>> = vec![None; messages.keys()];
    each_polled(scene, |op, msg| {
        let key = messages.key(msg).at();
        let is_at_bound = logs.spread(msg).is_some_and(|(first, _)| first == bound[key]);
        if max_reads[key].is_none() && scene.seen.ops.is_ok(op) && is_at_bound {
            max_reads[key] = Some((op, msg));
        }
    });
    let evidence = |msg: &MsgId| {
        let key = messages.key(*msg);
        let (index, last) = logs.spread(*msg).unwrap_or_default();
        let value = scene.message(*msg);
        let writer = messages.writer(*msg).into_iter();
        let max_read = max_reads[key.at()];
        let ops = writer.chain(max_read.map(|(op, _)| op)).collect();
        let mut evidence = Evidence::new(scene, key, ops)
            .fact("value", value.clone())
            .fact("index", Datum::from(index))
            .fact("max-read-index", Datum::from(bound[key.at()]));
        let offset = logs.chosen(key, last).offset;
        evidence.sentences.push(format!("T1 sent {value} to {}, where it is at offset {offset}", scene.key(key)));
        if let Some((op, read)) = max_read {
            let name = evidence.name(op);
            evidence.sentences.push(format!("{name} polled {}, which has no lower offset", scene.placed(read)));
            evidence = evidence.around(scene, &[read]);
        }
        evidence.sentences.push(format!("No ok op polled {value}: it is lost"));
        if let Some((_, offsets)) = &mut evidence.place {
            offsets.push(offset);
        }
        evidence.prove_places(scene, &[*msg])
    };
    (lost.len(), lost.iter().take(shown_max).map(evidence).collect())
}

/// Keys with acknowledged messages that no `ok` op polled: the number of these keys, and the messages of each.
pub(crate) fn unseen(scene: Scene<'_>, all: bool) -> Found {
    let messages = &scene.seen.messages;
    let mut by_key: Vec<(usize, Vec<MsgId>)> = vec![(0, Vec::new()); messages.keys()];
    for msg in messages.ids() {
        if messages.has(msg, SENT_OK) && !messages.has(msg, POLLED_OK) {
            let (count, first) = &mut by_key[messages.key(msg).at()];
            *count += 1;
            if all || first.len() < LISTED_MAX {
                first.push(msg);
            }
        }
    }
    let found = by_key.iter().enumerate().filter(|(_, (count, _))| *count > 0);
    let evidence = |(key, (count, first)): (usize, &(usize, Vec<MsgId>))| {
        let key = KeyId::new(key);
        let ops = messages.writer(first[0]).into_iter().collect();
        let list: Vec<Datum> = first.iter().map(|msg| scene.message(*msg)).collect();
        let more = count - 1;
        let others = if more == 0 { String::new() } else { format!(", nor {more} more of that key") };
        Evidence::new(scene, key, ops)
            .fact("unseen", Datum::from(count.to_u64()))
            .fact("messages", Datum::Vector(list))
            .sentence(format!(
                "T1 is ok and sent {} to {}, and no ok op of the history polled it{others}",
                scene.message(first[0]),
                scene.key(key)
            ))
            .around(scene, &first[..first.len().min(3)])
    };
    let count = found.clone().count();
    let shown_max = if all { usize::MAX } else { LISTED_MAX };
    (count, found.take(shown_max).map(evidence).collect())
}

/// A note on the end of the history, if acknowledged messages were not polled.
pub(crate) fn ending(scene: Scene<'_>) -> String {
    let ops = &scene.seen.ops;
    let last =
        |functions: [Function; 2]| ops.ids().rev().find(|op| ops.is_ok(*op) && functions.contains(&ops.function(*op)));
    let (sent, polled) = (last([Function::Send, Function::Txn]), last([Function::Poll, Function::Txn]));
    match (sent, polled) {
        (Some(sent), Some(polled)) if polled > sent => format!(
            "The history ends with polls: the last ok one is at index {}, after the last ok send at index {}. So messages that are unseen \
             should have been polled.",
            ops.index(polled),
            ops.index(sent)
        ),
        (_, Some(polled)) => format!(
            "The history does not end with polls: the last ok op that polls is at index {}, and no poll comes after the last send. \
             If it was cut short, --cut-short allows unseen messages.",
            ops.index(polled)
        ),
        (_, None) => "No ok op of the history polls anything. If it was cut short, --cut-short allows unseen messages."
            .to_owned(),
    }
}
