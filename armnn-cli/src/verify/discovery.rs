//! Where recorded cases are.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use walkdir::WalkDir;

/// The names that a model of a case has.
pub const MODEL_NAMES: [&str; 2] = ["model.onnx", "model.tflite"];

/// A model with recorded values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The path of its folder below the one that was searched; the folder's own name where that
    /// is the one that was searched.
    pub name: String,
    /// The model.
    pub model: PathBuf,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The cases, by name.
    pub cases: Vec<Case>,
    /// Models beside which nothing is recorded.
    pub without_recordings: Vec<PathBuf>,
}

/// Values that were recorded together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// The folder they are in below the model's; empty where they are beside it.
    pub name: String,
    /// The files of the inputs, in the model's order.
    pub inputs: Vec<PathBuf>,
    /// The files of the outputs.
    pub outputs: Vec<PathBuf>,
}

/// Searches folders for cases. Links are followed.
///
/// # Errors
/// When a folder is not there or cannot be read.
pub fn search(paths: &[PathBuf]) -> anyhow::Result<Found> {
    let mut found = Found::default();
    for root in paths {
        search_one(root, &mut found)?;
    }
    let mut seen = HashSet::new();
    found.cases.retain(|case| seen.insert(case.model.clone()));
    // Cases of one name in several folders are told apart by their paths.
    let mut count: HashMap<String, usize> = HashMap::new();
    for case in &found.cases {
        *count.entry(case.name.clone()).or_default() += 1;
    }
    for case in &mut found.cases {
        if count.get(&case.name).is_some_and(|&n| n > 1) {
            case.name = case.model.display().to_string();
        }
    }
    found.cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn search_one(root: &Path, found: &mut Found) -> anyhow::Result<()> {
    let shown = root.display();
    let metadata = std::fs::metadata(root)
        .with_context(|| format!("cannot search '{shown}' for recorded cases; check the path"))?;
    if !metadata.is_dir() {
        bail!(
            "cannot search '{shown}' for recorded cases: it is no folder; name the folder that \
             holds the model"
        );
    }
    for entry in WalkDir::new(root).follow_links(true).sort_by_file_name() {
        let entry = match entry {
            Ok(entry) => entry,
            // What a link leads back to is searched anyway.
            Err(error) if error.loop_ancestor().is_some() => continue,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot search all of '{shown}'"));
            }
        };
        let is_model = entry.file_type().is_file()
            && MODEL_NAMES.iter().any(|name| entry.file_name() == *name);
        if !is_model {
            continue;
        }
        let model = entry.into_path();
        // What is wrong with recorded files is told by the case.
        if recordings(&model).is_ok_and(|recordings| recordings.is_empty()) {
            found.without_recordings.push(model);
        } else {
            let name = case_name(root, &model);
            found.cases.push(Case { name, model });
        }
    }
    Ok(())
}

fn case_name(root: &Path, model: &Path) -> String {
    let folder = model.parent().unwrap_or(root);
    let below = folder.strip_prefix(root).unwrap_or(folder);
    let mut name = if below.as_os_str().is_empty() {
        // The root may be `.`, which has no name of its own.
        let absolute = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let own = absolute.file_name().unwrap_or(root.as_os_str());
        own.to_string_lossy().into_owned()
    } else {
        below.to_string_lossy().into_owned()
    };
    // Two models in one folder are two cases.
    if MODEL_NAMES
        .iter()
        .all(|model_name| folder.join(model_name).is_file())
        && let Some(file) = model.file_name()
    {
        name.push('/');
        name.push_str(&file.to_string_lossy());
    }
    name
}

/// The values that are recorded for a model: those beside it, and those in `test_data_set_N`.
///
/// # Errors
/// When its folder cannot be read, or files are numbered with a gap or twice.
pub fn recordings(model: &Path) -> anyhow::Result<Vec<Recording>> {
    let folder = model.parent().unwrap_or(Path::new("."));
    let mut recordings = Vec::new();
    let (mut inputs, mut outputs) = (Numbered::default(), Numbered::default());
    let mut sets = BTreeMap::new();
    for (name, path) in entries(folder)? {
        if let Some(index) = array_index(&name, "in") {
            inputs.add(index, path)?;
        } else if let Some(index) = array_index(&name, "out") {
            outputs.add(index, path)?;
        } else if let Some(number) = name.strip_prefix("test_data_set_")
            && let Ok(number) = number.parse::<u32>()
            && path.is_dir()
        {
            sets.insert(number, (name, path));
        }
    }
    if !outputs.0.is_empty() {
        recordings.push(Recording {
            name: String::new(),
            inputs: inputs.in_order()?,
            outputs: outputs.in_order()?,
        });
    }
    for (name, path) in sets.into_values() {
        let (mut inputs, mut outputs) = (Numbered::default(), Numbered::default());
        for (file, path) in entries(&path)? {
            if let Some(index) = tensor_index(&file, "input_") {
                inputs.add(index, path)?;
            } else if let Some(index) = tensor_index(&file, "output_") {
                outputs.add(index, path)?;
            }
        }
        recordings.push(Recording {
            name,
            inputs: inputs.in_order()?,
            outputs: outputs.in_order()?,
        });
    }
    Ok(recordings)
}

/// The files `out0.npy`, `out1.npy`, … (or `.pb`), or `output_0.pb`, `output_1.pb`, … in a folder.
///
/// # Errors
/// When it cannot be read, or files are numbered with a gap or twice.
pub fn recorded_outputs(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut outputs = Numbered::default();
    for (name, path) in entries(folder)? {
        if let Some(index) = array_index(&name, "out").or_else(|| tensor_index(&name, "output_")) {
            outputs.add(index, path)?;
        }
    }
    outputs.in_order()
}

/// The names and paths in a folder, sorted; names that are no text are none of a recording.
fn entries(folder: &Path) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let cannot = || format!("cannot read the folder '{}'", folder.display());
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(cannot)? {
        let entry = entry.with_context(cannot)?;
        if let Ok(name) = entry.file_name().into_string() {
            entries.push((name, entry.path()));
        }
    }
    entries.sort();
    Ok(entries)
}

/// The number in `in3.npy` or `in3_name.npy`; or `.pb`, for what is no tensor of numbers.
fn array_index(name: &str, prefix: &str) -> Option<usize> {
    let rest = name.strip_prefix(prefix)?;
    let rest = rest
        .strip_suffix(".npy")
        .or_else(|| rest.strip_suffix(".pb"))?;
    let digits = rest.split_once('_').map_or(rest, |(digits, _)| digits);
    parse_index(digits)
}

/// The number in `input_3.pb`.
fn tensor_index(name: &str, prefix: &str) -> Option<usize> {
    parse_index(name.strip_prefix(prefix)?.strip_suffix(".pb")?)
}

fn parse_index(digits: &str) -> Option<usize> {
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok())?
}

/// Files by their numbers.
#[derive(Default)]
struct Numbered(BTreeMap<usize, PathBuf>);

impl Numbered {
    fn add(&mut self, index: usize, path: PathBuf) -> anyhow::Result<()> {
        if let Some(other) = self.0.get(&index) {
            bail!(
                "both '{}' and '{}' have the number {index}",
                other.display(),
                path.display()
            );
        }
        self.0.insert(index, path);
        Ok(())
    }

    fn in_order(self) -> anyhow::Result<Vec<PathBuf>> {
        for (expected, (index, path)) in self.0.iter().enumerate() {
            if *index != expected {
                bail!(
                    "there is '{}', and no file with the number {expected}",
                    path.display()
                );
            }
        }
        Ok(self.0.into_values().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn put(root: &Path, files: &[&str]) {
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
    }

    fn names(found: &Found) -> Vec<&str> {
        found.cases.iter().map(|c| c.name.as_str()).collect()
    }

    #[test]
    fn cases_of_both_layouts_are_found_at_any_depth() {
        let root = tempfile::tempdir().unwrap();
        put(
            root.path(),
            &[
                "a/model.onnx",
                "a/test_data_set_0/input_0.pb",
                "a/test_data_set_0/output_0.pb",
                "b/c/model.tflite",
                "b/c/in0_x.npy",
                "b/c/out0.npy",
                "d/model.onnx",
                "e/other.onnx",
                "e/out0.npy",
            ],
        );
        let found = search(&[root.path().to_owned()]).unwrap();
        assert_eq!(names(&found), ["a", "b/c"]);
        assert_eq!(found.without_recordings, [root.path().join("d/model.onnx")]);
        // The folder of one case is searched just so.
        let found = search(&[root.path().join("b/c")]).unwrap();
        assert_eq!(names(&found), ["c"]);
    }

    #[test]
    fn two_cases_of_one_name_are_told_apart_and_one_found_twice_is_one() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), &["1/x/model.onnx", "1/x/out0.npy"]);
        put(root.path(), &["2/x/model.onnx", "2/x/out0.npy"]);
        let (one, two) = (root.path().join("1"), root.path().join("2"));
        let found = search(&[one.clone(), two]).unwrap();
        assert_eq!(found.cases.len(), 2);
        assert!(found.cases[0].name.ends_with("1/x/model.onnx"));
        assert!(found.cases[1].name.ends_with("2/x/model.onnx"));
        let found = search(&[one.clone(), one]).unwrap();
        assert_eq!(found.cases.len(), 1);
    }

    #[test]
    fn files_are_in_the_order_of_their_numbers() {
        let root = tempfile::tempdir().unwrap();
        let outputs: Vec<String> = (0..12).map(|i| format!("out{i}_o.npy")).collect();
        let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
        put(root.path(), &["model.onnx", "inside.npy", "in.npy"]);
        put(root.path(), &outputs);
        let found = recordings(&root.path().join("model.onnx")).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].inputs, [] as [PathBuf; 0]);
        assert_eq!(found[0].outputs.len(), 12);
        assert_eq!(found[0].outputs[10], root.path().join("out10_o.npy"));
    }

    #[test]
    fn a_gap_and_a_number_that_is_there_twice_are_errors() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), &["model.onnx", "out1.npy"]);
        let model = root.path().join("model.onnx");
        let error = recordings(&model).unwrap_err().to_string();
        assert!(error.contains("no file with the number 0"), "{error}");
        put(root.path(), &["out0.npy", "out0_x.npy"]);
        let error = recordings(&model).unwrap_err().to_string();
        assert!(error.contains("have the number 0"), "{error}");
    }

    #[test]
    fn what_cannot_be_searched_is_an_error() {
        let error = search(&["no/such".into()]).unwrap_err().to_string();
        assert!(error.contains("'no/such'"), "{error}");
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = search(&[file.path().to_owned()]).unwrap_err().to_string();
        assert!(error.contains("no folder"), "{error}");
    }
}
