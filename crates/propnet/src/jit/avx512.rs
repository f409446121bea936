//! Vectors of 256 bits on processors with AVX-512: twice the registers, and any function of three values at once.
//!
//! Instructions that need neither have the shorter encoding of AVX2.

use super::avx2::{Avx2, at, ymm};
use super::emit::{Kind, Place, Target};
use iced_x86::{Code, IcedError, Instruction};

/// AVX-512 registers, 256 bits of each, over a frame of [`Mask`](crate::lanes::cell::Mask) cells at `rdi`.
pub(super) struct Avx512;

/// Registers that AVX2 can name.
const LOW: u8 = 16;

fn is_low(place: Place) -> bool {
    match place {
        Place::Register(r) => r < LOW,
        Place::Cell(_) => true,
    }
}

impl Target for Avx512 {
    fn registers(&self) -> u8 {
        32
    }

    fn frame(&self) -> Result<(Vec<Instruction>, Vec<Instruction>), IcedError> {
        Avx2.frame()
    }

    fn load(&self, register: u8, cell: u32) -> Result<Instruction, IcedError> {
        if register < LOW {
            return Avx2.load(register, cell);
        }
        Instruction::with2(Code::EVEX_Vmovdqa32_ymm_k1z_ymmm256, ymm(register), at(cell))
    }

    fn store(&self, cell: u32, register: u8) -> Result<Instruction, IcedError> {
        if register < LOW {
            return Avx2.store(cell, register);
        }
        Instruction::with2(Code::EVEX_Vmovdqa32_ymmm256_k1z_ymm, at(cell), ymm(register))
    }

    fn reads_memory(&self, _kind: Kind, _cell: u32) -> bool {
        true
    }

    fn operation(&self, kind: Kind, to: u8, a: u8, b: Place) -> Result<[Option<Instruction>; 2], IcedError> {
        if to < LOW && a < LOW && is_low(b) {
            return Avx2.operation(kind, to, a, b);
        }
        let code = match kind {
            Kind::And => Code::EVEX_Vpandd_ymm_k1z_ymm_ymmm256b32,
            Kind::AndNot => Code::EVEX_Vpandnd_ymm_k1z_ymm_ymmm256b32,
            Kind::Or => Code::EVEX_Vpord_ymm_k1z_ymm_ymmm256b32,
            Kind::Xor => Code::EVEX_Vpxord_ymm_k1z_ymm_ymmm256b32,
        };
        let instruction = match b {
            Place::Register(b) => Instruction::with3(code, ymm(to), ymm(a), ymm(b))?,
            Place::Cell(b) => Instruction::with3(code, ymm(to), ymm(a), at(b))?,
        };
        Ok([Some(instruction), None])
    }

    fn test(&self, a: u8) -> Result<Instruction, IcedError> {
        debug_assert!(a < LOW, "loops test a low register");
        Avx2.test(a)
    }

    fn has_tables(&self) -> bool {
        true
    }

    fn table(&self, table: u8, to: u8, b: u8, c: Place) -> Result<Instruction, IcedError> {
        let code = Code::EVEX_Vpternlogd_ymm_k1z_ymm_ymmm256b32_imm8;
        match c {
            Place::Register(c) => Instruction::with4(code, ymm(to), ymm(b), ymm(c), u32::from(table)),
            Place::Cell(c) => Instruction::with4(code, ymm(to), ymm(b), at(c), u32::from(table)),
        }
    }

    fn copy(&self, to: u8, from: u8) -> Result<Instruction, IcedError> {
        let code = match to < LOW && from < LOW {
            true => Code::VEX_Vmovdqa_ymm_ymmm256,
            false => Code::EVEX_Vmovdqa32_ymm_k1z_ymmm256,
        };
        Instruction::with2(code, ymm(to), ymm(from))
    }
}
