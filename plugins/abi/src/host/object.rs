//! Determines the type of a file by its first bytes, because the system's own messages about libraries are not helpful.

use super::error::{LoadError, LoadErrorKind};
use std::env::consts::{ARCH, OS};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The length of the header before the load commands of a 64-bit Mach-O file.
const MACH_HEADER_BYTES: u64 = 32;

/// The information in the head of a file.
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

/// Rejects a file that is not a library, or not one for this machine.
pub(super) fn look(path: &Path) -> Result<(), LoadError> {
    let unreadable = |error: &std::io::Error| LoadError::unreadable(path, error);
    let metadata = std::fs::metadata(path).map_err(|error| unreadable(&error))?;
    if metadata.is_dir() {
        let message = format!("is a directory; load all plugins in it with --plugin-dir {}", path.display());
        return Err(LoadError::new(path, LoadErrorKind::NotALibrary, message));
    }
    if !metadata.is_file() {
        // Opening a pipe would block until another process writes to it.
        let message = "is a pipe or a device; pass the path of a dynamic library";
        return Err(LoadError::new(path, LoadErrorKind::NotALibrary, message));
    }
    let mut head = Vec::new();
    let mut file = File::open(path).map_err(|error| unreadable(&error))?;
    file.by_ref().take(4096).read_to_end(&mut head).map_err(|error| unreadable(&error))?;
    judge(path, object(&head))?;
    if let Some(bytes) = bytes_needed(&head, &mut file).filter(|bytes| *bytes > metadata.len()) {
        // The system would load the file, and end the process at an access to the missing part.
        let message = format!(
            "is truncated: it has {} bytes, and its segments need {bytes}; copy or build it again",
            metadata.len()
        );
        return Err(LoadError::new(path, LoadErrorKind::NotALibrary, message));
    }
    Ok(())
}

/// The end of the last loaded segment of a library in its file; `None` if its header does not contain this.
fn bytes_needed(head: &[u8], file: &mut (impl Read + Seek)) -> Option<u64> {
    match head {
        [0x7f, b'E', b'L', b'F', 2, ..] => {
            let little = head[5] == 1;
            let field = |at, bytes| number(head, at, bytes, little);
            let (at, size, count) = (field(32, 8)?, field(54, 2)?, field(56, 2)?);
            let end = at.checked_add(size * count)?;
            let mut table = Vec::new();
            file.seek(SeekFrom::Start(at)).ok()?;
            file.by_ref().take(size * count).read_to_end(&mut table).ok()?;
            let segments = table.chunks_exact(usize::try_from(size).ok().filter(|size| *size > 0)?);
            let loaded = segments.filter(|segment| number(segment, 0, 4, little) == Some(1));
            let ends = loaded.filter_map(|segment| {
                Some(number(segment, 8, 8, little)?.saturating_add(number(segment, 32, 8, little)?))
            });
            Some(ends.fold(end, u64::max))
        }
        [0xcf, 0xfa, 0xed, 0xfe, ..] => {
            const SEGMENT: u64 = 0x19;
            let (count, bytes) = (number(head, 16, 4, true)?, number(head, 20, 4, true)?);
            let mut commands = Vec::new();
            file.seek(SeekFrom::Start(MACH_HEADER_BYTES)).ok()?;
            file.by_ref().take(bytes).read_to_end(&mut commands).ok()?;
            let (mut end, mut at) = (MACH_HEADER_BYTES + bytes, 0);
            for _ in 0..count {
                let Some(size) = number(&commands, at + 4, 4, true).filter(|size| *size > 0) else { break };
                if number(&commands, at, 4, true) == Some(SEGMENT) {
                    let ends =
                        number(&commands, at + 40, 8, true)?.saturating_add(number(&commands, at + 48, 8, true)?);
                    end = end.max(ends);
                }
                at += usize::try_from(size).ok()?;
            }
            Some(end)
        }
        _ => None,
    }
}

fn judge(path: &Path, object: Object) -> Result<(), LoadError> {
    let not_one = |message: &str| Err(LoadError::new(path, LoadErrorKind::NotALibrary, message));
    match object {
        Object::Unknown => not_one(
            "is not a dynamic library; pass the path of the library that `cargo build` wrote for a cdylib crate",
        ),
        Object::Program => {
            not_one("is a program or an object file, not a dynamic library; the crate of a plugin is a cdylib")
        }
        Object::Library { system, processor } => {
            let here = if ["macos", "windows"].contains(&OS) { OS } else { "elf" };
            let processor = processor.unwrap_or(ARCH);
            if system == here && processor == ARCH {
                return Ok(());
            }
            let system = if system == "elf" { "Linux or a similar system" } else { system };
            let message = format!(
                "was built for {processor} and {system}, but this histcheck runs on {ARCH} and {OS}; build it for this machine"
            );
            Err(LoadError::new(path, LoadErrorKind::OtherMachine, message))
        }
    }
}

fn object(head: &[u8]) -> Object {
    match head {
        [0x7f, b'E', b'L', b'F', ..] => elf(head),
        [0xcf, 0xfa, 0xed, 0xfe, ..] => mach(head),
        // A file for both of Apple's processors.
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
    fn what_is_cut_off_is_seen_by_its_head() {
        let put = |bytes: &mut Vec<u8>, at: usize, value: u64, size: usize| {
            bytes.resize(bytes.len().max(at + size), 0);
            bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
        };
        let needed = |bytes: &[u8]| bytes_needed(bytes, &mut std::io::Cursor::new(bytes));
        let mut elf = b"\x7fELF\x02\x01\x01".to_vec();
        for (at, value, size) in [(32, 64, 8), (54, 56, 2), (56, 2, 2)] {
            put(&mut elf, at, value, size);
        }
        // One segment that is loaded, and one that is not.
        for (segment, kind, from, bytes) in [(64, 1, 0x1000, 0x234), (120, 4, 0x9000, 1)] {
            put(&mut elf, segment, kind, 4);
            put(&mut elf, segment + 8, from, 8);
            put(&mut elf, segment + 32, bytes, 8);
        }
        assert_eq!(needed(&elf), Some(0x1234));
        assert_eq!(needed(&elf[..100]), Some(64 + 2 * 56), "the table of segments is cut off, too");
        let mut mach = b"\xcf\xfa\xed\xfe".to_vec();
        for (at, value, size) in
            [(16, 1, 4), (20, 72, 4), (32, 0x19, 4), (36, 72, 4), (72, 0x1000, 8), (80, 0x500, 8), (96, 0, 8)]
        {
            put(&mut mach, at, value, size);
        }
        assert_eq!(needed(&mach), Some(0x1500));
        assert_eq!(needed(b"MZ"), None);
        for bytes in [&b"\x7fELF\x02\x01"[..], b"\xcf\xfa\xed\xfe\x0c"] {
            assert_eq!(needed(bytes), None, "a head that says nothing");
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
