//! Reading one range: its ops as packets for the workers of their keys, and a summary for joining the ranges.
//!
//! Anything that a single range does not determine is left to `join`: the key of a completion whose invocation is in an
//! earlier range, and whether ranges fit together. Anything unusual (a line that is not one op, a client with a name,
//! an op that does not follow the previous one) makes the range irregular. The history is then read as a whole by the
//! reader of a single machine, which either returns a result or reports the error.

use super::ranges::{self, Ranges};
use crate::packet::{Head, Packet};
use crate::to::{To, WhereKeys};
use history_core::cast::Cast as _;
use history_core::{ClientRule, Format, IntMap, Limits, Lines, Op, OpKind, Process, TimeUnit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Read, Seek};
use std::ops::ControlFlow;

/// Numbers of clients below this one may represent names.
const NUMBERS_FROM: i64 = -(1 << 62);

/// How the lines of a file are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reading {
    pub(crate) format: Format,
    /// The position of keys in ops.
    pub(crate) keys: WhereKeys,
    /// The length of the file in bytes.
    pub(crate) len: u64,
}

/// The state of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Doing {
    /// Nothing.
    Idle,
    /// An operation on keys of these workers is in flight.
    Waits(To),
    /// Its last operation ended in an info, so it has no further ops.
    Crashed,
}

/// The data on a client in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Client {
    pub(crate) number: i64,
    /// Set if its first op here completes an operation of an earlier range: the workers of the keys in that op.
    pub(crate) completes_first: Option<To>,
    /// Its state at the end of the range.
    pub(crate) at_end: Doing,
}

/// The summary of a range.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Summary {
    pub(crate) range: u64,
    pub(crate) ops: u64,
    /// The number of lines that end in it.
    pub(crate) lines: u64,
    /// The first index and the last one, if ops have indices.
    pub(crate) indices: Option<(u64, u64)>,
    /// Its clients, in the order of their first ops.
    pub(crate) clients: Vec<Client>,
    /// The clients whose first op completes an operation of an earlier range, in the order of these ops.
    pub(crate) completing: Vec<i64>,
    /// The numbers of completions: `ok`, `fail` and `info`.
    pub(crate) completed: [u64; 3],
    /// The numbers of ops of processes that are not clients, by name.
    pub(crate) others: BTreeMap<String, u64>,
    /// The reason if the range is irregular.
    pub(crate) irregular: Option<String>,
}

/// A range that was read.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// The packets by worker.
    pub(crate) packets: Vec<Packet>,
    /// The ops of [`Summary::completing`].
    pub(crate) completing: Packet,
    pub(crate) summary: Summary,
}

/// Reads a range. The keys are distributed over this number of workers.
///
/// # Errors
///
/// If the file cannot be read, or its length has changed.
pub(crate) fn read(
    source: &mut (impl Read + Seek),
    reading: Reading,
    unit: Option<TimeUnit>,
    (ranges, range): (Ranges, u64),
    workers: usize,
) -> io::Result<Part> {
    let lines = Lines::new(Some(reading.format));
    let mut reader = PartOf {
        lines: unit.into_iter().fold(lines, Lines::with_time_unit),
        keys: reading.keys,
        places: Vec::new(),
        rule: ClientRule::new(),
        known: IntMap::default(),
        part: Part {
            packets: (0..workers).map(|_| Packet::of(range)).collect(),
            completing: Packet::of(range),
            summary: Summary { range, ..Summary::default() },
        },
        line: 0,
    };
    let read = ranges::each_line(source, ranges.of(range), Limits::default().op_bytes_max, |at, line| {
        let taken = reader.take(at, line);
        reader.line += 1;
        match taken {
            Ok(()) => ControlFlow::Continue(()),
            Err(why) => {
                reader.part.summary.irregular = Some(why);
                ControlFlow::Break(())
            }
        }
    })?;
    let mut part = reader.part;
    match read {
        ranges::Lines::All(lines) => part.summary.lines = lines,
        ranges::Lines::TooLong => part.summary.irregular = Some("a line is too long".to_owned()),
        ranges::Lines::Left => {}
    }
    // Detects that the file was truncated, which would otherwise not be noticed.
    if source.seek(io::SeekFrom::End(0))? != ranges.len {
        return Err(io::Error::other("the file changed while it was read"));
    }
    Ok(part)
}

/// The state while a range is read.
struct PartOf {
    lines: Lines,
    keys: WhereKeys,
    /// The places of the current micro-ops.
    places: Vec<u64>,
    rule: ClientRule,
    /// The position of each client in the summary.
    known: IntMap<usize>,
    part: Part,
    /// The number of lines before the current one.
    line: u64,
}

impl PartOf {
    /// Processes the next line; the error is the reason why it is unusual.
    fn take(&mut self, line_begins: u64, line: &[u8]) -> Result<(), String> {
        self.lines.forget();
        self.lines.read(line).map_err(|error| error.message)?;
        let batch = self.lines.batch();
        if batch.is_empty() {
            return Ok(());
        }
        let op = batch.op(0);
        let summary = &mut self.part.summary;
        let seq = summary.ops;
        summary.ops += 1;
        take_index(summary, self.lines.written_index(), seq)?;
        let head = Head { seq, line: self.line, line_begins, len: line.len().to_u64(), position: None, client: None };
        let number = match op.process {
            Process::Client(number) if number >= NUMBERS_FROM => number,
            Process::Other(name) if self.rule.decides(name) == Some(false) || op.kind == OpKind::Info => {
                match summary.others.get_mut(name) {
                    Some(ops) => *ops += 1,
                    None => _ = summary.others.insert(name.to_owned(), 1),
                }
                return Ok(());
            }
            _ => return Err("a client has no number".to_owned()),
        };
        let workers = self.part.packets.len();
        let own = To::of(&op, self.keys, workers, &mut self.places)?;
        match place(&mut self.part.summary, &mut self.known, number, &op, own)? {
            Some(to) => to.each(workers).for_each(|worker| self.part.packets[worker].push(head, line)),
            None => self.part.completing.push(head, line),
        }
        Ok(())
    }
}

/// Processes the index of the op with this number.
fn take_index(summary: &mut Summary, written: Option<u64>, seq: u64) -> Result<(), String> {
    match (written, &mut summary.indices) {
        (None, None) => Ok(()),
        (Some(index), None) if seq == 0 => {
            summary.indices = Some((index, index));
            Ok(())
        }
        (Some(index), Some((_, last))) if index > *last => {
            *last = index;
            Ok(())
        }
        _ => Err("indices do not increase".to_owned()),
    }
}

/// The workers of the next op of a client, with the keys `own` in it; `None` if only an earlier range contains all its
/// keys.
fn place(
    summary: &mut Summary,
    known: &mut IntMap<usize>,
    number: i64,
    op: &Op<'_>,
    own: To,
) -> Result<Option<To>, String> {
    let at = known.get(number).copied();
    let client = at.map(|at| &mut summary.clients[at]);
    let invokes = op.kind == OpKind::Invoke;
    let (to, at_end) = match client.as_ref().map(|client| client.at_end) {
        None | Some(Doing::Idle) if invokes => (Some(own), Doing::Waits(own)),
        Some(Doing::Waits(to)) if !invokes && to.has(own) => (Some(to), after(op.kind)),
        None => (None, after(op.kind)),
        Some(_) => return Err("an op does not follow the one before of its client".to_owned()),
    };
    if let Some(client) = client {
        client.at_end = at_end;
    } else {
        known.insert(number, summary.clients.len());
        let completes_first = to.is_none().then_some(own);
        summary.clients.push(Client { number, completes_first, at_end });
    }
    if to.is_none() {
        summary.completing.push(number);
    }
    match op.kind {
        OpKind::Invoke => {}
        OpKind::Ok => summary.completed[0] += 1,
        OpKind::Fail => summary.completed[1] += 1,
        OpKind::Info => summary.completed[2] += 1,
    }
    Ok(to)
}

fn after(kind: OpKind) -> Doing {
    if kind == OpKind::Info { Doing::Crashed } else { Doing::Idle }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    const HISTORY: &str = "\
{:process 0, :type :invoke, :f :read, :value [:x nil]}
{:process :nemesis, :type :info, :f :kill}

{:process 1, :type :invoke, :f :write, :value [:y 2]}
{:process 0, :type :ok, :f :read, :value [:x 1]}
{:process 1, :type :info, :f :write, :value [:y 2]}
{:process :setup, :type :info, :f :start}
";

    fn read_range(text: &str, range_bytes: u64, range: u64) -> Part {
        let len = text.len().to_u64();
        let reading = Reading { format: Format::Edn, keys: WhereKeys::Pair, len };
        read(&mut Cursor::new(text), reading, None, (Ranges { len, range_bytes }, range), 3).unwrap()
    }

    fn irregular(text: &str) -> Option<String> {
        read_range(text, 10_000, 0).summary.irregular
    }

    #[test]
    fn a_range_with_the_whole_history_is_complete() {
        let part = read_range(HISTORY, 10_000, 0);
        let Summary { ops, lines, indices, clients, completing, others, irregular, .. } = part.summary;
        assert_eq!((ops, lines, indices, irregular), (6, 7, None, None));
        let doing: Vec<_> =
            clients.iter().map(|client| (client.number, client.completes_first, client.at_end)).collect();
        assert_eq!(doing, [(0, None, Doing::Idle), (1, None, Doing::Crashed)]);
        assert!(completing.is_empty());
        assert_eq!(others.into_iter().collect::<Vec<_>>(), [("nemesis".to_owned(), 1), ("setup".to_owned(), 1)]);
        let seqs: Vec<Vec<u64>> =
            part.packets.iter().map(|packet| packet.heads.iter().map(|head| head.seq).collect()).collect();
        let mut sorted = seqs.concat();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 2, 3, 4]);
        assert!(seqs.contains(&vec![0, 3]) || seqs.contains(&vec![0, 2, 3, 4]), "both ops of x: {seqs:?}");
    }

    #[test]
    fn a_completion_without_its_invocation_is_left_to_the_join() {
        let first_line = HISTORY.find('\n').unwrap().to_u64();
        // The second range begins after the first invocation.
        let part = read_range(HISTORY, first_line, 1);
        assert_eq!(part.summary.irregular, None);
        let last = read_range(HISTORY, first_line, HISTORY.len().to_u64().div_ceil(first_line) - 1);
        assert_eq!(last.summary.irregular, None);
        let completing: Vec<_> = (0..HISTORY.len().to_u64().div_ceil(first_line))
            .flat_map(|range| read_range(HISTORY, first_line, range).summary.completing)
            .collect();
        assert_eq!(completing, [0, 1]);
    }

    #[test]
    fn unusual_lines_are_irregular() {
        let usual = "{:process 0, :type :invoke, :f :read, :value [:x nil]}\n";
        assert_eq!(irregular(usual), None);
        for unusual in [
            "{:process 0, :type :nope}",
            "{:process 0, :type :invoke, :f :read, :value [:x nil]} {:process 0, :type :ok}",
            "[{:process 1, :type :ok}]",
            "{:process 1, :type",
            "#_",
            "\"a string\nthat goes on\"",
            "{:type :invoke, :f :read, :value [:x nil]}",
            "{:process :w1, :type :invoke, :f :read, :value [:x nil]}",
            "{:process :w1, :type :ok, :f :read, :value [:x nil]}",
            "{:process 0, :type :invoke, :f :read, :value [:x nil]}",
            "{:process 1, :type :invoke, :f :read, :value [:x nil], :index 4}",
            "{:process -9223372036854775807, :type :invoke, :f :read, :value [:x nil]}",
        ] {
            assert!(irregular(&format!("{usual}{unusual}\n")).is_some(), "{unusual}");
        }
        let invoked = "{:process 0, :type :invoke, :f :read, :value [:x nil]}\n{:process 0, :type :info, :f :read}\n";
        assert_eq!(irregular(invoked), None);
        assert!(irregular(&format!("{invoked}{usual}")).is_some(), "a client continued after an info");
        assert!(irregular("{:process 0, :type :ok, :index 4}\n{:process 1, :type :ok, :index 4}\n").is_some());
    }

    #[test]
    fn a_file_of_another_length_is_refused() {
        let reading = Reading { format: Format::Edn, keys: WhereKeys::Pair, len: 10 };
        let ranges = Ranges { len: 10, range_bytes: 100 };
        let error = read(&mut Cursor::new(HISTORY), reading, None, (ranges, 0), 1).unwrap_err();
        assert_eq!(error.to_string(), "the file changed while it was read");
    }
}
