//! The comparison of two type layouts, and its outcome in words.

use abi_stable::{
    abi_stability::abi_checking::{
        AbiInstability, AbiInstabilityError, CheckingGlobals, ExpectedFound,
        check_layout_compatibility_with_globals,
    },
    type_layout::{ReprAttr, TLFieldOrFunction, TLFunction, TypeLayout},
};

use super::FieldDifference;

/// Everything that differs between `found` and `expected` and the types that are reached from
/// them. The answer is owned text.
pub(super) fn differences(
    expected: &'static TypeLayout,
    found: &'static TypeLayout,
) -> Vec<FieldDifference> {
    // New ones each time: they keep references to layouts.
    let globals = CheckingGlobals::new();
    let Err(errors) = check_layout_compatibility_with_globals(expected, found, &globals) else {
        return Vec::new();
    };
    let mut differences = Vec::new();
    for error in &errors.errors {
        let place = Place::of(expected, found, error);
        for what in &error.errs {
            if let Some(difference) = describe(&place, what)
                && !differences.contains(&difference)
            {
                differences.push(difference);
            }
        }
    }
    differences
}

/// Where the checker found something.
struct Place {
    /// The innermost field or argument that has a name.
    text: String,
    /// The types there.
    expected: &'static TypeLayout,
    found: &'static TypeLayout,
    /// The names of the arguments, when it is the function itself: what differs is one of them, or
    /// its result.
    arguments: Option<ExpectedFound<Vec<&'static str>>>,
}

impl Place {
    fn of(
        expected: &'static TypeLayout,
        found: &'static TypeLayout,
        error: &AbiInstabilityError,
    ) -> Self {
        let mut place = Self {
            text: expected.name().to_owned(),
            expected,
            found,
            arguments: None,
        };
        for step in &error.stack_trace {
            match (&step.expected, &step.found) {
                (TLFieldOrFunction::Field(expected), TLFieldOrFunction::Field(found)) => {
                    place.text = place.member(expected.name());
                    place.arguments = None;
                    place.expected = expected.layout();
                    place.found = found.layout();
                }
                (TLFieldOrFunction::Function(expected), TLFieldOrFunction::Function(found)) => {
                    place.arguments = Some(ExpectedFound {
                        expected: argument_names(expected),
                        found: argument_names(found),
                    });
                }
                _ => {}
            }
        }
        place
    }

    /// Pointers, arrays and types that stand for others have none, and are looked through.
    fn has_named_fields(&self) -> bool {
        self.expected.repr_attr() == ReprAttr::C
    }

    /// A field of the type at this place, or an argument of the function there.
    fn member(&self, name: &str) -> String {
        if let Some(arguments) = &self.arguments {
            let argument = argument_name(name, &arguments.expected);
            format!("{}({argument})", self.text)
        } else if self.has_named_fields() {
            format!("{}.{name}", self.expected.name())
        } else {
            self.text.clone()
        }
    }

    /// The place as a whole: of a struct, its name says more than the way to it.
    fn whole(&self) -> String {
        if self.arguments.is_none()
            && self.has_named_fields()
            && self.expected.name() == self.found.name()
        {
            self.expected.name().to_owned()
        } else {
            self.text.clone()
        }
    }

    /// The fields of one side that the other lacks, and the reverse.
    fn field_names(&self) -> (Vec<&'static str>, Vec<&'static str>) {
        let names = |layout: &TypeLayout| -> Vec<&'static str> {
            let fields = layout.get_fields();
            fields.map_or(Vec::new(), |f| f.iter().map(|field| field.name()).collect())
        };
        let (expected, found) = (names(self.expected), names(self.found));
        let without = |these: &[&'static str], those: &[&'static str]| {
            let mut left = these.to_vec();
            left.retain(|name| !those.contains(name));
            left
        };
        (without(&expected, &found), without(&found, &expected))
    }
}

fn argument_names(function: &TLFunction) -> Vec<&'static str> {
    let names = function.param_names.as_str().split([',', ';']);
    names.filter(|name| !name.is_empty()).collect()
}

/// The name of an argument, which the checker calls by all names of the function if it is the
/// first, and by its number if it is not.
fn argument_name<'a>(name: &'a str, names: &[&'a str]) -> &'a str {
    if name == "__returns" {
        return "returns";
    }
    let number = match name.strip_prefix("param_") {
        Some(number) => number.parse::<usize>().ok(),
        None => Some(0),
    };
    number.and_then(|n| names.get(n).copied()).unwrap_or(name)
}

/// A version of the package is not one of the interface.
fn counts(what: &AbiInstability) -> bool {
    !matches!(
        what,
        AbiInstability::PackageVersion(_) | AbiInstability::PackageVersionParseError(_)
    )
}

fn describe(place: &Place, what: &AbiInstability) -> Option<FieldDifference> {
    use AbiInstability as What;
    if !counts(what) {
        return None;
    }
    let mut field = place.whole();
    let difference = match what {
        What::Name(types) => {
            field.clone_from(&place.text);
            format!("{} instead of {}", types.found, types.expected)
        }
        What::Package(names) => format!(
            "declared by package {} instead of {}",
            names.found, names.expected
        ),
        What::Size(sizes) => format!("{} bytes instead of {}", sizes.found, sizes.expected),
        What::Alignment(alignments) => format!(
            "aligned to {} bytes instead of {}",
            alignments.found, alignments.expected
        ),
        What::UnexpectedField(fields) => match &place.arguments {
            None => {
                field = place.member(fields.expected.name());
                format!("{} in its place", fields.found.name())
            }
            Some(names) if names.found.len() != names.expected.len() => return None,
            Some(names) => arguments(names),
        },
        What::FieldCountMismatch(counts) => match &place.arguments {
            None => field_count(place, counts),
            Some(names) => arguments(names),
        },
        What::MismatchedConstParam(lengths) => {
            format!(
                "{:?} elements instead of {:?}",
                lengths.found, lengths.expected
            )
        }
        What::FnQualifierMismatch(_) => "it is `unsafe` on one side only".to_owned(),
        What::MismatchedPrimitive(types) => {
            format!("{:?} instead of {:?}", types.found, types.expected)
        }
        What::ReprAttr(attributes) => format!(
            "representation {:?} instead of {:?}",
            attributes.found, attributes.expected
        ),
        What::TLDataDiscriminant(kinds) => {
            format!("a {:?} instead of a {:?}", kinds.found, kinds.expected)
        }
        _ => "declared in another way".to_owned(),
    };
    Some(FieldDifference { field, difference })
}

fn arguments(names: &ExpectedFound<Vec<&str>>) -> String {
    format!(
        "arguments ({}) instead of ({})",
        names.found.join(", "),
        names.expected.join(", ")
    )
}

fn field_count(place: &Place, counts: &ExpectedFound<usize>) -> String {
    let mut text = format!("{} fields instead of {}", counts.found, counts.expected);
    let (missing, further) = place.field_names();
    for (label, names) in [("without", missing), ("with", further)] {
        if !names.is_empty() {
            text.push_str(&format!(", {label} {}", names.join(", ")));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use abi_stable::StableAbi;

    use super::*;

    /// An interface in small: an object, its table, and a struct that is only pointed to.
    macro_rules! interface {
        ($name:ident { $($slots:tt)* }) => {
            interface!($name { $($slots)* } { rank: u32, reserved: u32, dims: [i64; 8] });
        };
        ($name:ident { $($slots:tt)* } { $($shape:tt)* }) => {
            mod $name {
                use abi_stable::StableAbi;

                #[repr(C)]
                #[derive(StableAbi)]
                pub struct Object {
                    table: *const Table,
                }

                #[repr(C)]
                #[derive(StableAbi)]
                pub struct Table {
                    struct_size: usize,
                    $($slots)*
                }

                #[repr(C)]
                #[derive(StableAbi)]
                #[allow(dead_code, reason = "what points to it may have changed")]
                pub struct Shape {
                    $($shape)*
                }
            }
        };
    }

    interface!(released {
        run: Option<unsafe extern "C" fn(object: *mut Object, n: usize, shape: *const Shape) -> i32>,
        describe: Option<unsafe extern "C" fn(object: *const Object, text: *mut *mut u8)>,
    });

    #[track_caller]
    fn assert_found(found: &'static TypeLayout, expected: &[&str]) {
        let differences = differences(released::Object::LAYOUT, found);
        let texts: Vec<String> = differences.iter().map(ToString::to_string).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn what_is_declared_twice_in_the_same_way_has_no_differences() {
        interface!(again {
            run: Option<
                unsafe extern "C" fn(object: *mut Object, n: usize, shape: *const Shape) -> i32,
            >,
            describe: Option<unsafe extern "C" fn(object: *const Object, text: *mut *mut u8)>,
        });
        assert_found(released::Object::LAYOUT, &[]);
        assert_found(again::Object::LAYOUT, &[]);
    }

    #[test]
    fn an_argument_of_another_type_is_named() {
        interface!(changed {
            run: Option<
                unsafe extern "C" fn(object: *mut Object, n: u32, shape: *const Shape) -> i32,
            >,
            describe: Option<unsafe extern "C" fn(object: *const Object, text: *mut *mut i8)>,
        });
        assert_found(
            changed::Object::LAYOUT,
            &[
                "Table.run(n): u32 instead of usize",
                "Table.describe(text): i8 instead of u8",
            ],
        );
    }

    #[test]
    fn a_result_of_another_type_is_named() {
        interface!(changed {
            run: Option<unsafe extern "C" fn(object: *mut Object, n: usize, shape: *const Shape)>,
            describe: Option<unsafe extern "C" fn(object: *const Object, text: *mut *mut u8)>,
        });
        assert_found(
            changed::Object::LAYOUT,
            &["Table.run(returns): () instead of i32"],
        );
    }

    #[test]
    fn a_function_with_another_number_of_arguments_is_named() {
        interface!(changed {
            run: Option<unsafe extern "C" fn(object: *mut Object, n: usize) -> i32>,
            describe: Option<
                unsafe extern "C" fn(object: *const Object, text: *mut *mut u8, len: usize),
            >,
        });
        assert_found(
            changed::Object::LAYOUT,
            &[
                "Table.run: arguments (object, n) instead of (object, n, shape)",
                "Table.describe: arguments (object, text, len) instead of (object, text)",
            ],
        );
    }

    #[test]
    fn arguments_with_other_names_are_named() {
        interface!(changed {
            run: Option<
                unsafe extern "C" fn(object: *mut Object, shape: usize, n: *const Shape) -> i32,
            >,
            describe: Option<unsafe extern "C" fn(object: *const Object, text: *mut *mut u8)>,
        });
        assert_found(
            changed::Object::LAYOUT,
            &["Table.run: arguments (object, shape, n) instead of (object, n, shape)"],
        );
    }

    #[test]
    fn a_function_that_is_not_unsafe_is_named() {
        interface!(changed {
            run: Option<extern "C" fn(object: *mut Object, n: usize, shape: *const Shape) -> i32>,
            describe: Option<unsafe extern "C" fn(object: *const Object, text: *mut *mut u8)>,
        });
        assert_found(
            changed::Object::LAYOUT,
            &["Table.run: it is `unsafe` on one side only"],
        );
    }

    #[test]
    fn fields_in_another_order_are_named() {
        interface!(changed {
            describe: Option<unsafe extern "C" fn(object: *const Object, text: *mut *mut u8)>,
            run: Option<
                unsafe extern "C" fn(object: *mut Object, n: usize, shape: *const Shape) -> i32,
            >,
        });
        assert_found(
            changed::Object::LAYOUT,
            &[
                "Table.run: describe in its place",
                "Table.describe: run in its place",
            ],
        );
    }

    #[test]
    fn a_field_that_only_one_side_has_is_named() {
        interface!(changed {
            run: Option<
                unsafe extern "C" fn(object: *mut Object, n: usize, shape: *const Shape) -> i32,
            >,
            describe: Option<unsafe extern "C" fn(object: *const Object, text: *mut *mut u8)>,
            extra: usize,
        } { rank: u32, reserved: u32 });
        assert_found(
            changed::Object::LAYOUT,
            &[
                "Table: 32 bytes instead of 24",
                "Table: 4 fields instead of 3, with extra",
                "Shape: 8 bytes instead of 72",
                "Shape: aligned to 4 bytes instead of 8",
                "Shape: 2 fields instead of 3, without dims",
            ],
        );
    }

    #[test]
    fn an_array_of_another_length_is_named() {
        interface!(changed {
            run: Option<
                unsafe extern "C" fn(object: *mut Object, n: usize, shape: *const Shape) -> i32,
            >,
            describe: Option<unsafe extern "C" fn(object: *const Object, text: *mut *mut u8)>,
        } { rank: u32, reserved: u32, dims: [i64; 6] });
        assert_found(
            changed::Object::LAYOUT,
            &[
                "Shape: 56 bytes instead of 72",
                "Shape.dims: 6 elements instead of 8",
                "Shape.dims: 48 bytes instead of 64",
            ],
        );
    }

    #[test]
    fn a_type_of_another_name_is_named() {
        assert_found(
            released::Shape::LAYOUT,
            &["Object: Shape instead of Object"],
        );
    }
}
