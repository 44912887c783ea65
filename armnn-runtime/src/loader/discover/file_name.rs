//! The naming scheme of backend files.

use std::cmp::Ordering;

/// The name of a backend's file, taken apart: `<vendor>_<name>_backend.so`, then optionally one
/// to three version numbers, each after a dot. Vendor and name consist of ASCII letters and
/// digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackendFileName {
    /// Who made it, for instance `Arm`.
    pub vendor: String,
    /// What it is, for instance `GpuAcc`; by custom the backend's id.
    pub name: String,
    /// The version numbers, without leading zeros; empty for a plain `.so`.
    pub version: Vec<String>,
}

impl BackendFileName {
    /// Takes `file_name` (without directories) apart; `None` when it does not follow the scheme.
    pub fn parse(file_name: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(file_name).ok()?;
        let (vendor, rest) = text.split_once('_')?;
        let (name, rest) = rest.split_once('_')?;
        let versions = rest.strip_prefix("backend.so")?;
        if !is_word(vendor) || !is_word(name) {
            return None;
        }
        let mut version = Vec::new();
        if !versions.is_empty() {
            for number in versions.strip_prefix('.')?.split('.') {
                if version.len() == 3
                    || number.is_empty()
                    || !number.bytes().all(|b| b.is_ascii_digit())
                {
                    return None;
                }
                version.push(without_leading_zeros(number).to_owned());
            }
        }
        Some(Self {
            vendor: vendor.to_owned(),
            name: name.to_owned(),
            version,
        })
    }

    /// The nearest name that follows the scheme; `None` where nothing of `file_name` can be kept.
    /// Letters and digits are kept in order: the first word is taken for the vendor, the others for
    /// the name; of a single word nobody knows whose it is, so that `Vendor` stands in.
    pub fn nearest(file_name: &[u8]) -> Option<String> {
        let text = String::from_utf8_lossy(file_name);
        let (stem, versions) = match text.find(".so") {
            Some(at) => (&text[..at], &text[at + ".so".len()..]),
            None => (&*text, ""),
        };
        let stem = stem.strip_prefix("lib").unwrap_or(stem);
        let mut words: Vec<&str> = stem
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        words.retain(|word| !["backend", "backends"].contains(&&*word.to_ascii_lowercase()));
        let (vendor, name) = match words.split_first()? {
            (only, []) => ("Vendor", (*only).to_owned()),
            (vendor, rest) => (*vendor, rest.concat()),
        };
        let numbers = versions
            .split(|c: char| !c.is_ascii_digit())
            .filter(|number| !number.is_empty());
        let mut nearest = format!("{vendor}_{name}_backend.so");
        for number in numbers.take(3) {
            nearest.push('.');
            nearest.push_str(number);
        }
        Some(nearest)
    }

    /// Which of two files of one vendor and name is tried first: a plain `.so`, then the highest
    /// version, compared as numbers.
    pub fn compare_versions(&self, other: &Self) -> Ordering {
        match (self.version.is_empty(), other.version.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            // A longer number is a larger one, and of equally long ones the digits decide, so
            // numbers of any length compare rightly.
            (false, false) => {
                let key =
                    |numbers: &[String]| numbers.iter().map(|n| (n.len(), n.clone())).collect();
                let (a, b): (Vec<_>, Vec<_>) = (key(&self.version), key(&other.version));
                b.cmp(&a)
            }
        }
    }
}

/// Whether `file_name` looks like an attempt at the scheme: it contains `backend`, or ends in
/// `.so` or `.so.` and a number.
pub(super) fn looks_like_a_backend(file_name: &[u8]) -> bool {
    file_name.ends_with(b".so")
        || contains(file_name, b"backend")
        || file_name
            .windows(5)
            .any(|w| &w[..4] == b".so." && w[4].is_ascii_digit())
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn without_leading_zeros(number: &str) -> &str {
    let stripped = number.trim_start_matches('0');
    if stripped.is_empty() { "0" } else { stripped }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str) -> Option<BackendFileName> {
        BackendFileName::parse(name.as_bytes())
    }

    #[test]
    fn names_of_the_scheme_are_taken_apart() {
        for (file, vendor, name, version) in [
            ("Arm_GpuAcc_backend.so", "Arm", "GpuAcc", &[][..]),
            ("Arm_GpuAcc_backend.so.1", "Arm", "GpuAcc", &["1"]),
            ("Arm_GpuAcc_backend.so.1.2", "Arm", "GpuAcc", &["1", "2"]),
            (
                "Arm_GpuAcc_backend.so.10.1.027",
                "Arm",
                "GpuAcc",
                &["10", "1", "27"],
            ),
            ("Arm123_GpuAcc_backend.so", "Arm123", "GpuAcc", &[]),
            ("Arm_GpuAcc456_backend.so", "Arm", "GpuAcc456", &[]),
            ("libArm_V_backend.so", "libArm", "V", &[]),
        ] {
            let parsed = parse(file).unwrap_or_else(|| panic!("{file} follows the scheme"));
            assert_eq!(parsed.vendor, vendor);
            assert_eq!(parsed.name, name);
            assert_eq!(parsed.version, version);
        }
    }

    #[test]
    fn names_outside_the_scheme_are_refused() {
        for file in [
            "Arm_GpuAcc_backend.so.10.1.33.",
            "Arm_GpuAcc_backend.so.3.4..5",
            "Arm_GpuAcc_backend.so.1,1.1",
            "Arm_GpuAcc_backend.so.1.2.3.4",
            "Arm_GpuAcc_backend.so.",
            "Arm_GpuAcc_backendXso",
            "Arm%Co_GpuAcc_backend.so",
            "Arm_Gpu.Acc_backend.so",
            "GpuAcc_backend.so",
            "_GpuAcc_backend.so",
            "Arm__backend.so",
            "Arm_GpuAcc.so",
            "__backend.so",
            "__.so",
            "Arm_GpuAcc_backend",
            "Arm_GpuAcc_backend_v1.2.so",
            "Ärm_GpuAcc_backend.so",
            "A_b_c_backend.so",
            "",
        ] {
            assert_eq!(parse(file), None, "{file}");
        }
        assert_eq!(BackendFileName::parse(b"Arm_\xff_backend.so"), None);
    }

    #[test]
    fn the_nearest_valid_name_keeps_what_there_is() {
        for (file, nearest) in [
            ("libarm_gpu_backend.so", "arm_gpu_backend.so"),
            ("libGpuAcc.so.1", "Vendor_GpuAcc_backend.so.1"),
            ("Arm_Gpu.Acc_backend.so", "Arm_GpuAcc_backend.so"),
            ("Arm_GpuAcc_backendXso", "Arm_GpuAccbackendXso_backend.so"),
            ("Arm-GpuAcc-backend.so", "Arm_GpuAcc_backend.so"),
            ("GpuAcc_backend.so", "Vendor_GpuAcc_backend.so"),
            (
                "Arm_GpuAcc_backend.so.1.2.3.4",
                "Arm_GpuAcc_backend.so.1.2.3",
            ),
            ("Arm_GpuAcc_backend.so.1,1.1", "Arm_GpuAcc_backend.so.1.1.1"),
            (
                "Arm_GpuAcc_backend.so.10.1.33.",
                "Arm_GpuAcc_backend.so.10.1.33",
            ),
            ("Arm_GpuAcc.so", "Arm_GpuAcc_backend.so"),
        ] {
            let found = BackendFileName::nearest(file.as_bytes()).unwrap();
            assert_eq!(found, nearest, "{file}");
            assert!(parse(&found).is_some(), "{found}");
        }
        for file in [
            &b"__backend.so"[..],
            b"backend",
            b".so",
            b"",
            b"\xff_backend.so",
        ] {
            assert_eq!(BackendFileName::nearest(file), None);
        }
    }

    #[test]
    fn attempts_are_told_from_unrelated_files() {
        for attempt in [
            "my-backend",
            "__.so",
            "libfoo.so.1",
            "Arm_GpuAcc_backendXso",
        ] {
            assert!(looks_like_a_backend(attempt.as_bytes()), "{attempt}");
        }
        for unrelated in ["README.md", "model.onnx", "a.so.txt", "so", ".so.", ""] {
            assert!(!looks_like_a_backend(unrelated.as_bytes()), "{unrelated}");
        }
    }

    #[test]
    fn versions_are_ordered_as_numbers_after_the_plain_name() {
        let mut files = [
            "A_B_backend.so.1",
            "A_B_backend.so.9.2",
            "A_B_backend.so.100000000000000000000000",
            "A_B_backend.so",
            "A_B_backend.so.10.1",
            "A_B_backend.so.1.2",
            "A_B_backend.so.10.1.3",
        ]
        .map(|file| (parse(file).unwrap(), file));
        files.sort_by(|(a, _), (b, _)| a.compare_versions(b));
        assert_eq!(
            files.map(|(_, file)| &file["A_B_backend.so".len()..]),
            [
                "",
                ".100000000000000000000000",
                ".10.1.3",
                ".10.1",
                ".9.2",
                ".1.2",
                ".1"
            ]
        );
    }
}
