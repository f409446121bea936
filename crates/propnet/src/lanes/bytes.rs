//! Rows of lanes as bytes and back: what arrays of learners hold.
//!
//! A cell has one bit per lane. Learners read bytes, one per lane, and give numbers, one per lane. Three ways lead from
//! one to the other:
//! - [`expand`] writes all bytes of a cell, eight at a time from a table;
//! - [`update`] writes them only if the cell differs from the one that was written last;
//! - [`planes`] and [`numbers`] go between numbers and bit planes: plane k has bit k of the number of every lane.
//!   Rows with one bit per number are made from planes by [`decode`], and planes from rows by [`encode`]. The work
//!   grows with the number of rows and the logarithm of the numbers, and not with lanes times rows.

use super::cell::{LANES, Mask};

/// Writes the bits of a cell as bytes 0 and 1, lane by lane, as far as `out` reaches.
pub fn expand(cell: &Mask, out: &mut [u8]) {
    for (&word, out) in cell.0.iter().zip(out.chunks_mut(64)) {
        // A whole word is written without looking at lengths.
        match <&mut [u8; 64]>::try_from(&mut *out) {
            Ok(out) => spread_word(word, out),
            Err(_) => {
                let mut bytes = [0; 64];
                spread_word(word, &mut bytes);
                out.copy_from_slice(&bytes[..out.len()]);
            }
        }
    }
}

fn spread_word(word: u64, out: &mut [u8; 64]) {
    for (&byte, out) in word.to_le_bytes().iter().zip(out.chunks_exact_mut(8)) {
        out.copy_from_slice(&SPREAD[usize::from(byte)].to_le_bytes());
    }
}

/// Brings bytes that hold `old` up to date: afterwards they hold `new`, and so does `old`. A row is written whole if it
/// has changed.
///
/// Tried: writing the changed lanes one by one where they are few. A row took 27 to 35 ns in place of 14, at densities
/// of 1/2 to 1/64, because the number of changes is different in every word.
pub fn update(old: &mut Mask, new: Mask, out: &mut [u8]) {
    if *old != new {
        *old = new;
        expand(&new, out);
    }
}

/// Bits of a number that bit planes have.
pub const PLANES: usize = 7;

/// Largest number of rows that bit planes can tell apart.
pub const MOST_ROWS: usize = 1 << PLANES;

/// Bit planes that tell so many rows apart.
fn planes_for(rows: usize) -> usize {
    (usize::BITS - rows.saturating_sub(1).leading_zeros()) as usize
}

/// Bit planes of bytes: of bits 0 to `n - 1` where `n` planes are wanted, and of bit 7 in the last place.
pub fn planes(bytes: &[u8; LANES], rows: usize) -> [Mask; PLANES + 1] {
    let mut planes = [Mask::ZERO; PLANES + 1];
    let wanted = planes_for(rows).min(PLANES);
    for (at, chunk) in bytes.chunks_exact(8).enumerate() {
        let eight = u64::from_le_bytes(chunk.try_into().expect("chunks have eight bytes"));
        let (word, shift) = (at / 8, at % 8 * 8);
        for (k, plane) in planes[..wanted].iter_mut().enumerate() {
            plane.0[word] |= gather(eight >> k) << shift;
        }
        planes[PLANES].0[word] |= gather(eight >> 7) << shift;
    }
    planes
}

/// The lowest bits of eight bytes, as one byte.
fn gather(eight: u64) -> u64 {
    (eight & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Rows from planes: row m has the lanes of `among` whose number is m. There are at most [`MOST_ROWS`] rows; lanes with
/// a number beyond the last row are in none.
pub fn decode(planes: &[Mask; PLANES + 1], among: Mask, rows: &mut [Mask]) {
    let wanted = planes_for(rows.len()).min(PLANES);
    let Some(first) = rows.first_mut() else {
        return;
    };
    *first = among;
    // After each plane, row j has the lanes whose highest bits are j.
    let mut known = 1;
    for plane in planes[..wanted].iter().rev() {
        for at in (0..known).rev() {
            let row = rows[at];
            if let Some(odd) = rows.get_mut(2 * at + 1) {
                *odd = row & *plane;
            }
            if let Some(even) = rows.get_mut(2 * at) {
                *even = row & !*plane;
            }
        }
        known = (2 * known).min(rows.len());
    }
}

/// Planes from rows of which every lane is in at most one; the number of a lane in no row is 0. There are at most
/// [`MOST_ROWS`] rows.
pub fn encode(rows: &[Mask]) -> [Mask; PLANES] {
    let mut planes = [Mask::ZERO; PLANES];
    for (m, &row) in rows.iter().enumerate() {
        for (k, plane) in planes.iter_mut().enumerate().take(planes_for(rows.len())) {
            if m >> k & 1 == 1 {
                *plane |= row;
            }
        }
    }
    planes
}

/// The number of every lane, from planes that tell so many rows apart.
pub fn numbers(planes: &[Mask; PLANES], rows: usize, out: &mut [i32]) {
    let wanted = planes_for(rows).min(PLANES);
    for (at, out) in out.chunks_mut(8).enumerate().take(LANES / 8) {
        let (word, shift) = (at / 8, at % 8 * 8);
        let mut eight = 0;
        for (k, plane) in planes[..wanted].iter().enumerate() {
            eight |= SPREAD[(plane.0[word] >> shift) as usize & 255] << k;
        }
        for (out, byte) in out.iter_mut().zip(eight.to_le_bytes()) {
            *out = i32::from(byte);
        }
    }
}

/// The bits of every byte as bytes.
static SPREAD: [u64; 256] = spread();

const fn spread() -> [u64; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte] |= ((byte as u64 >> bit) & 1) << (8 * bit);
            bit += 1;
        }
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use game::Seed;

    fn random_cell(rng: &mut game::Rng) -> Mask {
        super::super::cell::Cell(std::array::from_fn(|_| rng.bits()))
    }

    fn bytes_of(cell: &Mask, n: usize) -> Vec<u8> {
        (0..n).map(|lane| u8::from(cell.get(lane))).collect()
    }

    #[test]
    fn bits_become_bytes() {
        let cell = random_cell(&mut Seed(3).rng());
        for n in [0, 1, 7, 8, 63, 64, 65, 200, 256] {
            let mut out = vec![9; n];
            expand(&cell, &mut out);
            assert_eq!(out, bytes_of(&cell, n));
        }
    }

    #[test]
    fn updated_bytes_are_those_of_the_new_cell() {
        let mut rng = Seed(4).rng();
        for n in [1, 7, 64, 65, 200, 256] {
            let mut held = Mask::ZERO;
            let mut out = vec![0; n];
            for round in 0..200 {
                let mut new = random_cell(&mut rng);
                // Few, some and many changes.
                for _ in 0..round % 9 {
                    new &= random_cell(&mut rng);
                }
                let new = if round % 2 == 0 { held ^ new } else { new };
                update(&mut held, new, &mut out);
                assert_eq!(out, bytes_of(&new, n));
                assert_eq!(bytes_of(&held, n), bytes_of(&new, n));
            }
        }
    }

    #[test]
    fn rows_and_numbers_are_the_same() {
        let mut rng = Seed(5).rng();
        for n_rows in [1, 2, 3, 9, 10, 16, 17, 64, 100, 128] {
            let mut bytes = [0_u8; LANES];
            bytes.fill_with(|| match rng.below(5) {
                0 => 255,
                _ => rng.below(n_rows) as u8,
            });
            let planes = planes(&bytes, n_rows);
            let marked: Vec<u8> = bytes.iter().map(|&byte| byte >> 7).collect();
            assert_eq!(bytes_of(&planes[PLANES], LANES), marked);
            let mut rows = vec![Mask::ONE; n_rows];
            decode(&planes, !planes[PLANES], &mut rows);
            for (m, row) in rows.iter().enumerate() {
                let expected: Vec<u8> = bytes.iter().map(|&byte| u8::from(usize::from(byte) == m)).collect();
                assert_eq!(bytes_of(row, LANES), expected, "row {m} of {n_rows}");
            }
            let mut out = [7; LANES];
            numbers(&encode(&rows), n_rows, &mut out);
            let expected: Vec<i32> = bytes
                .iter()
                .map(|&byte| if byte == 255 { 0 } else { i32::from(byte) })
                .collect();
            assert_eq!(out.to_vec(), expected);
        }
    }
}
