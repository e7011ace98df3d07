//! linearizable-register: a cas-register for each key, as in Jepsen's workload of that name.

use super::Linearizable;
use crate::models::CasRegister;
use history_core::{About, Checker, Keyed, OptionError, OptionSpec, Options, Run};
use std::sync::LazyLock;

/// The checker cas-register for each key: ops are `:read`, `:write` and `:cas` of `[key value]`.
///
/// ```
/// use check_register::LinearizableRegister;
/// use history_core::{Budget, Checker, Options, Reader, Verdict};
///
/// let history = "
///     {:process 0, :type :invoke, :f :write, :value [:x 1]} {:process 0, :type :ok, :f :write, :value [:x 1]}
///     {:process 0, :type :invoke, :f :read, :value [:x nil]} {:process 0, :type :ok, :f :read, :value [:x 2]}";
/// let run = LinearizableRegister::default().start(&Options::new())?;
/// let report = history_core::check(run, &mut Reader::new(history.as_bytes()), &Budget::default())?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct LinearizableRegister {}

/// The checker of each key.
static REGISTER: LazyLock<Linearizable<CasRegister>> = LazyLock::new(Linearizable::default);

impl Checker for LinearizableRegister {
    fn name(&self) -> &'static str {
        "linearizable-register"
    }

    fn summary(&self) -> &'static str {
        "Linearizability of a register with compare-and-set for each key: the same as --keyed -m cas-register."
    }

    fn options(&self) -> &[OptionSpec] {
        REGISTER.options()
    }

    fn about(&self) -> About {
        let of_one_key = super::about::<CasRegister>();
        let mut about = of_one_key.clone();
        about.is_keyed = true;
        about.members.push((REGISTER.name().to_owned().into(), of_one_key));
        about
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(Keyed::start(&*REGISTER, options)?))
    }
}
