//! Checkers that each break one rule for checkers. Features select what happens when the library is loaded.

use histcheck_plugin::{
    Artifact, Budget, Checker, HistoryError, Op, OptionError, OptionSpec, Options, Report, Run, Verdict,
};
use std::ops::ControlFlow;

/// The place and the kind of the misbehaviour.
#[derive(Clone, Copy, PartialEq)]
enum Deed {
    PanicInStart,
    PanicInObserve,
    PanicInFinish,
    PanicInDrop,
    LieInPath,
    LieInSteps,
    Hang,
    HangInFinish,
    Eat,
    Abort,
    Exit,
    Leave,
    Behave,
}

struct Misbehaving(&'static str, Deed);

impl Checker for Misbehaving {
    fn name(&self) -> &str {
        self.0
    }

    fn summary(&self) -> &str {
        "Does what it must not."
    }

    fn options(&self) -> &[OptionSpec] {
        &[]
    }

    fn start(&self, _: &Options) -> Result<Box<dyn Run>, OptionError> {
        assert!(self.1 != Deed::PanicInStart, "no start today");
        Ok(Box::new(Misdeed { deed: self.1, armed: false, eaten: Vec::new() }))
    }
}

struct Misdeed {
    deed: Deed,
    /// Only a history with an op `:f :provoke` causes the misbehaviour.
    armed: bool,
    eaten: Vec<Vec<u8>>,
}

fn forever() -> ! {
    loop {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

impl Run for Misdeed {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        self.armed |= op.f == Some("provoke");
        if self.armed {
            match self.deed {
                Deed::PanicInObserve => panic!("no op like {}", op.index),
                Deed::Hang => forever(),
                Deed::Eat => loop {
                    self.eaten.push(vec![1; 1 << 20]);
                },
                Deed::Abort => std::process::abort(),
                Deed::Exit => std::process::exit(0),
                Deed::Leave => {
                    let left = std::process::Command::new("sleep").arg("1000").spawn().expect("there is a sleep");
                    eprintln!("left {}", left.id());
                }
                _ => {}
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn finish(self: Box<Self>, _: &Budget) -> Result<Report, HistoryError> {
        let mut report = Report::new("misbehaving", Verdict::Valid);
        if self.armed {
            match self.deed {
                Deed::PanicInFinish => std::panic::panic_any(7),
                Deed::HangInFinish => forever(),
                Deed::LieInPath => {
                    report.artifacts.push(Artifact { path: "../../escaped.txt".into(), content: b"out".to_vec() });
                }
                Deed::LieInSteps => {
                    let step = histcheck_plugin::Step::new(3, 4, "ww", "");
                    let witness = histcheck_plugin::Witness::new(Vec::new(), "").with_steps(vec![step]);
                    let lie = histcheck_plugin::Anomaly { name: "lie".into(), count: 1, witnesses: vec![witness] };
                    report.anomalies.push(lie);
                }
                _ => {}
            }
        }
        Ok(report)
    }
}

impl Drop for Misdeed {
    fn drop(&mut self) {
        if self.armed && self.deed == Deed::PanicInDrop {
            panic!("no end today");
        }
    }
}

#[allow(dead_code)]
fn checkers() -> Vec<Box<dyn Checker>> {
    if cfg!(feature = "panics-at-load") {
        panic!("no checkers today");
    }
    if cfg!(feature = "exits-at-load") {
        std::process::exit(0);
    }
    if cfg!(feature = "hangs-at-load") {
        forever();
    }
    let all = [
        ("panic-in-start", Deed::PanicInStart),
        ("panic-in-observe", Deed::PanicInObserve),
        ("panic-in-finish", Deed::PanicInFinish),
        ("panic-in-drop", Deed::PanicInDrop),
        ("lie-in-path", Deed::LieInPath),
        ("lie-in-steps", Deed::LieInSteps),
        ("hang", Deed::Hang),
        ("hang-in-finish", Deed::HangInFinish),
        ("eat", Deed::Eat),
        ("abort", Deed::Abort),
        ("exit", Deed::Exit),
        ("leave", Deed::Leave),
        (if cfg!(feature = "garbage") { "no name, but words" } else { "behave" }, Deed::Behave),
    ];
    all.into_iter().map(|(name, deed)| Box::new(Misbehaving(name, deed)) as Box<dyn Checker>).collect()
}

#[cfg(not(any(feature = "no-symbol", feature = "other-layout")))]
histcheck_plugin::export_checkers!(all: checkers());

/// The library is as large as if it did something.
#[cfg(feature = "no-symbol")]
#[unsafe(no_mangle)]
pub extern "C" fn not_what_is_looked_for() -> usize {
    checkers().len()
}

/// An interface with the right name whose functions have other arguments.
#[cfg(feature = "other-layout")]
mod other {
    use histcheck_plugin::abi_stable::{
        self, StableAbi, library::*, prefix_type::PrefixTypeTrait, sabi_types::VersionStrings,
    };

    #[repr(C)]
    #[derive(StableAbi)]
    #[sabi(kind(Prefix(prefix_ref = InterfaceRef)))]
    pub struct Interface {
        pub describe: extern "C" fn(u64) -> u64,
    }

    impl RootModule for InterfaceRef {
        abi_stable::declare_root_module_statics! {InterfaceRef}
        const BASE_NAME: &'static str = "histcheck_plugin";
        const NAME: &'static str = "histcheck_plugin";
        const VERSION_STRINGS: VersionStrings = VersionStrings::new("1.0.0");
    }

    extern "C" fn describe(number: u64) -> u64 {
        number
    }

    extern "C" fn module() -> RootModuleResult {
        __call_root_module_loader(|| Interface { describe }.leak_into_prefix())
    }

    #[unsafe(export_name = "_1as_0lib_1header_0root_bmodule_bloader")]
    pub static HEADER: LibHeader = unsafe { LibHeader::from_constructor::<InterfaceRef>(module, CheckTypeLayout::Yes) };
}
