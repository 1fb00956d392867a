//! What is in carts: reading it, its heads, and writing what a batch did to it.
//!
//! Owns the filters and statements. Must not know what an edit means: its change is bytes.

use std::collections::{BTreeMap, BTreeSet};

use abasto_domain::id::{BusinessId, CartId};
use abasto_store::StoreError;
use abasto_store::cart::{CartContent, DotHead, DotKey, Heard};
use abasto_store::index::Collection;
use mongodb::Database;
use mongodb::bson::raw::cstr;
use mongodb::bson::{Bson, Document, doc};

use crate::document::{Fields, Row, Unreadable, Unstorable, cart, object_id};
use crate::effect::{Command, Decided, conditional};
use crate::fault::Fault;
use crate::read::{self, interactive};
use crate::transaction::{Find, Statement, Verb};

fn of_cart(business: BusinessId, cart: CartId) -> Document {
    doc! { "businessId": object_id(business), "cartId": object_id(cart) }
}

/// Everything that is in a cart. The edits are read first: one that is folded meanwhile is in the
/// state then, and joining it twice does no harm.
pub(crate) async fn content(
    database: &Database,
    business: BusinessId,
    id: CartId,
) -> Result<CartContent, StoreError> {
    let appends = read::Find::new(Collection::CartAppends, "cart-edits", of_cart(business, id));
    let rows = appends.run(database, interactive()).await?;
    let name = Collection::CartAppends.name();
    let tail = rows
        .iter()
        .map(|row| cart::read_append(Row::new(name, row)))
        .collect::<Result<_, _>>()?;
    let state = read::Find::new(Collection::CartStates, "cart-state", of_cart(business, id));
    let rows = state.run(database, interactive()).await?;
    let state = rows.first();
    let name = Collection::CartStates.name();
    Ok(CartContent {
        state: state
            .map(|row| cart::read_state(Row::new(name, row)))
            .transpose()?,
        tail,
    })
}

/// The find of the states of carts, and what they know of dots.
pub(crate) fn states(business: BusinessId, carts: impl Iterator<Item = CartId>) -> Find {
    let carts: BTreeSet<CartId> = carts.collect();
    let ids: Vec<Bson> = carts.iter().map(|id| object_id(*id).into()).collect();
    Find {
        collection: Collection::CartStates,
        filter: doc! { "businessId": object_id(business), "cartId": { "$in": ids } },
        fields: Some(doc! { "cartId": 1, "version": 1, "state": 1 }),
    }
}

/// The cart of a found state, its version and the dots it knows.
pub(crate) fn heard(row: Row<'_>) -> Result<(CartId, i64, Heard), Unreadable> {
    let known = Heard::of(row.blob("state")?).map_err(|why| row.unreadable("state", why))?;
    Ok((row.id("cartId")?, row.int("version")?, known))
}

/// The find of edits that are not folded.
pub(crate) fn edits(business: BusinessId, dots: &[DotKey]) -> Find {
    let named: Vec<Document> = dots.iter().map(|dot| cart::named(*dot)).collect();
    Find {
        collection: Collection::CartAppends,
        filter: doc! { "businessId": object_id(business), "$or": named },
        fields: Some(doc! { "cartId": 1, "rid": 1, "sequence": 1, "delta": 1 }),
    }
}

/// The dot of a found edit and its change.
pub(crate) fn kept(row: Row<'_>) -> Result<(DotKey, DotHead), Unreadable> {
    let change = DotHead::Kept(row.blob("delta")?.into());
    Ok((cart::read_dot(row)?, change))
}

/// The statements of a batch: the records of edited carts are touched first, so that an edit and
/// the end of its cart never commit beside each other unseen.
pub(crate) fn commands(business: BusinessId, decided: &Decided) -> Result<Vec<Command>, Fault> {
    let (mut touched, mut appended, mut logged) = (BTreeMap::new(), vec![], vec![]);
    let (mut begun, mut replaced, mut covered) = (vec![], vec![], vec![]);
    for (unit, effects) in decided {
        let unit = *unit;
        let statement = |body| Statement { unit, body };
        for append in &effects.carts.appends {
            touched.insert(append.dot.cart, (unit, append.at));
            appended.push(statement(cart::write_append(append)));
        }
        for entry in &effects.carts.log {
            let unstorable = |why: Unstorable| Fault::Unstorable(unit, why);
            logged.push(statement(cart::write_log(entry).map_err(unstorable)?));
        }
        for fold in &effects.carts.folds {
            let (next, before) = (&fold.next, fold.next.version - 1);
            let stored = cart::write_state(next);
            if before == 0 {
                begun.push(statement(stored));
            } else {
                let at = cart::state_at(business, next.cart, before);
                replaced.push(statement(conditional(at, stored)));
            }
            for dot in &fold.covers {
                let at = cart::append_at(business, *dot);
                let one = Fields::new().doc(cstr!("q"), at).int(cstr!("limit"), 1);
                covered.push(statement(one.done()));
            }
        }
    }
    let touched = touched.into_iter().map(|(id, (unit, at))| {
        let record = Fields::new()
            .id(cstr!("_id"), id)
            .id(cstr!("businessId"), business);
        let now = Fields::new().date(cstr!("editedAt"), at).done();
        let set = Fields::new().doc(cstr!("$set"), now).done();
        Statement {
            unit,
            body: conditional(record.done(), set),
        }
    });
    Ok(vec![
        (Collection::Carts, Verb::Update, touched.collect()),
        (Collection::CartAppends, Verb::Insert, appended),
        (Collection::CartStates, Verb::Insert, begun),
        (Collection::CartStates, Verb::Update, replaced),
        (Collection::CartAppends, Verb::Delete, covered),
        (Collection::CartLogs, Verb::Insert, logged),
    ])
}
