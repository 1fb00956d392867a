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

use crate::document::{Fields, Row, Unstorable, cart, object_id};
use crate::effect::{Command, Decided, conditional};
use crate::fault::Fault;
use crate::heads::Read;
use crate::read::{Find, interactive};
use crate::transaction::{Statement, Transaction, Verb};

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
    let appends = Find::new(Collection::CartAppends, "cart-edits", of_cart(business, id));
    let rows = appends.run(database, interactive()).await?;
    let name = Collection::CartAppends.name();
    let tail = rows
        .iter()
        .map(|row| cart::read_append(Row::new(name, row)))
        .collect::<Result<_, _>>()?;
    let state = Find::new(Collection::CartStates, "cart-state", of_cart(business, id));
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

/// Reads what is known of dots, and the versions of states.
pub(crate) async fn heads(
    transaction: &mut Transaction<'_>,
    business: BusinessId,
    dots: &[DotKey],
    states: &[CartId],
    read: &mut Read,
) -> Result<(), Fault> {
    let carts = dots
        .iter()
        .map(|dot| dot.cart)
        .chain(states.iter().copied());
    let carts: BTreeSet<CartId> = carts.collect();
    if carts.is_empty() {
        return Ok(());
    }
    let ids: Vec<Bson> = carts.iter().map(|id| object_id(*id).into()).collect();
    let filter = doc! { "businessId": object_id(business), "cartId": { "$in": ids } };
    let fields = Some(doc! { "cartId": 1, "version": 1, "state": 1 });
    let mut heard: BTreeMap<CartId, (i64, Heard)> = BTreeMap::new();
    for found in transaction
        .find(Collection::CartStates, filter, fields)
        .await?
    {
        let row = Row::new(Collection::CartStates.name(), &found);
        let known = Heard::of(row.blob("state")?).map_err(|why| row.unreadable("state", why))?;
        heard.insert(row.id("cartId")?, (row.int("version")?, known));
    }
    for id in states {
        let version = heard.get(id).map_or(0, |(version, _)| *version);
        read.heads.set_cart_state(business, *id, version);
    }
    for dot in dots {
        let head = heard
            .get(&dot.cart)
            .map_or(DotHead::Unheard, |(_, known)| known.head(*dot));
        read.heads.set_dot(business, *dot, head);
    }
    appends(transaction, business, dots, read).await
}

async fn appends(
    transaction: &mut Transaction<'_>,
    business: BusinessId,
    dots: &[DotKey],
    read: &mut Read,
) -> Result<(), Fault> {
    if dots.is_empty() {
        return Ok(());
    }
    let named: Vec<Document> = dots.iter().map(|dot| cart::named(*dot)).collect();
    let filter = doc! { "businessId": object_id(business), "$or": named };
    let fields = Some(doc! { "cartId": 1, "rid": 1, "sequence": 1, "delta": 1 });
    for found in transaction
        .find(Collection::CartAppends, filter, fields)
        .await?
    {
        let row = Row::new(Collection::CartAppends.name(), &found);
        let kept = DotHead::Kept(row.blob("delta")?.into());
        read.heads.set_dot(business, cart::read_dot(row)?, kept);
    }
    Ok(())
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
