//! Does a host hold more the longer it runs?
//!
//! A program of its own with one test: what is counted is the whole process's.

use std::fs;

use tidegate_tests::live::World;

/// How often a server comes and goes: a few times that fill what is kept for good, and the rest.
const CYCLES: [usize; 2] = [10, 50];

#[test]
fn a_server_that_comes_and_goes_leaves_no_descriptor_and_no_thread() {
    // L10
    let world = World::default();
    world.run(&[("s", world.scripted(&[]))], async |host| {
        let mut after = Vec::new();
        for cycles in CYCLES {
            for _ in 0..cycles {
                host.disconnect("s").await;
                host.connect("s").await;
            }
            after.push(held());
        }
        // Threads for short jobs come and go; what leaks one a time leaks fifty.
        let grown = after[0].iter().zip(after[1]).any(|(few, many)| many > few + CYCLES[1] / 2);
        assert!(!grown, "{after:?}");
    });
}

/// How many descriptors and threads this process has.
fn held() -> [usize; 2] {
    ["fd", "task"].map(|of| fs::read_dir(format!("/proc/self/{of}")).expect("a folder").count())
}
