//! STABLEHLO_RNG_BIT_GENERATOR: bits of a counter and a key, which are an input, so that the same
//! state gives the same bits.
//!
//! The generators are Threefry-2x32 with 20 rounds and Philox-4x32 with 10, of J. Salmon et al.,
//! "Parallel Random Numbers: As Easy as 1, 2, 3", 2011. How the state becomes key and counter, and
//! words become numbers, is as in LiteRT (`kernels/rng_bit_generator.cc`): the first number of the
//! state is the key, the second the lower half of the counter, which moves on by one for each block
//! of 2 or 4 words, and stays in its 64 bits; the upper half, of Philox, is the third number, or
//! the key where there is none.

use armnn_backend_api::{
    BinaryOperation, BitCastDescriptor, ConcatDescriptor, DataType, ElementwiseBinaryDescriptor,
    Shape, StackDescriptor,
};
use armnn_network::{OutputDeclaration, TensorId};

use super::constants::charge;
use super::context::Context;
use super::problem::{Problem, Result};
use crate::schema_generated::{RngAlgorithm, StablehloRngBitGeneratorOptionsRef};

/// Input: the state. Outputs: the state after, and the bits.
pub(super) fn rng_bit_generator(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<StablehloRngBitGeneratorOptionsRef<'_>>()?;
    let is_threefry = options.algorithm()? == RngAlgorithm::Threefry;
    let state = context.input(0)?;
    let length = match *context.shape(state)?.dims() {
        [length @ 2] => length,
        [length @ 3] if !is_threefry => length,
        _ => {
            return Err(Problem::malformed(
                "its state is not of two numbers, or, of Philox, three",
            ));
        }
    };
    if context.info(state)?.data_type != DataType::UInt64 {
        return Err(Problem::malformed("its state is not of the type UINT64"));
    }
    let data_type = context.declaration(1)?.data_type;
    let is_wide = match data_type {
        Some(DataType::Signed32 | DataType::UInt32) => false,
        Some(DataType::Signed64 | DataType::UInt64) => true,
        _ => {
            return Err(Problem::unsupported(
                "random bits of another type than INT32, UINT32, INT64 and UINT64",
            ));
        }
    };
    let shape = match context.declared_shape(1)? {
        Some(shape) if shape.is_known() => shape,
        _ => return Err(Problem::unsupported("random bits of an unknown shape")),
    };
    // Each number is in the memory of the model; more than that the file must make up for.
    let count = shape.num_elements().and_then(|n| usize::try_from(n).ok());
    let count = count.filter(|&count| count <= isize::MAX as usize / 64);
    let count = count.ok_or_else(|| Problem::unsupported("numbers without end"))?;
    charge(&mut context.lowering.shared.constant_budget, 8 * count)?;
    let words = if is_wide { 2 * count } else { count };
    let blocks = words.div_ceil(if is_threefry { 2 } else { 4 });

    let mut numbers = Vec::with_capacity(3);
    for at in 0..length {
        numbers.push(context.rows(state, [at, at + 1])?);
    }
    let steps: Vec<i64> = (0..blocks as i64).collect();
    let steps = context.integer_list(DataType::Signed64, &steps)?;
    let steps = context.cast_step(steps, DataType::UInt64)?;
    let counters = context.pair(BinaryOperation::Add, numbers[1], steps)?;
    let key = context.halves(numbers[0])?;
    let low = context.halves(counters)?;
    let block = match is_threefry {
        true => context.threefry(key, low)?.to_vec(),
        false => {
            let high = context.halves(*numbers.get(2).unwrap_or(&numbers[0]))?;
            context
                .philox(key, [low[0], low[1], high[0], high[1]])?
                .to_vec()
        }
    };

    let moved = context.constant(DataType::UInt64, blocks as u64)?;
    numbers[1] = context.pair(BinaryOperation::Add, numbers[1], moved)?;
    let numbers: Vec<_> = numbers.into_iter().map(Some).collect();
    context.emit_output(0, ConcatDescriptor { axis: 0 }, &numbers)?;

    let of_numbers = match is_wide {
        false => block,
        true => block
            .chunks_exact(2)
            .map(|pair| context.whole([pair[0], pair[1]]))
            .collect::<Result<_>>()?,
    };
    let none = OutputDeclaration::default;
    let parts: Vec<_> = of_numbers.into_iter().map(Some).collect();
    let stacked = context.step(1, StackDescriptor { axis: 1 }, &parts, none())?;
    let list = context.merge_step(1, stacked, vec![vec![0, 1]])?;
    let list = context.rows(list, [0, count as i64])?;
    let bits = context.step(
        1,
        BitCastDescriptor::new(),
        &[Some(list)],
        OutputDeclaration {
            data_type,
            ..none()
        },
    )?;
    context.emit_reshape(1, bits, shape.dims())
}

/// How far the second word is rotated in each of eight rounds.
const ROTATIONS: [u32; 8] = [13, 15, 26, 6, 17, 29, 16, 24];
/// Takes the place of a third key.
const PARITY: u64 = 0x1bd1_1bda;

const MULTIPLIERS: [u64; 2] = [0xd251_1f53, 0xcd9e_8d57];
/// What the keys grow by from round to round.
const WEYL: [u64; 2] = [0x9e37_79b9, 0xbb67_ae85];

impl Context<'_, '_, '_> {
    fn pair(&mut self, operation: BinaryOperation, x: TensorId, y: TensorId) -> Result<TensorId> {
        let descriptor = ElementwiseBinaryDescriptor::new(operation);
        let none = OutputDeclaration::default();
        self.step(0, descriptor, &[Some(x), Some(y)], none)
    }

    fn constant(&mut self, data_type: DataType, value: u64) -> Result<TensorId> {
        // Two's complement.
        self.integer_constant(data_type, Shape::SCALAR, &[value as i64])
    }

    /// Of a number and a constant, both of 32 bits or both of 64.
    fn with(&mut self, operation: BinaryOperation, x: TensorId, value: u64) -> Result<TensorId> {
        let data_type = self.info(x)?.data_type;
        let value = self.constant(data_type, value)?;
        self.pair(operation, x, value)
    }

    /// The lower and the upper 32 bits.
    fn halves(&mut self, x: TensorId) -> Result<[TensorId; 2]> {
        let upper = self.with(BinaryOperation::ShiftRight, x, 32)?;
        Ok([
            self.cast_step(x, DataType::UInt32)?,
            self.cast_step(upper, DataType::UInt32)?,
        ])
    }

    /// 64 bits of the lower and the upper 32.
    fn whole(&mut self, [lower, upper]: [TensorId; 2]) -> Result<TensorId> {
        let lower = self.cast_step(lower, DataType::UInt64)?;
        let upper = self.cast_step(upper, DataType::UInt64)?;
        let upper = self.with(BinaryOperation::ShiftLeft, upper, 32)?;
        self.pair(BinaryOperation::BitwiseOr, lower, upper)
    }

    fn threefry(&mut self, key: [TensorId; 2], counter: [TensorId; 2]) -> Result<[TensorId; 2]> {
        use BinaryOperation as B;

        let both = self.pair(B::BitwiseXor, key[0], key[1])?;
        let keys = [key[0], key[1], self.with(B::BitwiseXor, both, PARITY)?];
        let mut x = self.pair(B::Add, counter[0], keys[0])?;
        let mut y = self.pair(B::Add, counter[1], keys[1])?;
        for group in 1..=5 {
            for round in 0..4 {
                x = self.pair(B::Add, x, y)?;
                let by = ROTATIONS[(4 * (group + 1) + round) % 8];
                let left = self.with(B::ShiftLeft, y, by.into())?;
                let right = self.with(B::ShiftRight, y, (32 - by).into())?;
                y = self.pair(B::BitwiseOr, left, right)?;
                y = self.pair(B::BitwiseXor, y, x)?;
            }
            x = self.pair(B::Add, x, keys[group % 3])?;
            y = self.pair(B::Add, y, keys[(group + 1) % 3])?;
            y = self.with(B::Add, y, group as u64)?;
        }
        Ok([x, y])
    }

    fn philox(&mut self, mut key: [TensorId; 2], counter: [TensorId; 4]) -> Result<[TensorId; 4]> {
        use BinaryOperation as B;

        let mut words = counter;
        for round in 0..10 {
            if round > 0 {
                for (key, step) in key.iter_mut().zip(WEYL) {
                    *key = self.with(B::Add, *key, step)?;
                }
            }
            let mut products = [[words[0]; 2]; 2];
            for (product, (word, factor)) in products
                .iter_mut()
                .zip([words[0], words[2]].into_iter().zip(MULTIPLIERS))
            {
                let wide = self.cast_step(word, DataType::UInt64)?;
                let wide = self.with(B::Mul, wide, factor)?;
                *product = self.halves(wide)?;
            }
            let [first, second] = products;
            let mixed = |context: &mut Self, upper, word, key| {
                let mixed = context.pair(B::BitwiseXor, upper, word)?;
                context.pair(B::BitwiseXor, mixed, key)
            };
            words = [
                mixed(self, second[1], words[1], key[0])?,
                second[0],
                mixed(self, first[1], words[3], key[1])?,
                first[0],
            ];
        }
        Ok(words)
    }
}

#[cfg(test)]
mod tests {
    use crate::schema_generated::{BuiltinOperator as Op, RngAlgorithm, TensorType};
    use crate::schema_writer_generated as write;
    use crate::test_model::{load, lower_second, typed};

    /// The state after, and the bits.
    fn generated(algorithm: RngAlgorithm, state: &[u64], bits: TensorType) -> (Vec<u64>, Vec<u8>) {
        let length = state.len() as i32;
        let options = write::StablehloRngBitGeneratorOptions { algorithm };
        let options = write::BuiltinOptions2::StablehloRngBitGeneratorOptions(Box::new(options));
        let network = lower_second(
            Op::StablehloRngBitGenerator,
            &[typed(TensorType::Uint64, &[length])],
            &[typed(TensorType::Uint64, &[length]), typed(bits, &[1, 3])],
            options,
        );
        let loaded = load(network.unwrap());
        let mut execution = loaded.create_execution_state().unwrap();
        let bytes: Vec<u8> = state
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect();
        execution.set_input(0, &bytes).unwrap();
        execution.execute().unwrap();
        let after = execution.output(0).chunks_exact(8);
        let after = after.map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()));
        (after.collect(), execution.output(1).to_vec())
    }

    /// The numbers of LiteRT 2.3.
    #[test]
    fn the_same_state_gives_the_same_bits() {
        let bytes = |words: &[u32]| -> Vec<u8> {
            words.iter().flat_map(|word| word.to_le_bytes()).collect()
        };
        let (after, bits) = generated(RngAlgorithm::Threefry, &[1, 2], TensorType::Uint32);
        assert_eq!(after, [1, 4]);
        assert_eq!(bits, bytes(&[43_444_564, 2_150_618_427, 3_979_645_651]));
        let (after, bits) = generated(RngAlgorithm::Philox, &[1, 2, 3], TensorType::Int32);
        assert_eq!(after, [1, 3, 3]);
        assert_eq!(bits, bytes(&[4_031_113_034, 1_366_700_262, 495_645_701]));
        let (after, bits) = generated(RngAlgorithm::Default, &[1, 2], TensorType::Uint64);
        let expected: [u64; 3] = [
            12_229_731_395_331_991_369,
            3_437_131_457_114_678_231,
            13_465_615_291_114_923_006,
        ];
        assert_eq!(after, [1, 4]);
        let expected: Vec<u8> = expected.iter().flat_map(|n| n.to_le_bytes()).collect();
        assert_eq!(bits, expected);
    }
}
