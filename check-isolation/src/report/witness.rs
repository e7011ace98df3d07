//! Witnesses: the transactions of a derivation as they were recorded, its steps as sentences, and all of it as data to verify.

use super::explain::{first, key, mop, written};
use crate::decode::{Decoded, Direct, DirectCase, Row, Settled};
use crate::evidence::{Because, Before, Fact, Item, Link, Refutation, Relation};
use crate::ids::TxnId;
use crate::level::Base;
use history_core::cast::Cast as _;
use history_core::explain::{self, Explanation};
use history_core::figure::{Figure, TXNS_MAX};
use history_core::{Anomaly, Datum, Step, Witness, WitnessOp};
use std::fmt::Write as _;

/// Steps of a derivation that are told, at the most; all of them are in its data.
const TOLD_MAX: usize = 200;

/// A transaction of a witness.
pub(crate) fn op(run: &Decoded, name: String, row: Row) -> WitnessOp {
    let rows = &run.rows;
    WitnessOp {
        name,
        index: rows.index(row),
        process: rows.client(row),
        kind: rows.kind(row),
        time_ns: rows.time_ns(row),
        value: Datum::Vector(rows.mops(row).iter().map(|one| mop(run, *one)).collect()),
    }
}

/// The pictures of all witnesses that have one.
pub(super) fn figures(anomalies: &[Anomaly]) -> Vec<Figure> {
    let of_one = |anomaly: &Anomaly| {
        let witnesses = anomaly.witnesses.iter().enumerate();
        let drawn = witnesses.filter(|(_, witness)| !witness.steps.is_empty() && witness.ops.len() <= TXNS_MAX);
        drawn.map(|(at, witness)| Figure::of_cycle(&anomaly.name, at, witness)).collect::<Vec<_>>()
    };
    anomalies.iter().flat_map(of_one).collect()
}

/// What is wrong whatever the order.
pub(super) fn direct(run: &Decoded, case: DirectCase) -> Witness {
    let read = run.rows.mops(case.reader)[case.mop.to_usize()];
    let mut ops = vec![op(run, explain::name(0), case.reader)];
    if case.other != Row::NONE && case.other != case.reader {
        ops.push(op(run, explain::name(1), case.other));
    }
    let (shown, key) = (mop(run, read), key(run, read.key));
    let sentence = match case.what {
        Direct::G1a => format!("T1 read {shown}, which T2 wrote, but T2 failed."),
        Direct::G1b => {
            format!("T1 read {shown}, which T2 wrote, but T2 wrote key {key} again in the same transaction.")
        }
        Direct::G0 => format!(
            "T1 read {shown}: T2's elements of key {key} are not adjacent, although T2 took effect at one instant."
        ),
        Direct::ThinAirRead => format!("T1 read {shown}, which was never written."),
        Direct::FutureRead => format!("T1 read {shown}, before it wrote it itself."),
        Direct::Internal => {
            format!("T1 read {shown}, which is not what it had last written to key {key} itself.")
        }
        Direct::IncompatibleOrder => {
            format!(
                "T1 read a list of key {key}, and another read returned a list such that neither is a prefix of the other."
            )
        }
        Direct::DuplicateElements => {
            format!("T1 read {shown}, which contains an element twice, although it was appended once.")
        }
    };
    let mut explanation = Explanation::of(&ops);
    explanation.then(sentence);
    Witness::new(ops, explanation.to_string()).with_facts(vec![("key".into(), key), ("mop".into(), shown)])
}

/// A derivation on its way to a witness.
struct Telling<'r> {
    run: &'r Decoded,
    settled: &'r Settled,
    /// The transactions that were named, in this order.
    named: Vec<TxnId>,
}

/// A derivation that there is no order.
pub(super) fn refutation(run: &Decoded, settled: &Settled, refutation: &Refutation) -> Witness {
    let mut telling = Telling { run, settled, named: Vec::new() };
    telling.cycle_names(&refutation.cycle);
    let mut sentences: Vec<String> = telling.items(&refutation.items);
    let steps: Vec<Step> = refutation.cycle.iter().map(|link| telling.step(*link)).collect();
    for (at, step) in steps.iter().enumerate() {
        let (lead, end) = if at + 1 == steps.len() { ("However, ", ": a contradiction!") } else { ("", ".") };
        let (from, to) = (explain::name(step.from), explain::name(step.to));
        sentences.push(format!("{lead}{from} < {to}, because {}{end}", step.because));
    }
    if let Some(lemma) = refutation.by {
        sentences.push(format!("These orders together are what lemma {} rules out: a contradiction!", lemma + 1));
    }
    if !refutation.is_complete {
        sentences.insert(0, "The derivation of the orders below is too long to be kept.".to_owned());
    }
    let ops: Vec<WitnessOp> =
        (0..telling.named.len()).map(|at| op(run, explain::name(at), telling.row(telling.named[at]))).collect();
    let mut explanation = Explanation::of(&ops);
    let left = sentences.len().saturating_sub(TOLD_MAX);
    let skipped = if left == 0 { 0..0 } else { TOLD_MAX / 2..TOLD_MAX / 2 + left };
    for (at, sentence) in sentences.iter().enumerate().filter(|(at, _)| !skipped.contains(at)) {
        if at == skipped.end && left > 0 {
            explanation.line(format_args!("({left} steps are not shown.)"));
        }
        explanation.then(sentence);
    }
    let facts = vec![
        ("axiom".into(), Datum::keyword(axiom_name(refutation))),
        ("base".into(), Datum::keyword(base_name(refutation.base))),
        ("derivation".into(), telling.data(refutation)),
    ];
    Witness::new(ops, explanation.to_string()).with_steps(steps).with_facts(facts)
}

/// The level of the axiom without a base.
fn axiom_name(refutation: &Refutation) -> &'static str {
    crate::Level::of(refutation.axiom, Base::None).map_or("serializable", crate::Level::name)
}

fn base_name(base: Base) -> &'static str {
    match base {
        Base::None => "none",
        Base::Session => "session",
        Base::RealTime => "realtime",
    }
}

impl Telling<'_> {
    fn row(&self, txn: TxnId) -> Row {
        self.settled.rows[txn.at()]
    }

    fn at(&mut self, txn: TxnId) -> usize {
        self.named.iter().position(|named| *named == txn).unwrap_or_else(|| {
            self.named.push(txn);
            self.named.len() - 1
        })
    }

    fn name(&mut self, txn: TxnId) -> String {
        explain::name(self.at(txn))
    }

    fn cycle_names(&mut self, cycle: &[Link]) {
        for link in cycle {
            self.at(link.from);
        }
    }

    fn version(&self, writer: TxnId, on: crate::KeyId) -> Datum {
        if writer == TxnId::NONE { first(self.run) } else { written(self.run, self.row(writer), on) }
    }

    fn step(&mut self, link: Link) -> Step {
        let (from, to) = (self.at(link.from), self.at(link.to));
        let (a, b) = (explain::name(from), explain::name(to));
        let run = self.run;
        match link.relation {
            Relation::Session => {
                let process =
                    run.rows.client(self.row(link.from)).map_or_else(String::new, |client| client.to_string());
                Step::new(from, to, "process", format!("process {process} executed {a} before {b}"))
            }
            Relation::RealTime => {
                let (ended, begun) = (run.rows.index(self.row(link.from)), run.rows.begin(self.row(link.to)));
                let because = format!("{a} completed at index {ended}, before {b} was invoked at index {begun}");
                Step::new(from, to, "realtime", because)
            }
            Relation::Wr(on) => {
                let (key, value) = (key(run, on), self.version(link.from, on));
                let because = format!("{b} read what {a} wrote to key {key}: {value}");
                Step::new(from, to, "wr", because).with_versions(Some(key), Some(value), None)
            }
            Relation::Ww(on) => {
                let (key, value, next) = (key(run, on), self.version(link.from, on), self.version(link.to, on));
                let because = format!("{a} wrote {value} to key {key} before {b} wrote {next}");
                Step::new(from, to, "ww", because).with_versions(Some(key), Some(value), Some(next))
            }
            Relation::Rw(on, writer) => {
                let (key, value, next) = (key(run, on), self.version(writer, on), self.version(link.to, on));
                let because = format!("{a} read {value} in key {key}, before {b} wrote {next}");
                Step::new(from, to, "rw", because).with_versions(Some(key), Some(value), Some(next))
            }
        }
    }

    fn path(&mut self, path: &[Link]) -> String {
        let steps: Vec<Step> = path.iter().map(|link| self.step(*link)).collect();
        let Some(first) = steps.first() else { return "what all begin with".to_owned() };
        let mut text = explain::name(first.from);
        for step in &steps {
            let key = step.key.as_ref().map_or_else(String::new, |key| format!(" {key}"));
            _ = write!(text, " -{}{key}-> {}", step.relation, explain::name(step.to));
        }
        text
    }

    fn order(&mut self, order: Before) -> String {
        let (a, b) = (self.name(order.first), self.name(order.second));
        let (value, next) = (self.version(order.first, order.key), self.version(order.second, order.key));
        format!("{a} wrote {value} to key {} before {b} wrote {next}", key(self.run, order.key))
    }

    fn fact(&mut self, fact: &Fact) -> String {
        let order = self.order(fact.order);
        let because = match &fact.because {
            Because::Visible { reader, path } => {
                let (reader, second) = (self.name(*reader), self.name(fact.order.second));
                let first = self.name(fact.order.first);
                format!("{reader} read what {second} wrote, and {first} was visible to it: {}", self.path(path))
            }
            Because::Inevitable { path } => format!("the other way around there would be a cycle: {}", self.path(path)),
            Because::Replaced { version, path } => {
                let (first, second) = (self.name(fact.order.first), self.name(fact.order.second));
                let read = self.version(*version, fact.order.key);
                format!("{first} replaced {read}, which {second} comes after: {}", self.path(path))
            }
            Because::Lemma(number) => format!("lemma {} rules out the other way around", number + 1),
        };
        format!("{order}, because {because}.")
    }

    fn items(&mut self, items: &[Item]) -> Vec<String> {
        let mut sentences = Vec::new();
        let mut lemmas = 0;
        for item in items {
            match item {
                Item::Fact(fact) => sentences.push(self.fact(fact)),
                Item::Lemma(lemma) => {
                    lemmas += 1;
                    let assumed: Vec<String> = lemma.assumed.iter().map(|order| self.order(*order)).collect();
                    sentences.push(format!("Lemma {lemmas}. Assume that {}.", assumed.join(", and that ")));
                    sentences.extend(lemma.facts.iter().map(|fact| format!("  Then {}", self.fact(fact))));
                    let end = match lemma.by {
                        Some(number) => format!("  That is what lemma {} rules out.", number + 1),
                        None => format!("  That is a cycle: {}.", self.path(&lemma.cycle)),
                    };
                    sentences.push(end);
                }
            }
        }
        sentences
    }
}

/// The derivation as data: transactions by the indices of their ops, keys as they are.
impl Telling<'_> {
    fn index(&self, txn: TxnId) -> Datum {
        if txn == TxnId::NONE { Datum::Nil } else { Datum::from(self.run.rows.index(self.row(txn))) }
    }

    fn data(&self, refutation: &Refutation) -> Datum {
        let items = refutation.items.iter().map(|item| match item {
            Item::Fact(fact) => self.fact_data(fact),
            Item::Lemma(lemma) => Datum::Vector(vec![
                Datum::keyword("lemma"),
                Datum::Vector(lemma.assumed.iter().map(|order| self.order_data(*order)).collect()),
                Datum::Vector(lemma.facts.iter().map(|fact| self.fact_data(fact)).collect()),
                self.end_data(&lemma.cycle, lemma.by),
            ]),
        });
        let items = Datum::Vector(items.collect());
        Datum::Vector(vec![items, self.end_data(&refutation.cycle, refutation.by)])
    }

    fn end_data(&self, cycle: &[Link], by: Option<usize>) -> Datum {
        match by {
            Some(lemma) => Datum::Vector(vec![Datum::keyword("by"), Datum::from(lemma.to_u64())]),
            None => Datum::Vector(vec![Datum::keyword("cycle"), self.path_data(cycle)]),
        }
    }

    fn order_data(&self, order: Before) -> Datum {
        Datum::Vector(vec![key(self.run, order.key), self.index(order.first), self.index(order.second)])
    }

    fn fact_data(&self, fact: &Fact) -> Datum {
        let because = match &fact.because {
            Because::Visible { reader, path } => {
                vec![Datum::keyword("visible"), self.index(*reader), self.path_data(path)]
            }
            Because::Inevitable { path } => vec![Datum::keyword("inevitable"), self.path_data(path)],
            Because::Replaced { version, path } => {
                vec![Datum::keyword("replaced"), self.index(*version), self.path_data(path)]
            }
            Because::Lemma(number) => vec![Datum::keyword("lemma"), Datum::from(number.to_u64())],
        };
        Datum::Vector(vec![Datum::keyword("fact"), self.order_data(fact.order), Datum::Vector(because)])
    }

    fn path_data(&self, path: &[Link]) -> Datum {
        let link = |link: &Link| {
            let mut parts = vec![self.index(link.from), self.index(link.to)];
            match link.relation {
                Relation::Session => parts.push(Datum::keyword("process")),
                Relation::RealTime => parts.push(Datum::keyword("realtime")),
                Relation::Wr(on) => parts.extend([Datum::keyword("wr"), key(self.run, on)]),
                Relation::Ww(on) => parts.extend([Datum::keyword("ww"), key(self.run, on)]),
                Relation::Rw(on, version) => {
                    parts.extend([Datum::keyword("rw"), key(self.run, on), self.index(version)]);
                }
            }
            Datum::Vector(parts)
        };
        Datum::Vector(path.iter().map(link).collect())
    }
}
