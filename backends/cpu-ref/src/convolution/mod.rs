//! Convolutions, and what they are made of.

pub(crate) mod col2im;
pub(crate) mod convolution2d;
pub(crate) mod convolution_nchw;
pub(crate) mod convolution_nhwc;
pub(crate) mod deform_conv;
pub(crate) mod depthwise_convolution2d;
mod pixel_blocks;
pub(crate) mod strided_convolution;
