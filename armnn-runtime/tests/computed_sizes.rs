//! Layers that find the sizes of their outputs out when they are executed.

use armnn_backend_api::NonZeroDescriptor;
use armnn_network::{Network, NetworkBuilder, TensorId};
use armnn_runtime::{
    CreationOptions, DataType, HostTensor, LoadOptions, LoadedNetwork, OptimizerOptions, Runtime,
    Shape, StaticBackend, TensorInfo,
};
use cpu_ref::CpuRef;
use finder::Finder;

/// A backend of NonZero for one dimension of Float32. Names of layers make it ask for memory in odd
/// ways.
mod finder {
    use armnn_backend_api::{
        BackendError, ExecutionContext, HostMemory, IBackendInternal, Inputs, LayerType, LayerView,
        ModelContext, ModelHost, Options, Outputs, Result, Shape, Synchronous, Workload,
    };

    pub struct Finder;

    impl IBackendInternal for Finder {
        const ID: &'static str = "Finder";

        type ModelContext = Finder;

        fn create() -> Result<Self> {
            Ok(Self)
        }

        fn is_layer_supported(&self, layer: LayerView<'_>) -> Result<()> {
            match layer.layer_type() {
                LayerType::NonZero => Ok(()),
                _ => Err(BackendError::unsupported("only NonZero")),
            }
        }

        fn create_model_context(&self, _: Options<'_>, _: ModelHost) -> Result<Finder> {
            Ok(Finder)
        }
    }

    impl ModelContext for Finder {
        type Execution = Synchronous;
        type TensorHandle = HostMemory;

        fn create_workload(&mut self, layer: LayerView<'_>) -> Result<Box<dyn Workload>> {
            Ok(Box::new(Find(layer.name().to_owned())))
        }
    }

    struct Find(String);

    impl Workload for Find {
        fn execute(
            &self,
            context: &mut ExecutionContext<'_, Synchronous>,
            inputs: Inputs<'_>,
            outputs: &mut Outputs<'_>,
        ) -> Result<()> {
            let x: &[f32] = inputs.elements(0)?;
            let found: Vec<i64> = (0i64..)
                .zip(x)
                .filter(|(_, x)| **x != 0.0)
                .map(|(index, _)| index)
                .collect();
            let shape = Shape::from([1, found.len() as i64]);
            // What the host answers to an odd request is not looked at.
            match self.0.as_str() {
                "never asks" => return Ok(()),
                "asks for another output" => drop(context.allocate_output(1, &shape)),
                "asks for another rank" => drop(context.allocate_output(0, &Shape::from([7]))),
                "asks for too much" => {
                    drop(context.allocate_output(0, &Shape::from([1, i64::MAX / 16])));
                }
                _ => context.allocate_output(0, &shape)?,
            }
            match self.0.as_str() {
                "asks twice" => drop(context.allocate_output(0, &shape)),
                "fails" => return Err(BackendError::new("it fails behind that")),
                _ => {}
            }
            if outputs.shape(0) == shape {
                outputs.elements_mut(0)?.copy_from_slice(&found);
            }
            Ok(())
        }
    }
}

fn load(network: Network) -> LoadedNetwork {
    let options = CreationOptions::new()
        .static_backend(StaticBackend::new::<Finder>())
        .static_backend(StaticBackend::new::<CpuRef>());
    let runtime = Runtime::create(options).unwrap();
    let options = OptimizerOptions::with_preferred_backends(["Finder", "CpuRef"]).unwrap();
    let optimized = runtime.optimize(network, &options).unwrap();
    let options = LoadOptions {
        memory_limit: Some(1 << 30),
        ..LoadOptions::default()
    };
    runtime.load_network(optimized, options).unwrap()
}

fn x(builder: &mut NetworkBuilder, dims: [i64; 1]) -> TensorId {
    let info = TensorInfo::new(DataType::Float32, dims);
    builder.add_input_layer("x", info).unwrap()
}

fn add_non_zero(builder: &mut NetworkBuilder, x: TensorId, name: &str) -> TensorId {
    let descriptor = NonZeroDescriptor::new();
    builder
        .add_layer(name, descriptor, &[Some(x)], &[])
        .unwrap()[0]
}

/// NonZero(x), and nothing else.
fn single(name: &str) -> LoadedNetwork {
    let mut builder = NetworkBuilder::new();
    let x = x(&mut builder, [4]);
    let y = add_non_zero(&mut builder, x, name);
    builder.add_output_layer("y", y).unwrap();
    load(builder.finish().unwrap())
}

fn tensor(values: &[f32]) -> HostTensor {
    HostTensor::from_f32([values.len() as i64], values).unwrap()
}

fn dims(tensor: &HostTensor) -> &[i64] {
    tensor.info().shape.dims()
}

#[test]
fn an_output_is_as_large_as_it_turns_out_to_be() {
    let loaded = single("find");
    for (x, expected) in [
        ([0.0, 5.0, 0.0, 6.0], &[1, 3][..]),
        ([0.0; 4], &[]),
        ([1.0; 4], &[0, 1, 2, 3]),
    ] {
        let outputs = loaded.run(&[tensor(&x)]).unwrap();
        assert_eq!(dims(&outputs[0]), [1, expected.len() as i64]);
        assert_eq!(outputs[0].elements::<i64>().unwrap(), expected);
    }
}

#[test]
fn memory_of_the_caller_must_be_as_large_as_the_output_turns_out_to_be() {
    let loaded = single("find");
    let mut state = loaded.create_execution_state().unwrap();
    let two = tensor(&[0.0, 5.0, 0.0, 6.0]);
    let three = tensor(&[7.0, 5.0, 0.0, 6.0]);
    let mut large = [0u8; 3 * 8];
    // Three elements behind two, and two behind three.
    for (x, count) in [(&two, 2), (&three, 3), (&two, 2)] {
        for given in [2, 3] {
            let mut outputs = [&mut large[..given * 8]];
            let result = loaded.execute(&mut state, &[x.bytes()], &mut outputs);
            assert_eq!(
                result.is_ok(),
                given == count,
                "{given} for {count}: {result:?}"
            );
        }
    }
    let mut found = [0u8; 2 * 8];
    loaded
        .execute(&mut state, &[two.bytes()], &mut [&mut found])
        .unwrap();
    assert_eq!(
        found,
        [[1, 0, 0, 0, 0, 0, 0, 0], [3, 0, 0, 0, 0, 0, 0, 0]].concat()[..]
    );
}

#[test]
fn what_reads_the_output_is_planned_for_its_size() {
    let mut builder = NetworkBuilder::new();
    let x = x(&mut builder, [-1]);
    let first = add_non_zero(&mut builder, x, "find");
    let sum = builder.add_addition_layer(first, first, "sum").unwrap();
    let size = builder
        .add_shape_layer(sum, 1, 2, DataType::Signed64, "size")
        .unwrap();
    builder.add_output_layer("sum", sum).unwrap();
    builder.add_output_layer("size", size).unwrap();
    builder.add_output_layer("found", first).unwrap();
    let loaded = load(builder.finish().unwrap());
    let mut state = loaded
        .create_execution_state_for(&[Shape::from([3])])
        .unwrap();
    for (x, found, sum) in [
        ([0.0, 1.0, 1.0], &[1i64, 2][..], &[2i64, 4][..]),
        ([0.0; 3], &[], &[]),
        ([1.0; 3], &[0, 1, 2], &[0, 2, 4]),
    ] {
        state.set_input(0, tensor(&x).bytes()).unwrap();
        state.execute().unwrap();
        let output = |index| armnn_backend_api::cast_slice::<i64>(state.output(index)).unwrap();
        assert_eq!(output(0), sum);
        assert_eq!(output(1), [sum.len() as i64]);
        assert_eq!(output(2), found);
    }
}

#[test]
fn what_a_backend_asks_for_wrongly_is_an_error_and_the_state_works_on() {
    for (name, expected) in [
        ("never asks", "asked for memory for 0 of 1 outputs"),
        (
            "asks for another output",
            "for output 1, whose size is known",
        ),
        ("asks for another rank", "not known or not one of [1, ?]"),
        (
            "asks for too much",
            "larger than the memory limit of 1073741824 bytes",
        ),
        ("asks twice", "for output 0 twice"),
        ("fails", "it fails behind that"),
    ] {
        let loaded = single(name);
        let mut state = loaded.create_execution_state().unwrap();
        for _ in 0..2 {
            let error = state.execute().unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains(name), "{error}");
            assert_eq!(state.output(0), [0u8; 0]);
        }
    }
}
