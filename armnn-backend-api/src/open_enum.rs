//! Numbers with names that the other side may know more of.

/// Declares a newtype over `u32` with a named constant for each known number. Unlike a Rust
/// `enum` it can hold a number that is not known here. A number that came with a later minor than
/// 0 says so: `Name = number => since 2,`.
macro_rules! open_enum {
    (
        $(#[$meta:meta])*
        pub enum $Name:ident {
            $($(#[$variant_meta:meta])* $Variant:ident = $number:expr $(=> since $since:expr)?,)*
        }
    ) => {
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $Name(pub u32);

        #[allow(non_upper_case_globals)]
        impl $Name {
            $($(#[$variant_meta])* pub const $Variant: Self = Self($number);)*

            /// Every value that has a name here.
            pub const ALL: &'static [Self] = &[$(Self::$Variant),*];

            /// The name, if the number is a known one.
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$Variant => Some(stringify!($Variant)),)*
                    _ => None,
                }
            }

            /// The minor of the interface since which the number exists, if it is a known one.
            pub const fn since(self) -> Option<u32> {
                match self {
                    $(Self::$Variant => Some(0 $(+ $since)?),)*
                    _ => None,
                }
            }
        }

        impl ::core::fmt::Debug for $Name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(self, f)
            }
        }

        impl ::core::fmt::Display for $Name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self.name() {
                    Some(name) => f.pad(name),
                    None => write!(f, concat!(stringify!($Name), "({})"), self.0),
                }
            }
        }
    };
}
pub(crate) use open_enum;
