//! Whether what a detector found is what was recorded.
//!
//! The outputs are those of TFLite's detection post-processing: boxes `[1, N, 4]` as top, left,
//! bottom, right; classes `[1, N]`; scores `[1, N]`; and how many of the N rows count, `[1]`. Rows
//! with a low score may come in any order, so rows are matched.

/// What a detector found.
#[derive(Clone, Debug, PartialEq)]
pub struct Detections(Vec<Detection>);

#[derive(Clone, Debug, PartialEq)]
struct Detection {
    /// Top, left, bottom, right.
    corners: [f64; 4],
    class: f64,
    score: f64,
}

/// From when on two rows are of the same thing.
#[derive(Clone, Copy, Debug)]
pub struct SameThing {
    /// Only rows with at least this score must have their like.
    pub min_score: f64,
    /// The least intersection over union.
    pub iou: f64,
    /// The largest difference of scores.
    pub score: f64,
}

impl Detections {
    /// Reads the numbers of the four outputs.
    ///
    /// # Errors
    /// When they are not as many as detections need.
    pub fn new(outputs: &[Vec<f64>]) -> Result<Self, String> {
        let [boxes, classes, scores, number] = outputs else {
            return Err(format!(
                "detections are four outputs (boxes, classes, scores, number); there are {}",
                outputs.len()
            ));
        };
        let n = scores.len();
        if boxes.len() != n.saturating_mul(4) || classes.len() != n || number.len() != 1 {
            return Err(format!(
                "detections are N scores, N classes, 4 N numbers of boxes and 1 number; there are \
                 {n}, {}, {} and {}",
                classes.len(),
                boxes.len(),
                number.len()
            ));
        }
        // A cast saturates, and makes 0 of NaN.
        let rows = boxes.chunks_exact(4).zip(classes.iter().zip(scores));
        Ok(Self(
            rows.take(number[0] as usize)
                .map(|(corners, (&class, &score))| Detection {
                    corners: [corners[0], corners[1], corners[2], corners[3]],
                    class,
                    score,
                })
                .collect(),
        ))
    }

    /// Checks that everything found here is in `recorded`, and the other way round. Returns how
    /// much scores differ at most.
    ///
    /// # Errors
    /// What is on one side only.
    pub fn compare(&self, recorded: &Self, same: SameThing) -> Result<f64, String> {
        let missing = unmatched(&recorded.0, &self.0, same)?;
        let added = unmatched(&self.0, &recorded.0, same)?;
        match (missing, added) {
            (Matched::All(a), Matched::All(b)) => Ok(a.max(b)),
            (Matched::Not(row), _) => Err(format!("{row} is recorded and was not found")),
            (_, Matched::Not(row)) => Err(format!("{row} was found and is not recorded")),
        }
    }
}

enum Matched<'a> {
    /// The largest difference of scores.
    All(f64),
    Not(&'a Detection),
}

/// The first of `rows` that has no like in `others`, each of which is the like of one row.
fn unmatched<'a>(
    rows: &'a [Detection],
    others: &[Detection],
    same: SameThing,
) -> Result<Matched<'a>, String> {
    let mut free = vec![true; others.len()];
    let mut largest: f64 = 0.0;
    for row in rows {
        if row.score.is_nan() {
            return Err(format!("{row} has no score"));
        }
        if row.score < same.min_score {
            continue;
        }
        let mut candidates = others.iter().enumerate();
        let like = candidates.find(|(at, other)| free[*at] && row.is_like(other, same));
        let Some((at, other)) = like else {
            return Ok(Matched::Not(row));
        };
        free[at] = false;
        largest = largest.max((row.score - other.score).abs());
    }
    Ok(Matched::All(largest))
}

impl Detection {
    fn is_like(&self, other: &Self, same: SameThing) -> bool {
        self.class == other.class
            && (self.score - other.score).abs() <= same.score
            && self.intersection_over_union(other) >= same.iou
    }

    fn intersection_over_union(&self, other: &Self) -> f64 {
        let area = |[top, left, bottom, right]: [f64; 4]| {
            (bottom - top).max(0.0) * (right - left).max(0.0)
        };
        let (a, b) = (self.corners, other.corners);
        let common = area([
            a[0].max(b[0]),
            a[1].max(b[1]),
            a[2].min(b[2]),
            a[3].min(b[3]),
        ]);
        common / (area(a) + area(b) - common)
    }
}

impl std::fmt::Display for Detection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [top, left, bottom, right] = self.corners;
        write!(
            f,
            "class {} with score {:.3} at [{top:.3}, {left:.3}, {bottom:.3}, {right:.3}]",
            self.class, self.score
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAME: SameThing = SameThing {
        min_score: 0.5,
        iou: 0.9,
        score: 0.03,
    };

    fn found(rows: &[([f64; 4], f64, f64)]) -> Detections {
        let boxes = rows.iter().flat_map(|row| row.0).collect();
        let classes = rows.iter().map(|row| row.1).collect();
        let scores = rows.iter().map(|row| row.2).collect();
        Detections::new(&[boxes, classes, scores, vec![rows.len() as f64]]).unwrap()
    }

    const CAT: [f64; 4] = [0.1, 0.1, 0.9, 0.9];
    const CHAIR: [f64; 4] = [0.0, 0.0, 0.4, 0.4];

    #[test]
    fn rows_are_matched_in_any_order_and_low_scores_do_not_matter() {
        let recorded = found(&[(CAT, 16.0, 0.72), (CHAIR, 61.0, 0.6), (CAT, 1.0, 0.3)]);
        // The box of the cat is 0.8 by 0.8 and loses 0.02 of its width: 0.64 against 0.624.
        let narrower = [0.1, 0.1, 0.9, 0.88];
        let got = found(&[(CHAIR, 61.0, 0.61), (narrower, 16.0, 0.70)]);
        let largest = got.compare(&recorded, SAME).unwrap();
        assert!((largest - 0.02).abs() < 1e-9, "{largest}");
    }

    #[test]
    fn what_is_on_one_side_only_is_named() {
        let recorded = found(&[(CAT, 16.0, 0.72)]);
        for (got, reason) in [
            (found(&[]), "class 16 with score 0.720"),
            (found(&[(CAT, 17.0, 0.72)]), "class 16"),
            (found(&[(CHAIR, 16.0, 0.72)]), "class 16"),
            (found(&[(CAT, 16.0, 0.68)]), "class 16"),
            (
                found(&[(CAT, 16.0, 0.72), (CHAIR, 61.0, 0.55)]),
                "class 61 with score 0.550 at [0.000, 0.000, 0.400, 0.400] was found and is not",
            ),
        ] {
            let error = got.compare(&recorded, SAME).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_row_of_just_below_the_score_may_be_the_like_of_one_above() {
        let recorded = found(&[(CAT, 16.0, 0.49)]);
        let got = found(&[(CAT, 16.0, 0.51)]);
        assert!(got.compare(&recorded, SAME).is_ok());
    }

    #[test]
    fn outputs_that_are_no_detections_are_refused() {
        assert!(Detections::new(&[vec![0.0; 4]]).is_err());
        let odd = [vec![0.0; 3], vec![0.0], vec![0.0], vec![1.0]];
        assert!(Detections::new(&odd).is_err());
    }
}
