//! Tests with files that are followed: files that grow, are emptied, replaced or rewritten.

use super::*;
use crate::watch::inbox::Text;
use std::fs;
use std::io::{Read as _, Write as _};

fn new(path: &Path) -> Follow {
    Follow::new(path.to_owned(), Arc::default())
}

/// A file that was opened, and read up to a byte, before.
fn read_to(path: &Path, byte: u64) -> Follow {
    Follow::new(path.to_owned(), Arc::new(Shared::read_to(Arc::new(File::open(path).unwrap()), byte).unwrap()))
}

/// The text of the next reads.
fn drain(follow: &mut Follow) -> String {
    let mut all = Vec::new();
    let mut idle = 0;
    // Opening a file takes a separate read.
    while idle < 3 {
        let text = follow.more().unwrap();
        idle = if text.is_empty() { idle + 1 } else { 0 };
        all.extend(text);
    }
    String::from_utf8(all).unwrap()
}

fn append(path: &Path, text: &str) {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

#[test]
fn a_file_is_followed_as_it_comes_grows_and_is_emptied() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.jsonl");
    let mut follow = new(&path);
    assert_eq!(drain(&mut follow), "");
    append(&path, "one\n");
    assert_eq!(drain(&mut follow), "one\n");
    append(&path, "two\nth");
    assert_eq!(drain(&mut follow), "two\nth");
    append(&path, "ree\n");
    assert_eq!(drain(&mut follow), "ree\n");
    fs::write(&path, "four\n").unwrap();
    assert_eq!(drain(&mut follow), "four\n");
    assert_eq!(follow.shared.begins(), Some(14));
    // The file is rewritten and longer than before; the last line is the same.
    fs::write(&path, "5678\nfour\n").unwrap();
    assert_eq!(drain(&mut follow), "5678\nfour\n");
    assert_eq!(follow.shared.begins(), Some(19));
    append(&path, &"more ".repeat(1000));
    assert_eq!(drain(&mut follow), "more ".repeat(1000));
    assert_eq!(follow.shared.begins(), Some(19), "it only grew since");
}

#[test]
fn what_was_written_before_a_rotation_is_not_lost() {
    let dir = tempfile::tempdir().unwrap();
    let (path, old) = (dir.path().join("log"), dir.path().join("log.1"));
    append(&path, "one\n");
    let mut follow = new(&path);
    assert_eq!(drain(&mut follow), "one\n");
    fs::rename(&path, &old).unwrap();
    append(&old, "two");
    assert_eq!(drain(&mut follow), "two", "as long as there is no new file, the old one may grow");
    append(&old, "!");
    append(&path, "three\n");
    assert_eq!(drain(&mut follow), "!\nthree\n", "a line that never ended is kept apart");
}

#[test]
fn a_file_is_followed_from_a_byte_on_and_another_one_from_its_beginning() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    append(&path, "one\ntwo\n");
    let mut follow = read_to(&path, 4);
    assert_eq!(drain(&mut follow), "two\n");
    assert_eq!(follow.shared.begins(), None);
    fs::rename(&path, dir.path().join("log.1")).unwrap();
    append(&path, "three\n");
    assert_eq!(drain(&mut follow), "three\n");
    assert_eq!(follow.shared.begins(), Some(8));
    fs::write(&path, "4\n").unwrap();
    assert_eq!(drain(&mut follow), "4\n");
    assert_eq!(follow.shared.begins(), Some(14));
}

/// The text that is read if the history is over now.
fn rest(follow: Follow) -> String {
    let (sender, inbox) = crate::watch::inbox::inbox();
    follow.run(&sender, &Arc::new(AtomicBool::new(true)));
    let mut rest = String::new();
    Text::new(inbox).read_to_string(&mut rest).unwrap();
    rest
}

#[test]
fn a_history_that_is_over_ends_where_its_file_does() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.jsonl");
    append(&path, "one\n");
    assert_eq!(rest(new(&path)), "one\n", "nobody has looked yet");
    let mut follow = new(&path);
    assert_eq!(drain(&mut follow), "one\n");
    append(&path, "two\n");
    assert_eq!(rest(follow), "two\n", "nobody has looked since");
    assert_eq!(rest(new(&dir.path().join("none"))), "");
}

/// The new file is shorter than the part that was read of the old one, or as long.
#[test]
fn a_file_that_took_the_place_of_another_is_read_before_the_history_is_over() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    for (rotate, text) in [(true, "new\n"), (false, "new\n"), (true, "other line\n"), (false, "other line\n")] {
        append(&path, "first line\n");
        let mut follow = new(&path);
        assert_eq!(drain(&mut follow), "first line\n");
        if rotate {
            fs::rename(&path, dir.path().join("log.1")).unwrap();
        }
        fs::write(&path, text).unwrap();
        assert_eq!(rest(follow), text, "rotated: {rotate}");
        fs::remove_file(&path).unwrap();
    }
}

/// The file changed after it was opened, and before more of it was read: it is shorter, as long, or longer.
#[test]
fn a_file_that_is_emptied_before_more_was_read_is_new() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    for new in ["", "4\n", "1234567\n", "four\nfive\nsix\n"] {
        fs::write(&path, "one\ntwo\n").unwrap();
        let mut follow = read_to(&path, 8);
        fs::write(&path, new).unwrap();
        assert_eq!((&*drain(&mut follow), follow.shared.begins()), (new, Some(8)), "{new:?}");
    }
}

#[test]
fn text_that_comes_and_goes_before_any_was_read_is_no_loss() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    append(&path, "");
    let mut follow = new(&path);
    assert_eq!(drain(&mut follow), "");
    append(&path, "one\n");
    fs::write(&path, "").unwrap();
    assert_eq!(drain(&mut follow), "");
    append(&path, "two\n");
    assert_eq!((&*drain(&mut follow), follow.shared.begins()), ("two\n", None));
}

/// The result is for the file from which the text came, whichever file has its name, and only if the text is still in
/// it.
#[test]
fn a_look_is_at_the_file_from_which_text_came() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let seen = |shared: &Shared| shared.look(|file| text_at(file, 0, 4)).unwrap();
    append(&path, "one\n");
    let mut follow = new(&path);
    let shared = Arc::clone(&follow.shared);
    assert_eq!(seen(&shared), None, "nothing was opened");
    assert_eq!(drain(&mut follow), "one\n");
    fs::rename(&path, dir.path().join("log.1")).unwrap();
    append(&path, "two\n");
    assert_eq!(seen(&shared), Some(b"one\n".to_vec()));
    assert_eq!(drain(&mut follow), "two\n");
    assert_eq!((seen(&shared), shared.file().is_none()), (None, true), "text came from two files");

    let mut follow = new(&path);
    assert_eq!(drain(&mut follow), "two\n");
    fs::write(&path, "three\n").unwrap();
    assert_eq!(seen(&follow.shared), None, "what was read is not in it any more");
}
