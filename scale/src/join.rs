//! Joins the ranges of a file: one worker processes their summaries in order.
//!
//! For each client, it stores the operation at the end of the previous range. With that, it finds the worker of each
//! completion whose invocation is in an earlier range, and determines whether the ranges fit together. If all do, and
//! no range is irregular, the whole is a history whose ops are paired as the ranges have paired them. Memory grows with
//! the number of clients.

use crate::packet::{Base, Packet};
use crate::read::part::{Doing, Summary};
use history_core::cast::Cast as _;
use history_core::share::Totals;
use history_core::{IntMap, Participants};
use std::collections::BTreeMap;

/// The data on the ranges so far.
#[derive(Debug, Default)]
pub(crate) struct Join {
    clients: IntMap<Doing>,
    ops: u64,
    lines: u64,
    indices: Indices,
    others: BTreeMap<String, u64>,
    completed: [u64; 3],
}

/// The indices of the ops so far.
#[derive(Clone, Copy, Debug, Default)]
enum Indices {
    /// There was no op yet.
    #[default]
    Open,
    /// Ops have no indices.
    Absent,
    /// The index of the last op.
    Last(u64),
}

/// The data that a range needs from the others.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Joined {
    pub(crate) base: Base,
    /// Completions of operations of earlier ranges, each with the worker of their keys.
    pub(crate) packets: Vec<(usize, Packet)>,
}

impl Join {
    /// Adds the next range.
    ///
    /// # Errors
    ///
    /// If it is irregular or does not fit those before it; a sentence.
    pub(crate) fn add(
        &mut self,
        summary: Summary,
        completing: &Packet,
        workers: usize,
        ops_max: u64,
    ) -> Result<Joined, String> {
        if let Some(why) = summary.irregular {
            return Err(why);
        }
        let base = Base { range: summary.range, ops: self.ops, lines: self.lines };
        self.ops += summary.ops;
        self.lines += summary.lines;
        if self.ops > ops_max {
            return Err("there are too many ops".to_owned());
        }
        self.take_indices(summary.ops, summary.indices)?;
        let mut packets: BTreeMap<usize, Packet> = BTreeMap::new();
        let mut ops = completing.ops();
        for client in &summary.clients {
            let doing = self.clients.get(client.number).copied().unwrap_or(Doing::Idle);
            match (client.completes_first, doing) {
                (None, Doing::Idle) => {}
                (Some(own), Doing::Waits(to)) if to.has(own) => {
                    let (head, text) = ops.next().ok_or("an op is missing")?;
                    for worker in to.each(workers) {
                        let packet = packets.entry(worker).or_insert_with(|| Packet::of(summary.range));
                        packet.push(*head, text);
                    }
                }
                _ => return Err("an op does not follow the one before of its client".to_owned()),
            }
            self.clients.insert(client.number, client.at_end);
        }
        self.completed.iter_mut().zip(summary.completed).for_each(|(all, own)| *all += own);
        for (name, ops) in summary.others {
            *self.others.entry(name).or_default() += ops;
        }
        Ok(Joined { base, packets: packets.into_iter().collect() })
    }

    fn take_indices(&mut self, ops: u64, indices: Option<(u64, u64)>) -> Result<(), String> {
        if ops == 0 {
            return Ok(());
        }
        self.indices = match (self.indices, indices) {
            (Indices::Open | Indices::Absent, None) => Indices::Absent,
            (Indices::Open, Some((_, last))) => Indices::Last(last),
            (Indices::Last(before), Some((first, last))) if first > before => Indices::Last(last),
            _ => return Err("indices do not increase".to_owned()),
        };
        Ok(())
    }

    /// The number of ops.
    pub(crate) fn ops(&self) -> u64 {
        self.ops
    }

    /// The data on the whole history that does not depend on the content of ops.
    pub(crate) fn totals(&self) -> Totals {
        let [ok, fail, info] = self.completed;
        let in_flight = self.clients.values().filter(|doing| matches!(doing, Doing::Waits(_))).count().to_u64();
        let mut participants = Participants::new();
        self.others.iter().for_each(|(name, ops)| participants.add_others(name, *ops));
        Totals { ok, fail, info: info + in_flight, participants }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::part::{Reading, read};
    use crate::read::ranges::Ranges;
    use crate::to::WhereKeys;
    use history_core::{Format, Reader};
    use std::io::Cursor;
    use std::ops::ControlFlow;

    /// The ops of a text that is cut into ranges, as (line, index) for each worker; or an error if it is irregular.
    fn joined(text: &str, range_bytes: u64) -> Result<Vec<Vec<(u64, u64)>>, String> {
        let len = text.len().to_u64();
        let (reading, ranges) =
            (Reading { format: Format::Edn, keys: WhereKeys::Pair, len }, Ranges { len, range_bytes });
        let (mut join, mut all) = (Join::default(), vec![Vec::new(); 2]);
        for range in 0..ranges.count() {
            let part = read(&mut Cursor::new(text), reading, None, (ranges, range), 2).unwrap();
            let joined = join.add(part.summary, &part.completing, 2, 1000)?;
            let own = part.packets.iter().enumerate();
            for (worker, packet) in own.chain(joined.packets.iter().map(|(worker, packet)| (*worker, packet))) {
                all[worker].extend(packet.ops().map(|(head, _)| {
                    let place = head.place(&joined.base);
                    (place.line, place.index)
                }));
            }
        }
        for ops in &mut all {
            ops.sort_unstable();
        }
        Ok(all)
    }

    fn op(process: &str, kind: &str, key: u32) -> String {
        format!("{{:process {process}, :type :{kind}, :f :read, :value [{key} 1]}}\n")
    }

    /// Wherever the text is cut, lines are found, and operations go to one worker. An invocation is in the first range
    /// and its completion in the last one, and a client has no op in the ranges between.
    #[test]
    fn the_result_does_not_depend_on_cuts() {
        let mut text = "\r\n".to_owned();
        for i in 0..12 {
            text += &op(&i.to_string(), "invoke", i);
            text += &op(":nemesis", "info", 0);
        }
        text += "\n";
        for i in (0..12).rev() {
            text += &op(&i.to_string(), if i % 3 == 0 { "info" } else { "ok" }, i);
        }
        text += op("77", "invoke", 3).trim_end();
        let whole = joined(&text, 100_000).unwrap();
        assert_eq!(whole.iter().map(Vec::len).sum::<usize>(), 25);
        for range_bytes in 1..=text.len().to_u64() {
            assert_eq!(joined(&text, range_bytes).as_ref(), Ok(&whole), "{range_bytes}");
        }
    }

    /// All histories of up to five ops of two clients, and of a process that is not a client. A text is regular in any
    /// cut if and only if the reader accepts it, except for those without invocations, which are left to the reader.
    #[test]
    fn ranges_that_do_not_fit_are_irregular() {
        let ops =
            [op("0", "invoke", 1), op("0", "ok", 1), op("0", "info", 1), op("1", "invoke", 2), op("1", "fail", 2)];
        let (mut regular, mut wrong) = (0, 0);
        for sequence in 0..6_usize.pow(5) {
            let chosen = (0..5).map(|at| sequence / 6_usize.pow(at) % 6).filter(|op| *op > 0);
            let text: String = chosen.map(|at| ops[at - 1].as_str()).collect();
            if text.is_empty() {
                continue;
            }
            let is_history = Reader::new(text.as_bytes()).for_each(|_| Ok(ControlFlow::Continue(()))).is_ok();
            let has_invocations = text.contains(":invoke");
            // Cuts between two ops at all places, and in the middle of each op.
            let cuts: Vec<_> = [30, 55, 110, 10_000].map(|bytes| joined(&text, bytes)).into();
            assert!(cuts.iter().all(|cut| cut.is_ok() == (is_history && has_invocations)), "{text}: {cuts:?}");
            assert!(cuts.iter().all(|cut| cut.is_err() || *cut == cuts[0]), "{text}");
            regular += usize::from(is_history);
            wrong += usize::from(!is_history);
        }
        assert!(regular > 50 && wrong > 1000, "{regular} {wrong}");
    }

    #[test]
    fn indices_must_increase_across_ranges() {
        let op = |index: &str| format!("{{:process :nemesis, {index} :type :info, :f :a}}\n");
        let of = |a: &str, b: &str| joined(&(op(a) + &op(b)), 20).is_ok();
        assert!(of(":index 3,", ":index 4,") && of("", ""));
        assert!(!of(":index 3,", ":index 3,") && !of(":index 3,", "") && !of("", ":index 7,"));
    }

    #[test]
    fn too_many_ops_are_irregular() {
        let summary = |ops| Summary { ops, ..Summary::default() };
        let mut join = Join::default();
        assert!(join.add(summary(10), &Packet::default(), 2, 15).is_ok());
        assert!(join.add(summary(6), &Packet::default(), 2, 15).is_err());
    }
}
