//! Code on general registers over a frame of bytes. A byte holds one signal in its lowest bit.
//!
//! Operations use whole registers; the bits above the lowest byte are garbage and never read. Scratch cells have four
//! bytes, so that a spilled register is restored exactly.

use super::emit::{Kind, Place, Target};
use iced_x86::{Code, IcedError, Instruction, MemoryOperand, Register};

/// General registers over bytes at `rdi`; cells from `scratch` on are four bytes each.
pub(super) struct Bytes {
    pub scratch: u32,
    /// Whether to use only registers that need not be saved. They are enough for short code, which then has no
    /// prologue.
    pub short: bool,
}

/// 32-bit and 8-bit names of the registers in use, callee-saved ones last; `rsp` and `rdi` are taken.
const NAMES: [(Register, Register); 14] = [
    (Register::EAX, Register::AL),
    (Register::ECX, Register::CL),
    (Register::EDX, Register::DL),
    (Register::ESI, Register::SIL),
    (Register::R8D, Register::R8L),
    (Register::R9D, Register::R9L),
    (Register::R10D, Register::R10L),
    (Register::R11D, Register::R11L),
    (Register::EBX, Register::BL),
    (Register::EBP, Register::BPL),
    (Register::R12D, Register::R12L),
    (Register::R13D, Register::R13L),
    (Register::R14D, Register::R14L),
    (Register::R15D, Register::R15L),
];

/// Callee-saved registers.
const SAVED: [Register; 6] = [
    Register::RBX,
    Register::RBP,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];

impl Bytes {
    fn at(&self, cell: u32) -> MemoryOperand {
        let offset = if cell < self.scratch {
            cell
        } else {
            self.scratch + (cell - self.scratch) * 4
        };
        MemoryOperand::with_base_displ(Register::RDI, i64::from(offset))
    }

    fn is_scratch(&self, cell: u32) -> bool {
        cell >= self.scratch
    }
}

fn wide(register: u8) -> Register {
    NAMES[register as usize].0
}

fn low(register: u8) -> Register {
    NAMES[register as usize].1
}

impl Target for Bytes {
    fn registers(&self) -> u8 {
        let n = if self.short {
            NAMES.len() - SAVED.len()
        } else {
            NAMES.len()
        };
        n as u8
    }

    fn frame(&self) -> Result<(Vec<Instruction>, Vec<Instruction>), IcedError> {
        let push = |&r: &Register| Instruction::with1(Code::Push_r64, r);
        let pop = |&r: &Register| Instruction::with1(Code::Pop_r64, r);
        let saved = if self.short { &[] } else { &SAVED[..] };
        let before: Vec<Instruction> = saved.iter().map(push).collect::<Result<_, _>>()?;
        let mut after: Vec<Instruction> = saved.iter().rev().map(pop).collect::<Result<_, _>>()?;
        after.push(Instruction::with(Code::Retnq));
        Ok((before, after))
    }

    fn load(&self, register: u8, cell: u32) -> Result<Instruction, IcedError> {
        let code = if self.is_scratch(cell) {
            Code::Mov_r32_rm32
        } else {
            Code::Movzx_r32_rm8
        };
        Instruction::with2(code, wide(register), self.at(cell))
    }

    fn store(&self, cell: u32, register: u8) -> Result<Instruction, IcedError> {
        if self.is_scratch(cell) {
            return Instruction::with2(Code::Mov_rm32_r32, self.at(cell), wide(register));
        }
        Instruction::with2(Code::Mov_rm8_r8, self.at(cell), low(register))
    }

    fn reads_memory(&self, kind: Kind, cell: u32) -> bool {
        kind != Kind::AndNot || self.is_scratch(cell)
    }

    fn operation(&self, kind: Kind, to: u8, a: u8, b: Place) -> Result<[Option<Instruction>; 2], IcedError> {
        let (wide_code, low_code) = match kind {
            Kind::And => (Code::And_r32_rm32, Code::And_r8_rm8),
            Kind::Or => (Code::Or_r32_rm32, Code::Or_r8_rm8),
            Kind::Xor => (Code::Xor_r32_rm32, Code::Xor_r8_rm8),
            Kind::AndNot => {
                let code = Code::VEX_Andn_r32_r32_rm32;
                let instruction = match b {
                    Place::Register(b) => Instruction::with3(code, wide(to), wide(a), wide(b))?,
                    Place::Cell(b) => Instruction::with3(code, wide(to), wide(a), self.at(b))?,
                };
                return Ok([Some(instruction), None]);
            }
        };
        let copy = |from: u8| -> Result<Option<Instruction>, IcedError> {
            if from == to {
                return Ok(None);
            }
            Instruction::with2(Code::Mov_r32_rm32, wide(to), wide(from)).map(Some)
        };
        match b {
            // The result goes where the second operand was.
            Place::Register(b) if b == to => Ok([Some(Instruction::with2(wide_code, wide(to), wide(a))?), None]),
            Place::Register(b) => Ok([copy(a)?, Some(Instruction::with2(wide_code, wide(to), wide(b))?)]),
            Place::Cell(b) if self.is_scratch(b) => {
                Ok([copy(a)?, Some(Instruction::with2(wide_code, wide(to), self.at(b))?)])
            }
            Place::Cell(b) => Ok([copy(a)?, Some(Instruction::with2(low_code, low(to), self.at(b))?)]),
        }
    }

    fn test(&self, a: u8) -> Result<Instruction, IcedError> {
        Instruction::with2(Code::Test_rm8_r8, low(a), low(a))
    }
}
