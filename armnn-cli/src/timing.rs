//! Times and their statistics.

use std::time::{Duration, Instant};

use serde::Serialize;

/// Runs `work`, and tells how long it took.
///
/// # Errors
/// Those of `work`.
pub fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(T, Duration), E> {
    let start = Instant::now();
    let value = work()?;
    Ok((value, start.elapsed()))
}

/// A time in milliseconds, as reports hold them.
pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// What several times have in common, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Statistics {
    /// The shortest.
    pub min: f64,
    /// The middle one; the mean of the two in the middle of an even number.
    pub median: f64,
    /// The shortest that at least 95 % do not exceed.
    pub p95: f64,
    /// The longest.
    pub max: f64,
}

impl Statistics {
    /// The statistics of `times`; `None` when there are none.
    pub fn of(times: &[Duration]) -> Option<Self> {
        let mut sorted: Vec<f64> = times.iter().copied().map(milliseconds).collect();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let at = |index: usize| sorted.get(index).copied();
        Some(Self {
            min: at(0)?,
            median: (at((n - 1) / 2)? + at(n / 2)?) / 2.0,
            p95: at((n * 95).div_ceil(100) - 1)?,
            max: at(n - 1)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_milliseconds(times: impl IntoIterator<Item = u64>) -> Option<Statistics> {
        let times: Vec<_> = times.into_iter().map(Duration::from_millis).collect();
        Statistics::of(&times)
    }

    #[test]
    fn one_time_is_all_of_its_statistics() {
        let expected = Statistics {
            min: 7.0,
            median: 7.0,
            p95: 7.0,
            max: 7.0,
        };
        assert_eq!(of_milliseconds([7]), Some(expected));
        assert_eq!(of_milliseconds([]), None);
    }

    #[test]
    fn the_order_of_the_times_does_not_matter() {
        // 1 to 100: 95 of them are at most 95, and 50 and 51 are in the middle.
        let expected = Statistics {
            min: 1.0,
            median: 50.5,
            p95: 95.0,
            max: 100.0,
        };
        assert_eq!(of_milliseconds((1..=100).rev()), Some(expected));
        // 95 % of 3 are 2.85: all three.
        assert_eq!(of_milliseconds([3, 1, 2]).map(|s| s.p95), Some(3.0));
    }
}
