//! Verifies derivations: each step by the definition of its rule, from the history and the previous steps.
//!
//! A derivation ends in a cycle, so no order of commits obeys the level. Its rules are those of an axiom of Biswas and
//! Enea (OOPSLA 2019) over a base order; a lemma is checked by assuming its orders and deriving a contradiction
//! ("reverse unit propagation").

use super::axiom::{Axiom, Base, Level};
use super::execution::Execution;
use crate::{Uncertified, claim};
use history_core::Datum;
use std::collections::HashSet;

type Verdict = Result<(), Uncertified>;

/// One write of a key before another: the key, and the indices of the transactions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Before {
    /// As text, because that can be compared and hashed.
    key: String,
    first: u64,
    second: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Relation {
    Session,
    RealTime,
    Wr(Datum),
    Ww(Datum),
    /// With the writer of the version that was read.
    Rw(Datum, Option<u64>),
}

/// A step from one transaction to another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Link {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) relation: Relation,
}

impl Link {
    pub(super) fn is_rw(&self) -> bool {
        matches!(self.relation, Relation::Rw(..))
    }

    /// The name in steps of witnesses.
    pub(super) fn name(&self) -> &'static str {
        match self.relation {
            Relation::Session => "process",
            Relation::RealTime => "realtime",
            Relation::Wr(_) => "wr",
            Relation::Ww(_) => "ww",
            Relation::Rw(..) => "rw",
        }
    }
}

/// The result of a derivation.
pub(super) struct Conclusion {
    /// The cycle at the end, if it does not end with a lemma.
    pub(super) cycle: Vec<Link>,
    /// Whether it has lemmas, which distinguish cases.
    pub(super) has_lemmas: bool,
}

fn bad(what: &str, datum: &Datum) -> Uncertified {
    Uncertified::new(format!("{datum} is not {what}"))
}

fn list<'d>(datum: &'d Datum, what: &str) -> Result<&'d [Datum], Uncertified> {
    match datum {
        Datum::Vector(items) | Datum::List(items) => Ok(items),
        other => Err(bad(what, other)),
    }
}

/// The parts of `[:tag ...]`.
fn tagged<'d>(datum: &'d Datum, what: &str) -> Result<(&'d str, &'d [Datum]), Uncertified> {
    match list(datum, what)? {
        [Datum::Keyword(tag), parts @ ..] => Ok((tag.as_str(), parts)),
        _ => Err(bad(what, datum)),
    }
}

fn index(datum: &Datum) -> Result<u64, Uncertified> {
    match datum {
        Datum::Int(n) => u64::try_from(*n).map_err(|_| bad("an index", datum)),
        other => Err(bad("an index", other)),
    }
}

fn writer(datum: &Datum) -> Result<Option<u64>, Uncertified> {
    if *datum == Datum::Nil { Ok(None) } else { index(datum).map(Some) }
}

fn order(datum: &Datum) -> Result<(Datum, Before), Uncertified> {
    let [key, first, second] = list(datum, "an order")? else { return Err(bad("an order", datum)) };
    Ok((key.clone(), Before { key: key.to_string(), first: index(first)?, second: index(second)? }))
}

fn path(datum: &Datum) -> Result<Vec<Link>, Uncertified> {
    let link = |datum: &Datum| {
        let (from, to, tag, rest) = match list(datum, "a step")? {
            [from, to, Datum::Keyword(tag), rest @ ..] => (index(from)?, index(to)?, tag.as_str(), rest),
            _ => return Err(bad("a step", datum)),
        };
        let relation = match (tag, rest) {
            ("process", []) => Relation::Session,
            ("realtime", []) => Relation::RealTime,
            ("wr", [key]) => Relation::Wr(key.clone()),
            ("ww", [key]) => Relation::Ww(key.clone()),
            ("rw", [key, version]) => Relation::Rw(key.clone(), writer(version)?),
            _ => return Err(bad("a step", datum)),
        };
        Ok(Link { from, to, relation })
    };
    list(datum, "a path")?.iter().map(link).collect()
}

/// Checks that a derivation rules out a level of an execution.
pub(super) fn certify(execution: &Execution, level: Level, datum: &Datum) -> Result<Conclusion, Uncertified> {
    let [items, end] = list(datum, "a derivation")? else { return Err(bad("a derivation", datum)) };
    let known = execution.orders.iter().map(|(key, a, b)| Before { key: key.to_string(), first: *a, second: *b });
    let mut judge = Judge { execution, level, known: known.collect(), lemmas: Vec::new() };
    let mut facts = HashSet::new();
    for item in list(items, "a derivation")? {
        match tagged(item, "an item")? {
            ("fact", [about, because]) => judge.fact(about, because, &mut facts)?,
            ("lemma", [assumed, inner, end]) => {
                let assumed = list(assumed, "orders")?.iter().map(|datum| Ok(order(datum)?.1));
                let assumed: Vec<Before> = assumed.collect::<Result<_, Uncertified>>()?;
                let mut known = facts.clone();
                known.extend(assumed.iter().cloned());
                for fact in list(inner, "facts")? {
                    match tagged(fact, "a fact")? {
                        ("fact", [about, because]) => judge.fact(about, because, &mut known)?,
                        _ => return Err(bad("a fact", fact)),
                    }
                }
                judge.end(end, &known)?;
                judge.lemmas.push(assumed);
            }
            _ => return Err(bad("an item", item)),
        }
    }
    let cycle = judge.end(end, &facts)?;
    Ok(Conclusion { cycle, has_lemmas: !judge.lemmas.is_empty() })
}

struct Judge<'e> {
    execution: &'e Execution,
    level: Level,
    /// The orders of writers that the history shows.
    known: HashSet<Before>,
    lemmas: Vec<Vec<Before>>,
}

type Facts = HashSet<Before>;

impl Judge<'_> {
    fn lemma(&self, number: u64) -> Result<&[Before], Uncertified> {
        let lemma = usize::try_from(number).ok().and_then(|number| self.lemmas.get(number));
        lemma.map(|lemma| &lemma[..]).ok_or_else(|| Uncertified::new(format!("there is no lemma {number} yet")))
    }

    /// A contradiction: a cycle, which is returned, or a lemma all of whose assumptions hold.
    fn end(&self, datum: &Datum, facts: &Facts) -> Result<Vec<Link>, Uncertified> {
        match tagged(datum, "an end")? {
            ("by", [number]) => {
                let holds = self.lemma(index(number)?)?.iter().all(|order| self.is_before(order, facts));
                claim(holds, || "an assumption of the last lemma is open".into())?;
                Ok(Vec::new())
            }
            ("cycle", [cycle]) => {
                let cycle = path(cycle)?;
                self.cycle(&cycle, facts)?;
                Ok(cycle)
            }
            _ => Err(bad("an end", datum)),
        }
    }

    fn is_before(&self, order: &Before, facts: &Facts) -> bool {
        facts.contains(order) || self.known.contains(order)
    }

    fn fact(&self, about: &Datum, because: &Datum, facts: &mut Facts) -> Verdict {
        let (key, before) = order(about)?;
        let (first, second) = (self.execution.txn(before.first)?, self.execution.txn(before.second)?);
        let are_writers = first.index != second.index && first.writes.contains(&key) && second.writes.contains(&key);
        claim(are_writers, || format!("{about} is not about two writers of a key"))?;
        match tagged(because, "a reason")? {
            ("visible", [reader, steps]) => {
                let reader = index(reader)?;
                let read = (key, Some(second.index));
                claim(reader != first.index, || format!("what op {reader} wrote itself is not visible to it"))?;
                claim(self.execution.txn(reader)?.reads.contains(&read), || {
                    format!("op {reader} did not read what op {} wrote", second.index)
                })?;
                self.visible(first.index, reader, &path(steps)?, &read, facts)?;
            }
            ("inevitable", [steps]) => {
                let steps = path(steps)?;
                self.path(&steps, first.index, second.index, facts)?;
                let is_late = self.level.axiom == Axiom::Prefix && steps.first().is_some_and(Link::is_rw);
                claim(!is_late, || format!("the path does not begin with the commit of op {}", first.index))?;
            }
            ("replaced", [version, steps]) => {
                let version = writer(version)?;
                claim(self.level.axiom == Axiom::ParallelSnapshot, || "that is a rule of another level".into())?;
                claim(first.reads.contains(&(key, version)), || format!("op {} did not replace that", first.index))?;
                if let Some(version) = version {
                    self.path(&path(steps)?, version, second.index, facts)?;
                }
            }
            ("lemma", [number]) => {
                let open = self.lemma(index(number)?)?.iter().filter(|order| !self.is_before(order, facts));
                let open: Vec<&Before> = open.collect();
                let reverse = Before { key: before.key.clone(), first: before.second, second: before.first };
                claim(open == [&reverse], || format!("the lemma leaves {open:?} open"))?;
            }
            _ => return Err(bad("a reason", because)),
        }
        facts.insert(before);
        Ok(())
    }

    /// Whether a path makes a writer visible to a read, in the sense of the axiom.
    fn visible(&self, from: u64, to: u64, path: &[Link], read: &(Datum, Option<u64>), facts: &Facts) -> Verdict {
        self.path(path, from, to, facts)?;
        let is_seen = |link: &Link| !matches!(link.relation, Relation::Ww(_) | Relation::Rw(..));
        match self.level.axiom {
            Axiom::ReadCommitted => Err(Uncertified::new("nothing is visible at read committed")),
            Axiom::MonotonicAtomicView => {
                let reads = &self.execution.txn(to)?.reads;
                let first = reads.iter().position(|(_, writer)| *writer == Some(from));
                let last = reads.iter().rposition(|other| other == read);
                claim(first.is_some() && first < last, || format!("op {to} did not read from op {from} before"))
            }
            Axiom::ReadAtomic => claim(path.len() == 1 && is_seen(&path[0]), || "it takes one step".into()),
            Axiom::Causal => claim(path.iter().all(is_seen), || "only base and reads make visible".into()),
            Axiom::ParallelSnapshot | Axiom::Serializable => Ok(()),
            Axiom::Prefix | Axiom::Snapshot => {
                let departs = path.first().is_some_and(Link::is_rw);
                let arrives = path.last().is_some_and(|link| self.arrives_at_commit(link));
                claim(!departs && !arrives, || "it leads from no commit to no start".into())
            }
        }
    }

    fn path(&self, path: &[Link], from: u64, to: u64, facts: &Facts) -> Verdict {
        let ends = path.first().is_some_and(|link| link.from == from) && path.last().is_some_and(|link| link.to == to);
        claim(ends, || format!("{path:?} does not lead from op {from} to op {to}"))?;
        claim(path.windows(2).all(|pair| pair[0].to == pair[1].from), || format!("{path:?} has gaps"))?;
        path.iter().try_for_each(|link| self.link(link, facts))?;
        claim(path.windows(2).all(|pair| self.passes(&pair[0], &pair[1])), || {
            format!("{path:?} goes back in a transaction")
        })?;
        claim(self.has_rw() || !path.iter().any(Link::is_rw), || format!("{path:?} has a rw"))
    }

    fn has_rw(&self) -> bool {
        matches!(self.level.axiom, Axiom::Prefix | Axiom::Snapshot | Axiom::Serializable)
    }

    /// Whether one step may follow another: if start and commit are separate, not from a commit back to the start.
    fn passes(&self, one: &Link, next: &Link) -> bool {
        let is_split = matches!(self.level.axiom, Axiom::Prefix | Axiom::Snapshot);
        !(is_split && self.arrives_at_commit(one) && next.is_rw())
    }

    fn arrives_at_commit(&self, link: &Link) -> bool {
        match link.relation {
            Relation::Rw(..) => true,
            Relation::Ww(_) => self.level.axiom == Axiom::Prefix,
            _ => false,
        }
    }

    fn cycle(&self, cycle: &[Link], facts: &Facts) -> Verdict {
        let (Some(first), Some(last)) = (cycle.first(), cycle.last()) else {
            return Err(Uncertified::new("there is no cycle"));
        };
        claim(last.to == first.from, || format!("{cycle:?} is not closed"))?;
        if self.has_rw() {
            self.path(cycle, first.from, first.from, facts)?;
            return claim(self.passes(last, first), || format!("{cycle:?} goes back in a transaction"));
        }
        let mut rw = (0..cycle.len()).filter(|at| cycle[*at].is_rw());
        let Some(at) = rw.next() else { return self.path(cycle, first.from, first.from, facts) };
        claim(rw.next().is_none(), || "it has more than one rw".into())?;
        let link = &cycle[at];
        self.link(link, facts)?;
        let Relation::Rw(key, version) = &link.relation else { return Err(Uncertified::new("there is no rw")) };
        let rest: Vec<Link> = (1..cycle.len()).map(|step| cycle[(at + step) % cycle.len()].clone()).collect();
        self.visible(link.to, link.from, &rest, &(key.clone(), *version), facts)
    }

    fn link(&self, link: &Link, facts: &Facts) -> Verdict {
        let (from, to) = (self.execution.txn(link.from)?, self.execution.txn(link.to)?);
        let before =
            |key: &Datum, first: u64| self.is_before(&Before { key: key.to_string(), first, second: to.index }, facts);
        let holds = match &link.relation {
            Relation::Session => self.level.base != Base::None && super::axiom::is_before_in_session(from, to),
            Relation::RealTime => self.level.base == Base::RealTime && super::axiom::is_before_in_time(from, to),
            Relation::Wr(key) => to.reads.contains(&(key.clone(), Some(from.index))),
            Relation::Ww(key) => before(key, from.index),
            Relation::Rw(key, version) => {
                let is_later = version.is_none_or(|version| before(key, version));
                let is_read = from.reads.contains(&(key.clone(), *version));
                from.index != to.index && is_read && to.writes.contains(key) && is_later
            }
        };
        claim(holds, || format!("{link:?} does not hold"))
    }
}
