//! Vectors of 256 bits: one cell per register.

use super::emit::{Kind, Place, Target};
use crate::lanes::cell::Mask;
use iced_x86::{Code, IcedError, Instruction, MemoryOperand, Register};

/// AVX2 registers over a frame of [`Mask`] cells at `rdi`.
pub(super) struct Avx2;

impl Target for Avx2 {
    fn registers(&self) -> u8 {
        16
    }

    fn frame(&self) -> Result<(Vec<Instruction>, Vec<Instruction>), IcedError> {
        Ok((
            Vec::new(),
            vec![Instruction::with(Code::VEX_Vzeroupper), Instruction::with(Code::Retnq)],
        ))
    }

    fn load(&self, register: u8, cell: u32) -> Result<Instruction, IcedError> {
        Instruction::with2(Code::VEX_Vmovdqa_ymm_ymmm256, ymm(register), at(cell))
    }

    fn store(&self, cell: u32, register: u8) -> Result<Instruction, IcedError> {
        Instruction::with2(Code::VEX_Vmovdqa_ymmm256_ymm, at(cell), ymm(register))
    }

    fn reads_memory(&self, _kind: Kind, _cell: u32) -> bool {
        true
    }

    fn operation(&self, kind: Kind, to: u8, a: u8, b: Place) -> Result<[Option<Instruction>; 2], IcedError> {
        let code = match kind {
            Kind::And => Code::VEX_Vpand_ymm_ymm_ymmm256,
            Kind::AndNot => Code::VEX_Vpandn_ymm_ymm_ymmm256,
            Kind::Or => Code::VEX_Vpor_ymm_ymm_ymmm256,
            Kind::Xor => Code::VEX_Vpxor_ymm_ymm_ymmm256,
        };
        let instruction = match b {
            Place::Register(b) => Instruction::with3(code, ymm(to), ymm(a), ymm(b))?,
            Place::Cell(b) => Instruction::with3(code, ymm(to), ymm(a), at(b))?,
        };
        Ok([Some(instruction), None])
    }

    fn test(&self, a: u8) -> Result<Instruction, IcedError> {
        Instruction::with2(Code::VEX_Vptest_ymm_ymmm256, ymm(a), ymm(a))
    }
}

pub(super) fn ymm(register: u8) -> Register {
    Register::YMM0 + u32::from(register)
}

pub(super) fn at(cell: u32) -> MemoryOperand {
    MemoryOperand::with_base_displ(Register::RDI, i64::from(cell) * size_of::<Mask>() as i64)
}
