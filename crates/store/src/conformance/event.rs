//! Events: the history of each document, numbered without gaps.

use std::collections::BTreeMap;
use std::sync::Arc;

use abasto_domain::access::Actor;
use abasto_domain::id::MemberId;
use abasto_domain::product::Product;
use serde_json::json;

use super::tenant::Tenant;
use super::world::{World, committed, document_in};
use crate::query::{Position, Query};
use crate::record::{Document, DocumentKey, Kind, Record};
use crate::unit::UnitOfWork;
use crate::verdict::Verdict;

fn renamed(tenant: &Tenant, product: &Product, name: String) -> Product {
    Product {
        name,
        stamp: tenant.next(product.stamp),
        ..product.clone()
    }
}

fn product_in(document: Document) -> Arc<Product> {
    match document {
        Document::Product(product) => product,
        other => panic!("expected a product, found {other:?}"),
    }
}

/// 1, 2, 3 … in the order of the versions, oldest first, also page by page.
pub async fn events_are_numbered_per_subject(world: World) {
    let tenant = world.tenant().await;
    let other = tenant.product("PAN-2").await;
    let mut product = tenant.product("PAN-1").await;
    for number in 2..=11 {
        let next = renamed(&tenant, &product, format!("Pan {number}"));
        product = product_in(tenant.update(Arc::clone(&product), next).await);
    }
    let key = DocumentKey::new(Kind::Product, product.id);
    let history = world.history(tenant.business(), key).await;
    let sequences: Vec<i64> = history.iter().map(|event| event.sequence).collect();
    assert_eq!(sequences, (1..=11).collect::<Vec<i64>>());
    assert!(history.iter().all(|event| event.subject == key));
    let query = Query::History(key);
    for limit in [1, 3, 11] {
        assert_eq!(world.list(tenant.business(), &query, limit).await.len(), 11);
    }
    let after = Position::of(&Record::Event(history[4].clone()));
    let rest = world
        .page(tenant.business(), &query, Some(after), 200)
        .await;
    assert_eq!(rest.first(), Some(&Record::Event(history[5].clone())));
    let other = DocumentKey::new(Kind::Product, other.id);
    assert_eq!(world.history(tenant.business(), other).await.len(), 1);
}

/// Actor, request, time, name and data come back to the letter.
pub async fn an_event_says_what_it_was_given(world: World) {
    let tenant = world.tenant().await;
    let data = json!({
        "from": null,
        "text": "ñandú 🥖 \" \\ \u{202e}",
        "numbers": [0, -1, 9_007_199_254_740_993_i64, i64::MAX, 0.5],
        "nested": { "empty": {}, "list": [], "flag": true, "$key.with": "dots" },
    });
    let actors = [
        Actor::System,
        Actor::Platform,
        Actor::Member(MemberId(world.id())),
        Actor::Key(world.id().into()),
    ];
    for actor in actors {
        let mut put = tenant.creation(tenant.draft_customer(None));
        put.event.data = data.clone();
        let (id, key) = (put.event.id, put.next.key());
        let unit = UnitOfWork {
            actor,
            request: "req-1.A_b".to_owned(),
            ..tenant.unit_of([put])
        };
        let at = unit.at;
        committed(world.commit(unit).await);
        let history = world.history(tenant.business(), key).await;
        let [event] = &history[..] else {
            panic!("expected one event, found {history:?}");
        };
        assert_eq!((event.id, event.sequence, event.at), (id, 1, at));
        assert_eq!((event.actor, event.request.as_str()), (actor, "req-1.A_b"));
        assert_eq!(event.name, "abasto.test.created");
        assert_eq!(event.data, data);
        assert_eq!(event.business, tenant.business());
    }
}

/// Forty documents are changed by whoever comes first; the losers decide again.
pub async fn many_changes_of_many_subjects_leave_no_gap(world: World) {
    let tenant = world.tenant().await;
    let mut present = BTreeMap::new();
    for number in 0..40 {
        let product = tenant.product(&format!("PAN-{number}")).await;
        present.insert(product.id, product);
    }
    for round in 0..5 {
        let change = |product: &Arc<Product>, by: &str| {
            let next = renamed(&tenant, product, format!("Pan {round} {by}"));
            tenant.unit_of([tenant.change(Arc::clone(product), next)])
        };
        let both = |product| [change(product, "one"), change(product, "two")];
        let units = present.values().flat_map(both).collect();
        for verdict in world.commit_all(units).await {
            if let Verdict::Committed(reply) = verdict {
                let product = product_in(document_in(reply));
                present.insert(product.id, product);
            }
        }
    }
    for product in present.values() {
        assert_eq!(product.stamp.version, 6);
        let key = DocumentKey::new(Kind::Product, product.id);
        assert_eq!(world.history(tenant.business(), key).await.len(), 6);
    }
}
