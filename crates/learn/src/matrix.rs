//! The three matrix products of a layer. This is the only module with `unsafe`: the kernels take pointers.

#![allow(unsafe_code)]

use matrixmultiply::sgemm;

/// `c` (m by n) becomes `a` (m by k) times `b` (k by n), added to what was there if `add`.
pub(crate) fn multiply(m: usize, k: usize, n: usize, a: &[f32], b: &[f32], c: &mut [f32], add: bool) {
    match m {
        1 => multiply_row(n, a, b, c, add),
        _ => product((m, k, n), (a, k, 1), (b, n, 1), c, add),
    }
}

/// The same for a single row: rearranging `b` for the kernels would cost more than the product. Bits of states and
/// rectified layers are mostly 0.
fn multiply_row(n: usize, a: &[f32], b: &[f32], c: &mut [f32], add: bool) {
    let c = &mut c[..n];
    if !add {
        c.fill(0.0);
    }
    for (&x, row) in a.iter().zip(b.chunks_exact(n)).filter(|(x, _)| **x != 0.0) {
        c.iter_mut().zip(row).for_each(|(c, b)| *c += x * b);
    }
}

/// `c` (k by n) gains the transpose of `a` (m by k) times `b` (m by n): gradients of weights.
pub(crate) fn multiply_left_transposed(m: usize, k: usize, n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    product((k, m, n), (a, 1, k), (b, n, 1), c, true);
}

/// `c` (m by k) becomes `a` (m by n) times the transpose of `b` (k by n), added if `add`: gradients of inputs.
pub(crate) fn multiply_right_transposed(m: usize, n: usize, k: usize, a: &[f32], b: &[f32], c: &mut [f32], add: bool) {
    product((m, n, k), (a, n, 1), (b, 1, n), c, add);
}

/// A matrix as its numbers and the distances between its rows and its columns.
type Strided<'a> = (&'a [f32], usize, usize);

fn product((m, k, n): (usize, usize, usize), a: Strided<'_>, b: Strided<'_>, c: &mut [f32], add: bool) {
    assert!(
        a.0.len() >= m * k && b.0.len() >= k * n && c.len() >= m * n,
        "matrices are as large as they say"
    );
    let beta = if add { 1.0 } else { 0.0 };
    // SAFETY: the strides describe dense matrices of the sizes asserted above, and `c` is not shared.
    unsafe {
        sgemm(
            m,
            k,
            n,
            1.0,
            a.0.as_ptr(),
            a.1 as isize,
            a.2 as isize,
            b.0.as_ptr(),
            b.1 as isize,
            b.2 as isize,
            beta,
            c.as_mut_ptr(),
            n as isize,
            1,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, a number at a time.
    fn slow(
        m: usize,
        k: usize,
        n: usize,
        a: impl Fn(usize, usize) -> f32,
        b: impl Fn(usize, usize) -> f32,
    ) -> Vec<f32> {
        let entry = |at: usize| (0..k).map(|x| a(at / n, x) * b(x, at % n)).sum();
        (0..m * n).map(entry).collect()
    }

    #[test]
    fn products_are_products() {
        let (m, k, n) = (3, 5, 4);
        let numbers = |len: usize, from: f32| -> Vec<f32> { (0..len).map(|x| from + (x * x % 7) as f32).collect() };
        let (a, b) = (numbers(m * k, 1.0), numbers(k * n, -2.0));
        let mut c = vec![9.0; m * n];
        multiply(m, k, n, &a, &b, &mut c, false);
        assert_eq!(c, slow(m, k, n, |r, x| a[r * k + x], |x, col| b[x * n + col]));
        let mut row = vec![1.0; n];
        multiply(1, k, n, &a[..k], &b, &mut row, false);
        assert_eq!(row, &c[..n]);
        multiply(1, k, n, &a[..k], &b, &mut row, true);
        assert!(row.iter().zip(&c).all(|(twice, once)| *twice == 2.0 * once));
        let d = numbers(m * n, 0.5);
        let mut left = vec![0.0; k * n];
        multiply_left_transposed(m, k, n, &a, &d, &mut left);
        assert_eq!(left, slow(k, m, n, |r, x| a[x * k + r], |x, col| d[x * n + col]));
        let mut right = vec![0.0; m * k];
        multiply_right_transposed(m, n, k, &d, &b, &mut right, false);
        assert_eq!(right, slow(m, n, k, |r, x| d[r * n + x], |x, col| b[col * n + x]));
    }
}
