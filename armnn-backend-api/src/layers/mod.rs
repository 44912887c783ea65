//! The layers: one spelling per operation.
//!
//! The list in `list.rs` binds each layer type to its number, descriptor, inputs, outputs and the
//! minor since which it exists.

mod data_descriptors;
mod descriptors;
mod enums;
mod sequence_descriptors;
mod since;
mod stand_in;
mod window_descriptors;

pub use data_descriptors::*;
pub use descriptors::*;
pub use enums::*;
pub use sequence_descriptors::*;
pub use stand_in::{StandInDescriptor, StandInRef};
pub use window_descriptors::*;

use crate::sys;

/// What is known of a layer type.
#[derive(Clone, Copy, Debug)]
pub struct LayerSpec {
    /// The type.
    pub layer_type: LayerType,
    /// The inputs in order. A name that ends in `?` is of an input that may be absent; one that
    /// ends in `*` stands for one or more inputs.
    pub inputs: &'static [&'static str],
    /// The outputs in order; one that ends in `*` stands for one or more.
    pub outputs: &'static [&'static str],
    /// The minor since which the layer exists.
    pub since: u32,
}

impl LayerSpec {
    /// The smallest and the largest number of inputs; absent ones count, except at the end.
    pub fn input_arity(&self) -> (usize, usize) {
        let least = self
            .inputs
            .iter()
            .rposition(|i| !i.ends_with('?'))
            .map_or(0, |i| i + 1);
        let many = self.inputs.last().is_some_and(|i| i.ends_with('*'));
        (least, if many { usize::MAX } else { self.inputs.len() })
    }

    /// The smallest and the largest number of outputs.
    pub fn output_arity(&self) -> (usize, usize) {
        let many = self.outputs.last().is_some_and(|o| o.ends_with('*'));
        (
            self.outputs.len(),
            if many { usize::MAX } else { self.outputs.len() },
        )
    }

    /// Whether input `index` may be absent.
    pub fn is_optional(&self, index: usize) -> bool {
        self.inputs.get(index).is_some_and(|i| i.ends_with('?'))
    }
}

macro_rules! layers {
    ($(
        $(#[$meta:meta])*
        $Layer:ident = $number:expr, $Descriptor:ty,
        $inputs:expr => $outputs:expr, since $since:literal;
    )*) => {
        open_enum! {
            /// The type of a layer. The layers are described at [`LayerDescriptor`].
            pub enum LayerType {
                $($(#[$meta])* $Layer = $number => since $since,)*
                /// An operator that the parser does not know; a backend may.
                StandIn = sys::ARMNN_LAYER_STAND_IN,
            }
        }

        impl LayerType {
            /// What is known of the type, if it is a known one. Inputs and outputs of StandIn are
            /// those of the operator.
            pub fn spec(self) -> Option<&'static LayerSpec> {
                match self {
                    $(Self::$Layer => Some(const { &LayerSpec {
                        layer_type: Self::$Layer,
                        inputs: &$inputs,
                        outputs: &$outputs,
                        since: $since,
                    } }),)*
                    Self::StandIn => Some(const { &LayerSpec {
                        layer_type: Self::StandIn,
                        inputs: &["inputs*"],
                        outputs: &["outputs*"],
                        since: 0,
                    } }),
                    _ => None,
                }
            }
        }

        /// A layer type with its parameters.
        ///
        /// Tensors are dense and row-major. A shape in the text is outermost first: N batch,
        /// C channels, H rows, W columns, O output channels, I input channels.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum LayerDescriptor {
            $($(#[$meta])* $Layer($Descriptor),)*
            /// An operator that the parser does not know; a backend may.
            StandIn(StandInDescriptor),
        }

        impl LayerDescriptor {
            /// The type of the layer.
            pub const fn layer_type(&self) -> LayerType {
                match self {
                    $(Self::$Layer(_) => LayerType::$Layer,)*
                    Self::StandIn(_) => LayerType::StandIn,
                }
            }

            /// The descriptor as it goes over the wire: its address and its size. Valid while
            /// `self` is not moved.
            pub fn raw(&self) -> (*const c_void, usize) {
                match self {
                    $(Self::$Layer(d) => (std::ptr::from_ref(d).cast(), size_of::<$Descriptor>()),)*
                    Self::StandIn(d) => d.raw(),
                }
            }
        }

        $(impl From<$Descriptor> for LayerDescriptor {
            fn from(descriptor: $Descriptor) -> Self {
                Self::$Layer(descriptor)
            }
        })*

        /// The descriptor of a layer in a view.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum DescriptorRef<'a> {
            $($(#[$meta])* $Layer(&'a $Descriptor),)*
            /// An operator that the parser does not know; a backend may.
            StandIn(StandInRef<'a>),
        }

        impl<'a> DescriptorRef<'a> {
            /// Reads a descriptor from its wire form; `None` for an unknown layer type, or when
            /// fewer bytes are there than the type needs.
            ///
            /// # Safety
            /// `size` bytes at `data` are readable for `'a`, and hold a descriptor of the type,
            /// aligned as such.
            pub(crate) unsafe fn from_raw(
                layer_type: LayerType,
                data: *const c_void,
                size: usize,
            ) -> Option<Self> {
                if data.is_null() {
                    return None;
                }
                match layer_type {
                    $(LayerType::$Layer => (size >= size_of::<$Descriptor>()).then(|| {
                        // SAFETY: by the contract of this function, and the size is checked.
                        Self::$Layer(unsafe { &*data.cast::<$Descriptor>() })
                    }),)*
                    LayerType::StandIn => {
                        // SAFETY: by the contract of this function.
                        let bytes = unsafe { std::slice::from_raw_parts(data.cast(), size) };
                        StandInRef::parse(bytes).map(Self::StandIn)
                    }
                    _ => None,
                }
            }
        }
    };
}

mod list;

pub use list::{DescriptorRef, LayerDescriptor, LayerType};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arity_follows_from_the_names() {
        let arity = |t: LayerType| t.spec().unwrap().input_arity();
        assert_eq!(arity(LayerType::Convolution2d), (2, 3));
        assert_eq!(arity(LayerType::Concat), (1, usize::MAX));
        assert_eq!(arity(LayerType::Reshape), (1, 1));
        assert_eq!(
            LayerType::Split.spec().unwrap().output_arity(),
            (1, usize::MAX)
        );
    }

    #[test]
    fn numbers_are_unique_and_every_type_has_a_spec() {
        for (i, a) in LayerType::ALL.iter().enumerate() {
            assert_eq!(a.spec().unwrap().layer_type, *a);
            assert!(LayerType::ALL[..i].iter().all(|b| b.0 != a.0), "{a}");
        }
    }

    #[test]
    fn a_descriptor_shorter_than_its_type_is_refused() {
        let descriptor = LayerDescriptor::from(SoftmaxDescriptor { beta: 1.0, axis: 2 });
        let (data, size) = descriptor.raw();
        // SAFETY: `descriptor` lives on, and no more than its bytes are given.
        unsafe {
            assert_eq!(
                DescriptorRef::from_raw(LayerType::Softmax, data, size),
                Some(DescriptorRef::Softmax(&SoftmaxDescriptor {
                    beta: 1.0,
                    axis: 2
                }))
            );
            assert_eq!(
                DescriptorRef::from_raw(LayerType::Softmax, data, size - 1),
                None
            );
            assert_eq!(DescriptorRef::from_raw(LayerType(9999), data, size), None);
        }
    }
}
