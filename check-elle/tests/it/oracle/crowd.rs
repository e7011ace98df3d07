//! Histories in which many transactions read the last version of a key and many others appended to it without being
//! read: each of the readers precedes each of the others.

use super::choices::Choices;
use super::messy::{Entry, Shown, Who};

/// The key of the crowd, and two keys on which some of its transactions are related in other ways.
const CROWDED: usize = 0;
const OTHERS: [usize; 2] = [1, 2];

/// Makes a history of 17 to 24 transactions.
pub(crate) fn history(choices: &mut Choices) -> Vec<Entry> {
    let mut elements = 0..;
    let mut element = || elements.next().expect("there are enough numbers");
    let first = element();
    let read = choices.of(&[vec![], vec![first]].each_ref()).clone();
    let readers = 9 + choices.pick(4);
    let writers = 8 + choices.pick(4);
    let mut txns: Vec<Vec<Shown>> = vec![vec![Shown::Read(CROWDED, Some(read.clone()))]; readers];
    txns.extend((0..writers).map(|_| vec![Shown::Append(CROWDED, element())]));
    if !read.is_empty() {
        txns.push(vec![Shown::Append(CROWDED, first)]);
    }
    // Some transactions do both, and some use other keys, of which every append is read.
    for _ in 0..choices.pick(3) {
        let (reader, writer) = (choices.pick(readers), readers + choices.pick(writers));
        let both = txns[reader].clone();
        txns[writer].splice(0..0, both);
    }
    for key in OTHERS {
        let order: Vec<u32> = (0..choices.pick(3)).map(|_| element()).collect();
        for element in &order {
            let at = choices.pick(txns.len());
            txns[at].push(Shown::Append(key, *element));
        }
        for len in (0..=order.len()).rev().take(1 + choices.pick(2)) {
            let at = choices.pick(txns.len());
            txns[at].insert(0, Shown::Read(key, Some(order[..len].to_vec())));
        }
    }
    record(choices, txns)
}

/// Makes a history of 18 to 21 transactions: many read the version that one transaction wrote, and then many concurrent
/// transactions replaced it. The first transaction is related to one of these on other keys as well, so the step
/// between the two may have several reasons; so may all readers.
pub(crate) fn overwritten(choices: &mut Choices) -> Vec<Entry> {
    let mut elements = 1..;
    let mut element = || elements.next().expect("there are enough numbers");
    let mut txns: Vec<Vec<Shown>> = vec![vec![Shown::Append(CROWDED, 0)]];
    txns.extend((0..8 + choices.pick(4)).map(|_| vec![Shown::Append(CROWDED, element())]));
    let mut readers = vec![vec![Shown::Read(CROWDED, Some(vec![0]))]; 9];
    if !choices.rarely(3) {
        for (own, reader) in (1 + OTHERS[1]..).zip(&mut readers) {
            let appended = element();
            reader.push(Shown::Append(own, appended));
            txns[1].insert(0, Shown::Read(own, Some(vec![appended])));
        }
    }
    for key in OTHERS {
        let appended = element();
        let (reader, writer) = (choices.pick(2), choices.pick(2));
        let seen = choices.of(&[vec![], vec![appended]].each_ref()).clone();
        txns[writer].push(Shown::Append(key, appended));
        if reader != writer {
            txns[reader].insert(0, Shown::Read(key, Some(seen)));
        }
    }
    let mut txns: Vec<(usize, Vec<Shown>)> = txns.into_iter().enumerate().collect();
    let mut ops = Vec::new();
    let mut run = |txns: Vec<(usize, Vec<Shown>)>| {
        ops.extend(txns.iter().map(|txn| op(txn, "invoke")));
        ops.extend(txns.iter().map(|txn| op(txn, "ok")));
    };
    let later = txns.split_off(1);
    run(txns);
    run((50..).zip(readers).collect());
    run(later);
    ops
}

/// Executes the transactions in some order, many concurrently.
fn record(choices: &mut Choices, txns: Vec<Vec<Shown>>) -> Vec<Entry> {
    let mut ops = Vec::new();
    let mut waiting: Vec<(usize, Vec<Shown>)> = txns.into_iter().enumerate().collect();
    let mut running: Vec<(usize, Vec<Shown>)> = Vec::new();
    let in_flight_max = choices.of(&[2, 12, 30]);
    while !waiting.is_empty() || !running.is_empty() {
        let invoke = !waiting.is_empty() && running.len() < in_flight_max;
        if invoke && (running.is_empty() || !choices.rarely(4)) {
            let txn = waiting.remove(choices.pick(waiting.len()));
            ops.push(op(&txn, "invoke"));
            running.push(txn);
        } else {
            let txn = running.remove(choices.pick(running.len()));
            ops.push(op(&txn, if choices.rarely(20) { "info" } else { "ok" }));
        }
    }
    ops
}

fn op((process, mops): &(usize, Vec<Shown>), kind: &'static str) -> Entry {
    let seen = |mop: &Shown| match mop {
        Shown::Read(key, _) if kind != "ok" => Shown::Read(*key, None),
        other => other.clone(),
    };
    Entry { who: Who::Client(*process), kind, mops: mops.iter().map(seen).collect(), has_value: true }
}
