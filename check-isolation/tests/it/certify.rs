//! An independent judge of evidence: derives each step of a refutation from the transactions again, without the solver.

use check_isolation::{
    Axiom, Base, Because, Before, Fact, Item, Lemma, Link, Refutation, Relation, Transactions, TxnId,
};
use std::collections::BTreeSet;

type Facts = BTreeSet<Before>;
type Verdict = Result<(), String>;

struct Judge<'t> {
    txns: &'t Transactions,
    axiom: Axiom,
    base: Base,
}

fn claim(holds: bool, otherwise: impl Fn() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// Checks that a refutation proves what it says.
pub(crate) fn certify(txns: &Transactions, refutation: &Refutation) -> Verdict {
    let judge = Judge { txns, axiom: refutation.axiom, base: refutation.base };
    claim(refutation.is_complete, || "it is not complete".into())?;
    let (mut facts, mut lemmas): (Facts, Vec<&Lemma>) = (Facts::new(), Vec::new());
    for item in &refutation.items {
        match item {
            Item::Fact(fact) => {
                judge.fact(fact, &facts, &lemmas)?;
                facts.insert(fact.order);
            }
            Item::Lemma(lemma) => {
                let mut known = facts.clone();
                known.extend(lemma.assumed.iter().copied());
                for fact in &lemma.facts {
                    judge.fact(fact, &known, &lemmas)?;
                    known.insert(fact.order);
                }
                judge.end(&lemma.cycle, lemma.by, &known, &lemmas)?;
                lemmas.push(lemma);
            }
        }
    }
    judge.end(&refutation.cycle, refutation.by, &facts, &lemmas)
}

impl Judge<'_> {
    fn end(&self, cycle: &[Link], by: Option<usize>, facts: &Facts, lemmas: &[&Lemma]) -> Verdict {
        match by {
            Some(number) => {
                let lemma = lemmas.get(number).ok_or("no such lemma")?;
                claim(lemma.assumed.iter().all(|order| facts.contains(order)), || "an assumption is open".into())
            }
            None => self.cycle(cycle, facts),
        }
    }

    fn fact(&self, fact: &Fact, facts: &Facts, lemmas: &[&Lemma]) -> Verdict {
        let Before { key, first, second } = fact.order;
        let are_writers = first != second && self.txns.is_writer(first, key) && self.txns.is_writer(second, key);
        claim(are_writers, || format!("{:?} is not about two writers", fact.order))?;
        match &fact.because {
            Because::Visible { reader, path } => {
                let has_read = |read: &check_isolation::Read| (read.key, read.writer) == (key, second);
                claim(self.txns.reads(*reader).iter().any(has_read), || "the reader did not read it".into())?;
                claim(*reader != first, || "its own write is not visible to it".into())?;
                self.visible(first, *reader, path, (key, second), facts)
            }
            Because::Inevitable { path } => {
                self.path(path, first, second, facts)?;
                let is_late = self.axiom == Axiom::Prefix && departs_at_start(path.first());
                claim(!is_late, || "the path does not begin with the commit".into())
            }
            Because::Replaced { version, path } => {
                claim(self.axiom == Axiom::ParallelSnapshot, || "the rule is of another level".into())?;
                let has_read = |read: &check_isolation::Read| (read.key, read.writer) == (key, *version);
                claim(self.txns.reads(first).iter().any(has_read), || "it did not replace that".into())?;
                if *version == TxnId::NONE { Ok(()) } else { self.path(path, *version, second, facts) }
            }
            Because::Lemma(number) => {
                let lemma = lemmas.get(*number).ok_or("no such lemma")?;
                let open: Vec<&Before> = lemma.assumed.iter().filter(|order| !facts.contains(order)).collect();
                let reverse = Before { key, first: second, second: first };
                claim(open == [&reverse], || format!("the lemma leaves {open:?} open"))
            }
        }
    }

    /// Whether the path makes a writer visible to a reader, in the sense of the axiom.
    fn visible(
        &self,
        writer: TxnId,
        reader: TxnId,
        path: &[Link],
        (key, seen): (check_isolation::KeyId, TxnId),
        facts: &Facts,
    ) -> Verdict {
        self.path(path, writer, reader, facts)?;
        let is_known = |link: &Link| !matches!(link.relation, Relation::Ww(_) | Relation::Rw(..));
        match self.axiom {
            Axiom::ReadCommitted => Err("nothing is visible at read committed".into()),
            Axiom::MonotonicAtomicView => {
                let reads = self.txns.reads(reader);
                let from = reads.iter().position(|read| read.writer == writer);
                let last = reads.iter().rposition(|read| (read.key, read.writer) == (key, seen));
                claim(from.is_some() && from < last, || "it was not read from before".into())
            }
            Axiom::ReadAtomic => claim(path.len() == 1 && is_known(&path[0]), || "it takes one step".into()),
            Axiom::Causal => claim(path.iter().all(is_known), || "only base and reads make visible".into()),
            Axiom::ParallelSnapshot => Ok(()),
            Axiom::Prefix | Axiom::Snapshot | Axiom::Serializable => {
                let ends = departs_at_start(path.first()) || arrives_at_commit(self.axiom, path.last());
                claim(self.axiom == Axiom::Serializable || !ends, || "it leads from no commit to no start".into())
            }
        }
    }

    fn path(&self, path: &[Link], from: TxnId, to: TxnId, facts: &Facts) -> Verdict {
        claim(path.first().is_some_and(|link| link.from == from), || format!("{path:?} does not begin at {from:?}"))?;
        claim(path.last().is_some_and(|link| link.to == to), || format!("{path:?} does not end at {to:?}"))?;
        claim(path.windows(2).all(|pair| pair[0].to == pair[1].from), || format!("{path:?} has gaps"))?;
        path.iter().try_for_each(|link| self.link(*link, facts))?;
        let is_passed = |pair: &[Link]| self.passes(pair[0], pair[1]);
        claim(path.windows(2).all(is_passed), || format!("{path:?} goes back in a transaction"))?;
        let has_rw = path.iter().any(|link| matches!(link.relation, Relation::Rw(..)));
        claim(!has_rw || self.has_rw(), || format!("{path:?} has a rw"))
    }

    fn has_rw(&self) -> bool {
        matches!(self.axiom, Axiom::Prefix | Axiom::Snapshot | Axiom::Serializable)
    }

    /// Whether one step can follow another: not from a commit back to the start, where these are apart.
    fn passes(&self, one: Link, next: Link) -> bool {
        let split = matches!(self.axiom, Axiom::Prefix | Axiom::Snapshot);
        !(split && arrives_at_commit(self.axiom, Some(&one)) && departs_at_start(Some(&next)))
    }

    fn cycle(&self, cycle: &[Link], facts: &Facts) -> Verdict {
        let (Some(first), Some(last)) = (cycle.first(), cycle.last()) else { return Err("there is no cycle".into()) };
        claim(last.to == first.from, || format!("{cycle:?} is not closed"))?;
        if self.has_rw() {
            self.path(cycle, first.from, first.from, facts)?;
            return claim(self.passes(*last, *first), || format!("{cycle:?} goes back in a transaction"));
        }
        let rw: Vec<usize> = (0..cycle.len()).filter(|at| matches!(cycle[*at].relation, Relation::Rw(..))).collect();
        match rw[..] {
            [] => self.path(cycle, first.from, first.from, facts),
            [at] => {
                let link = cycle[at];
                self.link(link, facts)?;
                let Relation::Rw(key, version) = link.relation else { return Err("no rw".into()) };
                let path: Vec<Link> = (1..cycle.len()).map(|step| cycle[(at + step) % cycle.len()]).collect();
                self.visible(link.to, link.from, &path, (key, version), facts)
            }
            _ => Err("more than one rw".into()),
        }
    }

    fn is_before(&self, order: Before, facts: &Facts) -> bool {
        let known = self.txns.orders().iter();
        facts.contains(&order)
            || known.into_iter().any(|one| (one.key, one.before, one.after) == (order.key, order.first, order.second))
    }

    fn link(&self, link: Link, facts: &Facts) -> Verdict {
        let Link { from, to, relation } = link;
        let txns = self.txns;
        let holds = match relation {
            Relation::Session => {
                self.base != Base::None
                    && txns.session(from).is_some()
                    && txns.session(from) == txns.session(to)
                    && from < to
            }
            Relation::RealTime => self.base == Base::RealTime && txns.end(from) < txns.begin(to),
            Relation::Wr(key) => txns.reads(to).iter().any(|read| (read.key, read.writer) == (key, from)),
            Relation::Ww(key) => self.is_before(Before { key, first: from, second: to }, facts),
            Relation::Rw(key, version) => {
                let has_read = txns.reads(from).iter().any(|read| (read.key, read.writer) == (key, version));
                let is_later =
                    version == TxnId::NONE || self.is_before(Before { key, first: version, second: to }, facts);
                from != to && has_read && txns.is_writer(to, key) && is_later
            }
        };
        claim(holds, || format!("{link:?} does not hold"))
    }
}

fn departs_at_start(link: Option<&Link>) -> bool {
    link.is_some_and(|link| matches!(link.relation, Relation::Rw(..)))
}

fn arrives_at_commit(axiom: Axiom, link: Option<&Link>) -> bool {
    link.is_some_and(|link| match link.relation {
        Relation::Rw(..) => true,
        Relation::Ww(_) => axiom == Axiom::Prefix,
        _ => false,
    })
}
