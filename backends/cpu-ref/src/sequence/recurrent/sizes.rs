//! The sizes of a recurrent layer, as its tensors must have them.

use armnn_backend_api::{LayerView, RecurrentDirection, Result};

use crate::workloads::layer_checks::{dims, dims_of_rank, input, invalid, output};

/// The sizes of a layer.
pub(super) struct Sizes {
    pub(super) time: usize,
    pub(super) batch: usize,
    pub(super) input: usize,
    pub(super) hidden: usize,
    pub(super) gates: usize,
    pub(super) directions: usize,
    pub(super) reverse_only: bool,
    pub(super) batch_first: bool,
}

impl Sizes {
    pub(super) fn new(
        layer: LayerView<'_>,
        direction: RecurrentDirection,
        hidden: u32,
        batch_first: u32,
        gates: usize,
    ) -> Result<Self> {
        let [first, second, size] = dims_of_rank(layer, input(layer, 0)?)?;
        let batch_first = batch_first == 1;
        let (time, batch) = if batch_first {
            (second, first)
        } else {
            (first, second)
        };
        let directions = match direction {
            RecurrentDirection::Bidirectional => 2,
            _ => 1,
        };
        let hidden = hidden as usize;
        let fits = |position, expected: &[usize]| -> Result<bool> {
            match layer.input(position) {
                None => Ok(true),
                Some(tensor) => Ok(dims(layer, tensor)? == expected),
            }
        };
        let state = match batch_first {
            true => [batch, directions, hidden],
            false => [directions, batch, hidden],
        };
        let all = match batch_first {
            true => [batch, time, directions, hidden],
            false => [time, directions, batch, hidden],
        };
        let n_states = layer.output_indices().len().saturating_sub(1);
        input(layer, 1)?;
        input(layer, 2)?;
        let mut fit = fits(1, &[directions, gates * hidden, size])?
            && fits(2, &[directions, gates * hidden, hidden])?
            && fits(3, &[directions, 2 * gates * hidden])?
            && fits(4, &[batch])?
            && fits(7, &[directions, 3 * hidden])?
            && dims(layer, output(layer, 0)?)? == all;
        for i in 0..n_states {
            fit = fit && fits(5 + i, &state)? && dims(layer, output(layer, 1 + i)?)? == state;
        }
        if !fit {
            return Err(invalid(format_args!(
                "weights, states and outputs do not fit {time} steps, a batch of {batch}, \
                 {size} inputs and {hidden} hidden numbers"
            )));
        }
        Ok(Self {
            time,
            batch,
            input: size,
            hidden,
            gates,
            directions,
            reverse_only: direction == RecurrentDirection::Reverse,
            batch_first,
        })
    }

    pub(super) fn state(&self, direction: usize, batch: usize) -> usize {
        let position = match self.batch_first {
            true => batch * self.directions + direction,
            false => direction * self.batch + batch,
        };
        position * self.hidden
    }
}
