//! Reports and values through serde: the schema in JSON, and EDN as Clojure would write it.

use history_core::{
    Anomaly, Artifact, Datum, KeyReport, OpKind, Problems, Reader, Report, Step, Verdict, Witness, WitnessOp, to_edn,
    validate,
};
use serde::Serialize;
use std::collections::BTreeMap;

fn report() -> Report {
    let op = |name: &str, index| WitnessOp {
        name: name.into(),
        index,
        process: Some(3.into()),
        kind: OpKind::Ok,
        time_ns: None,
        value: Datum::Vector(vec![Datum::Vector(vec![Datum::keyword("r"), 7.into(), Datum::Nil])]),
    };
    let step = Step::new(0, 1, "rw", "T2 wrote").with_versions(Some(7.into()), Some(Datum::Nil), None);
    let witness = Witness::new(vec![op("T1", 4), op("T2", 9)], "Let:\n  T1")
        .with_steps(vec![step])
        .with_facts(vec![("key".into(), 7.into()), ("at-end".into(), true.into())]);
    let mut report = Report::new("list-append", Verdict::Invalid);
    report.notes = vec!["a note".into()];
    report.anomalies = vec![
        Anomaly { name: "G-single-item".into(), count: 2, witnesses: vec![witness] },
        Anomaly { name: "internal".into(), count: 1, witnesses: vec![] },
    ];
    report.not = vec!["serializable".into()];
    report.also_not = vec!["strict-serializable".into()];
    report.not_checked = vec!["linearizable".into(), "prefix".into()];
    report.counts = vec![("ok-count".into(), 17), ("a-count".into(), 1)];
    report
}

#[test]
fn each_of_several_checkers_has_its_report_under_its_name() {
    let mut all = Report::new("list-append,stats", Verdict::Invalid);
    assert!(!serde_json::to_string(&all).unwrap().contains("checkers"));
    let stats = Report::new("stats", Verdict::Valid);
    all.checkers = vec![report(), stats.clone()];
    let json = serde_json::to_value(&all).unwrap();
    assert_eq!(json["anomaly_types"], serde_json::json!(["G-single-item", "internal"]));
    assert_eq!(json["anomalies"], serde_json::json!({}));
    assert_eq!(json["checkers"]["list-append"], serde_json::to_value(report()).unwrap());
    assert_eq!(json["checkers"]["stats"], serde_json::to_value(&stats).unwrap());
    let again: Report = serde_json::from_str(&serde_json::to_string(&all).unwrap()).unwrap();
    assert_eq!(serde_json::to_value(&again).unwrap(), json);
    assert_eq!(again.checkers[1], stats);
    let edn = to_edn(&all).unwrap();
    assert!(edn.contains(":checkers {:list-append {:checker :list-append, :valid false"), "{edn}");
}

#[test]
fn keys_stand_in_a_report_only_if_they_were_judged() {
    let mut report = Report::new("spy", Verdict::Unknown);
    assert!(!serde_json::to_string(&report).unwrap().contains("keys"));
    let of = |key: Datum, verdict| KeyReport { key, verdict, anomaly_types: vec![], notes: vec![] };
    report.keys = vec![of(7.into(), Verdict::Valid), of(Datum::keyword("x"), Verdict::Unknown)];
    report.keys[1].anomaly_types.push("G0".into());
    report.keys[1].notes.push("why".into());
    let json = serde_json::to_string(&report).unwrap();
    let keys = r#""keys":[{"key":7,"valid":true,"anomaly_types":[]},{"key":"x","valid":"unknown","anomaly_types":["G0"],"notes":["why"]}]"#;
    assert!(json.contains(keys), "{json}");
    let again: Report = serde_json::from_str(&json.replace("\"x\",\"valid\"", "8,\"valid\"")).unwrap();
    report.keys[1].key = 8.into();
    assert_eq!(again, report);
    let edn = to_edn(&report).unwrap();
    assert!(edn.contains("{:key 8, :valid :unknown, :anomaly-types [:G0], :notes [\"why\"]}"), "{edn}");
}

#[test]
fn a_report_in_json_has_the_keys_of_the_schema() {
    assert_eq!(
        serde_json::to_string_pretty(&report()).unwrap(),
        r#"{
  "checker": "list-append",
  "valid": false,
  "anomaly_types": [
    "G-single-item",
    "internal"
  ],
  "not": [
    "serializable"
  ],
  "also_not": [
    "strict-serializable"
  ],
  "not_checked": [
    "linearizable",
    "prefix"
  ],
  "anomalies": {
    "G-single-item": {
      "count": 2,
      "witnesses": [
        {
          "ops": [
            {
              "name": "T1",
              "index": 4,
              "process": 3,
              "kind": "ok",
              "value": [
                [
                  "r",
                  7,
                  null
                ]
              ]
            },
            {
              "name": "T2",
              "index": 9,
              "process": 3,
              "kind": "ok",
              "value": [
                [
                  "r",
                  7,
                  null
                ]
              ]
            }
          ],
          "steps": [
            {
              "from": 0,
              "to": 1,
              "relation": "rw",
              "key": 7,
              "value": null,
              "because": "T2 wrote"
            }
          ],
          "facts": {
            "key": 7,
            "at-end": true
          },
          "explanation": "Let:\n  T1"
        }
      ]
    },
    "internal": {
      "count": 1,
      "witnesses": []
    }
  },
  "notes": [
    "a note"
  ],
  "counts": {
    "ok-count": 17,
    "a-count": 1
  }
}"#
    );
}

#[test]
fn a_report_in_edn_has_keywords() {
    assert_eq!(
        to_edn(&report()).unwrap(),
        concat!(
            "{:checker :list-append, :valid false, :anomaly-types [:G-single-item :internal], :not [:serializable], ",
            ":also-not [:strict-serializable], :not-checked [:linearizable :prefix], :anomalies {:G-single-item {:count 2, :witnesses [{:ops [",
            "{:name \"T1\", :index 4, :process 3, :kind :ok, :value [[:r 7 nil]]} ",
            "{:name \"T2\", :index 9, :process 3, :kind :ok, :value [[:r 7 nil]]}], ",
            ":steps [{:from 0, :to 1, :relation :rw, :key 7, :value nil, :because \"T2 wrote\"}], ",
            ":facts {:key 7, :at-end true}, :explanation \"Let:\\n  T1\"}]}, :internal {:count 1, :witnesses []}}, ",
            ":notes [\"a note\"], :counts {:ok-count 17, :a-count 1}}"
        )
    );
}

#[test]
fn a_report_is_read_back_as_it_was_but_for_keywords() {
    let mut report = report();
    let json = serde_json::to_string(&report).unwrap();
    let back: Report = serde_json::from_str(&json).unwrap();
    for op in &mut report.anomalies[0].witnesses[0].ops {
        // Keywords become strings in JSON.
        op.value = Datum::Vector(vec![Datum::Vector(vec!["r".into(), 7.into(), Datum::Nil])]);
    }
    assert_eq!(back, report);
    // The smallest valid report.
    let back: Report = serde_json::from_str(r#"{"checker":"set","valid":"unknown"}"#).unwrap();
    assert_eq!(back, Report::new("set", Verdict::Unknown));
    assert!(serde_json::from_str::<Report>(r#"{"checker":"set","valid":"perhaps"}"#).is_err());
    assert!(serde_json::from_str::<OpKind>(r#""okay""#).is_err());
}

#[test]
fn verdicts_are_jepsens() {
    let shown = |verdict| (serde_json::to_string(&verdict).unwrap(), to_edn(&verdict).unwrap());
    assert_eq!(shown(Verdict::Valid), ("true".into(), "true".into()));
    assert_eq!(shown(Verdict::Invalid), ("false".into(), "false".into()));
    assert_eq!(shown(Verdict::Unknown), ("\"unknown\"".into(), ":unknown".into()));
    for verdict in [Verdict::Valid, Verdict::Invalid, Verdict::Unknown] {
        let json = serde_json::to_string(&verdict).unwrap();
        assert_eq!(serde_json::from_str::<Verdict>(&json).unwrap(), verdict);
    }
}

#[test]
fn artifacts_are_text_where_they_can_be() {
    let artifacts = vec![
        Artifact { path: "a.svg".into(), content: b"<svg/>".to_vec() },
        Artifact { path: "b.png".into(), content: vec![0x89, 0xff] },
    ];
    let mut report = Report::new("x", Verdict::Valid);
    report.artifacts = artifacts;
    let json = serde_json::to_string(&report).unwrap();
    let tail = r#""artifacts":[{"path":"a.svg","content":"<svg/>"},{"path":"b.png","content":[137,255]}]}"#;
    assert!(json.ends_with(tail), "{json}");
    assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
}

/// Every kind of value, as EDN and as JSON.
#[test]
fn values_are_themselves_in_edn_and_something_near_in_json() {
    let key_value = |key: Datum| Datum::Map(vec![(key, 1.into())]);
    for (datum, edn, json) in [
        (Datum::Nil, "nil", "null"),
        (true.into(), "true", "true"),
        (Datum::Int(-3), "-3", "-3"),
        (Datum::Big("18446744073709551616".into()), "18446744073709551616N", "18446744073709551616"),
        (Datum::Big("1/3".into()), "1/3", "\"1/3\""),
        (Datum::Big("1.50M".into()), "1.50M", "\"1.50M\""),
        (Datum::Float(1.0), "1.0", "1.0"),
        (Datum::Float(f64::NAN), "##NaN", "\"##NaN\""),
        (Datum::Float(f64::NEG_INFINITY), "##-Inf", "\"##-Inf\""),
        (Datum::Char('a'), "\\a", "\"a\""),
        ("a\"b".into(), "\"a\\\"b\"", "\"a\\\"b\""),
        (Datum::keyword("a'b"), ":a'b", "\"a'b\""),
        (Datum::Symbol("s".into()), "s", "\"s\""),
        (Datum::Vector(vec![1.into(), Datum::keyword("k")]), "[1 :k]", "[1,\"k\"]"),
        (Datum::List(vec![1.into(), Datum::List(vec![])]), "(1 ())", "[1,[]]"),
        (Datum::Set(vec![1.into(), Datum::Vector(vec![])]), "#{1 []}", "[1,[]]"),
        (Datum::Tagged("inst".into(), Box::new("2024".into())), "#inst \"2024\"", r#"{"tag":"inst","value":"2024"}"#),
        (key_value("a".into()), "{\"a\" 1}", r#"{"a":1}"#),
        (key_value(Datum::keyword("a")), "{:a 1}", r#"{"a":1}"#),
        (key_value(3.into()), "{3 1}", r#"{"3":1}"#),
        (key_value(true.into()), "{true 1}", r#"{"true":1}"#),
        (key_value(Datum::Nil), "{nil 1}", r#"{"nil":1}"#),
        (key_value(Datum::Vector(vec![1.into(), "x".into()])), "{[1 \"x\"] 1}", r#"{"[1 \"x\"]":1}"#),
    ] {
        assert_eq!(to_edn(&datum).unwrap(), edn);
        assert_eq!(datum.to_string(), edn, "as it is shown");
        assert_eq!(serde_json::to_string(&datum).unwrap(), json, "{edn}");
    }
}

#[test]
fn values_are_read_from_json() {
    let json = r#"{"a":[1,-2,1.5,true,null,"x"],"b":{"c":18446744073709551615}}"#;
    let datum: Datum = serde_json::from_str(json).unwrap();
    assert_eq!(datum.to_string(), r#"{"a" [1 -2 1.5 true nil "x"], "b" {"c" 18446744073709551615N}}"#);
    assert_eq!(serde_json::to_string(&datum).unwrap(), json);
}

#[test]
fn anything_that_serde_knows_can_be_edn() {
    #[derive(Serialize)]
    enum Shape {
        Unit,
        NewType(u8),
        Tuple(u8, char),
        Struct { a_field: Option<u8> },
    }
    #[derive(Serialize)]
    struct Unit;
    #[derive(Serialize)]
    struct Wrapped(String);
    #[derive(Serialize)]
    struct Pair(i8, f32);
    let map: BTreeMap<&str, u64> = [("ok-count", 1), ("a b", 2), ("", u64::MAX)].into();
    let shapes = (
        Shape::Unit,
        Shape::NewType(1),
        Shape::Tuple(2, ' '),
        Shape::Struct { a_field: None },
        Shape::Struct { a_field: Some(3) },
    );
    assert_eq!(
        to_edn(&shapes).unwrap(),
        "[:Unit {:NewType 1} {:Tuple [2 \\space]} {:Struct {:a-field nil}} {:Struct {:a-field 3}}]"
    );
    assert_eq!(to_edn(&(Unit, (), Wrapped("w".into()), Pair(-1, 0.1))).unwrap(), "[nil nil \"w\" [-1 0.1]]");
    assert_eq!(to_edn(&map).unwrap(), "{\"\" 18446744073709551615N, \"a b\" 2, :ok-count 1}");
    assert_eq!(to_edn(&BTreeMap::from([(vec!["k"], 'c')])).unwrap(), "{[\"k\"] \\c}");
    assert_eq!(to_edn(&(i128::MIN, u128::MAX, i64::MIN)).unwrap().matches('N').count(), 2);
    assert_eq!(to_edn("a\u{1}\n").unwrap(), "\"a\\u0001\\n\"");
}

#[test]
fn what_fails_to_serialize_fails_with_its_own_words() {
    struct Never;
    impl Serialize for Never {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("not today"))
        }
    }
    assert_eq!(to_edn(&[Never]).unwrap_err().to_string(), "not today");
}

#[test]
fn problems_can_be_sent() {
    let problems: Problems = validate(Reader::new("{:type :ok}\n{:type 1x}\n".as_bytes()), 9);
    assert_eq!(
        serde_json::to_string(&problems).unwrap(),
        r#"{"format":"edn","ops":1,"list":[{"rule":"syntax","severity":"error","message":"1x is not a number","#
            .to_owned()
            + r#""expected":"a number, such as 12, 0.5 or 12N","position":{"offset":19,"line":2,"column":8},"#
            + r#""snippet":{"text":"{:type 1x}","caret":7}},{"rule":"unknown-processes","severity":"note","#
            + r#""message":"1 op is without a process: their order is unknown","expected":null,"position":null,"snippet":null}],"#
            + r#""counts":[["syntax",1],["unknown-processes",1]],"complete":true}"#
    );
}
