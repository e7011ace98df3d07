//! The header is the output of cbindgen for the functions: `SNAPSHOTS=overwrite cargo test -p histcheck-c` writes it.

use super::CRATE;
use cbindgen::{Builder, Config, DocumentationStyle, Language, Style};
use snapbox::{assert_data_eq, file};
use std::path::Path;

const HEAD: &str = "\
/* libhistcheck: checking histories of concurrent operations, from C.
 *
 * Texts are UTF-8 and end with a zero. No function throws, unwinds or exits; an error is a result with the verdict -1. Every
 * function may be called in any thread. A result never changes, so threads may share it; calls with one stream wait for each
 * other. Nothing may be used by one thread while another frees it.
 *
 * A checker is what `histcheck -m` takes: \"list-append\", or several with commas between.
 *
 * Settings are a JSON object, or NULL for none:
 *   \"options\"          object: the options of the checker, {\"consistency-models\": [\"serializable\"]}; `histcheck models` lists them;
 *                     \"initial\" is a value of the history: the string \"1\" is not the integer 1
 *   \"keyed\"            true, false or \"auto\": check each key separately
 *   \"format\"           text: the format of the history; found by its content if absent. \"edn\" or \"json\" for a stream
 *   \"time_unit\"        \"s\", \"ms\", \"us\" or \"ns\"
 *   \"timeout_seconds\"  number: the verdict is unknown after that
 */";

#[test]
fn the_header_is_made_from_the_functions() {
    let config = Config {
        language: Language::C,
        header: Some(HEAD.to_owned()),
        include_guard: Some("HISTCHECK_H".to_owned()),
        no_includes: true,
        sys_includes: vec!["stddef.h".to_owned()],
        usize_is_size_t: true,
        cpp_compat: true,
        style: Style::Type,
        documentation_style: DocumentationStyle::C99,
        line_length: 120,
        ..Config::default()
    };
    let mut header = Vec::new();
    let source = |name: &str| Path::new(CRATE).join("src").join(name);
    let builder =
        ["outcome.rs", "stream.rs", "exports.rs"].iter().fold(Builder::new(), |all, name| all.with_src(source(name)));
    builder.with_config(config).generate().unwrap().write(&mut header);
    assert_data_eq!(String::from_utf8(header).unwrap(), file!["../../include/histcheck.h"].raw());
}
