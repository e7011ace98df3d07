//! Evidence as data: the order that explains a history, or the derivation that proves that there is none.

use crate::ids::{KeyId, TxnId};
use crate::level::{Axiom, Base};
use history_core::Spent;

/// The result of deciding a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The level holds: an order that explains the history.
    Holds(Order),
    /// The level is violated: a derivation proves it.
    Violated(Box<Refutation>),
    /// The level was not decided.
    Unknown(Undecided),
}

impl From<Refutation> for Outcome {
    fn from(refutation: Refutation) -> Outcome {
        Outcome::Violated(Box::new(refutation))
    }
}

/// Why a level could not be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecided {
    /// The level has no axiom.
    NoAxiom,
    /// The limit of steps or memory was reached; the number of orders of writers that were decided by then.
    Spent {
        /// The limit that was reached.
        what: Spent,
        /// The number of orders of two writers that followed from the history alone.
        decided: u64,
    },
}

/// An order of transactions that explains a history at a level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// The transactions in commit order; for snapshots, when each one began and committed.
    pub moments: Vec<Moment>,
}

/// A moment of an [`Order`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The transaction takes its snapshot.
    Begin(TxnId),
    /// The transaction commits; without a [`Moment::Begin`], all of its reads and writes happen at this moment.
    Commit(TxnId),
}

/// Why one transaction precedes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// Both belong to one session, in this order.
    Session,
    /// The first completed before the second was invoked.
    RealTime,
    /// The second read the first's write to the key.
    Wr(KeyId),
    /// Both wrote the key, in an order that is known or was derived.
    Ww(KeyId),
    /// The first read the key in the version of the second transaction here (`TxnId::NONE`: the first state), and that
    /// version precedes the write of the other one.
    Rw(KeyId, TxnId),
}

/// A step from one transaction to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The earlier transaction.
    pub from: TxnId,
    /// The later transaction.
    pub to: TxnId,
    /// The reason for the order.
    pub relation: Relation,
}

/// One transaction's write of a key precedes another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Before {
    /// The key that both write.
    pub key: KeyId,
    /// The transaction that wrote it first.
    pub first: TxnId,
    /// The transaction that wrote it later.
    pub second: TxnId,
}

/// An order of two writers that was derived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The order.
    pub order: Before,
    /// The reason for the order.
    pub because: Because,
}

/// Why one write of a key precedes another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Because {
    /// This reader read from the later one, and the earlier one was visible to it, by this path from the earlier one to
    /// the reader.
    Visible {
        /// The reader.
        reader: TxnId,
        /// From the first writer to the reader.
        path: Vec<Link>,
    },
    /// The other way around would close a cycle with this path from the first writer to the second.
    Inevitable {
        /// From the first writer to the second.
        path: Vec<Link>,
    },
    /// The first writer itself read the key in the version of this writer (`TxnId::NONE`: the first state), and this
    /// path leads from that writer to the second: if the second preceded the first, it would have been visible to it.
    Replaced {
        /// The writer of the version that the first writer read.
        version: TxnId,
        /// From there to the second writer; empty for the first state.
        path: Vec<Link>,
    },
    /// All assumptions but one of the lemma with this number, from 0 on, hold, so the remaining one does not.
    Lemma(usize),
}

/// These orders together are impossible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lemma {
    /// The orders.
    pub assumed: Vec<Before>,
    /// The consequences, each of which follows from the previous ones.
    pub facts: Vec<Fact>,
    /// The resulting contradiction: a cycle; empty if it is a lemma.
    pub cycle: Vec<Link>,
    /// The number of the lemma all of whose assumptions then hold, if that is the contradiction.
    pub by: Option<usize>,
}

/// A part of a derivation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// An order that follows from the history and the items before.
    Fact(Fact),
    /// Orders that cannot be together.
    Lemma(Lemma),
}

/// A derivation that ends in a cycle: the history has no order that obeys the level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refutation {
    /// The violated axiom: that of the level, or a weaker one.
    pub axiom: Axiom,
    /// The violated base.
    pub base: Base,
    /// Orders and lemmas, each of which follows from the previous ones.
    pub items: Vec<Item>,
    /// The cycle; empty if the contradiction is a lemma.
    pub cycle: Vec<Link>,
    /// The number of the lemma all of whose assumptions hold, if that is the contradiction.
    pub by: Option<usize>,
    /// Whether the derivation is complete: if it would not fit into memory, only the cycle is present.
    pub is_complete: bool,
}

impl Refutation {
    /// A derivation of these facts, which ends in a cycle.
    pub(crate) fn of_facts((axiom, base): (Axiom, Base), facts: Vec<Fact>, cycle: Vec<Link>) -> Refutation {
        let items = facts.into_iter().map(Item::Fact).collect();
        Refutation { axiom, base, items, cycle, by: None, is_complete: true }
    }

    /// Returns true if another refutation has the same steps, possibly at another level.
    pub(crate) fn has_the_steps_of(&self, other: &Refutation) -> bool {
        (&self.cycle, &self.items, self.by, self.is_complete)
            == (&other.cycle, &other.items, other.by, other.is_complete)
    }

    /// The same derivation about other transactions: `of` maps each transaction.
    pub(crate) fn about(mut self, of: impl Fn(TxnId) -> TxnId) -> Refutation {
        let order = |order: &mut Before| (order.first, order.second) = (of(order.first), of(order.second));
        let links = |links: &mut Vec<Link>| {
            for link in links {
                (link.from, link.to) = (of(link.from), of(link.to));
                if let Relation::Rw(_, writer) = &mut link.relation {
                    *writer = of(*writer);
                }
            }
        };
        let fact = |fact: &mut Fact| {
            order(&mut fact.order);
            match &mut fact.because {
                Because::Visible { reader: txn, path } | Because::Replaced { version: txn, path } => {
                    *txn = of(*txn);
                    links(path);
                }
                Because::Inevitable { path } => links(path),
                Because::Lemma(_) => {}
            }
        };
        for item in &mut self.items {
            match item {
                Item::Fact(own) => fact(own),
                Item::Lemma(lemma) => {
                    lemma.assumed.iter_mut().for_each(order);
                    lemma.facts.iter_mut().for_each(fact);
                    links(&mut lemma.cycle);
                }
            }
        }
        links(&mut self.cycle);
        self
    }

    /// Returns true if the derivation needs a case analysis: some order was assumed and led to a contradiction.
    pub fn has_cases(&self) -> bool {
        self.items.iter().any(|item| matches!(item, Item::Lemma(_)))
    }
}

impl Lemma {
    /// The same lemma with new numbers of the lemmas on which it is based.
    pub(crate) fn renumbered(&self, number: impl Fn(usize) -> usize) -> Lemma {
        let mut lemma = self.clone();
        lemma.by = lemma.by.map(&number);
        for fact in &mut lemma.facts {
            if let Because::Lemma(other) = &mut fact.because {
                *other = number(*other);
            }
        }
        lemma
    }
}
