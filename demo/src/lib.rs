//! The BlazeFace short-range face detector: what goes into its network, and what its outputs mean.
//!
//! Input: a picture of 128 x 128, NHWC, Float32 from -1 to 1. Outputs: for each of 896 anchors 16
//! numbers (box and six key points, in pixels relative to the anchor) and a score.

use image::{Rgb, RgbImage, imageops};

/// Rows and columns of the network's input.
pub const INPUT_SIZE: u32 = 128;
/// Numbers for each anchor in the first output.
const VALUES: usize = 16;
/// The names of the key points, in their order.
pub const KEY_POINTS: [&str; 6] = [
    "right eye",
    "left eye",
    "nose",
    "mouth",
    "right ear",
    "left ear",
];

/// A face; positions are fractions of the picture's width and height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Face {
    /// Left edge.
    pub x: f32,
    /// Upper edge.
    pub y: f32,
    /// Width.
    pub width: f32,
    /// Height.
    pub height: f32,
    /// From 0 to 1.
    pub score: f32,
    /// As named by [`KEY_POINTS`].
    pub key_points: [(f32, f32); 6],
}

/// The network's input for a picture: resized with an antialiased triangle filter, and brought to
/// the range from -1 to 1.
pub fn preprocess(picture: &RgbImage) -> Vec<f32> {
    let small = imageops::resize(
        picture,
        INPUT_SIZE,
        INPUT_SIZE,
        imageops::FilterType::Triangle,
    );
    small
        .as_raw()
        .iter()
        .map(|&value| f32::from(value) / 127.5 - 1.0)
        .collect()
}

/// The centres of the anchors: two for each of 16 x 16 cells, then six for each of 8 x 8.
fn anchors() -> Vec<(f32, f32)> {
    let mut anchors = Vec::new();
    for (cells, per_cell) in [(16, 2), (8, 6)] {
        for row in 0..cells {
            for column in 0..cells {
                let centre = |i: i32| (i as f32 + 0.5) / cells as f32;
                anchors.extend(std::iter::repeat_n((centre(column), centre(row)), per_cell));
            }
        }
    }
    anchors
}

/// The face with the best score, of the network's two outputs; `None` if their sizes are not those
/// of this network.
pub fn best_face(regressors: &[f32], scores: &[f32]) -> Option<Face> {
    let anchors = anchors();
    if scores.len() != anchors.len() || regressors.len() != anchors.len() * VALUES {
        return None;
    }
    let (best, logit) = scores
        .iter()
        .enumerate()
        .max_by(|a, b| a.1.total_cmp(b.1))?;
    let (anchor_x, anchor_y) = anchors[best];
    let values = &regressors[best * VALUES..][..VALUES];
    let size = INPUT_SIZE as f32;
    let (width, height) = (values[2] / size, values[3] / size);
    let mut key_points = [(0.0, 0.0); 6];
    for (point, pair) in key_points.iter_mut().zip(values[4..].chunks_exact(2)) {
        *point = (pair[0] / size + anchor_x, pair[1] / size + anchor_y);
    }
    Some(Face {
        x: values[0] / size + anchor_x - width / 2.0,
        y: values[1] / size + anchor_y - height / 2.0,
        width,
        height,
        score: 1.0 / (1.0 + (-logit).exp()),
        key_points,
    })
}

/// Draws the box and the key points of a face into a picture.
pub fn draw(picture: &mut RgbImage, face: &Face) {
    let (width, height) = (picture.width() as f32, picture.height() as f32);
    let (left, top) = (face.x * width, face.y * height);
    let (right, bottom) = (left + face.width * width, top + face.height * height);
    let thickness = (width / 256.0).max(1.0);
    let green = Rgb([0, 255, 0]);
    fill(picture, (left, top), (right, top + thickness), green);
    fill(picture, (left, bottom - thickness), (right, bottom), green);
    fill(picture, (left, top), (left + thickness, bottom), green);
    fill(picture, (right - thickness, top), (right, bottom), green);
    for (x, y) in face.key_points {
        let (x, y) = (x * width, y * height);
        let from = (x - 1.5 * thickness, y - 1.5 * thickness);
        fill(
            picture,
            from,
            (x + 1.5 * thickness, y + 1.5 * thickness),
            Rgb([255, 0, 0]),
        );
    }
}

/// Fills a rectangle, as far as it is inside of the picture.
fn fill(picture: &mut RgbImage, from: (f32, f32), to: (f32, f32), colour: Rgb<u8>) {
    let clamp = |value: f32, end: u32| value.round().clamp(0.0, end as f32) as u32;
    let (width, height) = picture.dimensions();
    for y in clamp(from.1, height)..clamp(to.1, height) {
        for x in clamp(from.0, width)..clamp(to.0, width) {
            picture.put_pixel(x, y, colour);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_face_is_decoded_relative_to_its_anchor() {
        let mut regressors = vec![0.0; 896 * VALUES];
        let mut scores = vec![-5.0; 896];
        // Anchor 141: cell 70 of the first grid, row 4, column 6.
        scores[141] = 0.0;
        let values: Vec<f32> = (0..16).map(|i| 12.8 * i as f32).collect();
        regressors[141 * VALUES..][..VALUES].copy_from_slice(&values);
        let face = best_face(&regressors, &scores).unwrap();
        let (x, y) = (6.5 / 16.0, 4.5 / 16.0);
        assert_eq!(face.score, 0.5);
        assert!((face.width - 0.2).abs() < 1e-6 && (face.height - 0.3).abs() < 1e-6);
        assert!((face.x - (x - 0.1)).abs() < 1e-6);
        assert!((face.y - (0.1 + y - 0.15)).abs() < 1e-6);
        assert!((face.key_points[0].0 - (0.4 + x)).abs() < 1e-6);
        assert!((face.key_points[5].1 - (1.5 + y)).abs() < 1e-6);
    }

    #[test]
    fn outputs_of_another_size_are_refused() {
        assert_eq!(best_face(&[0.0; 16], &[0.0]), None);
    }
}
