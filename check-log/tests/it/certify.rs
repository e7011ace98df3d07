//! Verifies witnesses with the history alone: no code of the inference is used.

use history_core::{Datum, History, OpKind, Witness, WitnessOp};

type Pair = (Option<i64>, Datum);

fn seq(datum: &Datum) -> &[Datum] {
    match datum {
        Datum::Vector(items) => items,
        _ => &[],
    }
}

fn pair(datum: &Datum) -> Pair {
    match seq(datum) {
        [Datum::Int(offset), value] => (Some(*offset), value.clone()),
        [_, value] => (None, value.clone()),
        _ => (None, datum.clone()),
    }
}

/// The messages of a key that an op's value sends or polls.
fn messages(value: &Datum, key: &Datum, f: &str) -> Vec<Pair> {
    let mut all = Vec::new();
    for mop in seq(value) {
        match seq(mop) {
            [Datum::Keyword(name), of, message] if name == "send" && f == "send" && of == key => {
                all.push(pair(message));
            }
            [Datum::Keyword(name), Datum::Map(polled)] if name == "poll" && f == "poll" => {
                for (_, list) in polled.iter().filter(|(of, _)| of == key) {
                    all.extend(seq(list).iter().map(pair));
                }
            }
            _ => {}
        }
    }
    all
}

struct Case<'a> {
    history: &'a History,
    witness: &'a Witness,
    key: Datum,
}

impl Case<'_> {
    fn fact(&self, name: &str) -> Result<&Datum, String> {
        let found = self.witness.facts.iter().find(|(known, _)| known == name);
        found.map(|(_, datum)| datum).ok_or_else(|| format!("no fact {name}"))
    }

    fn op(&self, at: usize) -> Result<&WitnessOp, String> {
        self.witness.ops.get(at).ok_or_else(|| format!("no op {at}"))
    }

    fn sends(&self, op: &WitnessOp, value: &Datum) -> bool {
        messages(&op.value, &self.key, "send").iter().any(|(_, sent)| sent == value)
    }

    fn polls(&self, op: &WitnessOp, value: &Datum) -> bool {
        messages(&op.value, &self.key, "poll").iter().any(|(_, polled)| polled == value)
    }

    /// The offsets at which the ops of the witness show a value.
    fn offsets(&self, value: &Datum) -> Vec<i64> {
        let all = |op: &WitnessOp| {
            let sends = messages(&op.value, &self.key, "send");
            let pairs = sends.into_iter().chain(messages(&op.value, &self.key, "poll"));
            pairs.filter(|(_, other)| other == value).filter_map(|(offset, _)| offset).collect::<Vec<_>>()
        };
        let mut offsets: Vec<i64> = self.witness.ops.iter().flat_map(all).collect();
        offsets.sort_unstable();
        offsets.dedup();
        offsets
    }

    fn anyone(&self, kind: Option<OpKind>, f: &str, value: &Datum) -> bool {
        self.history
            .ops()
            .filter(|op| kind.is_none_or(|kind| op.kind == kind))
            .any(|op| messages(&op.value.to_datum(), &self.key, f).iter().any(|(_, other)| other == value))
    }
}

fn ensure(holds: bool, why: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why.to_owned()) }
}

/// Verifies a witness. The error is what is missing.
pub(crate) fn certify(history: &History, anomaly: &str, witness: &Witness) -> Result<(), String> {
    for op in &witness.ops {
        let recorded = history.ops().find(|recorded| recorded.index == op.index).ok_or("no such op")?;
        ensure(recorded.kind == op.kind, "the op is of another kind")?;
        let value = recorded.value.to_datum();
        ensure(squeezed(&value) == squeezed(&op.value), &format!("the op is recorded as {value}"))?;
    }
    if !witness.steps.is_empty() {
        return steps(history, witness);
    }
    let key = witness.facts.iter().find(|(name, _)| name == "key").ok_or("no key")?.1.clone();
    let case = Case { history, witness, key };
    match anomaly {
        "G1a" => {
            let value = case.fact("value")?;
            let (writer, reader) = (case.op(0)?, case.op(1)?);
            ensure(writer.kind == OpKind::Fail && case.sends(writer, value), "T1 did not fail to send it")?;
            ensure(reader.kind == OpKind::Ok && case.polls(reader, value), "T2 did not poll it")
        }
        "precommitted-read" => {
            let value = case.fact("value")?;
            ensure(case.sends(case.op(0)?, value) && case.polls(case.op(0)?, value), "T1 does not do both")
        }
        "phantom-message" => {
            let value = case.fact("value")?;
            ensure(case.polls(case.op(0)?, value), "T1 did not poll it")?;
            ensure(!case.anyone(None, "send", value), "somebody sends it")
        }
        "duplicate" => ensure(case.offsets(case.fact("value")?).len() > 1, "it is not shown at two offsets"),
        "inconsistent-offsets" => {
            let Datum::Int(offset) = case.fact("offset")? else { return Err("no offset".into()) };
            let values = seq(case.fact("values")?);
            let shown = values.iter().filter(|value| case.offsets(value).contains(offset)).count();
            ensure(values.len() > 1 && shown == values.len().min(3), "not all values are shown there")
        }
        "lost-write" | "unseen" => {
            let value = if anomaly == "unseen" { &seq(case.fact("messages")?)[0] } else { case.fact("value")? };
            let writer = case.op(0)?;
            ensure(writer.kind != OpKind::Fail && case.sends(writer, value), "T1 did not send it")?;
            ensure(!case.anyone(Some(OpKind::Ok), "poll", value), "somebody polled it")
        }
        _ => jump(&case, anomaly),
    }
}

fn jump(case: &Case<'_>, anomaly: &str) -> Result<(), String> {
    let [one, next] = seq(case.fact("values")?) else { return Err("not two values".into()) };
    let f = if anomaly.ends_with("send") || anomaly == "int-send-skip" { "send" } else { "poll" };
    let of = |op: &WitnessOp| messages(&op.value, &case.key, f).into_iter().map(|(_, value)| value).collect::<Vec<_>>();
    let first = of(case.op(0)?);
    if anomaly.starts_with("int-") {
        ensure(first.windows(2).any(|pair| pair[0] == *one && pair[1] == *next), "they are no neighbours")?;
    } else {
        let second = case.op(1)?;
        ensure(case.op(0)?.process == second.process, "they are of two processes")?;
        ensure(first.last() == Some(one) && of(second).first() == Some(next), "they are not at the ends")?;
    }
    let (a, b) = (case.offsets(one), case.offsets(next));
    let pairs = || a.iter().flat_map(|a| b.iter().map(move |b| (*a, *b)));
    if anomaly.ends_with("skip") {
        let skipped = seq(case.fact("skipped")?);
        let between = |value: &Datum| case.offsets(value).iter().any(|x| pairs().any(|(a, b)| a < *x && *x < b));
        ensure(skipped.iter().any(between), "nothing stands between them")
    } else {
        ensure(pairs().any(|(a, b)| b <= a), "the second does not stand before the first")
    }
}

fn steps(history: &History, witness: &Witness) -> Result<(), String> {
    for step in &witness.steps {
        let (a, b) = (&witness.ops[step.from], &witness.ops[step.to]);
        let sends = |op: &WitnessOp, value: &Datum| {
            step.key.as_ref().is_some_and(|key| messages(&op.value, key, "send").iter().any(|(_, sent)| sent == value))
        };
        match (step.relation.as_ref(), &step.key, &step.value, &step.next_value) {
            ("wr", Some(key), Some(value), None) => {
                ensure(sends(a, value), "the writer did not send it")?;
                ensure(messages(&b.value, key, "poll").iter().any(|(_, polled)| polled == value), "it was not polled")?;
            }
            ("ww", Some(_), Some(value), Some(next)) => {
                ensure(sends(a, value) && sends(b, next), "they did not send it")?;
            }
            ("realtime", None, None, None) => {
                let invoked = history.ops().filter(|op| op.index < b.index && op.kind == OpKind::Invoke);
                let last =
                    invoked.filter(|op| history_core::Client::of(op) == b.process).last().ok_or("no invocation")?;
                ensure(a.kind == OpKind::Ok && a.index < last.index, "they overlap")?;
            }
            _ => return Err(format!("a step of no kind: {step:?}")),
        }
    }
    ensure(witness.steps.iter().enumerate().all(|(at, step)| step.from == at), "the steps are not in order")
}

/// The micro-operations of a value, without empty lists of polls.
fn squeezed(value: &Datum) -> Vec<Datum> {
    let squeeze = |mop: &Datum| match seq(mop) {
        [name, Datum::Map(polled)] if polled.is_empty() => Datum::Vector(vec![name.clone()]),
        _ => mop.clone(),
    };
    seq(value).iter().map(squeeze).collect()
}
