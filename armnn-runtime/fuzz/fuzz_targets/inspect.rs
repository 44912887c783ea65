//! Whatever a file contains, looking at it must end soon, without a panic and without using more
//! memory than a fixed amount.
//!
//! ```sh
//! cargo +nightly fuzz run inspect corpus/inspect seeds/inspect -- -max_len=4096
//! ```
//!
//! `seeds/inspect` is the committed corpus: few, small files, which the test `loader_inspect_corpus`
//! replays with any compiler. To bring in what a longer run found, smallest first:
//!
//! ```sh
//! cargo +nightly fuzz run inspect seeds/inspect corpus/inspect -- -merge=1 -use_counters=0 -max_len=4096
//! ```

#![no_main]

use armnn_runtime::loader::inspect::{HostInterface, inspect};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let inspection = inspect(&data, HostInterface::CURRENT);
    // Nothing can have been read that is not there.
    assert!(inspection.refusal().is_some() || inspection.exports.len() == 3);
});
