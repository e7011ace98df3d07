//! What a file is, told by its first bytes: the system's own messages about libraries help nobody.

use super::error::{LoadError, LoadErrorKind};
use std::env::consts::{ARCH, OS};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// What the head of a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Object {
    /// A dynamic library, for this processor if it is known.
    Library {
        system: &'static str,
        processor: Option<&'static str>,
    },
    /// A program, or part of one.
    Program,
    Unknown,
}

/// Refuses what is no library, or none for this machine.
pub(super) fn look(path: &Path) -> Result<(), LoadError> {
    let unreadable = |error: &std::io::Error| LoadError::unreadable(path, error);
    let metadata = std::fs::metadata(path).map_err(|error| unreadable(&error))?;
    if metadata.is_dir() {
        let message = format!("is a directory; load all plugins in it with --plugin-dir {}", path.display());
        return Err(LoadError::new(path, LoadErrorKind::NotALibrary, message));
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(4096).read_to_end(&mut head));
    read.map_err(|error| unreadable(&error))?;
    judge(path, object(&head))
}

fn judge(path: &Path, object: Object) -> Result<(), LoadError> {
    let not_one = |message: &str| Err(LoadError::new(path, LoadErrorKind::NotALibrary, message));
    match object {
        Object::Unknown => not_one("is no dynamic library; give the path to what `cargo build` made of a cdylib crate"),
        Object::Program => {
            not_one("is no dynamic library, but a program or a part of one; a plugin's crate is a cdylib")
        }
        Object::Library { system, processor } => {
            let here = if ["macos", "windows"].contains(&OS) { OS } else { "elf" };
            let processor = processor.unwrap_or(ARCH);
            if system == here && processor == ARCH {
                return Ok(());
            }
            let system = if system == "elf" { "Linux or its like" } else { system };
            let message = format!(
                "was built for {processor} and {system}, and this histcheck runs on {ARCH} and {OS}; build it for this machine"
            );
            Err(LoadError::new(path, LoadErrorKind::OtherMachine, message))
        }
    }
}

fn object(head: &[u8]) -> Object {
    match head {
        [0x7f, b'E', b'L', b'F', ..] => elf(head),
        [0xcf, 0xfa, 0xed, 0xfe, ..] => mach(head),
        // Both processors of Apple's in one file.
        [0xca, 0xfe, 0xba, 0xbe, ..] => Object::Library { system: "macos", processor: None },
        [b'M', b'Z', ..] => portable(head),
        _ => Object::Unknown,
    }
}

fn number(head: &[u8], at: usize, bytes: usize, little: bool) -> Option<u64> {
    let bytes = head.get(at..at + bytes)?;
    let fold = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
    Some(if little { bytes.iter().rev().fold(0, fold) } else { bytes.iter().fold(0, fold) })
}

fn elf(head: &[u8]) -> Object {
    const SHARED: u64 = 3;
    let little = head.get(5) == Some(&1);
    let (Some(kind), Some(machine)) = (number(head, 16, 2, little), number(head, 18, 2, little)) else {
        return Object::Unknown;
    };
    if kind != SHARED {
        return Object::Program;
    }
    let processor = match machine {
        3 => "x86",
        40 => "arm",
        62 => "x86_64",
        183 => "aarch64",
        243 => "riscv64",
        258 => "loongarch64",
        21 => "powerpc64",
        22 => "s390x",
        _ => return Object::Library { system: "elf", processor: None },
    };
    Object::Library { system: "elf", processor: Some(processor) }
}

fn mach(head: &[u8]) -> Object {
    const DYLIB: u64 = 6;
    const BUNDLE: u64 = 8;
    let processor = match number(head, 4, 4, true) {
        Some(0x0100_0007) => Some("x86_64"),
        Some(0x0100_000c) => Some("aarch64"),
        _ => None,
    };
    match number(head, 12, 4, true) {
        Some(DYLIB | BUNDLE) => Object::Library { system: "macos", processor },
        _ => Object::Program,
    }
}

fn portable(head: &[u8]) -> Object {
    const IS_LIBRARY: u64 = 0x2000;
    let header = number(head, 0x3c, 4, true).and_then(|at| usize::try_from(at).ok()).and_then(|at| head.get(at..));
    let Some(header) = header.filter(|header| header.starts_with(b"PE\0\0")) else { return Object::Unknown };
    let processor = match number(header, 4, 2, true) {
        Some(0x14c) => Some("x86"),
        Some(0x8664) => Some("x86_64"),
        Some(0xaa64) => Some("aarch64"),
        _ => None,
    };
    match number(header, 22, 2, true) {
        Some(flags) if flags & IS_LIBRARY != 0 => Object::Library { system: "windows", processor },
        _ => Object::Program,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_told_apart() {
        let elf = |kind: u8, machine: u8| {
            let mut head = b"\x7fELF\x02\x01\x01".to_vec();
            head.resize(64, 0);
            (head[16], head[18]) = (kind, machine);
            head
        };
        let library = |system, processor| Object::Library { system, processor: Some(processor) };
        assert_eq!(object(&elf(3, 62)), library("elf", "x86_64"));
        assert_eq!(object(&elf(3, 183)), library("elf", "aarch64"));
        assert_eq!(object(&elf(2, 62)), Object::Program);
        assert_eq!(object(&elf(3, 62)[..17]), Object::Unknown, "a head that was cut");
        let mut mach = b"\xcf\xfa\xed\xfe\x0c\x00\x00\x01".to_vec();
        mach.extend([0, 0, 0, 0, 6, 0, 0, 0]);
        assert_eq!(object(&mach), library("macos", "aarch64"));
        let mut portable = b"MZ".to_vec();
        portable.resize(0x40, 0);
        portable[0x3c] = 0x40;
        portable.extend(b"PE\0\0\x64\x86");
        portable.extend([0; 16]);
        portable.extend([0x22, 0x20]);
        assert_eq!(object(&portable), library("windows", "x86_64"));
        for other in [&b"{:process 0}"[..], b"", b"MZ", b"\x7fEL"] {
            assert_eq!(object(other), Object::Unknown);
        }
    }

    #[test]
    fn a_library_of_another_machine_is_told_from_what_is_none() {
        let path = Path::new("p");
        let strange = Object::Library { system: "elf", processor: Some("pdp11") };
        assert_eq!(judge(path, strange).unwrap_err().kind, LoadErrorKind::OtherMachine);
        assert_eq!(judge(path, Object::Unknown).unwrap_err().kind, LoadErrorKind::NotALibrary);
        assert_eq!(judge(path, Object::Program).unwrap_err().kind, LoadErrorKind::NotALibrary);
    }
}
