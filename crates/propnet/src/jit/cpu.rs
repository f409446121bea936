//! Instructions of x86-64 for which portable Rust has no name.

/// Whether machine code is made on this machine. It needs AVX2, POPCNT, BMI1 and BMI2.
pub fn makes_machine_code() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("popcnt")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
}

/// Whether machine code may use the instructions of AVX-512 on 256 bits.
pub(super) fn has_avx512() -> bool {
    std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512vl")
}

/// Calls `f`. Its inlined code may use these instructions if the machine has them; the result is the same.
#[inline]
pub fn wide<R>(f: impl FnOnce() -> R) -> R {
    if makes_machine_code() {
        // SAFETY: `makes_machine_code` has found every feature that the function is compiled with.
        return unsafe { call_wide(f) };
    }
    f()
}

#[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
fn call_wide<R>(f: impl FnOnce() -> R) -> R {
    f()
}

/// The lowest bit of each byte.
#[inline(always)]
pub fn low_bits(bytes: [u8; 16]) -> u16 {
    use std::arch::x86_64::{_mm_movemask_epi8, _mm_set_epi64x, _mm_slli_epi16};
    let pair = u128::from_le_bytes(bytes);
    // SAFETY: these need SSE2, which every x86-64 has.
    let mask = unsafe {
        let vector = _mm_set_epi64x((pair >> 64) as i64, pair as i64);
        // The mask takes the highest bit of each byte.
        _mm_movemask_epi8(_mm_slli_epi16::<7>(vector))
    };
    mask as u16
}

/// Starts loading an element into the cache; nothing happens if there is no such element.
///
/// Measured: random games of hex are 1.07 times as fast with it (mean of eight windows each, in alternation).
#[inline(always)]
pub fn fetch<T>(from: &[T], at: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: the instruction is part of every x86-64 and reads nothing: any address will do.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(from.as_ptr().wrapping_add(at).cast()) }
}
