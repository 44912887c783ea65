//! Names of dimensions.

use super::NetworkBuilder;
use crate::error::{NetworkError, Result, shown};
use crate::{DimensionName, TensorId};

/// Names of dimensions.
impl NetworkBuilder {
    /// Names a dimension of an input, whose size is not known; a later name replaces an earlier one.
    ///
    /// Dimensions of one name, of the same input or of others, must have the same size where shapes
    /// are given.
    ///
    /// # Errors
    /// When the tensor is no input of the network, it has no such dimension, or its size is known, or
    /// when the name is empty.
    #[doc(alias = "dim_param")]
    pub fn name_input_dimension(
        &mut self,
        input: TensorId,
        dimension: usize,
        name: &str,
    ) -> Result<()> {
        self.add_dimension_name(input, dimension, name, true)
    }

    /// The same with a name that is for people: it need not hold that dimensions of one name have one
    /// size. For names that come from model files, where some writers give one name to all unknown
    /// dimensions.
    ///
    /// # Errors
    /// As [`name_input_dimension`](Self::name_input_dimension).
    pub fn label_input_dimension(
        &mut self,
        input: TensorId,
        dimension: usize,
        name: &str,
    ) -> Result<()> {
        self.add_dimension_name(input, dimension, name, false)
    }

    fn add_dimension_name(
        &mut self,
        input: TensorId,
        dimension: usize,
        name: &str,
        is_binding: bool,
    ) -> Result<()> {
        let tensor = self.known_tensor(input, || format!("the dimension '{}'", shown(name)))?;
        let inputs = &self.network.inputs;
        // Inputs are in the order in which they were added.
        let found = inputs.binary_search(&input);
        let size = tensor.info.shape.dims().get(dimension);
        let problem = match (found, size) {
            (Err(_), _) => "it is no input of the network",
            (_, None) => "there is no such dimension",
            (_, Some(0..)) => "its size is known",
            _ if name.is_empty() => "the name is empty",
            (Ok(input), _) => {
                let names = &mut self.network.dimension_names;
                let named = DimensionName {
                    input,
                    dimension,
                    name: name.to_owned(),
                    is_binding,
                };
                let at =
                    names.binary_search_by_key(&(input, dimension), |n| (n.input, n.dimension));
                match at {
                    Ok(at) => names[at] = named,
                    Err(at) => names.insert(at, named),
                }
                return Ok(());
            }
        };
        Err(NetworkError::DimensionName {
            input: tensor.name.clone(),
            info: tensor.info.to_string(),
            dimension,
            name: name.to_owned(),
            problem,
        })
    }
}
