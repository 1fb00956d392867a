//! Contexts: compact, and never beyond a gap.

use crate::support::*;
use abasto_cart::{Context, Dot, Rid};
use std::collections::BTreeSet;

fn random_dots(rng: &mut Rng) -> BTreeSet<Dot> {
    let count = rng.below(14);
    (0..count)
        .map(|_| dot(Rid::device(rng.below(3) as u64), 1 + rng.below(8) as u64))
        .collect()
}

#[test]
fn a_context_is_the_set_of_its_dots() {
    let mut rng = Rng::new(6);
    for _ in 0..3_000 {
        let (a, b) = (random_dots(&mut rng), random_dots(&mut rng));
        let mut context = Context::from_dots(a.iter().copied());
        let other = Context::from_dots(b.iter().copied());
        assert_eq!(context.covers(&other), b.is_subset(&a));
        context.union(&other);
        let both: BTreeSet<Dot> = a.union(&b).copied().collect();
        for rid in 0..3 {
            for seq in 1..10 {
                let dot = dot(Rid::device(rid), seq);
                assert_eq!(
                    context.contains(dot),
                    both.contains(&dot),
                    "{both:?} and {dot:?}"
                );
            }
        }
        assert_eq!(
            context,
            Context::from_dots(both.iter().rev().copied()),
            "one form whatever the way"
        );
        assert_eq!(Context::decode(&context.encode()), Ok(context.clone()));
        assert!(
            context
                .cloud()
                .iter()
                .all(|dot| dot.seq() > context.run_of(dot.rid()) + 1)
        );
        assert_eq!(context.is_empty(), both.is_empty());
    }
}

#[test]
fn dots_have_bounds() {
    let rid = Rid::region(3);
    assert!(!rid.is_device() && Rid::device(3).is_device());
    assert_eq!(Dot::new(rid, 0), None);
    let last = Dot::new(rid, (1 << 53) - 1).unwrap();
    assert_eq!(last.later(0), Some(last));
    assert_eq!(last.later(1), None);
    assert_eq!(last.later(u64::MAX), None);
}
