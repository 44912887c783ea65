//! Fourier transforms and windows of signals.

use std::f64::consts::TAU;

use armnn_backend_api::{
    BinaryOperation as Binary, ComparisonDescriptor, ComparisonOperation as Comparison,
    ConcatDescriptor, DataType, DftDescriptor, GatherDescriptor, PaddingMode, SelectDescriptor,
    UnaryOperation as Unary,
};
use armnn_network::{PadLayout, ParameterRule, TensorId};

use super::constant::Constant;
use super::context::{Context, axis, small};
use super::generation::data_type_of;
use super::problem::{Problem, Result};

/// The shape of a window.
#[derive(Clone, Copy)]
pub(super) enum Window {
    Blackman,
    Hamming,
    Hann,
}

impl Window {
    /// The coefficients of 1, of -cos(2 pi n / N) and of cos(4 pi n / N).
    fn coefficients(self) -> [f64; 3] {
        match self {
            Self::Blackman => [0.42, 0.5, 0.08],
            // As ONNX has them.
            Self::Hamming => [25.0 / 46.0, 21.0 / 46.0, 0.0],
            Self::Hann => [0.5, 0.5, 0.0],
        }
    }
}

/// N is the size, or, unless the window is periodic, 1 less.
pub(super) fn window(c: &mut Context<'_, '_>, window: Window) -> Result {
    let periodic = c.attributes.flag("periodic", true)?;
    let to = data_type_of(c.attributes.int("output_datatype", 1)?)?;
    let size = c.input(0)?;
    let size = c.cast(size, DataType::Signed64)?;
    let size = c.merge_step(size, &[])?;
    let line = range(c, size)?;
    let line = c.cast(line, DataType::Float32)?;
    let mut period = c.cast(size, DataType::Float32)?;
    if !periodic {
        let one = c.number_like(period, 1.0)?;
        period = c.binary(Binary::Sub, period, one)?;
    }
    let turn = c.number_like(line, TAU)?;
    let angle = c.binary(Binary::Mul, line, turn)?;
    let angle = c.binary(Binary::Div, angle, period)?;
    let [first, second, third] = window.coefficients();
    let cosine = c.unary(Unary::Cos, angle)?;
    let second = c.number_like(cosine, -second)?;
    let term = c.binary(Binary::Mul, cosine, second)?;
    let first = c.number_like(term, first)?;
    let mut sum = c.binary(Binary::Add, term, first)?;
    if third != 0.0 {
        let double = c.binary(Binary::Add, angle, angle)?;
        let cosine = c.unary(Unary::Cos, double)?;
        let third = c.number_like(cosine, third)?;
        let term = c.binary(Binary::Mul, cosine, third)?;
        sum = c.binary(Binary::Add, sum, term)?;
    }
    let output = c.last().cast(sum, to)?;
    c.bind_tensor(0, output)
}

/// 0, 1, … below a number.
fn range(c: &mut Context<'_, '_>, limit: TensorId) -> Result<TensorId> {
    let zero = c.add_constant(&Constant::integers(DataType::Signed64, &[], &[0]))?;
    let one = c.add_constant(&Constant::integers(DataType::Signed64, &[], &[1]))?;
    let rule = ParameterRule::Range {
        rounded_quotient: false,
    };
    let inputs = [zero, limit, one];
    c.step_deferred(rule, &inputs, &inputs.map(Some))
}

/// The axis is an attribute before version 20, and an input since.
///
/// An axis that the model computes is exchanged with the last but one before the transform, and back
/// behind it.
pub(super) fn dft(c: &mut Context<'_, '_>) -> Result {
    let inverse = c.attributes.flag("inverse", false)?;
    let onesided = c.attributes.flag("onesided", false)?;
    let mut signal = c.input(0)?;
    let rank = c.shape(signal)?.rank();
    if rank < 2 {
        return Err(Problem::malformed(format!(
            "its input has {rank} dimensions"
        )));
    }
    let mut exchange = None;
    let along = if c.version < 20 {
        axis(c.attributes.int("axis", 1)?, rank)?
    } else if let Some(constant) = c.constant(2)? {
        match constant.known_integers(1, "the axis")?[..] {
            [along] => axis(along, rank)?,
            _ => return Err(Problem::malformed("its axis is no single number")),
        }
    } else if c.has_input(2) {
        let order = exchanged(c, rank)?;
        exchange = Some(order);
        signal = c.step_deferred(ParameterRule::Transpose, &[signal], &[Some(order)])?;
        rank - 2
    } else {
        rank - 2
    };
    let length = match c.constant(1)? {
        Some(constant) => match constant.known_integers(1, "the length")?[..] {
            [length] if length > 0 => length,
            ref other => {
                return Err(Problem::malformed(format!("its length is {other:?}")));
            }
        },
        None if c.has_input(1) => {
            if inverse && onesided {
                return Err(Problem::unsupported(
                    "the length of a real signal computed by the model; it must be constant",
                ));
            }
            signal = resized(c, signal, along)?;
            0
        }
        None => 0,
    };
    let descriptor = DftDescriptor {
        inverse: inverse.into(),
        onesided: onesided.into(),
        length,
        ..DftDescriptor::new(small(along, "its axis")?)
    };
    let Some(order) = exchange else {
        return c.emit(descriptor, &[signal]);
    };
    let spectrum = c.step(descriptor, &[signal])?;
    c.emit_deferred(ParameterRule::Transpose, &[spectrum], &[Some(order)])
}

/// The permutation that exchanges the axis that an input says with the last but one.
fn exchanged(c: &mut Context<'_, '_>, rank: usize) -> Result<TensorId> {
    let equal = ComparisonDescriptor::new(Comparison::Equal);
    let count = i64::try_from(rank).unwrap_or(0);
    let given = c.input(2)?;
    let given = c.cast(given, DataType::Signed64)?;
    let all = c.shape(given)?.rank();
    let given = c.merge_step(given, &[(0..all).collect()])?;
    // From the start.
    let size = c.integers(&[count])?;
    let given = c.binary(Binary::FloorMod, given, size)?;
    let places: Vec<i64> = (0..count).collect();
    let places = c.integers(&places)?;
    let last = c.integers(&[count - 2])?;
    let is_last = c.step(equal, &[places, last])?;
    let order = c.step(SelectDescriptor::new(), &[is_last, given, places])?;
    let is_given = c.step(equal, &[places, given])?;
    c.step(SelectDescriptor::new(), &[is_given, last, order])
}

/// A signal cut or filled up with 0 to the length that an input says.
fn resized(c: &mut Context<'_, '_>, signal: TensorId, along: usize) -> Result<TensorId> {
    let length = c.input(1)?;
    let length = c.cast(length, DataType::Signed64)?;
    let all = c.shape(length)?.rank();
    let length = c.merge_step(length, &[(0..all).collect()])?;
    let axes = c.integers(&[i64::try_from(along).unwrap_or(0)])?;
    let zero = c.integers(&[0])?;
    let parameters = [Some(zero), Some(length), Some(axes)];
    let cut = c.step_deferred(ParameterRule::Slice, &[signal], &parameters)?;
    let size = c.shape_step(cut, along, along + 1)?;
    let lack = c.binary(Binary::Sub, length, size)?;
    let pads = c.step(ConcatDescriptor { axis: 0 }, &[zero, lack])?;
    let rule = ParameterRule::Pad {
        mode: PaddingMode::Constant,
        value: 0.0,
        layout: PadLayout::Sides,
        negative_as_none: false,
    };
    c.step_deferred(rule, &[cut], &[Some(pads), None, Some(axes)])
}

/// Transforms of frames of a signal, [N, length, 1 or 2], each multiplied by a window.
pub(super) fn stft(c: &mut Context<'_, '_>) -> Result {
    let onesided = c.attributes.flag("onesided", true)?;
    let signal = c.input(0)?;
    let shape = c.shape(signal)?;
    if shape.rank() != 3 {
        return Err(Problem::malformed(format!("its signal is {shape}")));
    }
    let scalar = |c: &mut Context<'_, '_>, id: TensorId| {
        let id = c.cast(id, DataType::Signed64)?;
        c.merge_step(id, &[])
    };
    let step = c.input(1)?;
    let step = scalar(c, step)?;
    let window = c.optional_input(2)?;
    let frame = match (c.optional_input(3)?, window) {
        (Some(length), _) => length,
        (None, Some(window)) => c.shape_step(window, 0, 1)?,
        (None, None) => {
            return Err(Problem::malformed("it has neither a window nor a length"));
        }
    };
    let frame = scalar(c, frame)?;
    // Indices of the elements of each frame, [frames, length].
    let length = c.shape_step(signal, 1, 2)?;
    let length = c.merge_step(length, &[])?;
    let room = c.binary(Binary::Sub, length, frame)?;
    let whole = c.binary(Binary::Div, room, step)?;
    let one = c.number_like(whole, 1.0)?;
    let count = c.binary(Binary::Add, whole, one)?;
    let starts = range(c, count)?;
    let starts = c.binary(Binary::Mul, starts, step)?;
    let starts = c.merge_step(starts, &[vec![0], vec![]])?;
    let within = range(c, frame)?;
    let indices = c.binary(Binary::Add, starts, within)?;
    let mut frames = c.step(GatherDescriptor { axis: 1 }, &[signal, indices])?;
    if let Some(window) = window {
        let window = c.merge_step(window, &[vec![0], vec![]])?;
        frames = c.binary(Binary::Mul, frames, window)?;
    }
    let descriptor = DftDescriptor {
        onesided: onesided.into(),
        ..DftDescriptor::new(2)
    };
    c.emit(descriptor, &[frames])
}

/// The most weights that are computed when a model is read.
const MOST_WEIGHTS: usize = 1 << 22;

/// Triangles over the bins of a spectrum, equally wide on the mel scale.
pub(super) fn mel_weight_matrix(c: &mut Context<'_, '_>) -> Result {
    let to = data_type_of(c.attributes.int("output_datatype", 1)?)?;
    for position in 0..5 {
        if c.constant(position)?.is_none() {
            return computed_mel_weights(c, to);
        }
    }
    let mut numbers = [0.0; 5];
    let names = [
        "num_mel_bins",
        "dft_length",
        "sample_rate",
        "lower_edge_hertz",
        "upper_edge_hertz",
    ];
    for (position, name) in names.into_iter().enumerate() {
        let constant = c.required_constant(position, name)?;
        numbers[position] = match constant.known_reals(1, name)?[..] {
            [number] => number,
            _ => {
                return Err(Problem::malformed(format!(
                    "its {name} is no single number"
                )));
            }
        };
    }
    let [bands, length, rate, low, high] = numbers;
    let bins = (length / 2.0).floor() + 1.0;
    let sound = bands >= 1.0 && bins >= 1.0 && rate > 0.0 && low >= 0.0 && high > low;
    if !sound || bands * bins > MOST_WEIGHTS as f64 {
        return Err(Problem::unsupported(format!(
            "{bands} bands of a transform of length {length} at {rate} Hz"
        )));
    }
    let (n_bands, n_bins) = (bands as usize, bins as usize);
    c.pay_for((n_bands * n_bins).saturating_mul(size_of::<f64>()))?;
    let mel = |hertz: f64| 2595.0 * (1.0 + hertz / 700.0).log10();
    let hertz = |mel: f64| 700.0 * (10f64.powf(mel / 2595.0) - 1.0);
    let step = (mel(high) - mel(low)) / (bands + 2.0);
    let places: Vec<usize> = (0..n_bands + 2)
        .map(|band| {
            let frequency = hertz(mel(low) + band as f64 * step);
            ((length + 1.0) * frequency / rate).floor().max(0.0) as usize
        })
        .collect();
    let mut weights = vec![0.0; n_bands * n_bins];
    for (band, edges) in places.windows(3).enumerate() {
        let &[left, centre, right] = edges else {
            continue;
        };
        let mut set = |bin: usize, weight: f64| {
            if bin < n_bins && band < n_bands {
                weights[bin * n_bands + band] = weight;
            }
        };
        if centre == left {
            set(centre, 1.0);
        }
        for bin in left..=centre {
            if centre > left {
                set(bin, (bin - left) as f64 / (centre - left) as f64);
            }
        }
        for bin in centre..right {
            set(bin, (right - bin) as f64 / (right - centre) as f64);
        }
    }
    let dims = [n_bins as i64, n_bands as i64];
    let constant = Constant::reals(to, &dims, &weights)?;
    c.bind_constant(0, constant)
}

/// The same where the model computes the numbers, in Float64.
fn computed_mel_weights(c: &mut Context<'_, '_>, to: DataType) -> Result {
    let real = DataType::Float64;
    let number = |c: &mut Context<'_, '_>, value| c.number(real, &[], &[value]);
    let mut given = Vec::with_capacity(5);
    for position in 0..5 {
        given.push(c.merged_input(position, &[])?);
    }
    let count = |c: &mut Context<'_, '_>, id, factor: i64, more: i64| {
        let integer = |value: i64| Constant::integers(DataType::Signed64, &[], &[value]);
        let (factor, more) = (integer(factor), integer(more));
        let (factor, more) = (c.add_constant(&factor)?, c.add_constant(&more)?);
        let id = c.cast(id, DataType::Signed64)?;
        let part = c.binary(Binary::Div, id, factor)?;
        c.binary(Binary::Add, part, more)
    };
    // One edge before each band, and two behind the last.
    let n_edges = count(c, given[0], 1, 2)?;
    let n_bins = count(c, given[1], 2, 1)?;
    let edges = counted(c, n_edges)?;
    let bins = counted(c, n_bins)?;
    let bins = c.merge_step(bins, &[vec![0], vec![]])?;
    let mut reals = Vec::with_capacity(5);
    for &id in &given {
        reals.push(c.cast(id, real)?);
    }
    let mel = |c: &mut Context<'_, '_>, hertz| {
        let (scale, one) = (number(c, 700.0)?, number(c, 1.0)?);
        let ratio = c.binary(Binary::Div, hertz, scale)?;
        let ratio = c.binary(Binary::Add, ratio, one)?;
        let logarithm = c.unary(Unary::Log, ratio)?;
        let factor = number(c, 2595.0 / std::f64::consts::LN_10)?;
        c.binary(Binary::Mul, logarithm, factor)
    };
    let (low, high) = (mel(c, reals[3])?, mel(c, reals[4])?);
    let range = c.binary(Binary::Sub, high, low)?;
    let two = number(c, 2.0)?;
    let intervals = c.binary(Binary::Add, reals[0], two)?;
    let step = c.binary(Binary::Div, range, intervals)?;
    let edges = c.binary(Binary::Mul, edges, step)?;
    let edges = c.binary(Binary::Add, edges, low)?;
    let factor = number(c, std::f64::consts::LN_10 / 2595.0)?;
    let power = c.binary(Binary::Mul, edges, factor)?;
    let power = c.unary(Unary::Exp, power)?;
    let (one, scale) = (number(c, 1.0)?, number(c, 700.0)?);
    let hertz = c.binary(Binary::Sub, power, one)?;
    let hertz = c.binary(Binary::Mul, hertz, scale)?;
    let length = c.binary(Binary::Add, reals[1], one)?;
    let places = c.binary(Binary::Mul, hertz, length)?;
    let places = c.binary(Binary::Div, places, reals[2])?;
    let places = c.unary(Unary::Floor, places)?;
    let part = |c: &mut Context<'_, '_>, start: i64, end: i64| {
        let (start, end) = (c.integers(&[start])?, c.integers(&[end])?);
        c.step_deferred(ParameterRule::Slice, &[places], &[Some(start), Some(end)])
    };
    let (left, centre) = (part(c, 0, -2)?, part(c, 1, -1)?);
    let right = part(c, 2, i64::MAX)?;
    let ratio = |c: &mut Context<'_, '_>, from, to, over, under| {
        let above = c.binary(Binary::Sub, to, from)?;
        let below = c.binary(Binary::Sub, over, under)?;
        c.binary(Binary::Div, above, below)
    };
    let rises = ratio(c, left, bins, centre, left)?;
    let falls = ratio(c, bins, right, right, centre)?;
    let zero = number(c, 0.0)?;
    let choose = |c: &mut Context<'_, '_>, comparison, x, y, then, otherwise| {
        let condition = c.step(ComparisonDescriptor::new(comparison), &[x, y])?;
        c.step(SelectDescriptor::new(), &[condition, then, otherwise])
    };
    let rising = choose(c, Comparison::GreaterOrEqual, bins, left, rises, zero)?;
    let peak = choose(c, Comparison::Equal, bins, centre, one, zero)?;
    let falling = choose(c, Comparison::Less, bins, right, falls, peak)?;
    let weights = choose(c, Comparison::Less, bins, centre, rising, falling)?;
    let output = c.last().cast(weights, to)?;
    c.bind_tensor(0, output)
}

/// The numbers from 0 to below one, as Float64.
fn counted(c: &mut Context<'_, '_>, count: TensorId) -> Result<TensorId> {
    let integer = |value: i64| Constant::integers(DataType::Signed64, &[], &[value]);
    let (zero, one) = (c.add_constant(&integer(0))?, c.add_constant(&integer(1))?);
    let rule = ParameterRule::Range {
        rounded_quotient: false,
    };
    let numbers = [zero, count, one];
    let line = c.step_deferred(rule, &numbers, &numbers.map(Some))?;
    c.cast(line, DataType::Float64)
}
