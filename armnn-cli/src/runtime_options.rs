//! Options with which a runtime is made: where backends are, and what is asked of them.

use std::{fmt, path::PathBuf, str::FromStr};

use anyhow::Context as _;
use armnn_runtime::{
    BackendId, BackendOption, BackendOptionValue, CreateError, CreationOptions, Runtime,
};
use clap::Args;

/// What a backend is asked for.
#[derive(Clone, Debug, Default, Args)]
pub struct BackendOptions {
    /// Give a backend an option; repeatable. VALUE is true or false, a number, or text; text that
    /// looks like one of those stands in double quotes
    #[arg(long = "backend-option", value_name = "BACKEND.NAME=VALUE")]
    pub backend_options: Vec<NamedBackendOption>,
}

/// An option for a backend, as it is written on the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedBackendOption {
    /// The backend.
    pub backend: BackendId,
    /// The option.
    pub option: BackendOption,
}

impl FromStr for NamedBackendOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let form = "an option has the form BACKEND.NAME=VALUE";
        let (key, value) = text
            .split_once('=')
            .ok_or_else(|| format!("{form}; there is no '=' here"))?;
        // Ids may contain dots, so the last one counts.
        let (backend, name) = key
            .rsplit_once('.')
            .ok_or_else(|| format!("{form}; there is no '.' before the '='"))?;
        if name.is_empty() {
            return Err(format!("{form}; the name is empty"));
        }
        let backend = BackendId::new(backend).map_err(|e| e.to_string())?;
        Ok(Self {
            backend,
            option: BackendOption::new(name, option_value(value)),
        })
    }
}

/// As it is written on the command line.
impl fmt::Display for NamedBackendOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}=", self.backend, self.option.name)?;
        match &self.option.value {
            BackendOptionValue::Bool(value) => write!(f, "{value}"),
            BackendOptionValue::Int(value) => write!(f, "{value}"),
            // With a point, or it would be an integer.
            BackendOptionValue::Float(value) => write!(f, "{value:?}"),
            BackendOptionValue::String(value) => write!(f, "\"{value}\""),
        }
    }
}

fn option_value(text: &str) -> BackendOptionValue {
    let quoted = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    if let Some(quoted) = quoted {
        return quoted.into();
    }
    if let Ok(value) = text.parse::<bool>() {
        return value.into();
    }
    if let Ok(value) = text.parse::<i64>() {
        return value.into();
    }
    match text.parse::<f64>() {
        // Words such as `inf` and `nan` are more likely meant as words.
        Ok(value) if value.is_finite() => value.into(),
        _ => text.into(),
    }
}

/// Makes the options of a runtime: with the directories made absolute, and with the backends that
/// are linked into the command.
///
/// # Errors
/// When the current directory, from which relative directories count, cannot be told.
pub fn creation_options(
    directories: &[PathBuf],
    backend_options: &BackendOptions,
) -> anyhow::Result<CreationOptions> {
    let mut options = CreationOptions::new();
    #[cfg(feature = "static-cpu-ref")]
    {
        let backend = armnn_runtime::StaticBackend::new::<cpu_ref::CpuRef>();
        options = options.static_backend(backend);
    }
    for directory in directories {
        let absolute = std::path::absolute(directory).with_context(|| {
            format!(
                "cannot make the directory of backends '{}' absolute; give its absolute path",
                directory.display()
            )
        })?;
        options = options.dynamic_backends_path(absolute);
    }
    for NamedBackendOption { backend, option } in &backend_options.backend_options {
        options = options.backend_option(backend.clone(), option.clone());
    }
    Ok(options)
}

/// Makes a runtime.
///
/// # Errors
/// When no backend can be used, with every path that was looked at, and what to do.
pub fn create_runtime(options: CreationOptions) -> anyhow::Result<Runtime> {
    Runtime::create(options).map_err(|error| match &error {
        CreateError::NoBackends { paths, .. } if paths.is_empty() => anyhow::anyhow!(
            "no backend can be used: this command has none of its own, and no directory was \
             searched; name the directory that holds the backends with -b DIR"
        ),
        CreateError::NoBackends { .. } => anyhow::anyhow!(
            "{error}\n`armnn backends list` tells more about each file, and \
             `armnn backends inspect FILE` about one"
        ),
        CreateError::OptionForMissingBackend { .. } => anyhow::Error::new(error).context(
            "the runtime cannot be made; `armnn backends list` tells which backends there are, and \
             why others cannot be used",
        ),
        _ => anyhow::Error::new(error).context("the runtime cannot be made"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(String, String, BackendOptionValue), String> {
        let named: NamedBackendOption = text.parse()?;
        let id = named.backend.to_string();
        Ok((id, named.option.name, named.option.value))
    }

    #[test]
    fn the_type_of_a_value_follows_from_how_it_is_written() {
        for (value, expected) in [
            ("true", BackendOptionValue::Bool(true)),
            ("-3", BackendOptionValue::Int(-3)),
            ("0.5", BackendOptionValue::Float(0.5)),
            ("1e3", BackendOptionValue::Float(1000.0)),
            ("fast", BackendOptionValue::String("fast".into())),
            ("inf", BackendOptionValue::String("inf".into())),
            ("\"3\"", BackendOptionValue::String("3".into())),
            ("a=b", BackendOptionValue::String("a=b".into())),
            ("", BackendOptionValue::String(String::new())),
        ] {
            let text = format!("GpuAcc.mode={value}");
            let expected = Ok(("GpuAcc".into(), "mode".into(), expected));
            assert_eq!(parse(&text), expected);
            let written = text.parse::<NamedBackendOption>().unwrap().to_string();
            assert_eq!(parse(&written), expected, "{written}");
        }
    }

    #[test]
    fn the_last_dot_separates_backend_and_name() {
        let (backend, name, _) = parse("My.Npu.2.cache=x.y").unwrap();
        assert_eq!((backend.as_str(), name.as_str()), ("My.Npu.2", "cache"));
    }

    #[test]
    fn what_is_no_option_says_what_one_looks_like() {
        for text in [
            "GpuAcc.fast",
            "fast=1",
            "GpuAcc.=1",
            ".fast=1",
            "a/b.fast=1",
        ] {
            let error = parse(text).unwrap_err();
            assert!(
                error.contains("BACKEND.NAME=VALUE") || error.contains("backend id"),
                "{text}: {error}"
            );
        }
    }
}
