//! The faults of a nemesis.
//!
//! record-live writes `:fault :begin` and `:fault :end` into its ops. Jepsen uses names instead: one op begins a fault
//! and another ends it, each written twice, when it is called and when it returns. Any other op is a moment without an
//! end.

use super::Band;
use crate::text;
use history_core::{Op, Process, Seq, Value};
use std::collections::BTreeMap;

/// The maximum number of faults that are kept.
const FAULTS_MAX: usize = 1000;
/// The maximum number of characters of a fault's name.
const NAME_CHARS_MAX: usize = 60;

/// The faults of a history, collected op by op.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults {
    known: Vec<Band>,
    /// The active faults, by the name of the op that ends them, each with the nodes that its op names.
    open: BTreeMap<String, Vec<(usize, String)>>,
    /// The function of the last op, if that was the first of a pair: the next op with this function is the second one.
    called: Option<String>,
    /// The faults that the last op of the nemesis ended, and its name: the next op with this name is the second of the
    /// pair.
    ended: Option<(String, Vec<usize>)>,
    /// The number of faults that are not kept.
    omitted: u64,
    /// Whether faults end at ops with corresponding names, because no op states the end explicitly.
    by_names: bool,
}

/// The effect of a nemesis op.
enum Role<'a> {
    /// Begins a fault with this name. An op with the second name ends it.
    Begins(&'a str, String),
    Ends,
    Moment,
}

impl Faults {
    /// Processes an op of a nemesis.
    pub(super) fn observe(&mut self, op: &Op<'_>) {
        let (Process::Other(_), Some(f)) = (op.process, op.f) else { return };
        match op.extra.get("fault").and_then(Value::as_name) {
            Some("begin") => self.push(op, f),
            Some("end") => self.end_all(op),
            _ => self.by_name(op, f),
        }
    }

    /// All faults so far, in the order of their beginnings.
    pub(super) fn all(&self) -> &[Band] {
        &self.known
    }

    /// The number of further faults.
    pub(super) fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Returns true if the end of faults is determined only by the names of ops.
    pub(super) fn are_paired_by_name(&self) -> bool {
        self.by_names
    }

    fn by_name(&mut self, op: &Op<'_>, f: &str) {
        let ends =
            |name: &str| self.open.contains_key(name) || self.ended.as_ref().is_some_and(|(ended, _)| ended == name);
        let role = role(f, ends);
        if !matches!(role, Role::Ends) {
            self.ended = None;
        }
        let has_returned = self.called.take().is_some_and(|called| called == f);
        self.called = (!has_returned && !matches!(role, Role::Moment)).then(|| f.to_owned());
        match role {
            Role::Begins(what, end) => {
                if !has_returned {
                    self.begin(op, what, end);
                }
            }
            Role::Ends => {
                let ending = if has_returned { None } else { self.ending(f, &nodes(op.value)) };
                if let Some(ending) = ending {
                    self.by_names |= !ending.is_empty();
                    self.ended = Some((f.to_owned(), ending));
                }
                if let Some((_, ended)) = self.ended.as_ref().filter(|(name, _)| name == f) {
                    for at in ended {
                        end(&mut self.known[*at], op);
                    }
                }
            }
            Role::Moment => {
                let at = self.known.len();
                self.push(op, f);
                if let Some(fault) = self.known.get_mut(at) {
                    end(fault, op);
                }
            }
        }
    }

    /// Begins a fault, unless it is active. Faults that the same op ends are distinguished by their nodes, if ops name
    /// them.
    fn begin(&mut self, op: &Op<'_>, what: &str, end: String) {
        let nodes = nodes(op.value);
        let open = self.open.get(&end);
        if open.is_some_and(|open| nodes.is_empty() || open.iter().any(|(_, others)| *others == nodes)) {
            return;
        }
        let at = self.known.len();
        self.push(op, what);
        self.open.entry(end).or_default().extend((at < self.known.len()).then_some((at, nodes)));
    }

    /// Removes the faults that an op with this name ends: those on its nodes, or else all. Returns them.
    fn ending(&mut self, f: &str, nodes: &str) -> Option<Vec<usize>> {
        let open = self.open.remove(f)?;
        let is_named = open.iter().any(|(_, others)| others == nodes);
        let (ending, others): (Vec<_>, Vec<_>) = open.into_iter().partition(|(_, others)| !is_named || others == nodes);
        if !others.is_empty() {
            self.open.insert(f.to_owned(), others);
        }
        Some(ending.into_iter().map(|(at, _)| at).collect())
    }

    fn push(&mut self, op: &Op<'_>, f: &str) {
        if self.known.len() == FAULTS_MAX {
            self.omitted += 1;
            return;
        }
        let what = text::shown(&format!("{f}{}", nodes(op.value)), NAME_CHARS_MAX);
        self.known.push(Band { what, lane: None, first: op.index, last: None, from_ns: op.time, until_ns: None });
    }

    fn end_all(&mut self, op: &Op<'_>) {
        self.known.iter_mut().filter(|fault| fault.last.is_none()).for_each(|fault| end(fault, op));
    }
}

/// Ends a fault at an op.
fn end(fault: &mut Band, op: &Op<'_>) {
    (fault.last, fault.until_ns) = (Some(op.index), op.time.or(fault.from_ns));
}

/// The role of an op, by the names of `jepsen.nemesis` and `jepsen.nemesis.combined`. `ends` returns whether an op with
/// a name ends a fault, or has just ended one.
fn role(f: &str, ends: impl Fn(&str) -> bool) -> Role<'_> {
    if ends(f) {
        return Role::Ends;
    }
    if let Some(what) = f.strip_prefix("start-") {
        return Role::Begins(what, format!("stop-{what}"));
    }
    match f {
        "isolate" | "partition" => Role::Begins(f, "heal".into()),
        "kill" => Role::Begins(f, "start".into()),
        "pause" => Role::Begins(f, "resume".into()),
        "bump" | "strobe" => Role::Begins("clock", "reset".into()),
        "bump-clock" | "strobe-clock" => Role::Begins("clock", "reset-clock".into()),
        "start" => Role::Begins("fault", "stop".into()),
        // If there is no fault that they would end, they have no effect.
        "stop" | "heal" | "resume" | "reset" | "reset-clock" | "check-clock-offsets" | "check-offsets" => Role::Ends,
        _ if f.starts_with("stop-") => Role::Ends,
        _ => Role::Moment,
    }
}

/// The nodes in an op's value, each preceded by a space.
fn nodes(value: Value<'_>) -> String {
    let all = value.as_seq().into_iter().flat_map(Seq::iter).filter_map(Value::as_name);
    all.chain(value.as_name()).flat_map(|node| [" ", node]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::History;

    fn faults(nemesis: &[(&str, i64)]) -> Vec<(String, i64, Option<i64>)> {
        let op = |(f, time): &(&str, i64)| format!("{{:process :nemesis, :type :info, :f :{f}, :time {time}}}");
        let text: Vec<String> = nemesis.iter().map(op).collect();
        let mut faults = Faults::default();
        History::parse(&text.join("\n")).unwrap().ops().for_each(|op| faults.observe(&op));
        let seen = |fault: &Band| (fault.what.clone(), fault.from_ns.unwrap(), fault.until_ns);
        faults.all().iter().map(seen).collect()
    }

    #[test]
    fn a_fault_lasts_from_its_call_until_its_end_has_returned() {
        let twice = [("start", 1), ("start", 2), ("stop", 5), ("stop", 6), ("stop", 9)];
        assert_eq!(faults(&twice), [("fault".to_owned(), 1, Some(9))], "no other fault was active in between");
        let again = [("kill", 1), ("kill", 2), ("start", 5), ("start", 6), ("kill", 7)];
        assert_eq!(faults(&again), [("kill".to_owned(), 1, Some(6)), ("kill".to_owned(), 7, None)]);
    }

    #[test]
    fn faults_overlap_and_end_by_their_own_names() {
        let ops =
            [("start-partition", 1), ("pause", 2), ("stop-partition", 3), ("resume", 4), ("bump", 5), ("strobe", 6)];
        let expected = [("partition", 1, Some(3)), ("pause", 2, Some(4)), ("clock", 5, None)];
        assert_eq!(faults(&ops), expected.map(|(what, from, until)| (what.to_owned(), from, until)));
    }

    #[test]
    fn nodes_are_named() {
        let text = r#"{"process":"nemesis","type":"info","f":"isolate","value":["n1",2],"time":3}
{"process":"nemesis","type":"info","f":"heal","value":null,"time":4}
{"process":"nemesis","type":"info","f":"kill","fault":"begin","value":"n2","time":5}
{"process":"nemesis","type":"info","f":"start","fault":"end","value":null,"time":6}"#;
        let mut faults = Faults::default();
        History::parse(text).unwrap().ops().for_each(|op| faults.observe(&op));
        let seen: Vec<_> = faults.all().iter().map(|fault| (fault.what.as_str(), fault.last)).collect();
        assert_eq!(seen, [("isolate n1", Some(1)), ("kill n2", Some(3))]);
    }

    #[test]
    fn faults_of_one_kind_differ_in_their_nodes() {
        fn op((f, value, time): (&str, &str, i64)) -> String {
            format!("{{:process :nemesis, :type :info, :f {f}, :value {value}, :time {time}}}")
        }
        let twice = |(f, value, time): (&str, &str, i64)| [op((f, value, time)), op((f, "{\"n\" :done}", time + 1))];
        let seen = |ops: &[(&str, &str, i64)]| {
            let mut faults = Faults::default();
            let text = ops.iter().copied().flat_map(twice).collect::<Vec<_>>().join("\n");
            History::parse(&text).unwrap().ops().for_each(|op| faults.observe(&op));
            let seen = |fault: &Band| (fault.what.clone(), fault.from_ns.unwrap(), fault.until_ns);
            faults.all().iter().map(seen).collect::<Vec<_>>()
        };
        let kills = [(":kill", "[\"n1\"]", 0), (":kill", "[\"n2\"]", 10), (":kill", "[\"n1\"]", 20)];
        let named = seen(&[&kills[..], &[(":start", "[\"n1\"]", 30), (":start", "[\"n2\"]", 40)]].concat());
        assert_eq!(named, [("kill n1".to_owned(), 0, Some(31)), ("kill n2".to_owned(), 10, Some(41))]);
        let all = seen(&[&kills[..], &[(":start", ":all", 30)]].concat());
        assert_eq!(all, [("kill n1".to_owned(), 0, Some(31)), ("kill n2".to_owned(), 10, Some(31))]);
    }

    #[test]
    fn other_ops_are_moments_and_ends_without_beginning_are_ignored() {
        assert_eq!(faults(&[("stop-partition", 1), ("resume", 2), ("shrink", 3)]), [("shrink".to_owned(), 3, Some(3))]);
    }

    #[test]
    fn faults_beyond_the_limit_are_only_counted() {
        let ops = (0..1010).map(|at| format!("{{:process :nemesis, :type :info, :f :shrink, :time {at}}}"));
        let text = ops.collect::<Vec<_>>().join(" ");
        let mut faults = Faults::default();
        History::parse(&text).unwrap().ops().for_each(|op| faults.observe(&op));
        assert_eq!((faults.all().len(), faults.omitted()), (FAULTS_MAX, 10));
    }
}
