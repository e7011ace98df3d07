//! The plugin's side: the functions of the interface for the checkers of one library.
#![expect(
    unsafe_code,
    clippy::cast_ptr_alignment,
    reason = "handles and columns come from the host as pointers to bytes"
)]

use crate::interface::{
    Column, INTS, Interface, InterfaceRef, NAMES, NODES, Observed, Ops, ROWS, RunHandle, SOURCE, Started,
};
use crate::interface::{UNESCAPED, VERSION};
use crate::wire::{Answer, CheckerForm, Description, Limits, Refusal, ReportForm};
use abi_stable::library::{__call_root_module_loader, CheckTypeLayout, LibHeader, RootModuleResult};
use abi_stable::prefix_type::PrefixTypeTrait;
use abi_stable::std_types::{RStr, RString};
use history_core::columns::{Columns, Node, Row};
use history_core::{Batch, Cancel, Checker, Options, Run};
use serde::Serialize;
use std::any::Any;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

/// What [`export_checkers!`](crate::export_checkers) implements.
pub trait Plugin: 'static {
    /// Makes the checkers.
    fn checkers() -> Vec<Box<dyn Checker>>;
    /// Where they are kept.
    fn loaded() -> &'static Loaded;
}

/// The checkers of a library, or the panic that making them ended in.
pub type Loaded = OnceLock<Result<Vec<Box<dyn Checker>>, Refusal>>;

/// What the host looks for.
pub const fn header<P: Plugin>() -> LibHeader {
    extern "C" fn module<P: Plugin>() -> RootModuleResult {
        __call_root_module_loader(interface::<P>)
    }
    // SAFETY: the function returns the result of `interface`, which has the type named here.
    unsafe { LibHeader::from_constructor::<InterfaceRef>(module::<P>, CheckTypeLayout::Yes) }
}

/// The functions of a library.
fn interface<P: Plugin>() -> InterfaceRef {
    Interface { describe: describe::<P>, start: start::<P>, observe, ask, finish, discard }.leak_into_prefix()
}

/// A run, until it panics.
struct Guest {
    run: Option<Box<dyn Run>>,
}

/// Calls `what`, and converts a panic to a refusal.
fn caught<T>(what: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    catch_unwind(AssertUnwindSafe(what)).unwrap_or_else(|panic| {
        let said = panic_message(panic.as_ref());
        // Dropping the panic's payload may panic again.
        std::mem::forget(panic);
        Err(Refusal::Panic(said))
    })
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a value that is not text".into())
}

fn json(value: &impl Serialize) -> RString {
    // Serialization fails only for maps whose keys are not text, and there are none.
    serde_json::to_string(value).unwrap_or_default().into()
}

fn answer<T: Serialize>(result: Result<T, Refusal>) -> RString {
    match result {
        Ok(value) => json(&Answer::Answer(value)),
        Err(refusal) => json(&Answer::<()>::Refusal(refusal)),
    }
}

fn checkers<P: Plugin>() -> Result<&'static [Box<dyn Checker>], Refusal> {
    let made = P::loaded().get_or_init(|| caught(|| Ok(P::checkers())));
    made.as_ref().map(Vec::as_slice).map_err(Clone::clone)
}

extern "C" fn describe<P: Plugin>() -> RString {
    answer(caught(|| {
        let checkers = checkers::<P>()?.iter().map(|checker| CheckerForm::of(checker.as_ref())).collect();
        Ok(Description { interface: VERSION, needs: Vec::new(), checkers })
    }))
}

extern "C" fn start<P: Plugin>(checker: u32, options: RStr<'_>) -> Started {
    let started = caught(|| {
        let given: BTreeMap<String, String> =
            serde_json::from_str(options.as_str()).map_err(|error| Refusal::Misuse(format!("the options: {error}")))?;
        let options = given.into_iter().fold(Options::new(), |options, (name, value)| options.with(name, value));
        let checker = checkers::<P>()?.get(checker as usize);
        let checker = checker.ok_or_else(|| Refusal::Misuse("no checker has this number".into()))?;
        Ok(checker.start(&options)?)
    });
    match started {
        Ok(run) => {
            let guest = Box::new(Guest { run: Some(run) });
            Started { run: RunHandle(Box::into_raw(guest).cast()), refusal: RString::new() }
        }
        Err(refusal) => Started { run: RunHandle(std::ptr::null_mut()), refusal: json(&refusal) },
    }
}

/// The run of a handle.
///
/// # Safety
///
/// It was started and not finished, and nothing else uses it as long as it is borrowed.
unsafe fn guest<'a>(handle: RunHandle) -> &'a mut Guest {
    // SAFETY: `start` created it from a box of this type, and the caller guarantees that it still exists and is used
    // only here.
    unsafe { &mut *handle.0.cast::<Guest>() }
}

/// The items of a column.
///
/// # Safety
///
/// The column's items have this type if their size is the size of this type, and they exist as long as the slice is
/// used.
unsafe fn slice<T>(ops: &Ops<'_>, number: u32) -> Result<&'static [T], Refusal> {
    let column = ops.columns.iter().find(|column| column.number == number);
    let Some(Column { items, len, .. }) = column.filter(|column| column.item_bytes as usize == size_of::<T>()) else {
        return Err(Refusal::Misuse(format!("no column {number} with items of {} bytes", size_of::<T>())));
    };
    if *len == 0 {
        return Ok(&[]);
    }
    // SAFETY: the caller guarantees this; the host created the column from a slice.
    Ok(unsafe { std::slice::from_raw_parts(items.cast::<T>(), *len) })
}

/// The ops, read from the host's memory.
///
/// # Safety
///
/// The columns are those of interface 1, and exist as long as the batch.
unsafe fn batch(ops: &Ops<'_>) -> Result<Batch, Refusal> {
    // SAFETY: the caller guarantees that these columns have these types. Text is the host's `str`, which is UTF-8.
    let columns = unsafe {
        Columns {
            source: std::str::from_utf8_unchecked(slice::<u8>(ops, SOURCE)?),
            unescaped: std::str::from_utf8_unchecked(slice::<u8>(ops, UNESCAPED)?),
            nodes: slice::<Node>(ops, NODES)?,
            ints: slice::<i64>(ops, INTS)?,
            rows: slice::<Row>(ops, ROWS)?,
            // An older host does not have this column.
            names: slice::<u32>(ops, NAMES).unwrap_or_default(),
            starts_at: ops.starts_at,
        }
    };
    Ok(Batch::from_columns(columns))
}

const GONE: &str = "this run panicked before";

unsafe extern "C" fn observe(handle: RunHandle, ops: Ops<'_>) -> Observed {
    // SAFETY: the interface requires this of its caller.
    let guest = unsafe { guest(handle) };
    let observed = caught(|| {
        let run = guest.run.as_mut().ok_or_else(|| Refusal::Panic(GONE.into()))?;
        // SAFETY: the interface requires this of its caller. The batch is dropped before this returns, and is only
        // borrowed until then.
        let batch = unsafe { batch(&ops) }?;
        let flow = run.observe_batch(&batch)?;
        let configurations = run.configurations().map_or(0, |count| count.saturating_add(1));
        Ok((flow, run.is_violated(), configurations))
    });
    match observed {
        Ok((flow, violated, configurations)) => Observed {
            flow: match flow {
                ControlFlow::Continue(()) => 0,
                ControlFlow::Break(()) => 1,
            },
            violated: violated.into(),
            possibilities: configurations,
            refusal: RString::new(),
        },
        Err(refusal) => {
            // After a panic, the state of the run is unknown, so it is not dropped.
            std::mem::forget(guest.run.take_if(|_| matches!(refusal, Refusal::Panic(_))));
            Observed { flow: 2, violated: 0, possibilities: 0, refusal: json(&refusal) }
        }
    }
}

unsafe extern "C" fn ask(handle: RunHandle, question: RStr<'_>) -> RString {
    // SAFETY: the interface requires this of its caller.
    let guest = unsafe { guest(handle) };
    match question.as_str() {
        "violation" => answer(caught(|| {
            let run = guest.run.as_ref().ok_or_else(|| Refusal::Panic(GONE.into()))?;
            Ok(run.violation().map(ReportForm::from))
        })),
        _ => RString::new(),
    }
}

unsafe extern "C" fn finish(handle: RunHandle, limits: RStr<'_>, cancel: *const u8) -> RString {
    // SAFETY: `start` created it from a box of this type; the caller guarantees that it still exists, and returns its
    // ownership with this call.
    let guest = unsafe { Box::from_raw(handle.0.cast::<Guest>()) };
    // SAFETY: the caller guarantees that this is an atomic byte that is never freed; the host only stores 0 and 1.
    let cancel = unsafe { &*cancel.cast::<AtomicBool>() };
    answer(caught(|| {
        let run = guest.run.ok_or_else(|| Refusal::Panic(GONE.into()))?;
        let limits: Limits =
            serde_json::from_str(limits.as_str()).map_err(|error| Refusal::Misuse(format!("the limits: {error}")))?;
        let report = run.finish(&limits.budget(Cancel::lent(cancel)))?;
        Ok(ReportForm::from(report))
    }))
}

unsafe extern "C" fn discard(handle: RunHandle) {
    // SAFETY: the same as for `finish`.
    let guest = unsafe { Box::from_raw(handle.0.cast::<Guest>()) };
    // A panic cannot be reported to a caller here.
    let _ = caught(|| {
        drop(guest);
        Ok(())
    });
}
