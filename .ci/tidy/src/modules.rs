//! The modules of a crate, and their references to others: read from sources, without tests.

use crate::{files, read};
use std::collections::{BTreeMap, BTreeSet};

/// A module's path: `["line", "args"]`; empty for the root.
pub type Module = Vec<String>;

/// For each module of a crate, those that it names with `crate::` or `super::`; not its parents and children.
pub fn modules(folder: &str) -> BTreeMap<Module, BTreeSet<Module>> {
    let source = format!("{folder}/src/");
    let paths: Vec<String> = files(".rs").into_iter().filter(|path| path.starts_with(&source)).collect();
    let named: BTreeMap<Module, &String> = paths
        .iter()
        .map(|path| (module_of(&path[source.len()..]), path))
        .filter(|(module, _)| !is_test(module))
        .collect();
    let nearest = |path: &[String]| {
        let known = (0..=path.len()).rev().map(|len| path[..len].to_vec()).find(|path| named.contains_key(path));
        known.unwrap_or_default()
    };
    let mut all = BTreeMap::new();
    for (module, path) in &named {
        let text = read(path);
        let text = text.split("\nmod tests").next().unwrap_or_default();
        let mut names = BTreeSet::new();
        for mut path in paths_in(text) {
            let mut base = Module::new();
            if path[0] == "super" {
                base.clone_from(module);
                while path.first().is_some_and(|part| part == "super") {
                    path.remove(0);
                    base.pop();
                }
            } else {
                path.remove(0);
            }
            base.extend(path);
            let other = nearest(&base);
            if !other.is_empty() && !other.starts_with(module) && !module.starts_with(&other) {
                names.insert(other);
            }
        }
        all.insert(module.clone(), names);
    }
    all
}

/// Modules that name each other, directly or by way of others: each circle, largest first.
pub fn circles(modules: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<Vec<String>> {
    let reached = |from: &Module| {
        let (mut all, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(module) = open.pop() {
            for other in modules.get(module).into_iter().flatten() {
                if all.insert(other) {
                    open.push(other);
                }
            }
        }
        all
    };
    let reach: BTreeMap<&Module, BTreeSet<&Module>> = modules.keys().map(|module| (module, reached(module))).collect();
    let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
    for (module, all) in &reach {
        let circle: Vec<String> =
            all.iter().filter(|other| reach[*other].contains(*module)).map(|other| other.join("::")).collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    let mut circles: Vec<Vec<String>> = circles.into_iter().collect();
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    circles
}

fn module_of(path: &str) -> Module {
    let mut parts: Module = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| last == "mod") || parts == ["main"] || parts == ["lib"] {
        parts.pop();
    }
    parts
}

/// Whether a module holds tests only.
pub fn is_test(module: &Module) -> bool {
    module.iter().any(|part| part == "tests" || part.ends_with("_tests"))
}

/// The paths in a text, with those in braces expanded. Comments are omitted.
fn paths_in(text: &str) -> Vec<Module> {
    let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let code = code.join("\n");
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != ':' && c != '$') {
                expand(&Module::new(), &code[at..], &mut found);
            }
        }
    }
    found
}

/// Parses one path, `a::b` or `a::{b, c::d}`, at the beginning of a text. Returns the rest of the text.
fn expand<'t>(prefix: &[String], text: &'t str, found: &mut Vec<Module>) -> &'t str {
    let mut path = prefix.to_vec();
    let mut rest = text;
    loop {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '#').unwrap_or(rest.len());
        if end > 0 {
            path.push(rest[..end].trim_start_matches("r#").to_owned());
        }
        rest = &rest[end..];
        let Some(after) = rest.strip_prefix("::") else { break };
        rest = after;
        if let Some(mut group) = rest.strip_prefix('{') {
            loop {
                group = expand(&path, group.trim_start(), found).trim_start();
                // A path may be renamed: `a as b`.
                let end = group.find([',', '}']).unwrap_or(group.len());
                let is_last = !group[end..].starts_with(',');
                group = group.get(end + 1..).unwrap_or_default();
                if is_last {
                    return group;
                }
            }
        }
    }
    found.push(path);
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_braces_are_read_one_by_one() {
        let text = "use crate::{a::b, c::{d, e::F}, g as h};\nuse super::i;\n// crate::j\nfn k() { l(crate::m::n()) }";
        let found: Vec<String> = paths_in(text).iter().map(|path| path.join("::")).collect();
        let all = ["crate::a::b", "crate::c::d", "crate::c::e::F", "crate::g", "crate::m::n", "super::i"];
        assert_eq!(found, all);
    }

    #[test]
    fn a_circle_is_found_whatever_leads_into_it() {
        let module = |name: &str| vec![name.to_owned()];
        let edges = [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")];
        let mut all: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for (from, to) in edges {
            all.entry(module(from)).or_default().insert(module(to));
            all.entry(module(to)).or_default();
        }
        assert_eq!(circles(&all), [["b", "c"]]);
    }
}
