//! Descriptors of layers with a state that goes from step to step, in Rust.

use super::enums::*;

pub use crate::sys::{
    ArmnnGruDescriptor as GruDescriptor, ArmnnLstmDescriptor as LstmDescriptor,
    ArmnnRnnDescriptor as RnnDescriptor,
    ArmnnUnidirectionalSequenceLstmDescriptor as UnidirectionalSequenceLstmDescriptor,
};

const SIGMOID: u32 = ActivationFunction::Sigmoid.0;
const TANH: u32 = ActivationFunction::TanH.0;

impl RnnDescriptor {
    /// Forward, time first, with tanh.
    pub const fn new(hidden_size: u32) -> Self {
        Self {
            direction: RecurrentDirection::Forward.0,
            hidden_size,
            batch_first: 0,
            reserved: 0,
            clip: 0.0,
            activations: [TANH; 2],
            activation_a: [1.0; 2],
            activation_b: [1.0; 2],
        }
    }
}

impl GruDescriptor {
    /// Forward, time first, with sigmoid and tanh, the reset gate before the recurrent product.
    pub const fn new(hidden_size: u32) -> Self {
        Self {
            direction: RecurrentDirection::Forward.0,
            hidden_size,
            batch_first: 0,
            linear_before_reset: 0,
            clip: 0.0,
            activations: [SIGMOID, TANH, SIGMOID, TANH],
            activation_a: [1.0; 4],
            activation_b: [1.0; 4],
        }
    }
}

impl LstmDescriptor {
    /// Forward, time first, with sigmoid for gates and tanh for the cell.
    pub const fn new(hidden_size: u32) -> Self {
        Self {
            direction: RecurrentDirection::Forward.0,
            hidden_size,
            batch_first: 0,
            input_forget: 0,
            clip: 0.0,
            activations: [SIGMOID, TANH, TANH, SIGMOID, TANH, TANH],
            activation_a: [1.0; 6],
            activation_b: [1.0; 6],
        }
    }
}

macro_rules! recurrent {
    ($($Descriptor:ident: $per_direction:literal;)*) => {$(
        impl $Descriptor {
            /// The direction.
            pub const fn direction(&self) -> RecurrentDirection {
                RecurrentDirection(self.direction)
            }

            /// How many directions there are, 1 or 2.
            pub const fn n_directions(&self) -> usize {
                match self.direction() {
                    RecurrentDirection::Bidirectional => 2,
                    _ => 1,
                }
            }

            /// The activation functions of a direction (0 or 1) with their parameters, as many as
            /// are documented at the field; none for any other direction.
            pub fn activations(
                &self,
                direction: usize,
            ) -> impl Iterator<Item = (ActivationFunction, f32, f32)> + '_ {
                let first = direction.saturating_mul($per_direction);
                (0..$per_direction).filter_map(move |i| {
                    let at = first.saturating_add(i);
                    let function = ActivationFunction(*self.activations.get(at)?);
                    Some((function, *self.activation_a.get(at)?, *self.activation_b.get(at)?))
                })
            }
        }
    )*};
}
recurrent! {
    RnnDescriptor: 1;
    GruDescriptor: 2;
    LstmDescriptor: 3;
}

impl UnidirectionalSequenceLstmDescriptor {
    /// With tanh, without limits; for layers that are not quantized.
    pub const fn new(time_major: bool) -> Self {
        Self {
            time_major: time_major as u32,
            activation: TANH,
            activation_a: 1.0,
            activation_b: 1.0,
            cell_clip: 0.0,
            projection_clip: 0.0,
            input_intermediate_scale: 0.0,
            forget_intermediate_scale: 0.0,
            cell_intermediate_scale: 0.0,
            output_intermediate_scale: 0.0,
            hidden_state_scale: 0.0,
            hidden_state_zero_point: 0,
        }
    }

    /// The function of the cell's input and output.
    pub const fn activation(&self) -> ActivationFunction {
        ActivationFunction(self.activation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_direction_has_its_own_functions() {
        let mut lstm = LstmDescriptor::new(4);
        lstm.activations[3] = ActivationFunction::HardSigmoid.0;
        lstm.activation_a[3] = 0.2;
        let of = |direction| lstm.activations(direction).collect::<Vec<_>>();
        assert_eq!(of(0)[0], (ActivationFunction::Sigmoid, 1.0, 1.0));
        assert_eq!(of(1)[0], (ActivationFunction::HardSigmoid, 0.2, 1.0));
        assert_eq!(of(1)[2].0, ActivationFunction::TanH);
        assert!(of(2).is_empty() && of(usize::MAX).is_empty());
    }
}
