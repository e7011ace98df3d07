//! Interface 1.0 as it was frozen, and a plugin that reads its columns by hand.
//!
//! The plugin, `frozen`, knows nothing of this repository but what is here. It counts the ok ops, sums up their values
//! where these are integers or vectors of small ones, and finds histories invalid in which an ok op's function is
//! `boom`.

use abi_stable::StableAbi;
use abi_stable::library::{__call_root_module_loader, CheckTypeLayout, LibHeader, RootModule, RootModuleResult};
use abi_stable::prefix_type::PrefixTypeTrait;
use abi_stable::sabi_types::VersionStrings;
use abi_stable::std_types::{RSlice, RStr, RString};
use std::slice::from_raw_parts;

#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = InterfaceRef)))]
pub struct Interface {
    pub describe: extern "C" fn() -> RString,
    pub start: extern "C" fn(u32, RStr<'_>) -> Started,
    pub observe: unsafe extern "C" fn(RunHandle, Ops<'_>) -> Observed,
    pub ask: unsafe extern "C" fn(RunHandle, RStr<'_>) -> RString,
    pub finish: unsafe extern "C" fn(RunHandle, RStr<'_>, *const u8) -> RString,
    #[sabi(last_prefix_field)]
    pub discard: unsafe extern "C" fn(RunHandle),
}

impl RootModule for InterfaceRef {
    abi_stable::declare_root_module_statics! {InterfaceRef}
    const BASE_NAME: &'static str = "histcheck_plugin";
    const NAME: &'static str = "histcheck_plugin";
    const VERSION_STRINGS: VersionStrings = VersionStrings::new("1.0.0");
}

#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct RunHandle(pub *mut u8);

#[repr(C)]
#[derive(StableAbi)]
pub struct Started {
    pub run: RunHandle,
    pub refusal: RString,
}

#[repr(C)]
#[derive(StableAbi)]
pub struct Observed {
    pub flow: u32,
    pub violated: u32,
    pub possibilities: u64,
    pub refusal: RString,
}

#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct Ops<'a> {
    pub starts_at: u64,
    pub columns: RSlice<'a, Column>,
}

#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct Column {
    pub number: u32,
    pub item_bytes: u32,
    pub items: *const u8,
    pub len: usize,
}

#[repr(C)]
struct Node {
    tag: u8,
    a: u32,
    b: u64,
}

#[repr(C)]
struct Row {
    flags: u32,
    slot: u32,
    f: u32,
    value: u32,
    extra_node: u32,
    extra_entries: u32,
    index: u64,
    time_ns: i64,
    process: i64,
    invoked: u64,
    invoked_time_ns: i64,
    offset: u64,
    line: u64,
    column: u64,
}

const OK: u32 = 1;
const HAS_F: u32 = 1 << 8;
const HAS_VALUE: u32 = 1 << 9;
const INT: u8 = 3;
const INT_VECTOR: u8 = 15;
const UNESCAPED: u64 = 1 << 63;

#[derive(Default)]
struct Run {
    ok: u64,
    sum: i64,
    /// The index of the first op that must not be, and its process.
    boom: Option<(u64, i64)>,
}

unsafe fn column<'a, T>(ops: &Ops<'a>, number: u32) -> &'a [T] {
    let column = ops.columns.iter().find(|column| column.number == number).expect("a column of interface 1");
    assert_eq!(column.item_bytes as usize, size_of::<T>(), "column {number}");
    if column.len == 0 { &[] } else { unsafe { from_raw_parts(column.items.cast(), column.len) } }
}

impl Run {
    fn verdict(&self) -> String {
        let boom = self.boom.map(|(index, process)| {
            format!(
                r#"{{"name":"boom","count":1,"witnesses":[{{"explanation":"It went boom.","ops":[{{"name":"T1","index":{index},
                "process":{process},"kind":"ok","value":":bang"}}]}}]}}"#
            )
        });
        let verdict = if boom.is_some() { "false" } else { "true" };
        // What the copy of 1.9 adds is unknown to older hosts.
        let more = if cfg!(feature = "newer") { r#","colour":"blue""# } else { "" };
        format!(
            r#"{{"answer":{{"checker":"frozen","verdict":"{verdict}","anomalies":[{}],"counts":[["ok",{}],["sum",{}]]{more}}}}}"#,
            boom.unwrap_or_default(),
            self.ok,
            self.sum
        )
    }
}

extern "C" fn describe() -> RString {
    let version = if cfg!(feature = "newer") { "[1,9]" } else { "[1,0]" };
    let needs = if cfg!(feature = "needy") { r#""telepathy","time-travel""# } else { "" };
    let option = r#"{"name":"frost","kind":"integer","value_name":"DEGREES","help":"How cold it is."}"#;
    let checker = format!(r#"{{"name":"frozen","summary":"Was built long ago.","options":[{option}]}}"#);
    format!(r#"{{"answer":{{"interface":{version},"needs":[{needs}],"checkers":[{checker}],"smell":"pine"}}}}"#).into()
}

extern "C" fn start(checker: u32, options: RStr<'_>) -> Started {
    if checker != 0 || options.contains("\"frost\":\"100\"") {
        let refusal = r#"{"option":{"name":"frost","message":"that is not cold"}}"#;
        return Started { run: RunHandle(std::ptr::null_mut()), refusal: refusal.into() };
    }
    Started { run: RunHandle(Box::into_raw(Box::<Run>::default()).cast()), refusal: RString::new() }
}

unsafe extern "C" fn observe(handle: RunHandle, ops: Ops<'_>) -> Observed {
    let run = unsafe { &mut *handle.0.cast::<Run>() };
    let (source, unescaped) = unsafe { (column::<u8>(&ops, 0), column::<u8>(&ops, 1)) };
    let (nodes, ints) = unsafe { (column::<Node>(&ops, 2), column::<i64>(&ops, 3)) };
    let rows = unsafe { column::<Row>(&ops, 4) };
    for row in rows.iter().filter(|row| row.flags & 3 == OK) {
        run.ok += 1;
        if row.flags & HAS_VALUE != 0 {
            let node = &nodes[row.value as usize];
            run.sum += match node.tag {
                INT => node.b as i64,
                INT_VECTOR => ints[node.b as usize..][..node.a as usize].iter().sum(),
                _ => 0,
            };
        }
        if row.flags & HAS_F != 0 {
            let node = &nodes[row.f as usize];
            let text = if node.b & UNESCAPED == 0 { source } else { unescaped };
            let name = &text[(node.b & !UNESCAPED) as usize..][..node.a as usize];
            if name == b"boom" && run.boom.is_none() {
                run.boom = Some((row.index, row.process));
            }
            if name == b"nonsense" {
                let place = format!(r#"{{"offset":{},"line":{},"column":{}}}"#, row.offset, row.line, row.column);
                let error = format!(
                    r#"{{"kind":"unexpected","message":"this is nonsense","expected":"sense","position":{place}}}"#
                );
                let refusal = format!(r#"{{"history":{error}}}"#).into();
                return Observed { flow: 2, violated: 0, possibilities: 0, refusal };
            }
        }
    }
    Observed { flow: 0, violated: run.boom.is_some().into(), possibilities: 1 + run.ok, refusal: RString::new() }
}

unsafe extern "C" fn ask(handle: RunHandle, question: RStr<'_>) -> RString {
    let run = unsafe { &*handle.0.cast::<Run>() };
    if question == "violation" { run.verdict().into() } else { RString::new() }
}

unsafe extern "C" fn finish(handle: RunHandle, limits: RStr<'_>, cancel: *const u8) -> RString {
    let run = unsafe { Box::from_raw(handle.0.cast::<Run>()) };
    assert!(limits.starts_with('{') && unsafe { *cancel } <= 1);
    run.verdict().into()
}

unsafe extern "C" fn discard(handle: RunHandle) {
    drop(unsafe { Box::from_raw(handle.0.cast::<Run>()) });
}

fn interface() -> InterfaceRef {
    Interface { describe, start, observe, ask, finish, discard }.leak_into_prefix()
}

extern "C" fn module() -> RootModuleResult {
    __call_root_module_loader(interface)
}

#[unsafe(export_name = "_1as_0lib_1header_0root_bmodule_bloader")]
pub static HEADER: LibHeader = unsafe { LibHeader::from_constructor::<InterfaceRef>(module, CheckTypeLayout::Yes) };
