//! What ends `histcheck watch` early, and what does not.

use super::watch::{READ_OF_1, Started, counted};
use super::{histcheck, stderr, stdout};
use std::io::Write;

/// The pipe remains open, but what is known is reported.
#[test]
fn bytes_that_are_not_text_do_not_hide_the_lines_before_them() {
    for (text, expected, printed) in [
        (counted(7), Some(1), "-\tfalse\n  note: The violation was found at the op at index 3 (line 4)."),
        (counted(1), Some(255), ""),
    ] {
        let mut started = Started::new("watch -m counter");
        let mut writer = started.child.stdin.take().unwrap();
        writer.write_all(&[text.as_bytes(), b"{\"f\":\"\xff\"}\n"].concat()).unwrap();
        let (code, out) = started.end();
        assert_eq!(code, expected, "{out}");
        assert!(out.starts_with(printed), "{out}");
        drop(writer);
    }
}

/// What writes a history must not end because the verdict is unknown.
#[test]
fn an_unknown_verdict_does_not_end_the_watch() {
    let contradiction = READ_OF_1.replace("\"f\":\"read\",\"value\":null", "\"f\":\"write\",\"value\":2");
    let contradiction = contradiction.replace("\"read\"", "\"write\"");
    let assert = histcheck("watch -m register").stdin(contradiction.clone() + READ_OF_1).assert().code(2);
    let (printed, warned) = (stdout(&assert), stderr(&assert));
    assert!(printed.starts_with("-\tunknown\n"), "{printed}");
    assert!(printed.contains("the completion contradicts its invocation"), "{printed}");
    let last = "warning: no op after the one at index 1 (line 2) can change the verdict: the watch reads to the end";
    assert_eq!(warned.matches(last).count(), 1, "{warned}");
    // Later text is read.
    let broken = histcheck("watch -m register").stdin(contradiction + "]").assert().code(255);
    assert!(stderr(&broken).contains("<stdin>:3:1"), "{}", stderr(&broken));
}
