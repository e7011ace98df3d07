//! Disks of nodes: directories in memory, or file systems whose power can be cut, or that can be full.
//!
//! A power cut uses ext4 itself: `FS_IOC_SHUTDOWN` with the flag that omits even its journal. After the next mount,
//! only flushed data remains. It would do the same to the disk of this machine, so [`shut_down`] verifies the
//! descriptor that it passes: the device must be a loop device, and its file the image that was created here.

use super::command::run;
use super::node::Node;
use crate::error::LiveError;
use crate::fault::Fault;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The directory of the disks, and of the images of those whose power can be cut.
const DISKS: &str = "/run/disks";
const IMAGES: &str = "/run/images";
/// The size of a disk in bytes. Only written data takes memory.
const SIZE: u64 = 1 << 30;
/// How long a file system may be in use after the programs that used it have ended.
const UNMOUNT_MAX: Duration = Duration::from_secs(10);
/// How long programs may write into a disk that is being filled.
const FILL_MAX: Duration = Duration::from_secs(10);

/// The faults that the disks support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    PowerCut,
    FullDisk,
}

/// The disks of all nodes.
#[derive(Debug)]
pub(crate) struct Disks {
    kind: Kind,
}

impl Disks {
    /// Creates disks that are plain directories.
    pub(super) fn new() -> Result<Disks, LiveError> {
        make(Path::new(DISKS))?;
        Ok(Disks { kind: Kind::Plain })
    }

    /// The path of a node's disk.
    pub(super) fn root(node: &str) -> PathBuf {
        Path::new(DISKS).join(node)
    }

    fn image(node: &str) -> PathBuf {
        Path::new(IMAGES).join(node)
    }

    /// Creates the disks that these faults require.
    pub(super) fn prepare(&mut self, faults: &[Fault], nodes: &[Node]) -> Result<(), LiveError> {
        self.kind = match (faults.contains(&Fault::PowerCut), faults.contains(&Fault::FullDisk)) {
            (false, false) => return Ok(()),
            (true, true) => {
                let why = "the faults power-cut and full-disk need different file systems: choose one of them";
                return Err(LiveError::Unsupported(why.to_owned()));
            }
            (true, false) => Kind::PowerCut,
            (false, true) => Kind::FullDisk,
        };
        if self.kind == Kind::PowerCut {
            if let Err(error) = File::open("/dev/loop-control") {
                let why = format!("the fault power-cut needs root and loop devices: /dev/loop-control: {error}");
                return Err(LiveError::Unsupported(why));
            }
            make(Path::new(IMAGES))?;
            // Unmounting here must also unmount in the namespaces of other daemons.
            run(Command::new("mount").args(["--make-rshared", "/"]), "")?;
        }
        for Node { name, .. } in nodes {
            let root = Disks::root(name);
            make(&root)?;
            if self.kind == Kind::FullDisk {
                run(
                    Command::new("mount").args(["-t", "tmpfs", "-o", &format!("size={SIZE}"), "tmpfs"]).arg(&root),
                    "",
                )?;
                continue;
            }
            let image = Disks::image(name);
            let made = File::create_new(&image).and_then(|file| file.set_len(SIZE));
            made.map_err(|source| LiveError::Write { path: image.clone(), source })?;
            run(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image), "")?;
            mount(&image, &root)?;
        }
        Ok(())
    }

    /// The fault for which the disks were prepared.
    pub(crate) fn fault(&self) -> Option<Fault> {
        match self.kind {
            Kind::Plain => None,
            Kind::PowerCut => Some(Fault::PowerCut),
            Kind::FullDisk => Some(Fault::FullDisk),
        }
    }

    /// Cuts the power of a node's disk: unflushed data is lost, and nothing can be written. Its programs must be ended
    /// then.
    pub(crate) fn cut_power(&self, node: &str) -> Result<(), LiveError> {
        self.expect(Kind::PowerCut)?;
        let root = Disks::root(node);
        let directory =
            File::open(&root).map_err(|error| LiveError::store(format!("cannot open {}: {error}", root.display())))?;
        shut_down(&directory, &Disks::image(node))
    }

    /// Restores the power: the node's disk contains the flushed data. Its programs must have ended.
    pub(crate) fn restore_power(&self, node: &str) -> Result<(), LiveError> {
        self.expect(Kind::PowerCut)?;
        let root = Disks::root(node);
        let began = Instant::now();
        while let Err(error) = run(Command::new("umount").arg(&root), "") {
            if began.elapsed() >= UNMOUNT_MAX {
                return Err(error);
            }
            thread::sleep(Duration::from_millis(20));
        }
        mount(&Disks::image(node), &root)
    }

    /// Fills a node's disk.
    pub(crate) fn fill(&self, node: &str) -> Result<(), LiveError> {
        self.expect(Kind::FullDisk)?;
        let root = Disks::root(node);
        let began = Instant::now();
        loop {
            let system = rustix::fs::statfs(&root)
                .map_err(|error| LiveError::store(format!("cannot read the size of {}: {error}", root.display())))?;
            let block = u64::try_from(system.f_bsize).unwrap_or(4096);
            let filled = resize(&root, (system.f_blocks - system.f_bfree).max(1) * block);
            // Programs may write at the same time, and a disk cannot become smaller than its content.
            if filled.is_ok() || began.elapsed() >= FILL_MAX {
                return filled;
            }
        }
    }

    /// Restores the free space of a node's disk.
    pub(crate) fn make_room(&self, node: &str) -> Result<(), LiveError> {
        self.expect(Kind::FullDisk)?;
        resize(&Disks::root(node), SIZE)
    }

    fn expect(&self, kind: Kind) -> Result<(), LiveError> {
        if self.kind == kind {
            return Ok(());
        }
        Err(LiveError::Unsupported("the nodes' disks were not prepared for this fault".to_owned()))
    }
}

fn make(path: &Path) -> Result<(), LiveError> {
    fs::create_dir_all(path).map_err(|source| LiveError::Write { path: path.to_owned(), source })
}

/// The loop device is released when the file system is unmounted, or the mount namespace ends.
fn mount(image: &Path, root: &Path) -> Result<(), LiveError> {
    run(Command::new("mount").args(["-o", "loop"]).arg(image).arg(root), "")
}

fn resize(root: &Path, bytes: u64) -> Result<(), LiveError> {
    run(Command::new("mount").args(["-o", &format!("remount,size={bytes}")]).arg(root), "")
}

/// The major number of loop devices.
const LOOP_MAJOR: u32 = 7;

/// Makes the file system lose all unflushed data: `FS_IOC_SHUTDOWN` with `FS_SHUTDOWN_FLAGS_NOLOGFLUSH`. Perl is one of
/// Debian's essential packages; a Rust program would need an unsafe block.
const SHUT_DOWN: &str = r#"my $how = pack("L", 2); ioctl(STDIN, 0x8004587d, $how) or die "FS_IOC_SHUTDOWN: $!\n""#;

/// Shuts down the file system of an open directory, if it is in this image and on a loop device.
fn shut_down(directory: &File, image: &Path) -> Result<(), LiveError> {
    let refused = |why: String| LiveError::store(format!("cannot cut the power: {why}"));
    let device = directory.metadata().map_err(|error| refused(error.to_string()))?.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    if major != LOOP_MAJOR {
        return Err(refused(format!("the device {major}:{minor} is not a loop device")));
    }
    let path = format!("/sys/dev/block/{major}:{minor}/loop/backing_file");
    let backing = fs::read_to_string(&path).map_err(|error| refused(format!("{path}: {error}")))?;
    if Path::new(backing.trim_end_matches('\n')) != image {
        return Err(refused(format!("the device {major}:{minor} does not belong to this run")));
    }
    let same = directory.try_clone().map_err(|error| refused(error.to_string()))?;
    let ended = Command::new("perl").args(["-e", SHUT_DOWN]).stdin(Stdio::from(same)).output();
    let ended = ended.map_err(|source| LiveError::Start { program: "perl".to_owned(), source })?;
    if ended.status.success() {
        return Ok(());
    }
    Err(refused(String::from_utf8_lossy(&ended.stderr).trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_loop_device_of_this_run_loses_its_power() {
        let image = Path::new("/run/images/n1");
        for path in ["/", "/proc", "/dev", "/tmp", "."] {
            let error = shut_down(&File::open(path).unwrap(), image).unwrap_err().to_string();
            assert!(error.starts_with("cannot cut the power: the device "), "{path}: {error}");
        }
    }

    #[test]
    fn disks_that_were_not_prepared_are_left_alone() {
        let disks = Disks { kind: Kind::Plain };
        for refused in [disks.cut_power("n1"), disks.restore_power("n1"), disks.fill("n1"), disks.make_room("n1")] {
            let error = refused.unwrap_err().to_string();
            assert!(error.contains("not prepared"), "{error}");
        }
    }

    #[test]
    fn two_kinds_of_disks_are_refused() {
        let mut disks = Disks { kind: Kind::Plain };
        let error = disks.prepare(&[Fault::PowerCut, Fault::FullDisk], &[]).unwrap_err().to_string();
        assert!(error.contains("choose one"), "{error}");
    }
}
