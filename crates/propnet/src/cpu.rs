//! Running portable code compiled for the machine at hand.
#![allow(unsafe_code)]

/// Whether the machine has the vector and bit instructions that fast paths are made for.
pub fn is_wide() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("popcnt")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Calls `f`, whose inlined code may use those instructions if the machine has them. The result is the same.
#[inline]
pub fn wide<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if is_wide() {
        // SAFETY: `is_wide` has found every feature that the function is compiled with.
        return unsafe { call_wide(f) };
    }
    f()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
fn call_wide<R>(f: impl FnOnce() -> R) -> R {
    f()
}
