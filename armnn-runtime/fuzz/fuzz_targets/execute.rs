//! Whatever a network is made of, it is refused or executed, without a panic and within a limit of
//! memory, and to the same outputs with and without passes. The bytes are the choices by which the
//! network is made.
//!
//! ```sh
//! cargo +nightly fuzz run execute
//! ```

#![no_main]

#[path = "../../tests/random_programs/mod.rs"]
mod random_programs;

use libfuzzer_sys::fuzz_target;
use random_programs::{Random, check};

fuzz_target!(|data: &[u8]| {
    check(&mut Random::given(data));
});
