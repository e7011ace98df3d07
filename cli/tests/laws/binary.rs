//! Tests some of the laws with the program itself: files of every format, and every way to check them.

use crate::law::packed;
use crate::world::{WORLDS, generate};
use history_core::Format;
use snapbox::cmd::Command;
use std::fs;
use std::path::Path;

fn program(words: &str, folder: &Path) -> Command {
    let program = Command::new(snapbox::cmd::cargo_bin!("histcheck")).args(words.split_whitespace());
    program.current_dir(folder).env_remove("CLICOLOR_FORCE")
}

/// The lines of standard output: files and their verdicts.
fn lines(program: Command) -> Vec<(String, String)> {
    let text = String::from_utf8(program.assert().get_output().stdout.clone()).unwrap();
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    lines.map(|(name, verdict)| (name.to_owned(), verdict.to_owned())).collect()
}

fn verdicts(words: &str, folder: &Path, names: &[&str]) -> Vec<(String, String)> {
    lines(program(words, folder).args(names))
}

#[test]
fn the_program_says_the_same_of_every_form() {
    for (at, world) in WORLDS.iter().enumerate() {
        let dir = tempfile::tempdir().unwrap();
        let (case, _) = generate(world, 1000 * WORLDS.len() as u64 + at as u64);
        let write = |name: &str, text: &[u8]| fs::write(dir.path().join(name), text).unwrap();
        let (edn, json) = (case.edn(), case.text(Format::Json));
        let [gzip, zstd] = packed(&edn);
        let names = ["a.edn", "b.jsonl", "c.edn.gz", "d.edn.zst"];
        for (name, text) in names.iter().zip([&edn, &json, &gzip, &zstd]) {
            write(name, text);
        }
        let model = world.checker;
        let all = verdicts(&format!("-m {model}"), dir.path(), &names);
        let first = all.first().unwrap_or_else(|| panic!("{model} says nothing")).1.clone();
        let expected: Vec<_> = names.iter().map(|name| ((*name).to_owned(), first.clone())).collect();
        assert_eq!(all, expected, "{model}");
        assert_eq!(verdicts(&format!("-m {model} --jobs 2"), dir.path(), &names), expected, "{model}, in parallel");
        let limited = format!("-m {model} --timeout 100000 --max-memory 100000000000");
        assert_eq!(verdicts(&limited, dir.path(), &names[..1]), expected[..1], "{model}, with limits");
        let watch = program(&format!("watch -m {model} -"), dir.path()).stdin(edn);
        assert_eq!(lines(watch), [("-".to_owned(), first)], "{model}, watched");
    }
}
