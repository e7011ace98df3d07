//! Tests that a history in the format of another checker has the same levels: the format's content is checked in the
//! same way.

use crate::small::levels;
use crate::timestamps::{Txn, random, text};
use crate::worlds::Random;
use check_isolation::{Base, Isolation, Level};
use history_core::{Checker, ConvertOptions, Converter, Format, History, Reader, Verdict};
use std::collections::BTreeMap;

/// The history as a file of the format; `None` if the format cannot represent it.
fn convert(history: &History, format: Format) -> Option<Vec<u8>> {
    let options = ConvertOptions::new().with_renumber(true).with_lossy(true);
    let mut converter = Converter::new(format, options).expect("a format of sessions");
    for op in history.ops() {
        converter.push(&op).ok()?;
    }
    let mut bytes = Vec::new();
    converter.finish().ok()?.write(&mut bytes).unwrap();
    Some(bytes)
}

fn verdict(history: &History, level: Level, timestamps: bool) -> Verdict {
    let checker = Isolation { consistency_models: vec![level], timestamps, ..Isolation::default() };
    checker.check(history).unwrap().verdict
}

#[test]
fn converted_histories_have_the_same_levels() {
    let levels = levels(&[Base::None, Base::Session]);
    let (mut source, mut counts) = (Random(12), BTreeMap::new());
    for round in 0..300 {
        let txns = random(&mut source, round % 2 == 0);
        if txns.iter().all(Txn::is_empty) {
            continue;
        }
        let history = History::parse(&text(&txns)).unwrap();
        for format in Format::ALL.into_iter().filter(|format| format.is_of_sessions()) {
            let Some(bytes) = convert(&history, format) else { continue };
            let again = History::read(&mut Reader::new(&bytes[..]).with_format(format)).unwrap();
            for level in &levels {
                let expected = verdict(&history, *level, false);
                assert_ne!(expected, Verdict::Unknown);
                assert_eq!(verdict(&again, *level, false), expected, "{format}, {level}: {}", text(&txns));
                *counts.entry((format.to_string(), expected == Verdict::Valid)).or_insert(0) += 1;
                if format == Format::Chronos {
                    let by_time = (verdict(&again, *level, true), verdict(&history, *level, true));
                    assert_eq!(by_time.0, by_time.1, "{level}: {}", text(&txns));
                }
            }
        }
    }
    for format in Format::ALL.into_iter().filter(|format| format.is_of_sessions()) {
        for holds in [true, false] {
            let count = counts.get(&(format.to_string(), holds)).copied().unwrap_or(0);
            assert!(count > 20, "{format}: {count} of {holds}");
        }
    }
}
