//! Random models that compute parameters from shapes: built with dimensions that are not known, and
//! given them afterwards, they have the shapes that they have when built with known ones.

use std::collections::BTreeMap;

use armnn_backend_api::{
    BinaryOperation as Binary, CastDescriptor, ComparisonDescriptor, ComparisonOperation,
    ConcatDescriptor, DataType, ElementwiseBinaryDescriptor, ElementwiseUnaryDescriptor,
    GatherDescriptor, LayerDescriptor, PaddingMode, ReduceDescriptor, ReduceOperation,
    SelectDescriptor, Shape, StridedSliceDescriptor, TensorInfo, TopKDescriptor, UnaryOperation,
};
use armnn_network::{
    Network, NetworkBuilder, Operation, OutputDeclaration, PadLayout, ParameterRule as Rule,
    ReduceOptions, SplitOptions, StridedSliceOptions, TensorId, infer,
};

const I64: DataType = DataType::Signed64;
const F32: DataType = DataType::Float32;

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D);
        (number >> 33) as usize % bound
    }

    fn small(&mut self) -> i64 {
        const NUMBERS: [i64; 10] = [-2, -1, -1, 0, 1, 1, 2, 2, 3, 4];
        NUMBERS[self.below(NUMBERS.len())]
    }
}

/// A layer or two, of tensors by their numbers modulo how many there are.
#[derive(Clone, Debug)]
enum Step {
    ShapeOf(usize),
    Constant(Vec<i64>),
    Part(usize, i64, i64),
    Join(usize, usize),
    Pair(Binary, usize, usize),
    All(ReduceOperation, usize),
    HalfAsReal(usize),
    Chosen(usize, usize),
    Turned(usize),
    Extended(usize, usize),
    Layer(Rule, usize, Vec<usize>),
    Fill(usize),
}

fn random_step(random: &mut Random) -> Step {
    let any = |random: &mut Random| random.below(1 << 20);
    match random.below(21) {
        0 | 1 => Step::ShapeOf(any(random)),
        2 => {
            let len = 1 + random.below(3);
            Step::Constant((0..len).map(|_| random.small()).collect())
        }
        3 => Step::Part(any(random), random.small().max(0), random.small().max(1)),
        4 | 5 => Step::Join(any(random), any(random)),
        6 | 7 => {
            const OPERATIONS: [Binary; 8] = [
                Binary::Add,
                Binary::Sub,
                Binary::Mul,
                Binary::Div,
                Binary::FloorDiv,
                Binary::FloorMod,
                Binary::Maximum,
                Binary::Minimum,
            ];
            let operation = OPERATIONS[random.below(OPERATIONS.len())];
            Step::Pair(operation, any(random), any(random))
        }
        8 => {
            const OPERATIONS: [ReduceOperation; 4] = [
                ReduceOperation::Sum,
                ReduceOperation::Prod,
                ReduceOperation::Max,
                ReduceOperation::Min,
            ];
            Step::All(OPERATIONS[random.below(OPERATIONS.len())], any(random))
        }
        9 => Step::HalfAsReal(any(random)),
        10 => Step::Chosen(any(random), any(random)),
        11 => Step::Turned(any(random)),
        12 => Step::Fill(any(random)),
        13 => Step::Extended(any(random), any(random)),
        _ => {
            let parameters = (0..4).map(|_| any(random)).collect();
            Step::Layer(random_rule(random), any(random), parameters)
        }
    }
}

fn random_rule(random: &mut Random) -> Rule {
    match random.below(14) {
        0 | 1 => Rule::Reshape {
            allow_zero: random.below(2) == 0,
        },
        2 => Rule::Squeeze,
        3 => Rule::Unsqueeze,
        4 => Rule::BroadcastTo {
            bidirectional: random.below(2) == 0,
        },
        5 => Rule::Tile,
        6 => Rule::Slice,
        7 => Rule::BeginSize,
        8 => Rule::StridedSlice(StridedSliceOptions {
            begin_mask: random.below(4) as u32,
            end_mask: random.below(4) as u32,
            ellipsis_mask: random.below(3) as u32,
            shrink_axis_mask: random.below(2) as u32,
            ..StridedSliceOptions::default()
        }),
        9 => Rule::Pad {
            mode: PaddingMode::Constant,
            value: 0.0,
            layout: PadLayout::Sides,
            negative_as_none: random.below(2) == 0,
        },
        10 => Rule::Reduce {
            operation: ReduceOperation::Mean,
            options: ReduceOptions {
                keep_dims: random.below(2) == 0,
                none_without_axes: false,
                may_repeat: false,
            },
        },
        11 => Rule::TopK(TopKDescriptor::new(0, true)),
        12 => Rule::Split(SplitOptions {
            axis: Some(0),
            parts: 2,
            may_remain: true,
            smaller_last: true,
        }),
        _ => Rule::Transpose,
    }
}

/// A network that grows by steps, with the tensors that steps choose among.
struct Model {
    builder: NetworkBuilder,
    /// Float32.
    data: Vec<TensorId>,
    /// Lists of Signed64, with their lengths.
    lists: Vec<(TensorId, usize)>,
}

impl Model {
    fn new(dims: &[i64]) -> Self {
        let mut builder = NetworkBuilder::new();
        let info = TensorInfo::new(F32, Shape::new(dims).unwrap());
        let x = builder.add_input_layer("x", info).unwrap();
        let mut model = Self {
            builder,
            data: vec![x],
            lists: Vec::new(),
        };
        model.add(&Step::ShapeOf(0)).unwrap();
        model
    }

    fn finish(mut self) -> Network {
        for &id in self.data.iter().chain(self.lists.iter().map(|(id, _)| id)) {
            self.builder.add_output_layer("", id).unwrap();
        }
        self.builder.finish().unwrap()
    }

    fn rank(&self, id: TensorId) -> usize {
        self.builder.tensor(id).unwrap().info.shape.rank()
    }

    fn list(&self, number: usize) -> (TensorId, usize) {
        self.lists[number % self.lists.len()]
    }

    fn layer(
        &mut self,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[TensorId],
        outputs: &[OutputDeclaration],
    ) -> Option<TensorId> {
        let inputs: Vec<Option<TensorId>> = inputs.iter().copied().map(Some).collect();
        let outputs = self.builder.add_layer("", descriptor, &inputs, outputs);
        Some(outputs.ok()?[0])
    }

    fn constant(&mut self, values: &[i64]) -> TensorId {
        let info = TensorInfo::new(I64, [values.len() as i64]);
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.builder
            .add_constant_layer("", info, bytes.into())
            .unwrap()
    }

    /// Whether the step could be taken; if not, nothing but perhaps some unused layers has changed.
    fn add(&mut self, step: &Step) -> Option<()> {
        let (id, len) = match step {
            Step::ShapeOf(number) => {
                let of = self.data[number % self.data.len()];
                let rank = self.rank(of);
                let id = self.builder.add_shape_layer(of, 0, rank, I64, "").ok()?;
                (id, rank)
            }
            Step::Constant(values) => (self.constant(values), values.len()),
            &Step::Part(number, begin, len) => {
                let (id, of) = self.list(number);
                let end = (begin + len).min(of as i64);
                let len = usize::try_from(end - begin).ok()?;
                let d = StridedSliceDescriptor::new(&[begin], &[end], &[1])?;
                (self.layer(d, &[id], &[])?, len)
            }
            &Step::Join(x, y) => {
                let ((x, x_len), (y, y_len)) = (self.list(x), self.list(y));
                if x_len + y_len > 8 {
                    return None;
                }
                let d = ConcatDescriptor { axis: 0 };
                (self.layer(d, &[x, y], &[])?, x_len + y_len)
            }
            &Step::Pair(operation, x, y) => {
                let ((x, x_len), (y, y_len)) = (self.list(x), self.list(y));
                let d = ElementwiseBinaryDescriptor::new(operation);
                (
                    self.layer(d, &[x, y], &[])?,
                    if x_len == 1 { y_len } else { x_len },
                )
            }
            &Step::All(operation, number) => {
                let (id, _) = self.list(number);
                let d = ReduceDescriptor::new(operation, &[0], true)?;
                (self.layer(d, &[id], &[])?, 1)
            }
            &Step::HalfAsReal(number) => {
                let (id, len) = self.list(number);
                let info = TensorInfo::new(F32, [1]);
                let half = 0.5f32.to_le_bytes().to_vec().into();
                let half = self.builder.add_constant_layer("", info, half).ok()?;
                let cast = |to| [OutputDeclaration::of_type(to)];
                let real = self.layer(CastDescriptor::new(), &[id], &cast(F32))?;
                let d = ElementwiseBinaryDescriptor::new(Binary::Mul);
                let real = self.layer(d, &[real, half], &[])?;
                let d = ElementwiseUnaryDescriptor::new(UnaryOperation::Ceil);
                let real = self.layer(d, &[real], &[])?;
                (self.layer(CastDescriptor::new(), &[real], &cast(I64))?, len)
            }
            &Step::Chosen(x, y) => {
                let ((x, x_len), (y, y_len)) = (self.list(x), self.list(y));
                let d = ComparisonDescriptor::new(ComparisonOperation::Greater);
                let condition = self.layer(d, &[x, y], &[])?;
                let id = self.layer(SelectDescriptor::new(), &[condition, x, y], &[])?;
                (id, if x_len == 1 { y_len } else { x_len })
            }
            &Step::Turned(number) => {
                let (id, len) = self.list(number);
                let order: Vec<i64> = (0..len as i64).rev().collect();
                let order = self.constant(&order);
                (
                    self.layer(GatherDescriptor { axis: 0 }, &[id, order], &[])?,
                    len,
                )
            }
            &Step::Extended(number, value) => {
                // A deferred layer whose output parameters depend on.
                let ((id, len), (value, 1)) = (self.list(number), self.list(value)) else {
                    return None;
                };
                let pads = self.constant(&[0, 1]);
                let rule = Rule::Pad {
                    mode: PaddingMode::Constant,
                    value: 0.0,
                    layout: PadLayout::Sides,
                    negative_as_none: false,
                };
                let parameters = [Some(pads), Some(value)];
                let added =
                    self.builder
                        .add_deferred_layer("", rule, &[Some(id)], &parameters, &[]);
                (added.ok()?[0], len + 1)
            }
            &Step::Fill(number) => {
                let (dims, _) = self.list(number);
                let info = TensorInfo::new(F32, [1]);
                let value = vec![0; 4].into();
                let value = self.builder.add_constant_layer("", info, value).ok()?;
                return self.deferred(Rule::Fill, value, &[Some(dims)]);
            }
            Step::Layer(rule, data, parameters) => {
                let data = self.data[data % self.data.len()];
                let lists: Vec<_> = parameters.iter().map(|&n| self.list(n).0).collect();
                let mut lists: Vec<_> = lists.into_iter().map(Some).collect();
                match rule {
                    // The axes are fixed, or absent.
                    Rule::Slice => lists.truncate(2 + 2 * (parameters[2] % 2)),
                    Rule::StridedSlice(_) => lists.truncate(3),
                    Rule::BeginSize => lists.truncate(2),
                    _ => lists.truncate(1),
                }
                return self.deferred(rule.clone(), data, &lists);
            }
        };
        self.lists.push((id, len));
        Some(())
    }

    fn deferred(
        &mut self,
        rule: Rule,
        data: TensorId,
        parameters: &[Option<TensorId>],
    ) -> Option<()> {
        let outputs = self
            .builder
            .add_deferred_layer("", rule, &[Some(data)], parameters, &[]);
        // The indices of a TopK are no data.
        self.data.push(outputs.ok()?[0]);
        Some(())
    }
}

/// The dimensions as long as they are known.
fn hidden(dims: &[i64], random: &mut Random) -> Vec<i64> {
    let hide = |&dim: &i64| if random.below(3) > 0 { -1 } else { dim };
    dims.iter().map(hide).collect()
}

#[test]
fn shapes_are_the_same_whenever_the_dimensions_become_known() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut deferred: BTreeMap<String, usize> = BTreeMap::new();
    for round in 0..1500 {
        let rank = 1 + random.below(4);
        let dims: Vec<i64> = (0..rank).map(|_| 1 + random.below(6) as i64).collect();
        let open_dims = hidden(&dims, &mut random);
        let mut known = Model::new(&dims);
        let mut open = Model::new(&open_dims);
        for _ in 0..25 {
            let step = random_step(&mut random);
            // A step that makes no sense is none.
            let mut tried = Model {
                builder: NetworkBuilder::new(),
                data: known.data.clone(),
                lists: known.lists.clone(),
            };
            std::mem::swap(&mut tried.builder, &mut known.builder);
            let mut taken = tried.add(&step).is_some();
            std::mem::swap(&mut tried.builder, &mut known.builder);
            // Nor is one whose integers would wrap around, or be divided by 0.
            if let Some(&(last, _)) = tried.lists.last() {
                let value = known.builder.known_value(last);
                taken &= value.is_some_and(|value| value.is_complete());
            }
            if taken {
                (known.data, known.lists) = (tried.data, tried.lists);
                let message = format!("round {round}: {dims:?} as {open_dims:?}, {step:?}");
                assert!(open.add(&step).is_some(), "{message}");
            }
        }
        let (known, open) = (known.finish(), open.finish());
        let inference = match infer(&open, &[Shape::new(&dims).unwrap()], &[]) {
            Ok(inference) => inference,
            Err(problem) => panic!("round {round}: {dims:?} as {open_dims:?}: {problem}"),
        };
        let expected = known
            .outputs()
            .iter()
            .map(|o| known.tensor(o.tensor).info.shape);
        let found = open
            .outputs()
            .iter()
            .map(|o| inference.shapes[o.tensor.index()]);
        for (number, (expected, found)) in expected.zip(found).enumerate() {
            assert_eq!(
                expected, found,
                "round {round}: output {number} of {dims:?}"
            );
        }
        for layer in open.layers() {
            if let Operation::Deferred(of) = &layer.operation {
                let rule = format!("{:?}", of.rule);
                let name = rule.split([' ', '(']).next().unwrap_or_default();
                *deferred.entry(name.to_owned()).or_default() += 1;
            }
        }
        // With known dimensions nothing waits for them.
        let mut operations = known.layers().iter().map(|layer| &layer.operation);
        assert!(!operations.any(|operation| matches!(operation, Operation::Deferred(_))));
    }
    // The test means something only if all kinds were deferred.
    assert_eq!(deferred.len(), 14, "{deferred:?}");
}
