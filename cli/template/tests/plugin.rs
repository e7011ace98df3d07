//! Small histories, right and wrong ones, judged as histcheck would.

use histcheck_plugin::{Budget, Checker, Options, Reader, Report, Verdict, check};
use leader_lease::LeaderLease;

/// Judges a history whose ops are written as `PROCESS TYPE F`, one a line.
fn judge(ops: &[(i64, &str, &str)], options: &Options) -> Report {
    let line = |(process, kind, f): &(i64, &str, &str)| format!("{{:process {process}, :type :{kind}, :f :{f}}}\n");
    let text: String = ops.iter().map(line).collect();
    let text = format!("[{text}]");
    let run = LeaderLease.start(options).unwrap();
    check(run, &mut Reader::new(text.as_bytes()), &Budget::default()).unwrap()
}

#[test]
fn one_leader_after_another() {
    let ops = [
        (0, "invoke", "acquire"),
        (0, "ok", "acquire"),
        (0, "invoke", "release"),
        (1, "invoke", "acquire"),
        // The release took effect somewhere between its invocation and now.
        (1, "ok", "acquire"),
        (0, "ok", "release"),
    ];
    let report = judge(&ops, &Options::new());
    assert_eq!(report.verdict, Verdict::Valid);
    assert_eq!(report.counts[0], ("acquire-ok-count".into(), 2));
}

#[test]
fn two_leaders_at_once() {
    let ops = [(0, "invoke", "acquire"), (1, "invoke", "acquire"), (0, "ok", "acquire"), (1, "ok", "acquire")];
    let report = judge(&ops, &Options::new());
    assert_eq!(report.verdict, Verdict::Invalid);
    let found = report.anomaly("two-leaders").unwrap();
    assert_eq!(found.count, 1);
    assert_eq!(found.witnesses[0].ops.iter().map(|op| op.index).collect::<Vec<_>>(), [2, 3]);
    assert!(found.witnesses[0].explanation.starts_with("Process 0 had the lease since the op at index 2"));
}

#[test]
fn a_release_that_fails_did_not_happen() {
    let releasing = [(0, "invoke", "acquire"), (0, "ok", "acquire"), (0, "invoke", "release")];
    let second = [(1, "invoke", "acquire"), (1, "ok", "acquire")];
    let judge = |parts: &[&[_]], max: &str| judge(&parts.concat(), &Options::new().with("max-witnesses", max));

    let before = judge(&[&releasing, &[(0, "fail", "release")], &second], "10");
    let found = before.anomaly("two-leaders").unwrap();
    assert_eq!((before.verdict, found.count), (Verdict::Invalid, 1));
    assert_eq!(found.witnesses[0].ops.iter().map(|op| op.index).collect::<Vec<_>>(), [1, 5]);

    // The second leader has already stepped down when the release fails.
    let down = [(1, "invoke", "release"), (1, "ok", "release")];
    let meanwhile = judge(&[&releasing, &second, &down, &[(0, "fail", "release")]], "10");
    let found = meanwhile.anomaly("two-leaders").unwrap();
    assert_eq!((meanwhile.verdict, found.count), (Verdict::Invalid, 1));
    assert_eq!(found.witnesses[0].ops.iter().map(|op| op.index).collect::<Vec<_>>(), [1, 4]);
    assert!(found.witnesses[0].explanation.contains("its release failed at index 7"));
    let counted = judge(&[&releasing, &second, &down, &[(0, "fail", "release")]], "0");
    let found = counted.anomaly("two-leaders").unwrap();
    assert_eq!((found.count, found.witnesses.len()), (1, 0));

    let unknown = judge(&[&releasing, &[(0, "info", "release")], &second], "10");
    assert_eq!(unknown.verdict, Verdict::Valid, "the release may have happened");
}

#[test]
fn what_nobody_knows_is_held_against_nobody() {
    let ops = [(0, "invoke", "acquire"), (0, "info", "acquire"), (1, "invoke", "acquire"), (1, "ok", "acquire")];
    assert_eq!(judge(&ops, &Options::new()).verdict, Verdict::Valid);
    let ops = [(0, "invoke", "acquire"), (0, "fail", "acquire")];
    assert_eq!(judge(&ops, &Options::new()).verdict, Verdict::Unknown, "nobody ever led");
}

#[test]
fn a_history_with_nothing_to_check_is_unknown() {
    for (ops, gist) in [
        (&[][..], "no op of a client"),
        (&[(0, "invoke", "acquire"), (0, "info", "acquire")], "no ok :acquire"),
        (&[(0, "invoke", "read"), (0, "ok", "read")], "expects :acquire and :release. The history contains :read (2)."),
    ] {
        let report = judge(ops, &Options::new());
        assert_eq!(report.verdict, Verdict::Unknown, "{ops:?}");
        assert!(report.notes[0].contains(gist), "{:?}", report.notes);
    }
}

#[test]
fn options_are_looked_at() {
    assert!(LeaderLease.start(&Options::new().with("max-witnesses", "-1")).is_err());
    let ops = [(0, "invoke", "acquire"), (1, "invoke", "acquire"), (0, "ok", "acquire"), (1, "ok", "acquire")];
    let report = judge(&ops, &Options::new().with("max-witnesses", "0"));
    let found = report.anomaly("two-leaders").unwrap();
    assert_eq!((found.count, found.witnesses.len()), (1, 0));
}
