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

/// The lowest bit of each byte.
#[cfg(target_arch = "x86_64")]
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

/// The lowest bit of each byte.
#[cfg(not(target_arch = "x86_64"))]
pub fn low_bits(bytes: [u8; 16]) -> u16 {
    bytes.iter().rev().fold(0, |bits, byte| bits << 1 | u16::from(byte & 1))
}
