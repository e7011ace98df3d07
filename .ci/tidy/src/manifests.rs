//! Manifests as Cargo reads them.

use serde_json::Value;
use std::process::Command;

/// A package of this repository, in the workspace or outside of it.
#[derive(Debug)]
pub struct Manifest {
    /// Where it is, from the root.
    pub folder: String,
    /// As others name it.
    pub name: String,
    /// It is not kept here by `publish = false`.
    pub is_published: bool,
    /// All, those of tests among them.
    pub dependencies: Vec<Dependency>,
    /// Their names.
    pub features: Vec<String>,
    /// The whole, as `cargo metadata` has it.
    pub json: Value,
}

/// A crate that another depends on.
#[derive(Debug)]
pub struct Dependency {
    /// As registries name it.
    pub name: String,
    /// Not only for tests, examples and benchmarks.
    pub is_shipped: bool,
}

impl Manifest {
    /// What its users build, too, if only by a feature.
    pub fn shipped_dependencies(&self) -> impl Iterator<Item = String> {
        self.dependencies.iter().filter(|dependency| dependency.is_shipped).map(|dependency| dependency.name.clone())
    }
}

/// What cargo prints.
///
/// # Panics
///
/// If it fails.
pub fn cargo(words: &[&str]) -> String {
    let mut cargo = Command::new(env!("CARGO"));
    let output = cargo.current_dir(crate::root()).args(words).output().unwrap();
    assert!(output.status.success(), "cargo {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// All of them, but for the frozen plugins, which are never to change.
///
/// # Panics
///
/// If Cargo cannot read one.
pub fn manifests() -> Vec<Manifest> {
    let mut found = Vec::new();
    for path in crate::files("Cargo.toml") {
        if path == "Cargo.toml" || path.starts_with("plugins/abi/tests/frozen/") {
            continue;
        }
        let text = cargo(&["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path", &path]);
        let metadata: Value = serde_json::from_str(&text).unwrap();
        let own = crate::root().join(&path);
        let packages = metadata["packages"].as_array().unwrap();
        let package = packages.iter().find(|package| package["manifest_path"].as_str() == own.to_str());
        found.push(manifest(path.trim_end_matches("/Cargo.toml"), package.expect(&path)));
    }
    found
}

fn manifest(folder: &str, json: &Value) -> Manifest {
    let dependency = |json: &Value| Dependency {
        name: json["name"].as_str().unwrap().to_owned(),
        is_shipped: json["kind"].as_str() != Some("dev"),
    };
    Manifest {
        folder: folder.to_owned(),
        name: json["name"].as_str().unwrap().to_owned(),
        is_published: json["publish"].as_array().is_none_or(|registries| !registries.is_empty()),
        dependencies: json["dependencies"].as_array().unwrap().iter().map(dependency).collect(),
        features: json["features"].as_object().unwrap().keys().cloned().collect(),
        json: json.clone(),
    }
}
