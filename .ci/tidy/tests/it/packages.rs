//! The files in each published crate, and the places that name versions of Rust.

use histcheck_tidy::manifests::{Manifest, manifests};
use histcheck_tidy::{files, read, root};
use std::path::Path;

fn published() -> Vec<Manifest> {
    manifests().into_iter().filter(|manifest| manifest.is_published).collect()
}

#[test]
fn packages_tell_what_they_are() {
    for Manifest { name, folder, json, .. } in published() {
        let is_said = |key: &str| json[key].as_str().is_some_and(|text| !text.is_empty());
        for key in ["description", "license", "readme", "rust_version"] {
            assert!(is_said(key), "{name}: no {key}");
        }
        for key in ["keywords", "categories"] {
            let count = json[key].as_array().map_or(0, Vec::len);
            assert!((1..=5).contains(&count), "{name}: {count} {key}, and a registry takes 1 to 5");
        }
        if json["targets"].as_array().unwrap().iter().any(|target| target["kind"][0] == "lib") {
            assert_eq!(
                json["metadata"]["docs"]["rs"]["all-features"], true,
                "{name}: docs.rs would leave features out"
            );
            let lib = read(format!("{folder}/src/lib.rs"));
            assert!(lib.contains("#![cfg_attr(docsrs, feature(doc_cfg))]"), "{name}: docs.rs would not tell features");
        }
    }
}

#[test]
fn packages_have_their_papers() {
    for Manifest { name, folder, json, .. } in published() {
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(
                read(format!("{folder}/{licence}")) == read(licence),
                "{folder}/{licence} is not the one at the root"
            );
        }
        let readme = read(format!("{folder}/README.md"));
        assert!(readme.starts_with(&format!("# {name}\n")), "{folder}/README.md begins with another name");
        let changes = read(format!("{folder}/CHANGELOG.md"));
        let version = json["version"].as_str().unwrap();
        assert!(changes.contains(&format!("\n## {version} - ")), "{folder}/CHANGELOG.md has nothing on {version}");
    }
}

#[test]
fn features_are_explained() {
    for Manifest { name, folder, features, .. } in published() {
        let readme = read(format!("{folder}/README.md"));
        let is_library = root().join(&folder).join("src/lib.rs").exists();
        let documentation = if is_library { read(format!("{folder}/src/lib.rs")) } else { String::new() };
        let shows_readme = documentation.starts_with("#![doc = include_str!(\"../README.md\")]");
        for feature in features.iter().filter(|feature| *feature != "default") {
            let quoted = format!("`{feature}`");
            assert!(readme.contains(&quoted), "{folder}/README.md does not tell of the feature {quoted} of {name}");
            let is_told = !is_library || shows_readme || documentation.contains(&quoted);
            assert!(is_told, "{folder}/src/lib.rs does not tell of the feature {quoted}");
        }
    }
}

#[test]
fn what_is_published_needs_nothing_that_is_not() {
    let all = manifests();
    for manifest in all.iter().filter(|manifest| manifest.is_published) {
        for name in manifest.shipped_dependencies() {
            let is_there = all.iter().all(|other| other.name != name || other.is_published);
            assert!(is_there, "{} needs {name}, which is not published", manifest.name);
        }
    }
}

#[test]
fn packages_include_no_file_from_elsewhere() {
    for Manifest { folder, .. } in published() {
        for path in files(".rs").into_iter().filter(|path| path.starts_with(&format!("{folder}/src/"))) {
            let text = read(&path);
            for included in ["include_str!(\"", "include_bytes!(\""].iter().flat_map(|call| text.split(call).skip(1)) {
                let included = included.split('"').next().unwrap();
                let up = included.matches("../").count();
                let deep = Path::new(&path).components().count() - 1 - Path::new(&folder).components().count();
                assert!(up <= deep, "{path} includes {included}, which is not in its package");
            }
        }
    }
}

#[test]
fn one_version_of_rust_is_named_everywhere() {
    let manifest = read("Cargo.toml");
    let (_, after) = manifest.split_once("rust-version = \"").unwrap();
    let oldest = after.split('"').next().unwrap();
    assert!(read("README.md").contains(&format!("{oldest} or later")), "README.md does not name Rust {oldest}");
    for path in files(".md") {
        let text = read(&path);
        for (before, _) in text.match_indices(" or later").map(|(at, _)| text.split_at(at)) {
            let word = before.rsplit([' ', '(', '\n']).next().unwrap();
            let is_rust = word.starts_with("1.") && word[2..].parse::<u32>().is_ok_and(|minor| minor > 50);
            assert!(!is_rust || word == oldest, "{path} names Rust {word}, and Cargo.toml {oldest}");
        }
    }
    for Manifest { name, json, .. } in published() {
        assert_eq!(json["rust_version"].as_str(), Some(oldest), "{name}");
    }
}
