//! What is in carts: edits by dot, states by version, histories in order.

use std::sync::Arc;

use abasto_cart::{Cart as Content, Dot, Rid};
use abasto_domain::access::Actor;
use abasto_domain::business::CartMode;
use abasto_domain::cart::{Cart, CartSecret, CartStatus};
use abasto_domain::id::CartId;
use abasto_domain::stamp::Stamp;
use serde_json::json;

use super::tenant::{Tenant, amount};
use super::world::{World, answer, committed};
use crate::cart::{
    CartAppend, CartContent, CartEdit, CartLogEntry, CartState, CartWork, DotKey, Fold, SeenPrice,
};
use crate::query::Query;
use crate::record::{Document, DocumentKey, HeadKey, Kind, Record};
use crate::unit::{Guard, UnitOfWork};
use crate::verdict::{Rejection, Verdict};

/// An author whose bits use all 64, so that no store may take them for a signed number.
const RID: u64 = 0xf000_0000_0000_0001;

struct Basket {
    tenant: Tenant,
    cart: Arc<Cart>,
}

impl Basket {
    async fn new(world: &World) -> Self {
        let tenant = world.tenant().await;
        let branch = tenant.branch("BOG").await;
        let now = world.now();
        let cart = Arc::new(Cart {
            business: tenant.business(),
            id: CartId(world.id()),
            branch: branch.id,
            customer: None,
            guest_hash: Some([3; 32]),
            secret: CartSecret([4; 32]),
            mode: CartMode::Events,
            status: CartStatus::Active,
            successor: None,
            inherits: Vec::new(),
            seal: None,
            currency_hint: None,
            due_at: Some(now.plus_millis(1_000)),
            stamp: Stamp::first(now),
        });
        tenant.save(Arc::clone(&cart)).await;
        Self { tenant, cart }
    }

    fn dot(&self, rid: u64, sequence: u64) -> DotKey {
        DotKey {
            cart: self.cart.id,
            rid,
            sequence,
        }
    }

    /// The bytes of a change that uses up a number; `content` makes them another operation's.
    fn delta(rid: u64, sequence: u64, content: u64) -> Content {
        let numbers = [sequence, content].into_iter().filter(|number| *number > 0);
        let dots = numbers.filter_map(|number| Dot::new(Rid::from_bits(rid), number));
        let mut delta = Content::new();
        for dot in dots {
            delta.join(&Content::skip(dot));
        }
        delta
    }

    fn edit(&self, rid: u64, sequence: u64, content: u64) -> CartEdit {
        let world = &self.tenant.world;
        let append = CartAppend {
            business: self.tenant.business(),
            dot: self.dot(rid, sequence),
            fingerprint: u64::MAX - sequence,
            delta: Self::delta(rid, sequence, content).encode().into(),
            price: (sequence.is_multiple_of(2)).then(|| self.price()),
            at: world.now(),
        };
        CartEdit {
            log: Some(CartLogEntry {
                business: append.business,
                cart: self.cart.id,
                id: world.id(),
                at: append.at,
                actor: Actor::System,
                request: "test".to_owned(),
                operation: json!({"op": "clear", "nested": {"number": 1, "text": "ñ"}}),
                dot: Some((rid, sequence)),
                delta: Arc::clone(&append.delta),
            }),
            append,
        }
    }

    fn price(&self) -> SeenPrice {
        SeenPrice {
            product: self.cart.id.0.into(),
            at: self.cart.stamp.created_at,
            price: amount(350_000),
        }
    }

    fn unit(&self, carts: CartWork) -> UnitOfWork {
        let key = DocumentKey::new(Kind::Cart, self.cart.id);
        UnitOfWork {
            branch: Some(self.cart.branch),
            guards: vec![Guard::Document(key, 1)],
            carts,
            ..self.tenant.unit()
        }
    }

    fn edits(&self, edits: impl IntoIterator<Item = CartEdit>) -> UnitOfWork {
        self.unit(CartWork {
            edits: edits.into_iter().collect(),
            ..CartWork::default()
        })
    }

    fn fold(&self, version: i64, sequences: &[u64]) -> UnitOfWork {
        let mut state = Content::new();
        for sequence in sequences {
            state.join(&Self::delta(RID, *sequence, 0));
        }
        let next = CartState {
            business: self.tenant.business(),
            cart: self.cart.id,
            version,
            state: state.encode().into(),
            recent: [(RID, 1, u64::MAX)].into(),
            prices: [self.price()].into(),
            edited_at: self.tenant.world.now(),
        };
        let covers = sequences.iter().map(|sequence| self.dot(RID, *sequence));
        self.unit(CartWork {
            folds: vec![Fold {
                next,
                covers: covers.collect(),
            }],
            ..CartWork::default()
        })
    }

    async fn content(&self) -> CartContent {
        let (store, business) = (self.tenant.world.store(), self.tenant.business());
        answer(store.cart_content(business, self.cart.id).await)
    }

    async fn tail(&self) -> Vec<u64> {
        let tail = self.content().await.tail.into_iter();
        tail.map(|append| append.dot.sequence).collect()
    }

    async fn log(&self, limit: u32) -> Vec<CartLogEntry> {
        let (world, business) = (&self.tenant.world, self.tenant.business());
        let rows = world
            .list(business, &Query::CartLog(self.cart.id), limit)
            .await;
        let entries = rows.into_iter().filter_map(|row| match row {
            Record::CartLog(entry) => Some(entry),
            _ => None,
        });
        entries.collect()
    }
}

/// Edits come back byte by byte, in the order of their dots; histories in the order of time.
pub async fn edits_come_back_as_they_were_written(world: World) {
    let basket = Basket::new(&world).await;
    assert_eq!(basket.content().await, CartContent::default());
    let small = RID & 0xffff;
    let edits = [
        basket.edit(RID, 2, 0),
        basket.edit(RID, 1, 0),
        basket.edit(small, 1 << 52, 0),
    ];
    committed(world.commit(basket.edits(edits.clone())).await);
    let [second, first, other] = edits.clone();
    let expected = [other.append, first.append, second.append];
    assert_eq!(basket.content().await.tail, expected);
    for limit in [1, 2, 200] {
        let log = basket.log(limit).await;
        let written = edits.iter().filter_map(|edit| edit.log.clone());
        let mut written: Vec<_> = written.collect();
        written.sort_by_key(|entry| (entry.at, entry.id));
        assert_eq!(log, written);
    }
}

/// The same edit again has no effect and is no error; another one under its dot is refused.
pub async fn an_edit_arrives_once(world: World) {
    let basket = Basket::new(&world).await;
    let edit = basket.edit(RID, 1, 0);
    committed(world.commit(basket.edits([edit.clone()])).await);
    committed(
        world
            .commit(basket.edits([edit.clone(), edit.clone()]))
            .await,
    );
    assert_eq!(basket.tail().await, [1]);
    assert_eq!(basket.log(200).await.len(), 1);
    let other = basket.edits([basket.edit(RID, 2, 0), basket.edit(RID, 1, 9)]);
    let taken = Verdict::Rejected(Rejection::DotTaken(basket.dot(RID, 1)));
    assert_eq!(world.commit(other).await, taken);
    // Nothing of the refused unit is there.
    assert_eq!(basket.tail().await, [1]);
    assert_eq!(basket.content().await.tail[0], edit.append);
}

/// Twenty edits of one cart at once: all are kept, because none is in another's way.
pub async fn edits_at_once_never_conflict(world: World) {
    let basket = Basket::new(&world).await;
    let units = (1..=20).map(|sequence| basket.edits([basket.edit(RID, sequence, 0)]));
    for verdict in world.commit_all(units.collect()).await {
        committed(verdict);
    }
    assert_eq!(basket.tail().await, (1..=20).collect::<Vec<_>>());
}

/// A state replaces the one it was made from, and the edits that went into it are appends no more.
pub async fn a_fold_takes_edits_into_the_state(world: World) {
    let basket = Basket::new(&world).await;
    for sequence in 1..=4 {
        let edit = basket.edits([basket.edit(RID, sequence, 0)]);
        committed(world.commit(edit).await);
    }
    committed(world.commit(basket.fold(1, &[1, 2])).await);
    assert_eq!(basket.tail().await, [3, 4]);
    let first = basket.content().await.state;
    let stale = Verdict::Stale(HeadKey::CartState(basket.cart.id));
    assert_eq!(world.commit(basket.fold(1, &[3])).await, stale);
    assert_eq!(world.commit(basket.fold(3, &[3])).await, stale);
    assert_eq!(basket.content().await.state, first);
    let next = basket.fold(2, &[1, 2, 3]);
    let UnitOfWork { carts, .. } = &next;
    let wanted = carts.folds[0].next.clone();
    let only_new = UnitOfWork {
        carts: CartWork {
            folds: vec![Fold {
                next: wanted.clone(),
                covers: vec![basket.dot(RID, 3)],
            }],
            ..CartWork::default()
        },
        ..next.clone()
    };
    committed(world.commit(only_new).await);
    assert_eq!(basket.content().await.state, Some(wanted));
    assert_eq!(basket.tail().await, [4]);
    // The history keeps everything.
    assert_eq!(basket.log(200).await.len(), 4);
    // A dot that went into the state is known, whatever it comes with.
    let late = basket.edits([basket.edit(RID, 2, 0)]);
    let taken = Verdict::Rejected(Rejection::DotTaken(basket.dot(RID, 2)));
    assert_eq!(world.commit(late).await, taken);
}

/// Of twenty folds of one state one is in time; edits beside them are all kept.
pub async fn one_of_many_folds_wins_and_hurts_no_edit(world: World) {
    let basket = Basket::new(&world).await;
    committed(world.commit(basket.edits([basket.edit(RID, 1, 0)])).await);
    let mut units: Vec<_> = (0..20).map(|_| basket.fold(1, &[1])).collect();
    units.extend((2..=20).map(|sequence| basket.edits([basket.edit(RID, sequence, 0)])));
    let verdicts = world.commit_all(units).await;
    let won = |verdict: &&Verdict| matches!(verdict, Verdict::Committed(_));
    assert_eq!(verdicts[..20].iter().filter(won).count(), 1);
    assert_eq!(verdicts[20..].iter().filter(won).count(), 19);
    assert_eq!(basket.tail().await, (2..=20).collect::<Vec<_>>());
}

/// Edits race with the end of their cart: each is before it and kept, or after it and stale.
pub async fn no_edit_slips_in_behind_the_end_of_its_cart(world: World) {
    let basket = Basket::new(&world).await;
    let mut units: Vec<_> = (1..=20)
        .map(|sequence| basket.edits([basket.edit(RID, sequence, 0)]))
        .collect();
    let ended = basket.cart.closed(world.now());
    let end = basket
        .tenant
        .unit_of([basket.tenant.change(Arc::clone(&basket.cart), ended)]);
    units.insert(10, end);
    let mut verdicts = world.commit_all(units).await;
    committed(verdicts.remove(10));
    let mut kept = Vec::new();
    for (sequence, verdict) in (1..=20).zip(verdicts) {
        match verdict {
            Verdict::Committed(_) => kept.push(sequence),
            Verdict::Stale(HeadKey::Document(key)) => assert_eq!(key.kind, Kind::Cart),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(basket.tail().await, kept);
    let late = basket.edits([basket.edit(RID, 21, 0)]);
    assert!(matches!(world.commit(late).await, Verdict::Stale(_)));
}

/// Carts that are due are found by the clock, of one business or of all.
pub async fn carts_are_due_when_they_say_so(world: World) {
    let basket = Basket::new(&world).await;
    let (store, due_at) = (world.store(), basket.cart.due_at);
    let Some(due_at) = due_at else {
        panic!("the cart is due some time");
    };
    for business in [None, Some(basket.tenant.business())] {
        let early = due_at.plus_millis(-1);
        assert_eq!(answer(store.due(business, Kind::Cart, early, 10).await), []);
        let found = answer(store.due(business, Kind::Cart, due_at, 10).await);
        assert_eq!(found, [Document::from(Arc::clone(&basket.cart))]);
    }
}
