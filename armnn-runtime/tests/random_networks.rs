//! Random networks with everything that a network can have: whatever they are, they are refused or
//! executed, within a limit of memory, and to the same outputs with and without passes.

mod random_programs;

use random_programs::{Outcome, Random, check};

const NETWORKS: u64 = 3000;

#[test]
fn random_networks_are_refused_or_give_the_same_outputs_with_and_without_passes() {
    let (mut networks, mut loaded, mut executed, mut smaller) = (0, 0, 0, 0);
    for seed in 0..NETWORKS {
        // Shown if the test fails.
        println!("seed {seed}");
        let outcome: Outcome = check(&mut Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        networks += u64::from(outcome.is_network);
        loaded += u64::from(outcome.is_loaded);
        executed += u64::from(outcome.is_executed);
        smaller += u64::from(outcome.removed > 0);
    }
    eprintln!("{networks} networks, {loaded} loaded, {executed} executed, {smaller} made smaller");
    // The test means something only if not everything was refused.
    assert!(
        executed > NETWORKS / 20 && smaller > NETWORKS / 100,
        "{executed} executed, {smaller} made smaller"
    );
}
