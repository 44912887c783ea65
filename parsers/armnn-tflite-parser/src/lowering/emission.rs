//! Adding layers: the last of an operator, which write its outputs, and those before.

use armnn_backend_api::{
    BinaryOperation, DataType, ElementwiseBinaryDescriptor, LayerDescriptor, ReshapeDescriptor,
    Shape,
};
use armnn_network::{OutputDeclaration, ParameterRule, TensorId, WindowLayer};

use super::activation;
use super::context::{Context, described, each_dimension, single};
use super::problem::{Problem, Result};
use crate::schema_generated::ActivationFunctionType;

/// Adding layers.
impl Context<'_, '_, '_> {
    /// Adds a layer that is not the operator's last; it is named after output `position` and its
    /// own type.
    pub(super) fn step(
        &mut self,
        position: usize,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
        declaration: OutputDeclaration,
    ) -> Result<TensorId> {
        let descriptor = descriptor.into();
        let name = self.step_name(position, &descriptor.layer_type().to_string())?;
        let outputs = [OutputDeclaration {
            name: None,
            ..declaration
        }];
        let ids = self
            .lowering
            .builder
            .add_layer(&name, descriptor, inputs, &outputs)?;
        single(&ids)
    }

    /// Adds a layer with several outputs that is not the operator's last.
    pub(super) fn steps(
        &mut self,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
        declarations: &[OutputDeclaration],
    ) -> Result<Vec<TensorId>> {
        let descriptor = descriptor.into();
        let name = self.step_name(0, &descriptor.layer_type().to_string())?;
        let builder = &mut self.lowering.builder;
        Ok(builder.add_layer(&name, descriptor, inputs, declarations)?)
    }

    /// Adds the layer that writes the operator's only output.
    pub(super) fn emit(
        &mut self,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
    ) -> Result {
        self.emit_output(0, descriptor, inputs)
    }

    /// Adds the layer that writes output `position`.
    pub(super) fn emit_output(
        &mut self,
        position: usize,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
    ) -> Result {
        let declaration = self.declaration(position)?;
        self.emit_declared(position, descriptor, inputs, declaration)
    }

    /// The same, with more known of the output than the file says.
    pub(super) fn emit_declared(
        &mut self,
        position: usize,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
        declaration: OutputDeclaration,
    ) -> Result {
        let name = self.layer_name(position)?;
        let ids = self
            .lowering
            .builder
            .add_layer(&name, descriptor, inputs, &[declaration])?;
        self.bind(position, single(&ids)?)
    }

    /// Adds the layer that writes output `position`, and whose descriptor follows from parameters.
    pub(super) fn emit_by_rule(
        &mut self,
        position: usize,
        rule: ParameterRule,
        inputs: &[Option<TensorId>],
        parameters: &[Option<TensorId>],
        declaration: OutputDeclaration,
    ) -> Result {
        let name = self.layer_name(position)?;
        let builder = &mut self.lowering.builder;
        let ids = builder.add_deferred_layer(&name, rule, inputs, parameters, &[declaration])?;
        self.bind(position, single(&ids)?)
    }

    /// Such a layer that writes all outputs.
    pub(super) fn emit_all_by_rule(
        &mut self,
        rule: ParameterRule,
        inputs: &[Option<TensorId>],
        parameters: &[Option<TensorId>],
        declarations: &[OutputDeclaration],
    ) -> Result {
        let name = self.layer_name(0)?;
        let builder = &mut self.lowering.builder;
        let ids = builder.add_deferred_layer(&name, rule, inputs, parameters, declarations)?;
        for (position, &id) in ids.iter().enumerate().take(self.output_count()) {
            self.bind(position, id)?;
        }
        Ok(())
    }

    /// Such a layer with several outputs that is not the operator's last.
    pub(super) fn steps_by_rule(
        &mut self,
        rule: ParameterRule,
        inputs: &[Option<TensorId>],
        parameters: &[Option<TensorId>],
        declarations: &[OutputDeclaration],
    ) -> Result<Vec<TensorId>> {
        let name = self.step_name(0, &rule.layer_type().to_string())?;
        let builder = &mut self.lowering.builder;
        Ok(builder.add_deferred_layer(&name, rule, inputs, parameters, declarations)?)
    }

    /// Such a layer that is not the operator's last.
    pub(super) fn step_by_rule(
        &mut self,
        position: usize,
        rule: ParameterRule,
        inputs: &[Option<TensorId>],
        parameters: &[Option<TensorId>],
        declaration: OutputDeclaration,
    ) -> Result<TensorId> {
        let name = self.step_name(position, &rule.layer_type().to_string())?;
        let outputs = [OutputDeclaration {
            name: None,
            ..declaration
        }];
        let builder = &mut self.lowering.builder;
        let ids = builder.add_deferred_layer(&name, rule, inputs, parameters, &outputs)?;
        single(&ids)
    }

    /// Adds one layer that writes all outputs.
    pub(super) fn emit_all(
        &mut self,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
        declarations: &[OutputDeclaration],
    ) -> Result {
        let name = match self.output_count() {
            0 => String::new(),
            _ => self.layer_name(0)?,
        };
        let ids = self
            .lowering
            .builder
            .add_layer(&name, descriptor, inputs, declarations)?;
        // Outputs that the operator does not ask for may be there.
        for (position, &id) in ids.iter().enumerate().take(self.output_count()) {
            self.bind(position, id)?;
        }
        Ok(())
    }

    /// Adds the layer that writes the only output, and a layer for the fused activation.
    pub(super) fn emit_activated(
        &mut self,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
        function: ActivationFunctionType,
    ) -> Result {
        let declaration = self.declaration(0)?;
        self.emit_activated_as(descriptor, inputs, function, declaration)
    }

    /// The same, of a type that is known otherwise than from the file.
    pub(super) fn emit_activated_as(
        &mut self,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
        function: ActivationFunctionType,
        declaration: OutputDeclaration,
    ) -> Result {
        if let Some(bounds) = activation::integer_bounds(function, declaration.data_type) {
            return self.emit_bounded(descriptor, inputs, bounds, declaration);
        }
        match activation::fused(function, declaration.data_type)? {
            None => self.emit_declared(0, descriptor, inputs, declaration),
            Some(activation) => {
                let id = self.step(0, descriptor, inputs, declaration.clone())?;
                self.emit_declared(0, activation, &[Some(id)], declaration)
            }
        }
    }

    /// The same of a layer with SAME padding that follows from sizes that are not known yet.
    pub(super) fn emit_same_padded(
        &mut self,
        layer: WindowLayer,
        inputs: &[Option<TensorId>],
        function: ActivationFunctionType,
    ) -> Result {
        let declaration = self.declaration(0)?;
        let rule = ParameterRule::SamePadding {
            layer,
            odd_behind: true,
        };
        let bounds = activation::integer_bounds(function, declaration.data_type);
        let activation = match bounds {
            None => activation::fused(function, declaration.data_type)?,
            Some(_) => None,
        };
        if bounds.is_none() && activation.is_none() {
            return self.emit_by_rule(0, rule, inputs, &[], declaration);
        }
        let id = self.step_by_rule(0, rule, inputs, &[], declaration.clone())?;
        match (bounds, activation) {
            (_, Some(activation)) => self.emit_declared(0, activation, &[Some(id)], declaration),
            (Some(bounds), None) => self.emit_between(id, bounds, declaration),
            (None, None) => Ok(()),
        }
    }

    /// The same of integers, kept between bounds.
    fn emit_bounded(
        &mut self,
        descriptor: impl Into<LayerDescriptor>,
        inputs: &[Option<TensorId>],
        bounds: [Option<f64>; 2],
        declaration: OutputDeclaration,
    ) -> Result {
        let id = self.step(0, descriptor, inputs, declaration.clone())?;
        self.emit_between(id, bounds, declaration)
    }

    fn emit_between(
        &mut self,
        mut id: TensorId,
        [least, most]: [Option<f64>; 2],
        declaration: OutputDeclaration,
    ) -> Result {
        let data_type = declaration.data_type.unwrap_or(DataType::Signed32);
        let binary = ElementwiseBinaryDescriptor::new;
        let mut last = None;
        for (bound, operation) in [
            (least, BinaryOperation::Maximum),
            (most, BinaryOperation::Minimum),
        ] {
            let Some(bound) = bound else { continue };
            let bound = self.scalar(data_type, bound)?;
            if let Some((operation, bound)) = last.replace((operation, bound)) {
                let pair = [Some(id), Some(bound)];
                id = self.step(0, binary(operation), &pair, declaration.clone())?;
            }
        }
        match last {
            Some((operation, bound)) => {
                let pair = [Some(id), Some(bound)];
                self.emit_declared(0, binary(operation), &pair, declaration)
            }
            None => self.emit_reshape_like(id),
        }
    }

    /// Makes the output a tensor of the network as it is, by another name.
    pub(super) fn emit_reshape_like(&mut self, input: TensorId) -> Result {
        let groups = each_dimension(self.shape(input)?.rank());
        self.emit_merged(0, input, groups)
    }

    /// Adds the Reshape to `target` that writes output `position`. One dimension at most may be
    /// unknown, below 0.
    pub(super) fn emit_reshape(
        &mut self,
        position: usize,
        input: TensorId,
        target: &[i64],
    ) -> Result {
        let mut declaration = self.moved(position, input)?;
        declaration.shape = Some(reshape_target(target)?);
        self.emit_declared(
            position,
            ReshapeDescriptor::new(),
            &[Some(input)],
            declaration,
        )
    }

    /// Adds the Reshape that writes output `position`, each of whose dimensions is the product of
    /// some of the input's, in their order; of none, it is 1.
    pub(super) fn emit_merged(
        &mut self,
        position: usize,
        input: TensorId,
        groups: Vec<Vec<usize>>,
    ) -> Result {
        let declaration = self.moved(position, input)?;
        let rule = ParameterRule::MergeDimensions { groups };
        self.emit_by_rule(position, rule, &[Some(input)], &[], declaration)
    }

    /// Such a Reshape that is not the operator's last layer.
    pub(super) fn merge_step(
        &mut self,
        position: usize,
        input: TensorId,
        groups: Vec<Vec<usize>>,
    ) -> Result<TensorId> {
        let rule = ParameterRule::MergeDimensions { groups };
        let declaration = OutputDeclaration::default();
        self.step_by_rule(position, rule, &[Some(input)], &[], declaration)
    }

    /// A Reshape to `target` that is not the operator's last layer.
    pub(super) fn reshape_step(
        &mut self,
        position: usize,
        input: TensorId,
        target: &[i64],
    ) -> Result<TensorId> {
        let declaration = OutputDeclaration {
            shape: Some(reshape_target(target)?),
            ..OutputDeclaration::default()
        };
        self.step(
            position,
            ReshapeDescriptor::new(),
            &[Some(input)],
            declaration,
        )
    }
}

/// The target of a Reshape.
fn reshape_target(target: &[i64]) -> Result<Shape> {
    let target = described(Shape::new(target).ok())?;
    if target.dims().iter().filter(|&&dim| dim < 0).count() > 1 {
        return Err(Problem::unsupported(format!(
            "a change of shape to {target}, where no more than one size may be unknown; give the \
             model fixed input shapes"
        )));
    }
    Ok(target)
}
