//! Control flow and sequences. Loops count, so that all of them end.

use armnn_backend_api::{BinaryOperation, ComparisonDescriptor, ComparisonOperation};
use armnn_network::{
    LoopBody, RuntimeOperation, ScanAxis, ScanBody, SequenceOperation, TensorId, ValueType,
};
use armnn_runtime::{DataType, Shape, TensorInfo};

use super::body::Body;

fn scalar(data_type: DataType) -> TensorInfo {
    TensorInfo::new(data_type, Shape::SCALAR)
}

impl Body<'_> {
    pub(super) fn operation(&mut self) -> Option<Vec<TensorId>> {
        if self.depth > 1 {
            return None;
        }
        match self.random.below(5) {
            0 => self.if_layer(),
            1 => self.loop_layer(),
            2 => self.while_layer(),
            3 => self.scan(),
            _ => self.sequence(),
        }
    }

    fn scalar_constant(&mut self, data_type: DataType, value: i64) -> Option<TensorId> {
        let info = scalar(data_type);
        let len = info.byte_len()?;
        let bytes = value.to_le_bytes()[..len].to_vec();
        self.builder.add_constant_layer("", info, bytes.into()).ok()
    }

    /// A tensor that bodies get, and what it is to them: of unknown shape, at times.
    fn given(&mut self) -> Option<(TensorId, TensorInfo)> {
        let id = self.any()?;
        let tensor = self.builder.tensor(id)?;
        if tensor.value_type.is_some() {
            return None;
        }
        let mut info = tensor.info.clone();
        if self.random.below(4) == 0 {
            let unknown = vec![Shape::UNKNOWN; info.shape.rank()];
            info.shape = Shape::new(&unknown).ok()?;
        }
        Some((id, info))
    }

    /// Layers on what a body is given, and one of its tensors.
    fn grown(&mut self, given: &[TensorId]) -> Option<TensorId> {
        self.tensors.extend_from_slice(given);
        self.grow();
        self.any()
    }

    /// A tensor of this type and rank.
    fn like(&mut self, info: &TensorInfo) -> Option<TensorId> {
        let found = self.tensors.iter().rev().find(|&&id| {
            self.builder.tensor(id).is_some_and(|tensor| {
                tensor.value_type.is_none()
                    && tensor.info.data_type == info.data_type
                    && tensor.info.shape.rank() == info.shape.rank()
            })
        });
        found.copied()
    }

    fn if_layer(&mut self) -> Option<Vec<TensorId>> {
        let (x, info) = self.given()?;
        let mut condition = scalar(DataType::Boolean);
        condition.shape = self.random.pick(&[Shape::SCALAR, Shape::from([1])]);
        let condition = match self.tensor_like(&condition) {
            Some(found) => found,
            None if self.depth == 0 => self.input(condition)?,
            None => self.constant(condition)?,
        };
        let mut wanted = None;
        let then_body = self.inner(std::slice::from_ref(&info), |body, given| {
            let output = body.grown(given)?;
            wanted = body.info(output);
            Some(vec![output])
        })?;
        let wanted = wanted?;
        let else_body = self.inner(&[info], |body, given| {
            body.grown(given)?;
            let output = match body.like(&wanted) {
                Some(found) => found,
                None => body.constant(wanted)?,
            };
            Some(vec![output])
        })?;
        let operation = RuntimeOperation::If {
            then_body,
            else_body,
        };
        self.builder
            .add_runtime_layer("", operation, &[Some(condition), Some(x)])
            .ok()
    }

    fn loop_layer(&mut self) -> Option<Vec<TensorId>> {
        let (x, info) = self.given()?;
        let (captured, captured_info) = self.given()?;
        let count = self.random.below(4) as i64;
        let count = self.scalar_constant(DataType::Signed64, count)?;
        let inputs = [
            scalar(DataType::Signed64),
            scalar(DataType::Boolean),
            info.clone(),
            captured_info,
        ];
        let network = self.inner(&inputs, |body, given| {
            let scanned = body.grown(given)?;
            let carried = body.like(&info)?;
            let goes_on = body.like(&scalar(DataType::Boolean))?;
            Some(vec![goes_on, carried, scanned])
        })?;
        let operation = RuntimeOperation::Loop(LoopBody {
            network,
            n_carried: 1,
        });
        let inputs = [Some(count), None, Some(x), Some(captured)];
        self.builder.add_runtime_layer("", operation, &inputs).ok()
    }

    fn while_layer(&mut self) -> Option<Vec<TensorId>> {
        let (x, info) = self.given()?;
        let start = self.scalar_constant(DataType::Signed32, 0)?;
        let most = self.random.below(4) as i64;
        let inputs = [scalar(DataType::Signed32), info.clone()];
        let condition = self.inner(&inputs, |body, given| {
            let most = body.scalar_constant(DataType::Signed32, most)?;
            let less = ComparisonDescriptor::new(ComparisonOperation::Less);
            let less = body
                .builder
                .add_comparison_layer(less, *given.first()?, most, "");
            Some(vec![less.ok()?])
        })?;
        let network = self.inner(&inputs, |body, given| {
            let &[number, x] = given else { return None };
            let one = body.scalar_constant(DataType::Signed32, 1)?;
            let add = armnn_backend_api::ElementwiseBinaryDescriptor::new(BinaryOperation::Add);
            let next = body
                .builder
                .add_elementwise_binary_layer(add, number, one, "");
            body.grown(&[x])?;
            let carried = body.like(&info)?;
            Some(vec![next.ok()?, carried])
        })?;
        let operation = RuntimeOperation::While {
            condition,
            body: network,
            n_carried: 2,
        };
        self.builder
            .add_runtime_layer("", operation, &[Some(start), Some(x)])
            .ok()
    }

    fn axis(&mut self) -> ScanAxis {
        ScanAxis {
            axis: self.random.pick(&[0, 0, 0, -1, 1, i64::MIN, i64::MAX]),
            reverse: self.random.below(2) == 0,
        }
    }

    fn scan(&mut self) -> Option<Vec<TensorId>> {
        let (state, state_info) = self.given()?;
        let (x, info) = self.given()?;
        let (along, put_together) = (self.axis(), self.axis());
        let rank = info.shape.rank() as i64;
        let at = match along.axis {
            axis if axis < 0 => axis.checked_add(rank)?,
            axis => axis,
        };
        let mut dims = info.shape.dims().to_vec();
        let at = usize::try_from(at).ok().filter(|&at| at < dims.len());
        // One that there is not, is for the builder to refuse.
        if let Some(at) = at {
            dims.remove(at);
        }
        let element = TensorInfo {
            shape: Shape::new(&dims).ok()?,
            ..info
        };
        let network = self.inner(&[state_info.clone(), element], |body, given| {
            let output = body.grown(given)?;
            Some(vec![body.like(&state_info)?, output])
        })?;
        let operation = RuntimeOperation::Scan(ScanBody {
            network,
            n_states: 1,
            inputs: vec![along],
            outputs: vec![put_together],
        });
        self.builder
            .add_runtime_layer("", operation, &[Some(state), Some(x)])
            .ok()
    }

    fn sequence(&mut self) -> Option<Vec<TensorId>> {
        use SequenceOperation as S;
        let axis = self.random.pick(&[0, 0, 1, -1, 7, i64::MIN]);
        let operation = match self.random.below(12) {
            0 => S::Empty,
            1 | 2 => S::Construct,
            3 => S::At,
            4 => S::Insert,
            5 => S::Erase,
            6 => S::Length,
            7 => S::Split {
                axis,
                keep_dims: self.random.below(2) == 0,
            },
            8 => S::Concat {
                axis,
                new_axis: self.random.below(2) == 0,
            },
            9 => S::Optional,
            10 => S::HasElement,
            _ => S::GetElement,
        };
        let is_sequence = |body: &Self, id: TensorId| {
            matches!(body.builder.value_type(id), Some(ValueType::Sequence(_)))
        };
        let of_sequences = matches!(
            operation,
            S::At | S::Insert | S::Erase | S::Length | S::Concat { .. }
        );
        let first = match of_sequences {
            false => self.any(),
            true => {
                let mut all = self.tensors.iter().rev().copied();
                all.find(|&id| is_sequence(self, id))
            }
        };
        let position = self.random.i64();
        let position = match self.random.below(2) {
            0 => Some(self.scalar_constant(DataType::Signed64, position)?),
            _ => None,
        };
        let inputs = match operation {
            S::Empty => vec![],
            S::Construct => vec![first, self.any()],
            S::At => vec![first, Some(self.scalar_constant(DataType::Signed64, axis)?)],
            S::Insert => vec![first, self.any(), position],
            S::Erase => vec![first, position],
            S::Split { .. } => vec![first, position],
            _ => vec![first],
        };
        self.builder
            .add_runtime_layer("", RuntimeOperation::Sequence(operation), &inputs)
            .ok()
    }
}
