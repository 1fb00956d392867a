//! Returns: never more than was sold minus what came back.

use abasto_domain::order::Order;
use abasto_domain::order_return::{Fate, ReturnRejection, ReturnedItem, take_back};
use abasto_domain::order_state::Status;
use abasto_domain::stock::StockChange;

use crate::sample::{NOW, ids, units, unpaid_order};

fn delivered() -> Order {
    let mut order = unpaid_order();
    order.status = Status::Delivered;
    order
}

fn item(order: &Order, quantity: i64, fate: Fate) -> ReturnedItem {
    ReturnedItem {
        product: order.lines[0].product,
        quantity: units(quantity),
        fate,
    }
}

fn net(stock: &[StockChange]) -> (i64, i64) {
    let available = stock.iter().map(|it| it.available).sum();
    (available, stock.iter().map(|it| it.reserved).sum())
}

#[test]
fn units_come_back_once() {
    let order = delivered();
    let two = [item(&order, 2, Fate::Restock)];
    let back = take_back(&order, &two, "broken".into(), NOW, &mut ids()).unwrap();
    assert_eq!(net(&back.stock), (2, 0));
    assert_eq!(back.order.stamp.version, order.stamp.version + 1);
    let one = [item(&order, 1, Fate::Restock)];
    let again = take_back(&back.order, &one, "broken".into(), NOW, &mut ids());
    let left = vec![(order.lines[0].product, 0)];
    assert_eq!(again.unwrap_err(), ReturnRejection::NothingLeft(left));
}

#[test]
fn units_that_are_not_sold_again_are_recorded_as_lost() {
    let order = delivered();
    let items = [
        item(&order, 1, Fate::Restock),
        item(&order, 1, Fate::Discard),
    ];
    let back = take_back(&order, &items, "broken".into(), NOW, &mut ids()).unwrap();
    assert_eq!(net(&back.stock), (1, 0));
    assert_eq!(back.stock.len(), 3);
    assert_eq!(back.order.left_to_return(order.lines[0].product), 0);
    let three = [
        item(&order, 2, Fate::Restock),
        item(&order, 1, Fate::Discard),
    ];
    assert!(take_back(&order, &three, "broken".into(), NOW, &mut ids()).is_err());
}

#[test]
fn only_what_left_the_house_comes_back() {
    for status in Status::ALL {
        let mut order = delivered();
        order.status = status;
        let one = [item(&order, 1, Fate::Restock)];
        let taken = take_back(&order, &one, "broken".into(), NOW, &mut ids());
        let out = matches!(status, Status::Dispatched | Status::Delivered);
        assert_eq!(taken.is_ok(), out, "{}", status.name());
    }
}
