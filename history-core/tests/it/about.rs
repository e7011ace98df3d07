//! The description of a checker is serialized as data, and nothing is assumed about omitted parts.

use history_core::{About, AboutAnomaly, AboutLevel, KeptReads, Parts, Subject, VersionOrder, WhichReads};

#[test]
fn what_is_not_said_is_not_assumed() {
    let about: About = serde_json::from_str(r#"{"subject":"object","later":{"field":1}}"#).unwrap();
    assert_eq!(about, About::new(Subject::Object));
    assert_eq!(about.reduction.parts, Parts::Unknown);
}

#[test]
fn all_of_it_crosses() {
    let mut about = About::new(Subject::Transactions).with_parts(Parts::Reads).with_prefix_deciding();
    about.watching.push(("in-order".into(), "true".into()));
    about.reduction.version_orders.push(("o".into(), VersionOrder::Given));
    let unless = Some("total".into());
    about.reduction.kept_reads.push(KeptReads { anomaly: "a".into(), which: WhichReads::FirstSum, unless });
    about = about.with_anomaly(AboutAnomaly::new("a", "A sentence.").with_refused_first());
    about.levels.push(AboutLevel::new("l", "A level."));
    let mut whole = About::default();
    whole.members.push(("m".into(), about.clone()));
    let text = serde_json::to_string(&whole).unwrap();
    assert_eq!(serde_json::from_str::<About>(&text).unwrap(), whole);
    assert!(whole.of("m").begins_with_refused("A"));
}
