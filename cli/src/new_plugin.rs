//! `histcheck plugin new NAME`: generates the crate of a plugin, from the one in `template`.

use crate::output::diagnose;
use crate::output::exit::{self, Exit};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The name in the template, which the new name replaces.
const NAME: &str = "leader-lease";

/// The template's files. Its manifest has another name there: otherwise, Cargo would treat the folder as a separate
/// package, and exclude it from this one.
const FILES: [(&str, &str); 6] = [
    ("Cargo.toml", include_str!("../template/manifest.toml")),
    ("README.md", include_str!("../template/README.md")),
    (".gitignore", include_str!("../template/gitignore")),
    ("src/lib.rs", include_str!("../template/src/lib.rs")),
    ("src/leases.rs", include_str!("../template/src/leases.rs")),
    ("tests/plugin.rs", include_str!("../template/tests/plugin.rs")),
];

/// Names that a crate cannot have: keywords of Rust, and crates that every plugin depends on.
const TAKEN: [&str; 47] = [
    "abstract", "alloc", "as", "async", "await", "become", "box", "break", "const", "continue", "core", "crate", "do",
    "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "match",
    "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "std", "struct", "super",
    "test", "trait", "true", "try", "type", "use",
];

/// The dependency in the template's manifest, which is replaced until the crate is in a registry.
const DEPENDENCY: &str = "histcheck-plugin = \"1\"";

/// The sources that this program was built from. `None` in a release, which must not contain a path of its build.
const SOURCES: Option<&str> = match option_env!("HISTCHECK_RELEASE") {
    Some(_) => None,
    None => Some(env!("CARGO_MANIFEST_DIR")),
};

/// The task: a crate to generate.
pub(crate) struct NewPlugin {
    pub(crate) name: String,
    /// The directory of histcheck-plugin; the crate from a registry if absent.
    pub(crate) from: Option<PathBuf>,
}

/// The directory of histcheck-plugin in the clone that this program was built from, if it still exists.
pub(crate) fn built_from() -> Option<PathBuf> {
    interface_in(Path::new(SOURCES?).parent()?)
}

/// The directory of histcheck-plugin in a clone.
pub(crate) fn interface_in(checkout: &Path) -> Option<PathBuf> {
    let folder = checkout.join("plugins").join("abi");
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    manifest.contains("name = \"histcheck-plugin\"").then(|| folder.canonicalize().unwrap_or(folder))
}

/// The reason why a plugin cannot have this name, if it cannot.
pub(crate) fn why_no_name(name: &str) -> Option<String> {
    let is_good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !name.bytes().all(is_good) || !name.starts_with(|c: char| c.is_ascii_lowercase()) || name.len() > 60 {
        return Some(format!(
            "{name:?} is not a plugin name: expected a letter from a to z, then letters, digits and -"
        ));
    }
    let more = ["unsafe", "unsized", "virtual", "where", "while", "yield", "history-core"];
    let is_taken = TAKEN.contains(&name) || more.contains(&name) || name.starts_with("histcheck");
    is_taken.then(|| format!("{name} is reserved, or the name of a crate that plugins depend on; choose another name"))
}

/// Writes the crate into a directory with its name. The name must be valid.
pub(crate) fn run(new: &NewPlugin) -> Exit {
    let name = &*new.name;
    let directory = Path::new(name);
    // This also detects a link without a target.
    if directory.symlink_metadata().is_ok() {
        diagnose::error(&format!("{name} exists already; choose another name, or remove it"));
        return Exit::FAILED;
    }
    if let Err(error) = write(directory, new) {
        diagnose::error(&format!("cannot write {name}: {error}"));
        return Exit::FAILED;
    }
    let said = format!(
        "Created the plugin {name}/. Its README.md explains how to build and load it:\n\n    cd {name}\n    cargo test\n    \
         cargo build --release\n"
    );
    let mut out = io::stdout();
    match out.write_all(said.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Exit::OK,
        Err(error) => exit::stopped(&error),
    }
}

fn write(directory: &Path, new: &NewPlugin) -> io::Result<()> {
    let NewPlugin { name, from } = new;
    let dependency = from.as_ref().map(|from| {
        let path = toml::Value::from(from.to_string_lossy().into_owned());
        format!("histcheck-plugin = {{ version = \"1\", path = {path} }}")
    });
    let ident = |name: &str| name.replace('-', "_");
    for (path, text) in FILES {
        let path = directory.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let text = dependency.as_ref().map_or(text.to_owned(), |dependency| text.replace(DEPENDENCY, dependency));
        fs::write(path, text.replace(NAME, name).replace(&ident(NAME), &ident(name)))?;
    }
    Ok(())
}
