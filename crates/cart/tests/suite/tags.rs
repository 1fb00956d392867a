//! What a client had seen, signed by others and brought back.

use crate::support::*;
use abasto_cart::{Cart, Hlc, OperationError, PatchStep, Rid, Stamp, Subject, Tag, default_cap};

fn stamp(seq: u64) -> Stamp {
    Stamp {
        dot: dot(Rid::device(1), seq),
        hlc: Hlc::new(9, 0),
    }
}

fn tagged(
    cart: &Cart,
    operation: abasto_cart::Operation,
    tag: &Tag,
    seq: u64,
) -> Result<Cart, OperationError> {
    let step = PatchStep {
        operation,
        tag: Some(tag.clone()),
    };
    cart.patch(&[step], stamp(seq), &default_cap)
        .map_err(|error| error.error)
}

#[test]
fn the_change_depends_on_the_tag_and_not_on_where_it_arrives() {
    let mut server = Replica::new(100);
    server.make(&add("X", 5));
    server.make(&attribute("X", "old"));
    let tag = server.cart.tag(Subject::Line(line("X")), &default_cap);
    let tag = Tag::decode(&tag.encode()).unwrap();
    server.make(&inc("X", 2));
    let places = [server.cart.clone(), Cart::new()];
    for operation in [
        set("X", 3),
        inc("X", 1),
        dec("X", 1),
        remove("X"),
        attribute("X", "new"),
        add("X", 1),
    ] {
        let made = places
            .each_ref()
            .map(|place| tagged(place, operation.clone(), &tag, 1).unwrap().encode());
        assert_eq!(made[0], made[1], "{operation:?}");
    }
}

#[test]
fn a_tagged_removal_takes_what_was_seen_and_no_more() {
    let mut server = Replica::new(100);
    server.make(&add("X", 5));
    let tag = server.cart.tag(Subject::Line(line("X")), &default_cap);
    let other = Replica::new(7).make(&add("X", 2));
    server.cart.join(&other);
    assert_eq!(show(&server.cart), "X:7");
    let removed = tagged(&server.cart, remove("X"), &tag, 1).unwrap();
    assert_eq!(show(&joined(&server.cart, [&removed])), "X:2");
    let untagged = server
        .cart
        .clone()
        .apply(&remove("X"), stamp(1), &default_cap)
        .unwrap();
    assert_eq!(show(&joined(&server.cart, [&untagged])), "");
}

#[test]
fn a_tag_of_something_else_is_refused() {
    let mut server = Replica::new(100);
    server.make(&add("X", 5));
    server.make(&add("Y", 5));
    server.make(&coupon("C"));
    let tag = server.cart.tag(Subject::Line(line("Y")), &default_cap);
    for operation in [
        remove("X"),
        set("X", 1),
        abasto_cart::Operation::Clear,
        no_coupon("C"),
        field("f"),
    ] {
        assert_eq!(
            tagged(&server.cart, operation, &tag, 1),
            Err(OperationError::WrongTag)
        );
    }
    let coupon_tag = server.cart.tag(Subject::Coupon(name("C")), &default_cap);
    assert!(tagged(&server.cart, no_coupon("C"), &coupon_tag, 1).is_ok());
    let lines_tag = server.cart.tag(Subject::Lines, &default_cap);
    let later = Replica::new(7).make(&add("Z", 1));
    server.cart.join(&later);
    let cleared = tagged(&server.cart, abasto_cart::Operation::Clear, &lines_tag, 1).unwrap();
    assert_eq!(show(&joined(&server.cart, [&cleared])), "Z:1");
}

#[test]
fn tags_read_back_and_are_small() {
    let mut server = Replica::new(100);
    server.make(&add("65f0c0ffee65f0c0ffee65f0", 5));
    let subject = || Subject::Line(line("65f0c0ffee65f0c0ffee65f0"));
    let tag = server.cart.tag(subject(), &default_cap);
    assert!(
        tag.encode().len() <= 40,
        "{} bytes with 12 of them the product",
        tag.encode().len()
    );
    server.make(&attribute("65f0c0ffee65f0c0ffee65f0", "gift"));
    let tags = [
        server.cart.tag(subject(), &default_cap),
        server.cart.tag(subject(), &|_| units(3)),
        server.cart.tag(Subject::Lines, &default_cap),
        server.cart.tag(Subject::Coupon(name("C")), &default_cap),
        server.cart.tag(Subject::Field(name("note")), &default_cap),
    ];
    for tag in tags {
        let bytes = tag.encode();
        assert_eq!(Tag::decode(&bytes), Ok(tag));
        for end in 0..bytes.len() {
            assert!(Tag::decode(&bytes[..end]).is_err());
        }
    }
}

#[test]
fn the_tags_of_all_lines_are_those_of_each_line_in_the_order_of_the_view() {
    for seed in 0..40 {
        for cart in crate::simulation::sample(seed) {
            let cap = |_: &_| units(4);
            let each: Vec<Tag> = cart
                .view(&cap)
                .lines
                .into_iter()
                .map(|shown| cart.tag(Subject::Line(shown.line), &cap))
                .collect();
            assert_eq!(cart.line_tags(&cap), each);
        }
    }
}

/// A step from a quantity that the cap had cut starts from what was shown.
#[test]
fn steps_on_a_clamped_line_count_from_what_was_shown() {
    let mut base = Replica::new(100).capped(10);
    base.make(&add("X", 12));
    for (operation, shown) in [
        (dec("X", 1), "X:9"),
        (inc("X", 1), "X:10!"),
        (dec("X", 10), ""),
        (dec("X", 11), ""),
    ] {
        let mut place = base.fork(1);
        let delta = place.make(&operation);
        assert_eq!(
            show_capped(&in_every_order(&base.cart, &[delta]), 10),
            shown,
            "{operation:?}"
        );
    }
}
