//! `--directory`: writes reports as files, and the files of checkers.

use crate::job::PlotFormat;
use crate::judge::input::Input;
use crate::output::folder;
use crate::output::formats;
#[cfg(feature = "png")]
use crate::output::{
    diagnose,
    png::{self, Painter},
};
use history_core::{Artifact, Report, visible};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The maximum number of characters of a file's or folder's name: well below the limits of file systems, for any
/// characters.
const NAME_CHARS_MAX: usize = 60;
/// The maximum depth of folders below a history's folder.
const DEPTH_MAX: usize = 8;

/// The directory for reports: the folder of a single history, or the parent of one folder per history.
pub(crate) struct Directory {
    path: PathBuf,
    shared: bool,
    /// Whether the last part of the path is the name of a history, not chosen by the user.
    is_below: bool,
    /// The names of folders in use, in lower case: some file systems do not distinguish case.
    used: BTreeSet<String>,
    plots: Plots,
}

/// The format of pictures.
enum Plots {
    Svg,
    #[cfg(feature = "png")]
    Png(Painter),
}

impl Directory {
    /// A directory for this number of histories. It is created only when a file is written.
    pub(crate) fn new(path: PathBuf, histories: usize, plots: PlotFormat) -> Directory {
        let plots = match plots {
            PlotFormat::Svg => Plots::Svg,
            #[cfg(feature = "png")]
            PlotFormat::Png => Plots::Png(Painter::default()),
        };
        Directory { path, shared: histories > 1, is_below: false, used: BTreeSet::new(), plots }
    }

    /// Sets whether the parent process chose a folder for the single history of this process.
    pub(crate) fn below(mut self, is_below: bool) -> Directory {
        self.is_below = is_below;
        self
    }

    /// Reserves a name, so that no history's folder gets it.
    pub(crate) fn without(mut self, name: &str) -> Directory {
        self.used.insert(name.to_lowercase());
        self
    }

    /// Writes `report.txt` and the checker's files, and removes the files that an earlier run wrote there.
    ///
    /// # Errors
    ///
    /// If a folder or file cannot be written; the error names it.
    pub(crate) fn write(&mut self, input: &Input, report: &Report, artifacts: &[Artifact]) -> Result<(), String> {
        let folder = self.own_folder_of(input, "report.txt")?;
        let mut text = Vec::new();
        formats::verdict(&mut text, input, report)
            .and_then(|()| formats::account(&mut text, report, "", formats::Paint::Plain))
            .map_err(|error| error.to_string())?;
        let mut files: Vec<folder::Content<'_>> = vec![("report.txt".into(), text.into())];
        let mut used = BTreeSet::from(["report.txt".to_owned()]);
        for artifact in artifacts {
            let Artifact { path, content } = self.plots.drawn(artifact).into_owned();
            let path = free(&relative(&path), &mut used);
            let content = if path.extension().is_some_and(|it| it == "txt") { for_people(content) } else { content };
            files.push((path, content.into()));
        }
        folder::replace(&folder, &files)
    }

    /// The folders that these histories will get, if they are written first; empty if they share no directory.
    pub(crate) fn folders(&self, inputs: &[Input]) -> Vec<String> {
        if !self.shared {
            return Vec::new();
        }
        let mut like = Directory {
            path: PathBuf::new(),
            shared: true,
            is_below: false,
            used: self.used.clone(),
            plots: Plots::Svg,
        };
        inputs.iter().map(|input| like.folder(input)).collect()
    }

    /// The folder for the files of the next history.
    pub(crate) fn folder_of(&mut self, input: &Input) -> PathBuf {
        // Joining an empty name would add a slash, and a path with a slash at its end follows a link.
        if !self.shared {
            return self.path.clone();
        }
        let folder = self.folder(input);
        self.path.join(folder)
    }

    /// The same, for writing `file`.
    ///
    /// # Errors
    ///
    /// If the folder of one of several histories is a symbolic link: its target does not belong to this program.
    pub(crate) fn own_folder_of(&mut self, input: &Input, file: &str) -> Result<PathBuf, String> {
        let folder = self.folder_of(input);
        if (self.shared || self.is_below) && folder.is_symlink() {
            return Err(format!(
                "cannot write {}: {} is a symbolic link",
                folder.join(file).display(),
                folder.display()
            ));
        }
        Ok(folder)
    }

    /// Reserves the folder of a history whose files a child process writes.
    pub(crate) fn pass_over(&mut self, input: &Input) {
        self.folder(input);
    }

    /// A folder named after the history, and used by no other history.
    fn folder(&mut self, input: &Input) -> String {
        let name = component(&input.label().unwrap_or("history".into()));
        let names = (1_u64..).map(|n| if n == 1 { name.clone() } else { format!("{name}-{n}") });
        let mut free = names.filter(|name| self.used.insert(name.to_lowercase()));
        // The iterator never ends.
        free.next().unwrap_or(name.clone())
    }
}

impl Plots {
    /// The file as it is written. A picture that cannot be converted is written unchanged.
    fn drawn<'a>(&self, artifact: &'a Artifact) -> Cow<'a, Artifact> {
        match self {
            #[cfg(feature = "png")]
            Plots::Png(painter) if png::is_svg(artifact) => painter.paint(artifact).map_or_else(
                |why| {
                    diagnose::warning(&why);
                    Cow::Borrowed(artifact)
                },
                Cow::Owned,
            ),
            _ => Cow::Borrowed(artifact),
        }
    }
}

/// Makes text safe to show on a terminal, with its columns unchanged.
fn for_people(text: Vec<u8>) -> Vec<u8> {
    match std::str::from_utf8(&text) {
        Ok(text) => text.split('\t').map(visible::lines).collect::<Vec<_>>().join("\t").into_bytes(),
        Err(_) => text,
    }
}

/// A relative path without `..`, for any path from a checker (or a plugin).
fn relative(path: &str) -> PathBuf {
    let parts: Vec<String> = path.split('/').filter(|part| !matches!(*part, "" | "." | "..")).map(component).collect();
    if parts.is_empty() { "artifact".into() } else { parts[parts.len().saturating_sub(DEPTH_MAX)..].iter().collect() }
}

/// The path, or if it is in use, the path with a number before the extension.
fn free(path: &Path, used: &mut BTreeSet<String>) -> PathBuf {
    let text = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, extension) = (text(path.file_stem()), text(path.extension()));
    let dot = if extension.is_empty() { "" } else { "." };
    let mut n = 1_u64;
    loop {
        let path = if n == 1 { path.to_owned() } else { path.with_file_name(format!("{stem}-{n}{dot}{extension}")) };
        // Some file systems do not distinguish case.
        if used.insert(path.to_string_lossy().to_lowercase()) {
            return path;
        }
        n += 1;
    }
}

/// A name that every file system accepts: letters, digits and a few signs, without a dot or a hyphen at its beginning.
fn component(name: &str) -> String {
    let is_letter = |c: char| c.is_alphanumeric() && !visible::is_hidden(c);
    let plain = |c: char| if is_letter(c) || "._-+=@,".contains(c) { c } else { '_' };
    let name: String = name.trim_start_matches('.').chars().map(plain).collect();
    // Most programs treat a name with a hyphen at its beginning as an option.
    let name = name.strip_prefix('-').map(|rest| format!("_{rest}")).unwrap_or(name);
    let name = match name.char_indices().nth(NAME_CHARS_MAX) {
        Some((end, _)) => name[..end].to_owned(),
        None => name,
    };
    if name.is_empty() { "_".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::Verdict;
    use std::fs;

    fn input(path: &str) -> Input {
        Input::new(path.into())
    }

    #[test]
    fn no_path_leads_out() {
        for (asked, got) in [
            ("G1c.txt", "G1c.txt"),
            ("G1c/0.svg", "G1c/0.svg"),
            ("../../etc/passwd", "etc/passwd"),
            ("/etc/passwd", "etc/passwd"),
            ("a//./b", "a/b"),
            ("..\\up", "_up"),
            ("c:\\x", "c__x"),
            (".hidden", "hidden"),
            ("..", "artifact"),
            ("...", "_"),
            ("", "artifact"),
            ("a\0b\n", "a_b_"),
            ("-x.edn", "_x.edn"),
            ("--/-rf", "_-/_rf"),
            ("a\u{202e}b\u{3164}c", "a_b_c"),
        ] {
            assert_eq!(relative(asked), PathBuf::from(got), "{asked:?}");
        }
        let long = relative(&"\u{6f22}".repeat(500));
        assert_eq!(long.to_string_lossy().chars().count(), NAME_CHARS_MAX);
        assert_eq!(relative(&"a/".repeat(100)).components().count(), DEPTH_MAX);
    }

    #[test]
    fn files_of_one_name_get_names_of_their_own() {
        let dir = tempfile::tempdir().unwrap();
        let long = "k".repeat(NAME_CHARS_MAX);
        let artifact = |path: &str, content: &str| Artifact { path: path.into(), content: content.into() };
        let artifacts = [
            artifact("o/:x.html", "keyword"),
            artifact("o/\"x.html", "string"),
            artifact("o/_X.html", "upper case"),
            artifact(&format!("{long}1"), "one"),
            artifact(&format!("{long}2"), "two"),
            artifact("report.txt", "no report of ours"),
        ];
        let mut directory = Directory::new(dir.path().to_owned(), 1, PlotFormat::Svg);
        directory.write(&input("h.edn"), &Report::new("c", Verdict::Valid), &artifacts).unwrap();
        let read = |path: &str| fs::read_to_string(dir.path().join(path)).unwrap();
        let contents =
            ["o/_x.html", "o/_x-2.html", "o/_X-3.html", &long, &format!("{long}-2"), "report-2.txt"].map(read);
        assert_eq!(contents, ["keyword", "string", "upper case", "one", "two", "no report of ours"]);
        assert_eq!(read("report.txt"), "h.edn\ttrue\n");
    }

    #[test]
    fn histories_of_one_name_get_folders_of_their_own() {
        let mut directory = Directory::new("d".into(), 6, PlotFormat::Svg);
        let folders = ["a/h.edn", "b/h.edn", "c/H.edn", "-", "stdin", ".."].map(|path| directory.folder(&input(path)));
        assert_eq!(folders, ["h.edn", "h.edn-2", "H.edn-3", "stdin", "stdin-2", "history"]);
    }

    #[test]
    fn one_history_has_the_directory_for_itself() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("made/as/needed");
        let artifacts = [Artifact { path: "g/0.svg".into(), content: b"<svg/>".to_vec() }];
        Directory::new(path.clone(), 1, PlotFormat::Svg)
            .write(&input("h.edn"), &Report::new("c", Verdict::Valid), &artifacts)
            .unwrap();
        assert_eq!(fs::read(path.join("g/0.svg")).unwrap(), b"<svg/>");
        assert_eq!(fs::read_to_string(path.join("report.txt")).unwrap(), "h.edn\ttrue\n");
    }

    #[cfg(feature = "png")]
    #[test]
    fn pictures_are_drawn_as_asked_and_kept_if_that_fails() {
        let dir = tempfile::tempdir().unwrap();
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"3\" height=\"2\"/>";
        let artifact = |path: &str, content: &str| Artifact { path: path.into(), content: content.into() };
        let artifacts = [artifact("g/0.svg", svg), artifact("g/1.svg", "no svg"), artifact("g.txt", svg)];
        let mut directory = Directory::new(dir.path().to_owned(), 1, PlotFormat::Png);
        directory.write(&input("h.edn"), &Report::new("c", Verdict::Valid), &artifacts).unwrap();
        assert_eq!(fs::read(dir.path().join("g/1.svg")).unwrap(), b"no svg");
        assert_eq!(fs::read_to_string(dir.path().join("g.txt")).unwrap(), svg);
        match fs::read(dir.path().join("g/0.png")) {
            Ok(png) => {
                assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
                assert!(!dir.path().join("g/0.svg").exists(), "instead, not beside");
            }
            // This machine has no fonts.
            Err(_) => assert_eq!(fs::read_to_string(dir.path().join("g/0.svg")).unwrap(), svg),
        }
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "").unwrap();
        let report = Report::new("c", Verdict::Valid);
        let said = Directory::new(path, 1, PlotFormat::Svg).write(&input("h.edn"), &report, &[]).unwrap_err();
        assert!(said.starts_with("cannot write ") && said.contains("file/report.txt"), "{said}");
    }
}
