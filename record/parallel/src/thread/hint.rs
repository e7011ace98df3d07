//! A hint that a loop spins: other threads run first.

/// The equivalent of [`std::hint::spin_loop`]. In a managed thread, this yields to other threads, as
/// [`yield_now`](crate::thread::yield_now) does.
#[track_caller]
#[inline]
pub fn spin_loop() {
    if crate::runtime::is_managed() {
        crate::thread::yield_now();
    } else {
        std::hint::spin_loop();
    }
}
