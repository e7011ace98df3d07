//! Objects in stores (S3 and compatible ones, Google Cloud Storage, a directory) as bytes that can be read from any
//! position on.
//!
//! A block of bytes is requested while the previous one is read. All requests name the version that was found first, so
//! replacing an object in the meantime causes an error, and never a mixture.

use history_core::cast::Cast as _;
use object_store::aws::AmazonS3Builder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{Error, GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt as _, RetryConfig};
use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// The number of bytes of a request: large enough that the latency of a store matters little.
const BLOCK_BYTES: u64 = 2 << 20;
/// The maximum number of objects in a listing.
const LISTED_MAX: usize = 1_000_000;
/// How long a request is repeated, and how often.
const RETRIES: (Duration, usize) = (Duration::from_mins(1), 5);

type Store = Arc<dyn ObjectStore>;

/// An object, read from a position on.
pub(crate) struct Object {
    store: Store,
    meta: ObjectMeta,
    version: String,
    /// The position of the next byte to read.
    at: u64,
    /// The current block, and its position.
    block: Vec<u8>,
    begins: u64,
    /// The next block, which was requested from this position on.
    ahead: Option<(u64, JoinHandle<io::Result<Vec<u8>>>)>,
}

/// Opens an object.
///
/// # Errors
///
/// If it does not exist, or the store cannot be reached or denies access.
pub(crate) fn open(address: &str) -> io::Result<Object> {
    let (store, path) = find(address)?;
    if path.as_ref().is_empty() {
        return Err(bad("expected the address of an object, as s3://BUCKET/KEY"));
    }
    let meta = runtime()?.block_on(store.head(&path)).map_err(cause)?;
    // A store may omit the entity tag.
    let version = format!("{} {} {}", meta.size, meta.last_modified, meta.e_tag.as_deref().unwrap_or_default());
    Ok(Object { store, meta, version, at: 0, block: Vec::new(), begins: 0, ahead: None })
}

/// Returns true if there is an object with this address, as far as can be determined.
///
/// ```no_run
/// assert!(histcheck_scale::is_object("s3://runs/2026/history.jsonl"));
/// ```
pub fn is_object(address: &str) -> bool {
    open(address).is_ok()
}

/// The addresses of all objects with this prefix, in the order of their bytes.
///
/// ```no_run
/// let runs = histcheck_scale::objects_below("s3://runs/2026/")?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// If the store cannot be reached or does not permit listing, or if there are more than 1,000,000.
pub fn objects_below(address: &str) -> io::Result<Vec<String>> {
    // A store lists the objects below a directory.
    let directory = address.rfind('/').map_or(address, |slash| &address[..=slash]);
    let (store, prefix) = find(directory)?;
    let key = directory.len() - prefix.as_ref().len() - usize::from(!prefix.as_ref().is_empty());
    let root = &directory[..key];
    let list = async {
        let (mut pages, mut all) = (store.list(Some(&prefix)), Vec::new());
        while let Some(found) = std::future::poll_fn(|context| pages.as_mut().poll_next(context)).await {
            all.push(format!("{root}{}", found.map_err(cause)?.location));
            if all.len() > LISTED_MAX {
                return Err(io::Error::other(format!("there are more than {LISTED_MAX} objects")));
            }
        }
        Ok(all)
    };
    let mut all = runtime()?.block_on(list)?;
    all.retain(|found| found.starts_with(address));
    all.sort_unstable();
    Ok(all)
}

/// The threads that wait for stores.
fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let build =
        || Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(|error| error.to_string());
    RUNTIME.get_or_init(build).as_ref().map_err(|error| io::Error::other(error.clone()))
}

/// The store of an address, and the path in it.
fn find(address: &str) -> io::Result<(Store, Path)> {
    static STORES: Mutex<BTreeMap<String, Store>> = Mutex::new(BTreeMap::new());
    let (scheme, rest) = address.split_once("://").unwrap_or_default();
    let (bucket, key) = if scheme == "file" { ("", rest) } else { rest.split_once('/').unwrap_or((rest, "")) };
    if bucket.is_empty() && scheme != "file" {
        return Err(bad(&format!("expected {scheme}://BUCKET/KEY")));
    }
    let path = Path::parse(key).map_err(|error| bad(&format!("{error}: such keys are not supported")))?;
    // If the path changes the key, it would name another object.
    if path.as_ref() != key.strip_suffix('/').unwrap_or(key) && scheme != "file" {
        return Err(bad("a key that begins or ends in more slashes is not supported"));
    }
    let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
    let name = format!("{scheme}://{bucket}");
    if let Some(store) = stores.get(&name) {
        return Ok((store.clone(), path));
    }
    let store = connect(scheme, bucket).map_err(cause)?;
    stores.insert(name, store.clone());
    Ok((store, path))
}

fn bad(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// Connects to a store, with credentials and endpoint from the environment.
fn connect(scheme: &str, bucket: &str) -> Result<Store, Error> {
    // Fails if a provider is already installed, which does no harm.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (retry_timeout, max_retries) = RETRIES;
    let retry = RetryConfig { max_retries, retry_timeout, ..RetryConfig::default() };
    Ok(match scheme {
        "s3" => Arc::new(AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry).build()?),
        "gs" => Arc::new(GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket).with_retry(retry).build()?),
        _ => Arc::new(LocalFileSystem::new()),
    })
}

/// Converts an error to one of reading.
fn cause(error: Error) -> io::Error {
    let kind = match &error {
        Error::NotFound { .. } => return io::Error::new(io::ErrorKind::NotFound, "there is no such object"),
        Error::Precondition { .. } => return io::Error::other("the object changed while it was read"),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => io::ErrorKind::PermissionDenied,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}

impl Object {
    /// The length of the object in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.meta.size
    }

    /// The store's identification of this version.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Requests the block at this position.
    fn ask(&self, begins: u64) -> io::Result<JoinHandle<io::Result<Vec<u8>>>> {
        let (store, path) = (self.store.clone(), self.meta.location.clone());
        let range = begins..begins.saturating_add(BLOCK_BYTES).min(self.len());
        let options = GetOptions::new().with_range(Some(range.clone())).with_if_match(self.meta.e_tag.clone());
        Ok(runtime()?.spawn(async move {
            let got = store.get_opts(&path, options).await.map_err(cause)?;
            let bytes = got.bytes().await.map_err(cause)?;
            if bytes.len().to_u64() != range.end - range.start {
                return Err(io::Error::other("the store sent another number of bytes than it was asked for"));
            }
            Ok(bytes.to_vec())
        }))
    }

    /// Makes the block at the current position available, and requests the next one.
    fn turn(&mut self) -> io::Result<()> {
        let asked = match self.ahead.take() {
            Some((begins, asked)) if begins == self.at => asked,
            other => {
                if let Some((_, unwanted)) = other {
                    unwanted.abort();
                }
                self.ask(self.at)?
            }
        };
        self.block = runtime()?.block_on(asked).map_err(io::Error::other)??;
        self.begins = self.at;
        let next = self.begins + self.block.len().to_u64();
        if next < self.len() {
            self.ahead = Some((next, self.ask(next)?));
        }
        Ok(())
    }
}

impl Read for Object {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.len() || out.is_empty() {
            return Ok(0);
        }
        let is_here =
            |object: &Object| (object.begins..object.begins + object.block.len().to_u64()).contains(&object.at);
        if !is_here(self) {
            self.turn()?;
        }
        let mut here = &self.block[(self.at - self.begins).to_usize()..];
        let count = here.read(out)?;
        self.at += count.to_u64();
        Ok(count)
    }
}

impl Seek for Object {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.len().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = to.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a place before the first byte"))?;
        Ok(self.at)
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if let Some((_, unwanted)) = self.ahead.take() {
            unwanted.abort();
        }
    }
}
