//! Recurrent layers.

use armnn_backend_api::{
    ActivationFunction, GruDescriptor, LayerDescriptor as D, LstmDescriptor, RecurrentDirection,
    RnnDescriptor, Shape, UnidirectionalSequenceLstmDescriptor,
};

use super::dimension::{merge_dim, shape_of};
use super::{Arguments, Result, bad_field, boolean, named};
use crate::error::LayerProblem;

pub(super) fn output_shapes(descriptor: &D, arguments: &Arguments<'_>) -> Result<Vec<Shape>> {
    match descriptor {
        D::Rnn(d) => rnn(d, arguments),
        D::Gru(d) => gru(d, arguments),
        D::Lstm(d) => lstm(d, arguments),
        D::UnidirectionalSequenceLstm(d) => unidirectional_sequence_lstm(d, arguments),
        _ => Err(LayerProblem::UnknownLayerType),
    }
}

fn rnn(d: &RnnDescriptor, arguments: &Arguments<'_>) -> Result<Vec<Shape>> {
    functions(&d.activations)?;
    let layer = Recurrent {
        direction: d.direction(),
        hidden_size: d.hidden_size,
        batch_first: d.batch_first,
        gates: 1,
        clip: d.clip,
    };
    layer.output_shapes(arguments, 1)
}

fn gru(d: &GruDescriptor, arguments: &Arguments<'_>) -> Result<Vec<Shape>> {
    functions(&d.activations)?;
    boolean("linear_before_reset", d.linear_before_reset)?;
    let layer = Recurrent {
        direction: d.direction(),
        hidden_size: d.hidden_size,
        batch_first: d.batch_first,
        gates: 3,
        clip: d.clip,
    };
    layer.output_shapes(arguments, 1)
}

fn lstm(d: &LstmDescriptor, arguments: &Arguments<'_>) -> Result<Vec<Shape>> {
    functions(&d.activations)?;
    boolean("input_forget", d.input_forget)?;
    let layer = Recurrent {
        direction: d.direction(),
        hidden_size: d.hidden_size,
        batch_first: d.batch_first,
        gates: 4,
        clip: d.clip,
    };
    let peepholes = [layer.directions(), 3 * i64::from(d.hidden_size)];
    expect(arguments, 7, &peepholes)?;
    layer.output_shapes(arguments, 2)
}

fn functions(functions: &[u32]) -> Result<()> {
    for &function in functions {
        named("activations", function, ActivationFunction(function).name())?;
    }
    Ok(())
}

/// Checks the shape of an input, if it is there.
fn expect(arguments: &Arguments<'_>, index: usize, dims: &[i64]) -> Result<()> {
    if arguments.optional(index).is_none() {
        return Ok(());
    }
    let shape = arguments.input_of_rank(index, dims.len())?;
    for (axis, (&found, &expected)) in shape.dims().iter().zip(dims).enumerate() {
        if merge_dim(found, expected).is_none() {
            let because = "sizes follow from the input, the descriptor and the other weights";
            return Err(arguments.dimension_problem(index, axis, expected, because));
        }
    }
    Ok(())
}

/// What Rnn, Gru and Lstm have in common.
struct Recurrent {
    direction: RecurrentDirection,
    hidden_size: u32,
    batch_first: u32,
    gates: i64,
    clip: f32,
}

impl Recurrent {
    fn directions(&self) -> i64 {
        match self.direction {
            RecurrentDirection::Bidirectional => 2,
            _ => 1,
        }
    }

    /// The hidden states, and `states` last states.
    fn output_shapes(&self, arguments: &Arguments<'_>, states: usize) -> Result<Vec<Shape>> {
        named("direction", self.direction.0, self.direction.name())?;
        boolean("batch_first", self.batch_first)?;
        if self.hidden_size == 0 {
            return Err(bad_field("hidden_size", 0, "at least 1"));
        }
        if self.clip.is_nan() || self.clip < 0.0 {
            return Err(bad_field("clip", self.clip, "at least 0"));
        }
        let input = arguments.input_of_rank(0, 3)?;
        let &[first, second, size] = input.dims() else {
            return Err(arguments.rank_problem(0, "3".to_owned(), input));
        };
        let (time, batch) = match self.batch_first {
            1 => (second, first),
            _ => (first, second),
        };
        let (directions, hidden) = (self.directions(), i64::from(self.hidden_size));
        expect(arguments, 1, &[directions, self.gates * hidden, size])?;
        expect(arguments, 2, &[directions, self.gates * hidden, hidden])?;
        expect(arguments, 3, &[directions, 2 * self.gates * hidden])?;
        expect(arguments, 4, &[batch])?;
        let (output, state) = match self.batch_first {
            1 => (
                [batch, time, directions, hidden],
                [batch, directions, hidden],
            ),
            _ => (
                [time, directions, batch, hidden],
                [directions, batch, hidden],
            ),
        };
        for index in 5..5 + states {
            expect(arguments, index, &state)?;
        }
        let mut shapes = vec![shape_of(&output)?];
        shapes.resize(1 + states, shape_of(&state)?);
        Ok(shapes)
    }
}

fn unidirectional_sequence_lstm(
    d: &UnidirectionalSequenceLstmDescriptor,
    arguments: &Arguments<'_>,
) -> Result<Vec<Shape>> {
    boolean("time_major", d.time_major)?;
    named("activation", d.activation, d.activation().name())?;
    for (field, clip) in [
        ("cell_clip", d.cell_clip),
        ("projection_clip", d.projection_clip),
    ] {
        if clip.is_nan() || clip < 0.0 {
            return Err(bad_field(field, clip, "at least 0"));
        }
    }
    let input = arguments.input_of_rank(0, 3)?;
    let &[first, second, size] = input.dims() else {
        return Err(arguments.rank_problem(0, "3".to_owned(), input));
    };
    let batch = if d.time_major == 1 { second } else { first };
    // The forget gate is always there.
    let weights = arguments.input_of_rank(2, 2)?;
    let recurrent = arguments.input_of_rank(6, 2)?;
    let (cells, outputs) = (weights.dims()[0], recurrent.dims()[1]);
    for index in 1..5 {
        expect(arguments, index, &[cells, size])?;
    }
    for index in 5..9 {
        expect(arguments, index, &[cells, outputs])?;
    }
    for index in (9..16).chain(20..24) {
        expect(arguments, index, &[cells])?;
    }
    let is_there = |index: usize| arguments.optional(index).is_some();
    let all_or_none = |indices: &[usize]| {
        let first = is_there(indices[0]);
        match indices.iter().find(|&&index| is_there(index) != first) {
            Some(&index) => Err(LayerProblem::MissingInput {
                input: arguments.name(if first { index } else { indices[0] }),
            }),
            None => Ok(()),
        }
    };
    // The input gate, the projection, the peepholes and the layer normalization are optional.
    all_or_none(&[1, 5, 12])?;
    all_or_none(&[10, 11])?;
    all_or_none(&[21, 22, 23])?;
    // Those of the input gate are there if it is.
    for (index, of) in [(9, 10), (20, 21)] {
        let missing = match (is_there(index), is_there(of), is_there(1)) {
            (true, false, _) => of,
            (true, _, false) => 1,
            (false, true, true) => index,
            _ => continue,
        };
        return Err(LayerProblem::MissingInput {
            input: arguments.name(missing),
        });
    }
    if is_there(16) {
        expect(arguments, 16, &[outputs, cells])?;
        expect(arguments, 17, &[outputs])?;
    } else {
        if is_there(17) {
            return Err(LayerProblem::MissingInput {
                input: arguments.name(16),
            });
        }
        if merge_dim(outputs, cells).is_none() {
            let because = "without a projection there is one output for each cell";
            return Err(arguments.dimension_problem(6, 1, cells, because));
        }
    }
    expect(arguments, 18, &[batch, outputs])?;
    expect(arguments, 19, &[batch, cells])?;
    let outputs = match is_there(16) {
        true => outputs,
        false => merge_dim(outputs, cells).unwrap_or(outputs),
    };
    Ok(vec![
        shape_of(&[batch, outputs])?,
        shape_of(&[batch, cells])?,
        shape_of(&[first, second, outputs])?,
    ])
}

#[cfg(test)]
mod tests {
    use super::super::tests::{refused_field, shapes_after};
    use super::*;

    fn some<const N: usize>(dims: [i64; N]) -> Option<Shape> {
        Some(Shape::from(dims))
    }

    #[test]
    fn hidden_states_are_given_for_each_step_and_the_last() {
        let mut d = GruDescriptor::new(5);
        d.direction = RecurrentDirection::Bidirectional.0;
        // [T, N, I], [S, 3 H, I], [S, 3 H, H], [S, 6 H]
        let inputs = [
            some([7, -1, 3]),
            some([2, 15, 3]),
            some([2, 15, 5]),
            some([2, 30]),
        ];
        let shapes = shapes_after(d, &inputs, 2).unwrap();
        assert_eq!(
            shapes,
            [Shape::from([7, 2, -1, 5]), Shape::from([2, -1, 5])]
        );
        d.batch_first = 1;
        let shapes = shapes_after(d, &inputs, 2).unwrap();
        assert_eq!(shapes, [Shape::from([7, -1, 2, 5]), Shape::from([7, 2, 5])]);
        let d = LstmDescriptor::new(5);
        let inputs = [
            some([7, 4, 3]),
            some([1, 20, 3]),
            some([1, 20, 5]),
            None,
            some([4]),
        ];
        let shapes = shapes_after(d, &inputs, 3).unwrap();
        let state = Shape::from([1, 4, 5]);
        assert_eq!(shapes, [Shape::from([7, 1, 4, 5]), state, state]);
        let d = RnnDescriptor::new(5);
        assert!(shapes_after(d, &inputs, 2).is_err());
        let inputs = [some([7, 4, 3]), some([1, 5, 3]), some([1, 5, 5])];
        assert_eq!(shapes_after(d, &inputs, 2).unwrap()[1], state);
    }

    #[test]
    fn descriptors_that_make_no_sense_are_refused() {
        let inputs = [some([7, 4, 3]), some([1, 5, 3]), some([1, 5, 5])];
        let field = |d: RnnDescriptor| {
            let shapes = shapes_after(d, &inputs, 2);
            refused_field(shapes.map(|shapes| shapes[0]))
        };
        let mut d = RnnDescriptor::new(0);
        assert_eq!(field(d), "hidden_size");
        d.hidden_size = 5;
        d.clip = f32::NAN;
        assert_eq!(field(d), "clip");
        d.activations[1] = 9999;
        assert_eq!(field(d), "activations");
        d = RnnDescriptor::new(5);
        d.direction = 3;
        assert_eq!(field(d), "direction");
    }

    /// [N, T, I] = [2, 7, 3], H = 5, P = 4.
    fn lstm_inputs() -> Vec<Option<Shape>> {
        let mut inputs = vec![some([2, 7, 3])];
        inputs.extend([some([5, 3]); 4]);
        inputs.extend([some([5, 4]); 4]);
        inputs.extend([some([5]); 7]);
        inputs.extend([some([4, 5]), some([4]), some([2, 4]), some([2, 5])]);
        inputs.extend([some([5]); 4]);
        inputs
    }

    #[test]
    fn states_and_outputs_have_their_own_sizes() {
        let d = UnidirectionalSequenceLstmDescriptor::new(false);
        let all = lstm_inputs();
        let expected = [
            Shape::from([2, 4]),
            Shape::from([2, 5]),
            Shape::from([2, 7, 4]),
        ];
        assert_eq!(shapes_after(d, &all, 3).unwrap(), expected);
        // Without input gate, peepholes and layer normalization.
        let mut few = all.clone();
        for index in [1, 5, 9, 10, 11, 12, 17, 20, 21, 22, 23] {
            few[index] = None;
        }
        assert_eq!(shapes_after(d, &few, 3).unwrap(), expected);
        // The input gate's peephole alone.
        for (absent, missing) in [(9, "cell_to_input_weights"), (12, "input_gate_bias")] {
            let mut inputs = all.clone();
            inputs[absent] = None;
            let error = shapes_after(d, &inputs, 3).unwrap_err().to_string();
            assert!(error.contains(missing), "{error}");
        }
        let mut unprojected = all.clone();
        (unprojected[16], unprojected[17]) = (None, None);
        assert!(shapes_after(d, &unprojected, 3).is_err());
        for recurrent in &mut unprojected[5..9] {
            *recurrent = some([5, 5]);
        }
        unprojected[18] = some([2, 5]);
        let shapes = shapes_after(d, &unprojected, 3).unwrap();
        assert_eq!(shapes[2], Shape::from([2, 7, 5]));
        let mut wrong = all;
        wrong[7] = some([4, 4]);
        assert!(shapes_after(d, &wrong, 3).is_err());
    }
}
