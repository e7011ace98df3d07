//! A derivation as a witness: the transactions as recorded, the steps as sentences, and the complete derivation as data
//! to verify.

use crate::evidence::{Because, Before, Fact, Item, Link, Refutation, Relation};
use crate::ids::{KeyId, TxnId};
use crate::level::{Base, Level};
use history_core::cast::Cast as _;
use history_core::explain::{self, Explanation};
use history_core::{Client, Datum, Step, Witness, WitnessOp};
use std::fmt::Write as _;

/// The maximum number of steps of a derivation that are shown; all of them are in its data.
const SHOWN_MAX: usize = 200;

/// The name of a derivation that is not one of Adya's cycles, and its description.
pub const NO_COMMIT_ORDER: (&str, &str) = (
    "no-commit-order",
    "No order of commits explains what was read: what follows from the level, in each case, ends in a contradiction.",
);

/// A history as recorded: the data of [`Transactions`](crate::Transactions) for witnesses.
pub trait Recorded {
    /// A transaction as an op of a witness, under this name.
    fn op(&self, txn: TxnId, name: String) -> WitnessOp;

    /// The index of the transaction's op: its completion or, where there is none, its invocation.
    fn index(&self, txn: TxnId) -> u64;

    /// The index of its invocation; 0 if unknown.
    fn begin(&self, txn: TxnId) -> u64;

    /// Its process, if the history names it.
    fn client(&self, txn: TxnId) -> Option<Client>;

    /// A key.
    fn key(&self, key: KeyId) -> Datum;

    /// A transaction's last write of a key; for `TxnId::NONE`, the initial value.
    fn written(&self, txn: TxnId, key: KeyId) -> Datum;
}

/// The state while a derivation becomes a witness.
struct Shown<'r> {
    recorded: &'r dyn Recorded,
    /// The transactions named so far, in this order.
    named: Vec<TxnId>,
}

impl Refutation {
    /// The derivation as a witness: its transactions, a sentence for each step, the final cycle as steps, and all of it
    /// as data.
    ///
    /// The facts are the `axiom` (the level that is violated, without a base), the `base` (`:none`, `:session` or
    /// `:realtime`) and the `derivation`: its items and its end, with transactions as the indices of their ops.
    pub fn witness(&self, recorded: &dyn Recorded) -> Witness {
        let mut shown = Shown { recorded, named: Vec::new() };
        for link in &self.cycle {
            shown.at(link.from);
        }
        let mut sentences: Vec<String> = shown.items(&self.items);
        let steps: Vec<Step> = self.cycle.iter().map(|link| shown.step(*link)).collect();
        for (at, step) in steps.iter().enumerate() {
            let (lead, end) = if at + 1 == steps.len() { ("However, ", ": a contradiction!") } else { ("", ".") };
            let (from, to) = (explain::name(step.from), explain::name(step.to));
            sentences.push(format!("{lead}{from} < {to}, because {}{end}", step.because));
        }
        if let Some(lemma) = self.by {
            sentences.push(format!("These orders together are what lemma {} rules out: a contradiction!", lemma + 1));
        }
        if !self.is_complete {
            sentences.insert(0, "The derivation of the orders below is too long to be kept.".to_owned());
        }
        let named = shown.named.iter().enumerate();
        let ops: Vec<WitnessOp> = named.map(|(at, txn)| recorded.op(*txn, explain::name(at))).collect();
        let facts = vec![
            ("axiom".into(), Datum::keyword(Level::of(self.axiom, Base::None).map_or("serializable", Level::name))),
            ("base".into(), Datum::keyword(base_name(self.base))),
            ("derivation".into(), shown.data(self)),
        ];
        let explanation = explanation(&ops, &sentences);
        Witness::new(ops, explanation.to_string()).with_steps(steps).with_facts(facts)
    }
}

/// The explanation with these sentences; if there are very many, only the first and the last.
fn explanation(ops: &[WitnessOp], sentences: &[String]) -> Explanation {
    let mut explanation = Explanation::of(ops);
    let left = sentences.len().saturating_sub(SHOWN_MAX);
    let skipped = if left == 0 { 0..0 } else { SHOWN_MAX / 2..SHOWN_MAX / 2 + left };
    for (at, sentence) in sentences.iter().enumerate().filter(|(at, _)| !skipped.contains(at)) {
        if at == skipped.end && left > 0 {
            explanation.line(format_args!("({left} steps are not shown.)"));
        }
        explanation.then(sentence);
    }
    explanation
}

fn base_name(base: Base) -> &'static str {
    match base {
        Base::None => "none",
        Base::Session => "session",
        Base::RealTime => "realtime",
    }
}

impl Shown<'_> {
    fn at(&mut self, txn: TxnId) -> usize {
        self.named.iter().position(|named| *named == txn).unwrap_or_else(|| {
            self.named.push(txn);
            self.named.len() - 1
        })
    }

    fn name(&mut self, txn: TxnId) -> String {
        explain::name(self.at(txn))
    }

    fn version(&self, writer: TxnId, on: crate::KeyId) -> Datum {
        self.recorded.written(writer, on)
    }

    fn step(&mut self, link: Link) -> Step {
        let (from, to) = (self.at(link.from), self.at(link.to));
        let (a, b) = (explain::name(from), explain::name(to));
        let recorded = self.recorded;
        match link.relation {
            Relation::Session => {
                let process = recorded.client(link.from).map_or_else(String::new, |client| client.to_string());
                Step::new(from, to, "process", format!("process {process} executed {a} before {b}"))
            }
            Relation::RealTime => {
                let (ended, begun) = (recorded.index(link.from), recorded.begin(link.to));
                let because = format!("{a} completed at index {ended}, before {b} was invoked at index {begun}");
                Step::new(from, to, "realtime", because)
            }
            Relation::Wr(on) => {
                let (key, value) = (recorded.key(on), self.version(link.from, on));
                let because = format!("{b} read what {a} wrote to key {key}: {value}");
                Step::new(from, to, "wr", because).with_versions(Some(key), Some(value), None)
            }
            Relation::Ww(on) => {
                let (key, value, next) = (recorded.key(on), self.version(link.from, on), self.version(link.to, on));
                let because = format!("{a} wrote {value} to key {key} before {b} wrote {next}");
                Step::new(from, to, "ww", because).with_versions(Some(key), Some(value), Some(next))
            }
            Relation::Rw(on, writer) => {
                let (key, value, next) = (recorded.key(on), self.version(writer, on), self.version(link.to, on));
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
        format!("{a} wrote {value} to key {} before {b} wrote {next}", self.recorded.key(order.key))
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

/// The derivation as data, with the indices of ops for transactions, and recorded keys.
impl Shown<'_> {
    fn index(&self, txn: TxnId) -> Datum {
        if txn == TxnId::NONE { Datum::Nil } else { Datum::from(self.recorded.index(txn)) }
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
        Datum::Vector(vec![self.recorded.key(order.key), self.index(order.first), self.index(order.second)])
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
                Relation::Wr(on) => parts.extend([Datum::keyword("wr"), self.recorded.key(on)]),
                Relation::Ww(on) => parts.extend([Datum::keyword("ww"), self.recorded.key(on)]),
                Relation::Rw(on, version) => {
                    parts.extend([Datum::keyword("rw"), self.recorded.key(on), self.index(version)]);
                }
            }
            Datum::Vector(parts)
        };
        Datum::Vector(path.iter().map(link).collect())
    }
}
