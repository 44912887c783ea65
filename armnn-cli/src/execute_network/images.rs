//! Images as inputs.
//!
//! An image is decoded, resized to the input's height and width with the `image` crate's triangle
//! filter (which averages when it makes an image smaller), its aspect not kept, and laid out as
//! the input is: `[1, H, W, C]` or `[H, W, C]` where the last dimension is 1, 3 or 4, else
//! `[1, C, H, W]` or `[C, H, W]`. One channel is grey, three are red, green and blue, a fourth is
//! opacity. A first dimension that the model leaves open is 1.
//!
//! The samples are 0 to 255; the input gets `(sample - mean) / std`, so with the mean 0 and the
//! standard deviation 1 that stand for options not given, the samples themselves. A quantized or
//! integer input gets the samples as they are, minus 128 where it is signed, unless one of the
//! options is given: then the normalised value is quantized.

use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use armnn_runtime::{DataType, Shape, TensorInfo};
use image::{DynamicImage, ImageReader, imageops::FilterType};

use super::values;

/// How samples are normalised: one number for all channels, or one for each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Normalisation {
    /// What is subtracted; empty: 0.
    pub mean: Vec<f64>,
    /// What is divided by; empty: 1.
    pub std: Vec<f64>,
}

impl Normalisation {
    fn is_given(&self) -> bool {
        !self.mean.is_empty() || !self.std.is_empty()
    }

    fn check(&self, channels: usize) -> anyhow::Result<()> {
        for (option, numbers) in [("--image-mean", &self.mean), ("--image-std", &self.std)] {
            ensure!(
                matches!(numbers.len(), 0 | 1) || numbers.len() == channels,
                "{option} has {} numbers; the input has {channels} channels: give one number, or \
                 one for each channel",
                numbers.len()
            );
        }
        Ok(())
    }

    fn apply(&self, channel: usize, sample: f64) -> f64 {
        let of_channel = |numbers: &[f64]| numbers.get(channel).or(numbers.first()).copied();
        let (mean, std) = (of_channel(&self.mean), of_channel(&self.std));
        (sample - mean.unwrap_or(0.0)) / std.unwrap_or(1.0)
    }
}

/// Reads an image as the elements of an input, and tells the input's shape.
///
/// # Errors
/// When the file is no image, or the input's shape is not one of an image.
pub fn read(
    path: &Path,
    info: &TensorInfo,
    how: &Normalisation,
) -> anyhow::Result<(Shape, Vec<u8>)> {
    let info = &TensorInfo {
        shape: one_of(&info.shape),
        ..info.clone()
    };
    let layout = Layout::of(info)?;
    how.check(layout.channels)?;
    let image = ImageReader::open(path)
        .and_then(ImageReader::with_guessed_format)
        .context("cannot read the image")?
        .decode()
        .context("cannot decode the image")?;
    log::info!(
        "image '{}': {}x{} resized to {}x{}",
        path.display(),
        image.width(),
        image.height(),
        layout.width,
        layout.height
    );
    let samples = layout.arrange(&layout.resize(&image)?);
    let elements = elements(info, &layout, &samples, how)
        .with_context(|| format!("an image cannot be an input of type {}", info.data_type))?;
    Ok((info.shape, elements))
}

/// The same shape for one image, where it leaves their number open.
fn one_of(shape: &Shape) -> Shape {
    match *shape.dims() {
        [batch, a, b, c] if batch < 0 => Shape::from([1, a, b, c]),
        _ => *shape,
    }
}

/// The elements for samples that stand in the input's order.
fn elements(
    info: &TensorInfo,
    layout: &Layout,
    samples: &[u8],
    how: &Normalisation,
) -> Option<Vec<u8>> {
    if !how.is_given() && !info.data_type.is_float() {
        let zero = match info.data_type {
            DataType::QAsymmS8 | DataType::QSymmS8 | DataType::Int8 => 128.0,
            _ => 0.0,
        };
        let unquantized = TensorInfo::new(info.data_type, info.shape);
        return values::encode(&unquantized, samples.iter().map(|&s| f64::from(s) - zero));
    }
    let normalised = samples
        .iter()
        .enumerate()
        .map(|(index, &sample)| how.apply(layout.channel_of(index), f64::from(sample)));
    values::encode(info, normalised)
}

/// Where height, width and channels are in an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    channels_last: bool,
    channels: usize,
    height: u32,
    width: u32,
}

impl Layout {
    fn of(info: &TensorInfo) -> anyhow::Result<Self> {
        let is_channels = |dim: i64| matches!(dim, 1 | 3 | 4);
        let dims = match *info.shape.dims() {
            [1, a, b, c] | [a, b, c] => [a, b, c],
            _ => bail!(
                "an image needs an input [1, H, W, C] or [1, C, H, W] with 1, 3 or 4 channels; \
                 this one is {info}"
            ),
        };
        let (channels_last, [channels, height, width]) = if is_channels(dims[2]) {
            (true, [dims[2], dims[0], dims[1]])
        } else if is_channels(dims[0]) {
            (false, dims)
        } else {
            bail!(
                "an image needs an input with 1, 3 or 4 channels in its last dimension or in that \
                 before height and width; this one is {info}"
            );
        };
        let size = |dim: i64| match u32::try_from(dim) {
            Ok(size @ 1..=65535) => Ok(size),
            Ok(size) => bail!("an image cannot have {size} rows or columns; the input is {info}"),
            Err(_) => bail!(
                "the input is {info}: give its height and width with --input-tensor-shape, so \
                 that the image can be resized to them"
            ),
        };
        Ok(Self {
            channels_last,
            channels: channels as usize,
            height: size(height)?,
            width: size(width)?,
        })
    }

    /// The samples of the resized image, channels last.
    fn resize(&self, image: &DynamicImage) -> anyhow::Result<Vec<u8>> {
        let samples = u64::from(self.height) * u64::from(self.width) * self.channels as u64;
        ensure!(
            samples <= 1 << 30,
            "an image of {}x{} is larger than this command resizes",
            self.width,
            self.height
        );
        // The channels first, so that opacity that is left out does not bleed into the others.
        let of_channels = match self.channels {
            1 => DynamicImage::ImageLuma8(image.to_luma8()),
            3 => DynamicImage::ImageRgb8(image.to_rgb8()),
            _ => DynamicImage::ImageRgba8(image.to_rgba8()),
        };
        let resized = of_channels.resize_exact(self.width, self.height, FilterType::Triangle);
        Ok(resized.into_bytes())
    }

    /// Brings samples with channels last into the input's order.
    fn arrange(&self, samples: &[u8]) -> Vec<u8> {
        if self.channels_last {
            return samples.to_vec();
        }
        (0..self.channels)
            .flat_map(|channel| samples.iter().skip(channel).step_by(self.channels))
            .copied()
            .collect()
    }

    /// The channel of an element of the input.
    fn channel_of(&self, index: usize) -> usize {
        if self.channels_last {
            index % self.channels
        } else {
            index / (self.height as usize * self.width as usize)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use armnn_runtime::Quantization;

    /// Two pixels, red 255 above blue 255.
    fn red_above_blue() -> tempfile::NamedTempFile {
        let file = tempfile::Builder::new().suffix(".png").tempfile().unwrap();
        let image = image::RgbImage::from_raw(1, 2, vec![255, 0, 0, 0, 0, 255]).unwrap();
        image.save(file.path()).unwrap();
        file
    }

    fn read_f32(shape: impl Into<Shape>, how: &Normalisation) -> anyhow::Result<Vec<f32>> {
        let info = TensorInfo::new(DataType::Float32, shape);
        let (_, bytes) = read(red_above_blue().path(), &info, how)?;
        let number = |b: &[u8]| f32::from_ne_bytes(b.try_into().unwrap());
        Ok(bytes.chunks_exact(4).map(number).collect())
    }

    #[test]
    fn samples_stand_in_the_order_of_the_input() {
        let how = Normalisation::default();
        let channels_last = read_f32([1, 2, 1, 3], &how).unwrap();
        assert_eq!(channels_last, [255.0, 0.0, 0.0, 0.0, 0.0, 255.0]);
        let channels_first = read_f32([3, 2, 1], &how);
        // The last dimension is 1: this is 3 rows of 2 grey pixels.
        assert_eq!(channels_first.unwrap().len(), 6);
        let wide = read_f32([1, 3, 2, 2], &how).unwrap();
        let (red, blue) = ([255.0, 255.0, 0.0, 0.0], [0.0, 0.0, 255.0, 255.0]);
        assert_eq!(wide, [red, [0.0; 4], blue].concat());
    }

    #[test]
    fn a_smaller_image_is_an_average() {
        // The filter covers both pixels alike.
        let grey = read_f32([1, 1, 1, 3], &Normalisation::default()).unwrap();
        assert!((grey[0] - 127.5).abs() <= 0.5 && grey[1] == 0.0, "{grey:?}");
        assert_eq!(grey[0], grey[2]);
    }

    #[test]
    fn mean_and_std_apply_to_all_channels_or_to_each() {
        let mut how = Normalisation {
            mean: vec![127.5],
            std: vec![127.5],
        };
        let values = read_f32([1, 2, 1, 3], &how).unwrap();
        assert_eq!(values, [1.0, -1.0, -1.0, -1.0, -1.0, 1.0]);
        how.mean = vec![0.0, 10.0, 55.0];
        how.std = vec![255.0, 10.0, 100.0];
        let values = read_f32([1, 2, 1, 3], &how).unwrap();
        assert_eq!(values, [1.0, -1.0, -0.55, 0.0, -1.0, 2.0]);
        how.mean = vec![0.0, 1.0];
        let error = read_f32([1, 2, 1, 3], &how).unwrap_err().to_string();
        assert!(error.contains("--image-mean has 2 numbers"), "{error}");
    }

    #[test]
    fn quantized_inputs_take_samples_as_they_are_unless_normalised() {
        let mut info = TensorInfo::new(DataType::QAsymmS8, [1, 2, 1, 3]);
        info.quantization = Quantization::per_tensor(1.0 / 128.0, 0);
        let file = red_above_blue();
        let (_, bytes) = read(file.path(), &info, &Normalisation::default()).unwrap();
        assert_eq!(bytes, [127, 128, 128, 128, 128, 127]);
        // 255 becomes 0.5, which is 64 of 1/128.
        let how = Normalisation {
            mean: vec![],
            std: vec![510.0],
        };
        let (_, bytes) = read(file.path(), &info, &how).unwrap();
        assert_eq!(bytes, [64, 0, 0, 0, 0, 64]);
    }

    #[test]
    fn an_open_number_of_images_is_one() {
        let info = TensorInfo::new(DataType::Float32, [-1, 4, 2, 3]);
        let read = read(red_above_blue().path(), &info, &Normalisation::default());
        let (shape, bytes) = read.unwrap();
        assert_eq!(shape.dims(), [1, 4, 2, 3]);
        assert_eq!(bytes.len(), 4 * 4 * 2 * 3);
    }

    #[test]
    fn inputs_that_are_no_images_are_refused_with_their_shape() {
        let how = Normalisation::default();
        for (shape, reason) in [
            (&[1, 1000][..], "[1, 1000]"),
            (&[2, 8, 8, 3], "[2, 8, 8, 3]"),
            (&[1, 8, 8, 5], "1, 3 or 4 channels"),
            (&[1, -1, 8, 3], "--input-tensor-shape"),
            (&[1, 0, 8, 3], "0 rows"),
        ] {
            let error = read_f32(Shape::new(shape).unwrap(), &how)
                .unwrap_err()
                .to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
