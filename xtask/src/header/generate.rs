//! The text of the header: cbindgen's declarations between a prelude and an epilogue in C, with
//! what cbindgen cannot know added.

use std::{collections::HashMap, fmt::Write as _, path::Path};

use anyhow::{Context as _, ensure};
use armnn_backend_api::sys::{
    ARMNN_API_MAJOR, ARMNN_API_MINOR,
    layout::{LAYOUT_HASHES, STRUCTS},
};

const PRELUDE: &str = include_str!("prelude.h");
const EPILOGUE: &str = include_str!("epilogue.h");

/// The modules of `sys` that hold declarations, in the order in which they appear in the header.
const MODULES: [&str; 15] = [
    "mod",
    "constants",
    "values",
    "graph",
    "execution",
    "compilation",
    "backend",
    "descriptors",
    "detection_descriptors",
    "normalization_descriptors",
    "rearrangement_descriptors",
    "selection_descriptors",
    "sequence_descriptors",
    "window_descriptors",
    "note",
];

/// Types that are no boundary structs and that no boundary struct mentions.
const FURTHER_TYPES: [&str; 4] = [
    "ArmnnNote",
    "ArmnnGetBackendIdFunction",
    "ArmnnGetVersionFunction",
    "ArmnnBackendFactoryFunction",
];

/// The header made from `api`, the folder of the crate `armnn-backend-api`.
///
/// # Errors
/// When cbindgen fails, or left out a boundary struct or a constant.
pub fn header(api: &Path) -> anyhow::Result<String> {
    let sys = api.join("src/sys");
    let raw = declarations(&api.join("cbindgen.toml"), &sys)?;
    let comments = section_comments(&sys.join("constants.rs"))?;

    let mut header = PRELUDE.to_owned();
    header.push_str("\n// Every struct, before any is defined.\n");
    for line in raw.lines() {
        if let Some((keyword, name)) = definition(line) {
            writeln!(header, "typedef {keyword} {name} {name};")?;
        }
    }
    // A blank line ends each item. Constants stand line by line, in groups.
    let mut documented = false;
    for item in noexcept_pointers(&raw).split_terminator("\n\n") {
        let (docs, last) = item.rsplit_once('\n').unwrap_or(("", item));
        let constant = last.strip_prefix("#define ");
        let comment = match constant.and_then(|c| c.split_once(' ')) {
            Some((name, _)) => comments.get(name),
            None => None,
        };
        let undocumented_before = !std::mem::replace(&mut documented, !docs.is_empty());
        if constant.is_none() || comment.is_some() || (undocumented_before && documented) {
            header.push('\n');
        }
        header.push_str(comment.map_or("", String::as_str));
        let Some(constant) = constant else {
            for line in item.lines() {
                writeln!(header, "{}", plain_links(&without_keywords(line)))?;
            }
            continue;
        };
        let (name, value) = constant
            .split_once(' ')
            .with_context(|| format!("cbindgen wrote a constant without value: {last}"))?;
        for line in docs.lines() {
            writeln!(header, "{}", plain_links(line))?;
        }
        writeln!(header, "#define {name} {}", number(name, value)?)?;
    }
    writeln!(
        header,
        "\n/// The layout hash of interface {ARMNN_API_MAJOR}.{ARMNN_API_MINOR}, which the note carries."
    )?;
    writeln!(
        header,
        "#define ARMNN_LAYOUT_HASH UINT64_C({:#018x})\n",
        LAYOUT_HASHES[ARMNN_API_MINOR as usize]
    )?;
    header.push_str(EPILOGUE);
    header.push_str(&assertions()?);
    header.push_str("\n#ifdef __cplusplus\n}\n#endif\n\n#endif // ARMNN_BACKEND_H\n");

    for layout in STRUCTS {
        ensure!(
            header.contains(&format!("struct {} {{", layout.name)),
            "cbindgen left out {}: is its file among the modules in xtask/src/header/generate.rs?",
            layout.name
        );
    }
    Ok(header)
}

fn declarations(config: &Path, sys: &Path) -> anyhow::Result<String> {
    let mut config = cbindgen::Config::from_file(config)
        .map_err(anyhow::Error::msg)
        .with_context(|| format!("reading {}", config.display()))?;
    let structs = STRUCTS.iter().map(|s| s.name);
    config
        .export
        .include
        .extend(structs.chain(FURTHER_TYPES).map(str::to_owned));
    let mut builder = cbindgen::Builder::new().with_config(config);
    for module in MODULES {
        builder = builder.with_src(sys.join(format!("{module}.rs")));
    }
    let bindings = builder
        .generate()
        .with_context(|| format!("making C declarations from {}", sys.display()))?;
    let mut out = Vec::new();
    bindings.write(&mut out);
    String::from_utf8(out).context("cbindgen wrote something that is not UTF-8")
}

/// The plain comments that stand before groups of constants, by the constant that follows. cbindgen
/// keeps only documentation comments.
fn section_comments(constants: &Path) -> anyhow::Result<HashMap<String, String>> {
    let source = std::fs::read_to_string(constants)
        .with_context(|| format!("reading {}", constants.display()))?;
    let mut comments = HashMap::new();
    let mut comment = String::new();
    for line in source.lines() {
        if line.starts_with("// ") {
            comment.push_str(line);
            comment.push('\n');
        } else if let Some(rest) = line.strip_prefix("pub const ") {
            if let Some((name, _)) = rest.split_once(':')
                && !comment.is_empty()
            {
                comments.insert(name.to_owned(), std::mem::take(&mut comment));
            }
        } else if !line.starts_with("///") {
            comment.clear();
        }
    }
    Ok(comments)
}

/// Keyword and name, if a line begins the definition of a struct or union.
fn definition(line: &str) -> Option<(&str, &str)> {
    let (keyword, rest) = line.split_once(' ')?;
    if !matches!(keyword, "struct" | "union") {
        return None;
    }
    let name = rest.strip_suffix(" {")?.rsplit(' ').next()?;
    Some((keyword, name))
}

/// All types are declared at the top, so only definitions need their keyword.
fn without_keywords(line: &str) -> String {
    if definition(line).is_some() || line.trim_start().starts_with("//") {
        line.to_owned()
    } else {
        line.replace("struct ", "").replace("union ", "")
    }
}

/// Statuses are signed, everything else is not; numbers with a pattern are written so.
fn number(name: &str, value: &str) -> anyhow::Result<String> {
    let number: u64 = value
        .parse()
        .with_context(|| format!("the constant {name} is no plain number: {value}"))?;
    Ok(if name.starts_with("ARMNN_STATUS_") {
        number.to_string()
    } else if number > 0xffff {
        format!("{number:#010x}u")
    } else {
        format!("{number}u")
    })
}

/// Links of rustdoc to the text they show.
fn plain_links(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, link)) = rest.split_once("[`") {
        let Some((text, after)) = link.split_once("`]") else {
            break;
        };
        out.push_str(before);
        out.push_str(text);
        rest = after;
        if let Some((_, after)) = after.strip_prefix('(').and_then(|a| a.split_once(')')) {
            rest = after;
        }
    }
    out + rest
}

/// Adds `ARMNN_NOEXCEPT` after the parameters of every pointer to a function.
fn noexcept_pointers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // For each open parenthesis: whether it holds the parameters of a pointer to a function.
    let mut open = Vec::new();
    let mut pointer_name_closed = false;
    for line in text.lines() {
        if line.trim_start().starts_with("//") {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        let mut characters = line.chars().peekable();
        while let Some(c) = characters.next() {
            out.push(c);
            match c {
                '(' if characters.peek() == Some(&'*') => open.push(Parenthesis::Name),
                '(' if pointer_name_closed => open.push(Parenthesis::Parameters),
                '(' => open.push(Parenthesis::Other),
                ')' => {
                    let closed = open.pop();
                    if closed == Some(Parenthesis::Parameters) {
                        out.push_str(" ARMNN_NOEXCEPT");
                    }
                    pointer_name_closed = closed == Some(Parenthesis::Name);
                    continue;
                }
                _ => {}
            }
            pointer_name_closed = false;
        }
        out.push('\n');
    }
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Parenthesis {
    Name,
    Parameters,
    Other,
}

/// The compiler of the backend checks what the layout hash vouches for.
fn assertions() -> anyhow::Result<String> {
    let mut out = String::from(
        "// The layout that the hash stands for.\n\n#if UINTPTR_MAX == 0xffffffffffffffffu\n",
    );
    writeln!(
        out,
        "#define ARMNN_ASSERT_SIZE(Type, size)                                                              \\\n    \
         ARMNN_STATIC_ASSERT(sizeof(Type) == (size), \"size of \" #Type)\n\
         #define ARMNN_ASSERT_FIELD(Type, field, offset, size)                                              \\\n    \
         ARMNN_STATIC_ASSERT(offsetof(Type, field) == (offset) &&                                       \\\n                            \
         sizeof(((Type *)NULL)->field) == (size),                               \\\n                        \
         \"layout of \" #Type \".\" #field)"
    )?;
    for layout in STRUCTS {
        writeln!(out, "ARMNN_ASSERT_SIZE({}, {});", layout.name, layout.size)?;
        for field in layout.fields {
            writeln!(
                out,
                "ARMNN_ASSERT_FIELD({}, {}, {}, {});",
                layout.name, field.name, field.offset, field.size
            )?;
        }
    }
    writeln!(
        out,
        "ARMNN_ASSERT_SIZE(ArmnnNote, 20 + ARMNN_NOTE_DESCRIPTOR_SIZE);\n\
         #undef ARMNN_ASSERT_SIZE\n#undef ARMNN_ASSERT_FIELD\n#endif"
    )?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pointer_to_a_function_is_marked_also_within_another() {
        let text =
            "/// (*no)(comment)\nvoid (*f)(int a,\n          void (*g)(void),\n          int b);\n";
        assert_eq!(
            noexcept_pointers(text),
            "/// (*no)(comment)\nvoid (*f)(int a,\n          void (*g)(void) ARMNN_NOEXCEPT,\n          \
             int b) ARMNN_NOEXCEPT;\n"
        );
    }

    #[test]
    fn links_become_their_text() {
        assert_eq!(
            plain_links("/// a [`B`](c::B) d [`E`] [f]"),
            "/// a B d E [f]"
        );
    }

    #[test]
    fn numbers_other_than_statuses_are_unsigned() {
        assert_eq!(number("ARMNN_STATUS_ERROR", "1").unwrap(), "1");
        assert_eq!(
            number("ARMNN_NO_TENSOR", "4294967295").unwrap(),
            "0xffffffffu"
        );
        assert!(number("ARMNN_X", "a + b").is_err());
    }
}
