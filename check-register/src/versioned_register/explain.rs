//! Explanations of witnesses. Each ends with the contradiction.

mod witness;

use super::clock::Order;
use super::ops::{Proposal, ReadOp, Seen};
use super::packed::{Interner, Packed};
use super::register::{Register, Settings};
use super::versions::{At, ClientId, NO_TIME, Version, VersionId, Versions, flag};
use crate::engine::ids;
use history_core::{Client, Datum, OpKind, Witness};
use witness::WitnessBuilder;

/// The maximum number of versions of a chain in a witness.
const CHAIN_MAX: usize = 64;
/// The maximum number of versions of a chain that an explanation names.
const CHAIN_SHOWN_MAX: usize = 8;

/// Explains the anomalies of one register.
pub(crate) struct Explainer<'a> {
    pub(crate) versions: &'a Versions,
    pub(crate) interner: &'a Interner,
    pub(crate) clients: &'a [Client],
    pub(crate) settings: &'a Settings,
    pub(crate) register: &'a Register,
    pub(crate) order: Order,
}

impl Explainer<'_> {
    fn datum(&self, packed: Packed) -> Datum {
        self.interner.datum(packed)
    }

    fn id(&self, version: VersionId) -> Datum {
        self.datum(self.versions[version].id)
    }

    fn ids(&self, row: &Version) -> String {
        format!(":write-id {}, :prev-write-id {}", self.datum(row.id), self.datum(row.prev))
    }

    fn client(&self, client: ClientId) -> Option<Client> {
        self.clients.get(ids::index(client.0)).cloned()
    }

    /// The first op that shows a version.
    fn first(&self, version: VersionId) -> Option<Seen> {
        let row = &self.versions[version];
        let seen = Seen { at: row.first, client: row.observer, is_read: row.has(flag::READ_FIRST) };
        row.has(flag::OBSERVED).then_some(seen)
    }

    /// The versions of the chain after `from`, up to the first that `is_known`; all of them if none is.
    fn chain_until(&self, from: VersionId, is_known: impl Fn(At) -> bool) -> Vec<VersionId> {
        let mut chain = Vec::new();
        let mut at = self.versions[from].next;
        while at != VersionId::NONE {
            chain.push(at);
            if self.first(at).is_some_and(|seen| is_known(seen.at)) {
                break;
            }
            at = self.versions[at].next;
        }
        chain
    }

    fn chain_fact(&self, chain: &[VersionId]) -> Datum {
        let ends = chain.len().saturating_sub(CHAIN_MAX / 2);
        let shown = chain.iter().enumerate().filter(|(at, _)| *at < CHAIN_MAX / 2 || *at >= ends);
        Datum::Vector(shown.map(|(_, version)| self.id(*version)).collect())
    }

    /// `"a" -> "b" -> "c"`
    fn chain_text(&self, chain: &[VersionId]) -> String {
        let mut parts: Vec<String> = Vec::new();
        for (at, version) in chain.iter().enumerate() {
            if chain.len() > CHAIN_SHOWN_MAX && at == CHAIN_SHOWN_MAX / 2 {
                parts.push(format!("({} more)", chain.len() - CHAIN_SHOWN_MAX));
            }
            if chain.len() <= CHAIN_SHOWN_MAX || at < CHAIN_SHOWN_MAX / 2 || at + CHAIN_SHOWN_MAX / 2 >= chain.len() {
                parts.push(self.id(*version).to_string());
            }
        }
        parts.join(" -> ")
    }

    /// A read of a version that was known to be replaced before it began.
    pub(crate) fn stale_read(&self, version: VersionId, read: &ReadOp) -> Witness {
        let newer = self.chain_until(version, |first| read.invoked.is_some_and(|at| self.order.is_before(first, at)));
        let mut witness = WitnessBuilder::new(self);
        let mut known = None;
        if let Some(last) = newer.last()
            && let Some(seen) = self.first(*last)
        {
            known = Some((*last, seen, witness.observer(*last, seen)));
        }
        let stale = witness.read(read);
        let (id, mut chain) = (self.datum(read.id), vec![version]);
        chain.extend(newer);
        if let (Some((newest, seen, name)), Some(invoked)) = (known, read.invoked) {
            let newest = self.id(newest);
            let later = later_by(seen.at, invoked);
            witness.then(format!("{name} completed at index {}, and shows version {newest}.", seen.at.index));
            witness.then(format!("Writes replaced the versions in this order: {}.", self.chain_text(&chain)));
            witness.then(format!(
                "However, {stale} began after that, {later}at index {}, and read version {id}: a contradiction!",
                invoked.index
            ));
            witness.fact("newer-write-id", newest);
            witness.fact("invoked-index", invoked.index.into());
        }
        witness.fact("write-id", id);
        witness.fact("chain", self.chain_fact(&chain));
        witness.finish()
    }

    /// Two writes that replaced the same version: the one in the chain, and the last of `path`. `seen` shows the second
    /// one, through `tip`.
    pub(crate) fn lost_update(&self, fork: VersionId, path: &[VersionId], tip: VersionId, seen: Seen) -> Witness {
        let mut witness = WitnessBuilder::new(self);
        let prev = self.id(fork);
        let accepted = self.chain_until(fork, |_| true);
        let names = |witness: &mut WitnessBuilder<'_>, first: VersionId, tip: VersionId, seen: Seen| {
            if first == tip && !seen.is_read {
                let name = witness.observer(tip, seen);
                return (name.clone(), name);
            }
            (witness.write(first), witness.observer(tip, seen))
        };
        let mut sides = Vec::new();
        if let (Some(first), Some(last)) = (accepted.first(), accepted.last())
            && let Some(seen) = self.first(*last)
        {
            let (write, shown) = names(&mut witness, *first, *last, seen);
            sides.push((write, shown, accepted.clone(), seen));
        }
        if let Some(first) = path.last() {
            let (write, shown) = names(&mut witness, *first, tip, seen);
            sides.push((write, shown, path.iter().rev().copied().collect(), seen));
        }
        let ids: Vec<Datum> = sides.iter().map(|(_, _, chain, _)| self.chain_fact(chain)).collect();
        for (write, shown, chain, seen) in sides {
            let text = self.chain_text(&chain);
            if write == shown {
                witness.then(format!("{write} replaced {prev} by {text}: it completed ok at index {}.", seen.at.index));
            } else if let [one] = chain[..] {
                witness.then(format!("{write} replaced {prev} by {}, as {shown} shows.", self.id(one)));
            } else {
                witness.then(format!(
                    "{write} replaced {prev} and led to the versions {text}; {shown} shows the last of \
                    them."
                ));
            }
        }
        witness.then(format!("However, only one write can replace {prev}: a contradiction!"));
        witness.fact("prev-write-id", prev);
        witness.fact("chains", Datum::Vector(ids));
        witness.finish()
    }

    /// A version that was observed before its write was invoked.
    pub(crate) fn future_read(&self, version: VersionId) -> Witness {
        let mut witness = WitnessBuilder::new(self);
        // An initial version may have been replaced without a read of it.
        let written = self.versions[version].written;
        let is_earlier = |first: At| self.order.is_before(first, written);
        let (shown, seen) = match self.first(version).filter(|seen| is_earlier(seen.at)) {
            Some(seen) => (version, Some(seen)),
            None => match self.chain_until(version, is_earlier).last() {
                Some(last) => (*last, self.first(*last)),
                None => (version, None),
            },
        };
        let id = self.id(version);
        if let Some(seen) = seen {
            let name = witness.observer(shown, seen);
            let after = if shown == version { String::new() } else { ", which comes after it".to_owned() };
            witness.then(format!(
                "{name} completed at index {}, and shows version {}{after}.",
                seen.at.index,
                self.id(shown)
            ));
        }
        let write = witness.write(version);
        witness.then(format!(
            "However, {write}, the write of {id}, was invoked after that, at index {}: a contradiction!",
            written.index
        ));
        witness.fact("write-id", id);
        witness.finish()
    }

    /// The write of a first version that existed before this write, and was discarded from memory.
    pub(crate) fn forgotten_future_read(&self, write: &Proposal) -> Witness {
        let mut witness = WitnessBuilder::new(self);
        let (id, prev) = (self.datum(write.id), self.datum(write.prev));
        let seen = Seen { at: write.at, client: write.client, is_read: false };
        let ids = format!(":write-id {id}, :prev-write-id {prev}");
        let name = witness.op("write", OpKind::Invoke, seen, write.value, &ids);
        witness.then(format!("{id} was the first version that any op showed or replaced."));
        witness.then(format!(
            "However, {name}, the write of {id}, was invoked after that, at index {}: a contradiction!",
            write.at.index
        ));
        witness.fact("write-id", id);
        witness.finish()
    }

    /// A read of a version that no write proposes, or that none has proposed so far.
    pub(crate) fn garbage_read(&self, version: VersionId, is_end: bool) -> Witness {
        let mut witness = WitnessBuilder::new(self);
        let id = self.id(version);
        if let Some(seen) = self.first(version) {
            let name = witness.observer(version, seen);
            witness.then(format!("{name} read version {id}."));
        }
        let proposes = if is_end { "proposes" } else { "had yet proposed" };
        witness.then(format!(
            "However, no write that may have happened {proposes} {id}{}: a contradiction!",
            self.initial_clause()
        ));
        witness.fact("write-id", id);
        witness.finish()
    }

    /// A read of a version that is not in memory, and that could not be read even if it was in the chain before.
    pub(crate) fn unknown_read(&self, read: &ReadOp) -> Witness {
        let mut witness = WitnessBuilder::new(self);
        let (name, id) = (witness.read(read), self.datum(read.id));
        witness.then(format!("{name} read version {id}."));
        witness.then(format!(
            "However, either no write that may have happened proposes {id}, or it was replaced so long before {name} \
             began that it was forgotten: a contradiction!"
        ));
        witness.fact("write-id", id);
        witness.finish()
    }

    /// An observed write that replaces a version which no write had proposed at that time.
    pub(crate) fn unknown_version(&self, id: Packed, first: VersionId, path: &[VersionId], seen: Seen) -> Witness {
        let mut witness = WitnessBuilder::new(self);
        let id = self.datum(id);
        let write = witness.write(first);
        if let Some(tip) = path.first() {
            let shown = witness.observer(*tip, seen);
            let chain: Vec<VersionId> = path.iter().rev().copied().collect();
            let tip = self.id(*tip);
            match chain.len() {
                1 => witness.then(format!("{shown} shows version {tip}, so {write} happened.")),
                _ => witness
                    .then(format!("{shown} shows version {tip}, so {write} happened: {}.", self.chain_text(&chain))),
            }
        }
        let ago = if self.settings.window.is_some() {
            ", or {id} was replaced so long ago that it was forgotten"
        } else {
            ""
        };
        witness.then(format!(
            "However, {write} replaces {id}, and no write that may have happened had proposed it by then{ago}{}: a \
             contradiction!",
            self.initial_clause()
        ));
        witness.fact("prev-write-id", id);
        witness.finish()
    }

    /// Observed writes each of which replaces another's version, in a cycle.
    pub(crate) fn cyclic_versions(&self, from: VersionId, path: &[VersionId], seen: Seen) -> Witness {
        let mut witness = WitnessBuilder::new(self);
        let start = path.iter().position(|version| *version == from).unwrap_or_default();
        let mut cycle: Vec<VersionId> = path[start..].iter().rev().copied().collect();
        let names: Vec<String> = cycle.iter().take(CHAIN_MAX).map(|version| witness.write(*version)).collect();
        if let Some(tip) = path.first() {
            let shown = witness.observer(*tip, seen);
            witness.then(format!("{shown} shows version {}, which follows from these writes.", self.id(*tip)));
        }
        witness.fact("chain", self.chain_fact(&cycle));
        cycle.push(cycle[0]);
        let text = self.chain_text(&cycle);
        match &names[..] {
            [one] => witness.then(format!("{one} replaces its own version: {text}.")),
            all => witness.then(format!("{} replace each other's versions: {text}.", all.join(", "))),
        }
        witness.then("However, a version must exist before it can be replaced: a contradiction!".to_owned());
        witness.finish()
    }

    /// A write that failed although `shown`, or some earlier op, shows that it happened.
    pub(crate) fn failed_write_observed(&self, version: VersionId, shown: Option<(VersionId, Seen)>) -> Witness {
        let mut witness = WitnessBuilder::new(self);
        let (id, name) = (self.id(version), witness.write(version));
        witness.then(format!("{name} failed, so version {id} never existed."));
        let shown = shown.or_else(|| Some((version, self.first(version)?))).or_else(|| {
            let last = *self.chain_until(version, |_| true).last()?;
            Some((last, self.first(last)?))
        });
        if let Some((last, seen)) = shown {
            let observer = witness.observer(last, seen);
            let (last_id, after) = (self.id(last), if last == version { "" } else { ", which comes after it" });
            witness.then(format!("However, {observer} shows {last_id}{after}: a contradiction!"));
        }
        witness.fact("write-id", id);
        witness.finish()
    }

    /// A read of a value other than the one written, or read by `before`.
    pub(crate) fn wrong_value(&self, version: VersionId, before: Option<&ReadOp>, read: &ReadOp) -> Witness {
        let row = &self.versions[version];
        let mut witness = WitnessBuilder::new(self);
        let id = self.datum(read.id);
        let is_given = !row.has(flag::PROPOSED) && self.settings.initial_id == Some(row.id);
        match before {
            Some(_) if is_given && self.settings.initial_value.is_some() => {
                let value = self.datum(row.value);
                witness.then(format!("The initial version {id} has the value {value}, as given."));
            }
            Some(before) => {
                let name = witness.read(before);
                witness.then(format!("{name} read {} as the value of version {id}.", self.datum(before.value)));
            }
            None => {
                let name = witness.write(version);
                witness.then(format!("{name} wrote {} as version {id}.", self.datum(row.value)));
            }
        }
        let (name, value) = (witness.read(read), self.datum(read.value));
        witness.then(format!("However, {name} read {value} as the value of {id}: a contradiction!"));
        witness.fact("write-id", id);
        witness.finish()
    }

    /// A first version whose value differs from the one that the user gave.
    pub(crate) fn wrong_initial_value(&self, version: VersionId) -> Witness {
        let mut witness = WitnessBuilder::new(self);
        let row = &self.versions[version];
        let value = self.settings.initial_value.map_or(Datum::Nil, |value| self.datum(value));
        let id = self.id(version);
        if let Some(seen) = self.first(version) {
            let name = witness.observer(version, seen);
            witness.then(format!("{name} read {} as the value of version {id}.", self.datum(row.value)));
        }
        witness.then(format!("However, {id} is the initial version, which has the value {value}: a contradiction!"));
        witness.fact("write-id", id);
        witness.fact("initial-value", value);
        witness.finish()
    }

    /// `; the initial version is "a"`
    fn initial_clause(&self) -> String {
        match self.settings.initial_id.or(self.register.inferred_id) {
            Some(id) => format!("; the initial version is {}", self.datum(id)),
            None => String::new(),
        }
    }
}

/// `"24 ms later, "`, if the times are known.
fn later_by(before: At, after: At) -> String {
    if before.time_ns == NO_TIME || after.time_ns == NO_TIME {
        return String::new();
    }
    // Rounded down, so that the text never gives a longer time than the actual one.
    match after.time_ns.checked_sub(before.time_ns) {
        Some(ns @ 1..1_000) => format!("{ns} ns later, "),
        Some(ns @ 1_000..1_000_000) => format!("{} \u{b5}s later, ", ns / 1_000),
        Some(ns @ 1_000_000..1_000_000_000) => format!("{} ms later, ", ns / 1_000_000),
        Some(ns @ 1_000_000_000..) => format!("{}.{:03} s later, ", ns / 1_000_000_000, ns / 1_000_000 % 1_000),
        _ => String::new(),
    }
}
