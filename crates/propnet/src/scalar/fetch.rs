//! Memory that will be read soon.

/// Has an element brought nearer; nothing happens if there is none, or on machines where this is not known how to do.
#[inline(always)]
#[allow(unsafe_code)] // Measured: hex is played 1.07 times as fast with it (mean of eight windows each, in turn).
pub(super) fn fetch<T>(from: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction is part of every x86-64 and reads nothing: any address will do.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.as_ptr().wrapping_add(at).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, at);
}
