//! Interface 1: everything on which two libraries must agree to the byte. It is frozen; new features are added to the
//! data.
//!
//! `abi_stable` compares the layout of these types when a plugin is loaded. It rejects an older plugin if anything was
//! added here, even at the end. Nothing may be added, therefore, and the tests compare this with a frozen copy.
#![expect(clippy::expl_impl_clone_on_copy, reason = "written by the derive macro of abi_stable")]

use abi_stable::StableAbi;
use abi_stable::library::RootModule;
use abi_stable::sabi_types::VersionStrings;
use abi_stable::std_types::{RSlice, RStr, RString};

/// The version of the interface: the first number is that of this module, the second counts what was added to the data.
pub const VERSION: (u32, u32) = (1, 0);

/// What this version of the data has that a plugin may need. Version 1.0 has nothing in addition to its base.
pub const HAS: &[&str] = &[];

/// What a plugin can do. Every function catches what panics on its side.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = InterfaceRef)))]
pub struct Interface {
    /// A [`wire::Description`](crate::wire::Description), or a refusal.
    pub describe: extern "C" fn() -> RString,
    /// Begins a history with the checker at this position of the description, and options as a JSON object.
    pub start: extern "C" fn(u32, RStr<'_>) -> Started,
    /// Hands over ops.
    ///
    /// # Safety
    ///
    /// The run was started and not finished, nobody else uses it now, and the columns are those of interface 1.
    pub observe: unsafe extern "C" fn(RunHandle, Ops<'_>) -> Observed,
    /// Asks something of a run by name; the answer to a question that is not known is empty.
    ///
    /// # Safety
    ///
    /// As for `observe`.
    pub ask: unsafe extern "C" fn(RunHandle, RStr<'_>) -> RString,
    /// Ends a run, with a [`wire::Limits`](crate::wire::Limits) and a flag that means "stop" once it is not 0.
    ///
    /// # Safety
    ///
    /// As for `observe`; the handle is not to be used again, and the flag is an atomic byte that is never freed.
    pub finish: unsafe extern "C" fn(RunHandle, RStr<'_>, *const u8) -> RString,
    /// Drops a run that is not to be finished.
    ///
    /// # Safety
    ///
    /// As for `observe`; the handle is not to be used again.
    #[sabi(last_prefix_field)]
    pub discard: unsafe extern "C" fn(RunHandle),
}

impl RootModule for InterfaceRef {
    abi_stable::declare_root_module_statics! {InterfaceRef}
    const BASE_NAME: &'static str = "histcheck_plugin";
    const NAME: &'static str = "histcheck_plugin";
    const VERSION_STRINGS: VersionStrings = VersionStrings::new("1.0.0");
}

/// A run on the plugin's side.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct RunHandle(pub *mut u8);

/// What became of a start.
#[repr(C)]
#[derive(StableAbi)]
pub struct Started {
    /// Null if it failed.
    pub run: RunHandle,
    /// Why, as a [`wire::Refusal`](crate::wire::Refusal); else empty.
    pub refusal: RString,
}

/// What became of some ops.
#[repr(C)]
#[derive(StableAbi)]
pub struct Observed {
    /// 0: continue; 1: the verdict can no longer change; else see `refusal`.
    pub flow: u32,
    /// Whether the history is certainly invalid.
    pub violated: u32,
    /// One more than the configurations that the search keeps; 0 if there is no search. Interface 1 has this name for
    /// them.
    pub possibilities: u64,
    /// A [`wire::Refusal`](crate::wire::Refusal), or empty.
    pub refusal: RString,
}

/// Some consecutive ops, as columns.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct Ops<'a> {
    /// The offset of the first column in the text of the history; `u64::MAX` if it is not a part of one.
    pub starts_at: u64,
    /// Ordered by number. Those that a plugin does not know it ignores.
    pub columns: RSlice<'a, Column>,
}

/// A slice of something that has a number.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct Column {
    /// One of the constants below.
    pub number: u32,
    /// The size of one item.
    pub item_bytes: u32,
    /// The first item.
    pub items: *const u8,
    /// How many there are.
    pub len: usize,
}

/// Text in UTF-8: the block as it was read.
pub const SOURCE: u32 = 0;
/// Text in UTF-8: what had escapes, without them.
pub const UNESCAPED: u32 = 1;
/// [`Node`](history_core::columns::Node)s.
pub const NODES: u32 = 2;
/// `i64`s.
pub const INTS: u32 = 3;
/// [`Row`](history_core::columns::Row)s.
pub const ROWS: u32 = 4;
/// `u32`s: for each op the node of its client's name, or `u32::MAX`; ends with the last name. Absent means empty.
pub const NAMES: u32 = 5;
