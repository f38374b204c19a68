//! Random stories: does any break a law, and does every one converge?

mod failed;

use proptest::prelude::*;
use tidegate_core::hub::policy::Policy;
use tidegate_sim::choices::{Bytes, Seeded};
use tidegate_sim::story::{self, Step};
use tidegate_sim::violation::Violation;

use failed::kept;

/// The choices behind a story: the bytes of its beginning, and those of each step. proptest
/// shrinks both; bytes that run out mean the simplest.
fn choices() -> impl Strategy<Value = (Vec<u8>, Vec<[u8; 4]>)> {
    (
        proptest::collection::vec(any::<u8>(), 0..80),
        proptest::collection::vec(any::<[u8; 4]>(), 0..60),
    )
}

fn tell(name: &str, policy: Policy, scene: &[u8], steps: &[[u8; 4]]) -> Result<(), Violation> {
    let scene = story::scene(&mut Bytes::new(scene), policy);
    let steps: Vec<Step> = steps.iter().map(|step| Step::choose(&mut Bytes::new(step))).collect();
    let mut world = scene.world();
    let told = steps.iter().try_for_each(|step| world.apply(*step)).and_then(|()| world.settle());
    told.map_err(|violation| kept(violation, name, &format!("\n{scene}\n{steps:?}")))
}

fn fails(violation: Violation) -> TestCaseError {
    TestCaseError::fail(violation.to_string())
}

proptest! {
    // Failures are kept as traces under `traces/`, because a seed means another story when the
    // generator changes.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_story_keeps_the_laws_and_settles((scene, steps) in choices()) {
        tell("best", Policy::default(), &scene, &steps).map_err(fails)?;
    }

    #[test]
    fn every_story_does_so_under_the_documented_policy((scene, steps) in choices()) {
        tell("documented", Policy::documented(), &scene, &steps).map_err(fails)?;
    }
}

/// Long stories. `SEED=17` tells one of them again, `SOAK=100000` many.
#[test]
fn soak() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SOAK").unwrap_or(200),
    };
    for seed in seeds {
        let mut choices = Seeded::new(seed);
        let policy = if seed % 2 == 0 { Policy::default() } else { Policy::documented() };
        let mut world = story::scene(&mut choices, policy).world();
        let told = (0..400)
            .try_for_each(|_| world.apply(Step::choose(&mut choices)))
            .and_then(|()| world.settle());
        if let Err(violation) = told {
            panic!("{:?}", kept(violation, &format!("soak-{seed}"), &format!("SEED={seed}")));
        }
    }
}
