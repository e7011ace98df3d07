//! The definitions, implemented directly, with loops over everything and without optimization.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Ok,
    Info,
    Fail,
}

/// An offset and a value.
pub(crate) type Pair = (Option<i64>, i64);

/// A part of an op: the key, and the offset and value of each message.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Send(u8, Option<i64>, i64),
    Poll(Vec<(u8, Vec<Pair>)>),
    Assign(Vec<u8>),
}

#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) process: u8,
    pub(crate) kind: Kind,
    pub(crate) parts: Vec<Part>,
}

/// A history: ops in the order of their completions, and for each op the number of completions before its invocation.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) events: Vec<Event>,
    pub(crate) invoked_after: Vec<usize>,
}

impl Event {
    fn is_assign(&self) -> bool {
        matches!(self.parts.first(), Some(Part::Assign(_)))
    }

    pub(crate) fn sends(&self) -> Vec<(u8, Option<i64>, i64)> {
        self.parts
            .iter()
            .filter_map(|part| if let Part::Send(k, o, v) = part { Some((*k, *o, *v)) } else { None })
            .collect()
    }

    pub(crate) fn polls(&self) -> Vec<(u8, Option<i64>, i64)> {
        let mut all = Vec::new();
        for part in &self.parts {
            if let Part::Poll(keys) = part {
                for (key, list) in keys {
                    all.extend(list.iter().map(|(offset, value)| (*key, *offset, *value)));
                }
            }
        }
        all
    }

    fn of_key(list: &[(u8, Option<i64>, i64)], key: u8) -> Vec<i64> {
        list.iter().filter(|(k, ..)| *k == key).map(|(.., v)| *v).collect()
    }
}

fn function(event: &Event) -> &'static str {
    let (sends, polls) = (
        event.parts.iter().any(|part| matches!(part, Part::Send(..))),
        event.parts.iter().any(|part| matches!(part, Part::Poll(_))),
    );
    if event.is_assign() {
        "assign"
    } else if sends && polls {
        "txn"
    } else if sends {
        "send"
    } else {
        "poll"
    }
}

fn value(event: &Event, result: bool) -> String {
    let mut text = "[".to_owned();
    for part in &event.parts {
        match part {
            Part::Send(key, Some(offset), value) if result => _ = write!(text, "[:send {key} [{offset} {value}]]"),
            Part::Send(key, _, value) => _ = write!(text, "[:send {key} {value}]"),
            Part::Poll(keys) if result => {
                text.push_str("[:poll {");
                for (key, list) in keys {
                    _ = write!(text, "{key} [");
                    for (offset, value) in list {
                        match offset {
                            Some(offset) => _ = write!(text, "[{offset} {value}]"),
                            None => _ = write!(text, "[nil {value}]"),
                        }
                    }
                    text.push_str("] ");
                }
                text.push_str("}]");
            }
            Part::Poll(_) => text.push_str("[:poll]"),
            Part::Assign(keys) => keys.iter().for_each(|key| _ = write!(text, "{key} ")),
        }
    }
    text + "]"
}

impl World {
    /// Creates a history of these events; after an `info`, a client continues as another process.
    pub(crate) fn new(mut events: Vec<Event>, invoked_after: Vec<usize>) -> World {
        for at in 0..events.len() {
            let base = events[at].process % 10;
            let crashes = events[..at].iter().filter(|event| event.kind == Kind::Info && event.process % 10 == base);
            events[at].process = base + 10 * u8::try_from(crashes.count()).unwrap();
        }
        World { events, invoked_after }
    }

    /// The history as EDN.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for done in 0..=self.events.len() {
            for (event, after) in self.events.iter().zip(&self.invoked_after) {
                if *after == done {
                    let (process, f) = (event.process, function(event));
                    _ = writeln!(
                        text,
                        "{{:process {process}, :type :invoke, :f :{f}, :value {}}}",
                        value(event, false)
                    );
                }
            }
            if let Some(event) = self.events.get(done) {
                let kind = match event.kind {
                    Kind::Ok => "ok",
                    Kind::Info => "info",
                    Kind::Fail => "fail",
                };
                let (process, f) = (event.process, function(event));
                _ = writeln!(text, "{{:process {process}, :type :{kind}, :f :{f}, :value {}}}", value(event, true));
            }
        }
        text
    }

    fn keys(&self) -> BTreeSet<u8> {
        let all =
            |event: &Event| event.sends().into_iter().chain(event.polls()).map(|(key, ..)| key).collect::<Vec<_>>();
        self.events.iter().flat_map(all).collect()
    }

    fn polled_ok(&self, key: u8) -> BTreeSet<i64> {
        let ok = self.events.iter().filter(|event| event.kind == Kind::Ok);
        ok.flat_map(|event| Event::of_key(&event.polls(), key)).collect()
    }

    fn is_committed(&self, event: &Event) -> bool {
        let seen = |(key, _, value): &(u8, Option<i64>, i64)| self.polled_ok(*key).contains(value);
        event.kind == Kind::Ok || event.kind == Kind::Info && event.sends().iter().any(seen)
    }

    /// By offset of a log: its values, in the order of the first events that show them.
    fn log(&self, key: u8) -> BTreeMap<i64, Vec<i64>> {
        let mut log: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        for event in &self.events {
            let sends = if self.is_committed(event) { event.sends() } else { Vec::new() };
            // Of one op, the smaller message is chosen. In these worlds messages occur in the order of their values, or
            // are compared only if no offset has two.
            for (k, offset, value) in sends.into_iter().chain(event.polls()) {
                if let Some(offset) = offset.filter(|_| k == key) {
                    let values = log.entry(offset).or_default();
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
            }
        }
        log
    }

    fn writer(&self, key: u8, value: i64) -> Option<usize> {
        let sends = |event: &Event| event.sends().iter().any(|(k, _, v)| (*k, *v) == (key, value));
        self.events.iter().rposition(sends)
    }

    /// Returns true if some offset has two values: any of them may then be chosen.
    pub(crate) fn is_loose(&self) -> bool {
        self.keys().into_iter().any(|key| self.log(key).values().any(|values| values.len() > 1))
    }

    /// The types of anomalies, with the number of each; for cycles only whether there is one.
    pub(crate) fn anomalies(&self) -> BTreeMap<&'static str, usize> {
        let mut found: BTreeMap<&'static str, usize> = BTreeMap::new();
        for key in self.keys() {
            self.of_messages(key, &mut found);
            self.of_order(key, &mut found);
        }
        self.cycles(&mut found);
        found.retain(|_, count| *count > 0);
        found
    }

    fn of_messages(&self, key: u8, found: &mut BTreeMap<&'static str, usize>) {
        let mut add = |name, count: usize| *found.entry(name).or_default() += count;
        let (log, polled_ok) = (self.log(key), self.polled_ok(key));
        for event in &self.events {
            let polls = Event::of_key(&event.polls(), key);
            if event.kind == Kind::Ok {
                let failed =
                    |value: &&i64| self.writer(key, **value).is_some_and(|w| self.events[w].kind == Kind::Fail);
                add("G1a", polls.iter().filter(failed).count());
            }
            add(
                "precommitted-read",
                usize::from(Event::of_key(&event.sends(), key).iter().any(|value| polls.contains(value))),
            );
        }
        let all_polled: BTreeSet<i64> =
            self.events.iter().flat_map(|event| Event::of_key(&event.polls(), key)).collect();
        add("phantom-message", all_polled.iter().filter(|value| self.writer(key, **value).is_none()).count());
        add("inconsistent-offsets", log.values().filter(|values| values.len() > 1).count());
        let offsets = |value: i64| log.values().filter(|values| values.contains(&value)).count();
        let all: BTreeSet<i64> = log.values().flatten().copied().collect();
        add("duplicate", all.iter().filter(|value| offsets(**value) > 1).count());
        let positions: Vec<&Vec<i64>> = log.values().collect();
        let first = |value: i64| positions.iter().position(|values| values.contains(&value));
        let last = |value: i64| positions.iter().rposition(|values| values.contains(&value));
        if let Some(bound) = polled_ok.iter().filter_map(|value| first(*value)).max() {
            let is_lost = |value: &&i64| {
                let writer = self.writer(key, **value);
                last(**value).is_some_and(|last| last <= bound)
                    && !polled_ok.contains(value)
                    && writer.is_some_and(|writer| self.is_committed(&self.events[writer]))
            };
            add("lost-write", all.iter().filter(is_lost).count());
        }
        let ok = self.events.iter().filter(|event| event.kind == Kind::Ok);
        let sent: BTreeSet<i64> = ok.flat_map(|event| Event::of_key(&event.sends(), key)).collect();
        add("unseen", usize::from(sent.difference(&polled_ok).next().is_some()));
    }

    fn of_order(&self, key: u8, found: &mut BTreeMap<&'static str, usize>) {
        let mut add = |name| *found.entry(name).or_default() += 1;
        let chosen: Vec<i64> = self.log(key).into_values().map(|values| values[0]).collect();
        let index = |value: i64| chosen.iter().rposition(|other| *other == value).map(|at| i64::try_from(at).unwrap());
        let delta = |a: i64, b: i64| index(a).zip(index(b)).map_or(1, |(a, b)| b - a);
        let mut polled: BTreeMap<u8, i64> = BTreeMap::new();
        let mut sent: BTreeMap<u8, i64> = BTreeMap::new();
        for event in &self.events {
            if let Some(Part::Assign(keys)) = event.parts.first() {
                if event.kind != Kind::Fail && !keys.contains(&key) {
                    polled.remove(&event.process);
                    sent.remove(&event.process);
                }
                continue;
            }
            let (polls, sends) = (Event::of_key(&event.polls(), key), Event::of_key(&event.sends(), key));
            for pair in polls.windows(2) {
                match delta(pair[0], pair[1]) {
                    1 => {}
                    2.. => add("int-poll-skip"),
                    _ => add("int-nonmonotonic-poll"),
                }
            }
            for pair in sends.windows(2) {
                match delta(pair[0], pair[1]) {
                    1 => {}
                    2.. => add("int-send-skip"),
                    _ => add("int-nonmonotonic-send"),
                }
            }
            if let (Some(last), Some(first)) = (polled.get(&event.process), polls.first()) {
                match delta(*last, *first) {
                    1 => {}
                    2.. => add("poll-skip"),
                    _ => add("nonmonotonic-poll"),
                }
            }
            if event.kind == Kind::Ok {
                polls.last().map(|last| polled.insert(event.process, *last));
            }
            if event.kind != Kind::Fail {
                if let (Some(last), Some(first)) = (sent.get(&event.process), sends.first())
                    && delta(*last, *first) < 1
                {
                    add("nonmonotonic-send");
                }
                sends.last().map(|last| sent.insert(event.process, *last));
            }
        }
    }

    /// Finds cycles by computing reachability over all paths: of polls alone, and with real time.
    fn cycles(&self, found: &mut BTreeMap<&'static str, usize>) {
        let count = self.events.len();
        let mut wr = vec![vec![false; count]; count];
        for (reader, event) in self.events.iter().enumerate() {
            for (key, _, value) in event.polls() {
                if let Some(writer) = self.writer(key, value).filter(|writer| *writer != reader) {
                    wr[writer][reader] = true;
                }
            }
        }
        let mut timed = wr.clone();
        for (a, event) in self.events.iter().enumerate() {
            for (edge, after) in timed[a].iter_mut().zip(&self.invoked_after) {
                *edge |= event.kind == Kind::Ok && a < *after;
            }
        }
        let closes = |mut edges: Vec<Vec<bool>>| {
            for k in 0..count {
                for i in 0..count {
                    for j in 0..count {
                        edges[i][j] |= edges[i][k] && edges[k][j];
                    }
                }
            }
            (0..count).any(|i| edges[i][i])
        };
        let by_polls = closes(wr);
        found.insert("G1c", usize::from(by_polls));
        found.insert("any cycle", usize::from(closes(timed)));
    }
}
