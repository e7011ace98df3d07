//! `select!`, `join!`, `try_join!` and `pin!`, as tokio has them.
//!
//! `select!` begins with one of its branches, which the scheduler picks, and polls the others in order. The result of a
//! branch is stored in a variable of that branch; the handler runs after all futures have been dropped.

use crate::runtime;
use crate::scheduler::Pick;

/// The order in which branches are polled.
#[derive(Debug)]
pub struct Order {
    branches: u32,
    is_biased: bool,
}

impl Order {
    /// Creates the order of this number of branches; those of `select!` with `biased;` are polled in the order of the
    /// source.
    pub fn new(branches: u32, is_biased: bool) -> Order {
        Order { branches, is_biased }
    }

    /// The branches that are not disabled, as bits.
    pub fn enabled(&self, disabled: u64) -> u64 {
        let all = u64::MAX.checked_shr(u64::BITS - self.branches).unwrap_or(0);
        all & !disabled
    }

    /// Which branch is polled first, of those that are enabled, as bits.
    pub fn first(&self, enabled: u64) -> u32 {
        if self.is_biased {
            return 0;
        }
        let picked = runtime::pick(Pick::Branch, enabled.count_ones());
        (0..self.branches).filter(|branch| enabled & 1 << branch != 0).nth(crate::ids::index(picked)).unwrap_or(0)
    }
}

/// The first branch to poll outside of `select!`, where each comes first once.
pub fn first(round: &mut u32, branches: u32) -> u32 {
    let first = *round % branches.max(1);
    *round = (first + 1) % branches.max(1);
    first
}

/// The equivalent of `tokio::select!`. A pattern that may not match must not bind with `mut`.
#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    (biased; $($rest:tt)*) => { $crate::__select!(@next true, (), $($rest)*) };
    // All branches are parsed.
    (@next $biased:tt, ($($branch:tt)*), else => $else:expr $(,)?) => {
        $crate::__select!(@run $biased, ($($branch)*), $else)
    };
    (@next $biased:tt, ($($branch:tt)*), $(,)?) => {
        $crate::__select!(@run $biased, ($($branch)*),
            panic!("all branches are disabled and there is no else branch"))
    };
    // A name matches any value.
    (@next $biased:tt, $done:tt, mut $name:ident = $future:expr, if $guard:expr => $($rest:tt)*) => {
        $crate::__select!(@handler $biased, $done, [mut $name] [_] $future, $guard, $($rest)*)
    };
    (@next $biased:tt, $done:tt, mut $name:ident = $future:expr => $($rest:tt)*) => {
        $crate::__select!(@handler $biased, $done, [mut $name] [_] $future, true, $($rest)*)
    };
    (@next $biased:tt, $done:tt, $pattern:pat = $future:expr, if $guard:expr => $($rest:tt)*) => {
        $crate::__select!(@handler $biased, $done, [$pattern] [$pattern] $future, $guard, $($rest)*)
    };
    (@next $biased:tt, $done:tt, $pattern:pat = $future:expr => $($rest:tt)*) => {
        $crate::__select!(@handler $biased, $done, [$pattern] [$pattern] $future, true, $($rest)*)
    };
    (@handler $biased:tt, ($($done:tt)*), [$($bind:tt)*] [$check:pat] $future:expr, $guard:expr, $handler:block, $($rest:tt)*) => {
        $crate::__select!(@next $biased, ($($done)* { slot [$($bind)*] [$check] $future, $guard, $handler }), $($rest)*)
    };
    (@handler $biased:tt, ($($done:tt)*), [$($bind:tt)*] [$check:pat] $future:expr, $guard:expr, $handler:block $($rest:tt)*) => {
        $crate::__select!(@next $biased, ($($done)* { slot [$($bind)*] [$check] $future, $guard, $handler }), $($rest)*)
    };
    (@handler $biased:tt, ($($done:tt)*), [$($bind:tt)*] [$check:pat] $future:expr, $guard:expr, $handler:expr) => {
        $crate::__select!(@next $biased, ($($done)* { slot [$($bind)*] [$check] $future, $guard, $handler }),)
    };
    (@handler $biased:tt, ($($done:tt)*), [$($bind:tt)*] [$check:pat] $future:expr, $guard:expr, $handler:expr, $($rest:tt)*) => {
        $crate::__select!(@next $biased, ($($done)* { slot [$($bind)*] [$check] $future, $guard, $handler }), $($rest)*)
    };
    // Each branch has its own variable, although all have the name `slot`: the names come from different expansions.
    (@run $biased:tt, ($({ $slot:ident [$($bind:tt)*] [$check:pat] $future:expr, $guard:expr, $handler:expr })*), $else:expr) => {{
        $(let mut $slot = ::core::option::Option::None;)*
        {
            let mut disabled = 0_u64;
            let mut branches = 0_u32;
            $(
                if !$guard {
                    disabled |= 1 << branches;
                }
                branches += 1;
            )*
            let order = $crate::tokio::private::Order::new(branches, $biased);
            $crate::__select!(@futures [] [$({ $slot $future })*]
                [$({ $slot [$check] })*] disabled branches order)
        }
        #[allow(unreachable_patterns, unreachable_code)]
        { $(if let ::core::option::Option::Some(output) = $slot {
            match output {
                $($bind)* => $handler,
                _ => ::core::unreachable!("the branch has matched before"),
            }
        } else)* { $else } }
    }};
    // Pins the futures, each in a variable with the name `future`.
    (@futures [$($named:tt)*] [{ $slot:ident $future:expr } $($rest:tt)*] $checks:tt $disabled:ident $branches:ident $order:ident) => {{
        let mut future = ::core::pin::pin!($future);
        $crate::__select!(@futures [$($named)* future] [$($rest)*] $checks $disabled $branches $order)
    }};
    (@futures [$($future:ident)*] [] [$({ $slot:ident [$check:pat] })*] $disabled:ident $branches:ident $order:ident) => {
        ::core::future::poll_fn(|cx| {
            let enabled = $order.enabled($disabled);
            if enabled == 0 {
                return ::core::task::Poll::Ready(());
            }
            let first = $order.first(enabled);
            for turn in 0..$branches {
                let polled = (first + turn) % $branches;
                if $disabled & 1 << polled != 0 {
                    continue;
                }
                let mut branch = 0_u32;
                $(
                    if branch == polled {
                        if let ::core::task::Poll::Ready(output) = ::core::future::Future::poll($future.as_mut(), cx) {
                            $disabled |= 1 << polled;
                            #[allow(unused_variables, unreachable_patterns)]
                            let is_match = match &output {
                                $check => true,
                                _ => false,
                            };
                            if is_match {
                                $slot = ::core::option::Option::Some(output);
                                return ::core::task::Poll::Ready(());
                            }
                        }
                    }
                    branch += 1;
                )*
                _ = branch;
            }
            if $order.enabled($disabled) == 0 {
                return ::core::task::Poll::Ready(());
            }
            ::core::task::Poll::Pending
        })
        .await
    };
    ($($rest:tt)*) => { $crate::__select!(@next false, (), $($rest)*) };
}

/// The equivalent of `tokio::join!`.
#[doc(hidden)]
#[macro_export]
macro_rules! __join {
    ($($future:expr),+ $(,)?) => { $crate::__join!(@futures all, [] [$({ $future })*]) };
    (@futures $kind:tt, [$($named:tt)*] [{ $future:expr } $($rest:tt)*]) => {{
        let mut future = ::core::pin::pin!($future);
        let mut slot = ::core::option::Option::None;
        $crate::__join!(@futures $kind, [$($named)* { future slot }] [$($rest)*])
    }};
    (@futures $kind:tt, [$({ $future:ident $slot:ident })*] []) => {{
        let mut round = 0_u32;
        ::core::future::poll_fn(|cx| {
            let mut branches = 0_u32;
            $(
                _ = &$future;
                branches += 1;
            )*
            let first = $crate::tokio::private::first(&mut round, branches);
            for turn in 0..branches {
                let polled = (first + turn) % branches;
                let mut branch = 0_u32;
                $(
                    if branch == polled && $slot.is_none() {
                        if let ::core::task::Poll::Ready(output) = ::core::future::Future::poll($future.as_mut(), cx) {
                            $crate::__join!(@check $kind, output);
                            $slot = ::core::option::Option::Some(output);
                        }
                    }
                    branch += 1;
                )*
                _ = branch;
            }
            $(if $slot.is_none() {
                return ::core::task::Poll::Pending;
            })*
            ::core::task::Poll::Ready($crate::__join!(@output $kind, $($slot)*))
        })
        .await
    }};
    (@check all, $output:ident) => {};
    (@check try, $output:ident) => {
        let $output = match $output {
            ::core::result::Result::Ok(value) => value,
            ::core::result::Result::Err(error) => {
                return ::core::task::Poll::Ready(::core::result::Result::Err(error));
            }
        };
    };
    (@output all, $($slot:ident)*) => { ($($slot.take().expect("the result was checked before"),)*) };
    (@output try, $($slot:ident)*) => {
        ::core::result::Result::Ok(($($slot.take().expect("the result was checked before"),)*))
    };
}

/// The equivalent of `tokio::try_join!`.
#[doc(hidden)]
#[macro_export]
macro_rules! __try_join {
    ($($future:expr),+ $(,)?) => { $crate::__join!(@futures try, [] [$({ $future })*]) };
}

/// The equivalent of `tokio::pin!`.
#[doc(hidden)]
#[macro_export]
macro_rules! __pin {
    ($($name:ident),* $(,)?) => { $(let mut $name = ::core::pin::pin!($name);)* };
    ($(let $name:ident = $future:expr;)*) => { $(let mut $name = ::core::pin::pin!($future);)* };
}
