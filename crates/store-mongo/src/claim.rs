//! Unique claims: how each rule looks up its holder.
//!
//! Owns the filters. Each implies the partial filter of its index, else the index is not used.

use abasto_domain::id::{BusinessId, RawId};
use abasto_store::index::Collection;
use abasto_store::record::{Claim, Unique};
use mongodb::bson::raw::RawDocument;
use mongodb::bson::{Bson, Document, doc};

use crate::document::{Row, Unreadable, object_id};

/// Where a rule's values are, and the field that holds them.
pub(crate) const fn field(rule: Unique) -> (Collection, &'static str) {
    match rule {
        Unique::BranchCode => (Collection::Branches, "code"),
        Unique::ActiveMember => (Collection::Members, "userId"),
        Unique::Sku => (Collection::Products, "sku"),
        Unique::Phone => (Collection::Customers, "phone"),
        Unique::VerifiedEmail => (Collection::Customers, "verifiedEmailKey"),
        Unique::OrderOfCheckout => (Collection::Orders, "checkoutId"),
        Unique::OrderOfCart => (Collection::Orders, "cartId"),
        Unique::OpenCheckout => (Collection::Checkouts, "openCartId"),
        Unique::CouponCode => (Collection::Coupons, "code"),
        Unique::ProviderReference => (Collection::Payments, "providerKey"),
        Unique::ProviderEvent => (Collection::PaymentEvents, "providerKey"),
        Unique::ActiveCart => (Collection::Carts, "activeFor"),
    }
}

/// Whether the values of a rule are ids.
const fn is_id(rule: Unique) -> bool {
    matches!(
        rule,
        Unique::OrderOfCheckout | Unique::OrderOfCart | Unique::OpenCheckout
    )
}

/// The filter that finds the holders of values.
pub(crate) fn filter<'a>(
    business: BusinessId,
    rule: Unique,
    values: impl IntoIterator<Item = &'a str>,
) -> Document {
    let values = values.into_iter().map(|value| match is_id(rule) {
        // A value that is no id is found nowhere.
        true => RawId::parse(value).map_or(Bson::Null, |id| object_id(id).into()),
        false => Bson::from(value),
    });
    let values: Vec<Bson> = values.collect();
    let mut filter = doc! { "businessId": object_id(business) };
    let (_, name) = field(rule);
    let condition = match rule {
        Unique::Phone | Unique::VerifiedEmail => doc! { "$in": values, "$type": "string" },
        Unique::ProviderReference | Unique::ActiveCart => doc! { "$in": values, "$type": "string" },
        Unique::OrderOfCheckout | Unique::OrderOfCart | Unique::OpenCheckout => {
            doc! { "$in": values, "$type": "objectId" }
        }
        Unique::BranchCode
        | Unique::ActiveMember
        | Unique::Sku
        | Unique::CouponCode
        | Unique::ProviderEvent => doc! { "$in": values },
    };
    filter.insert(name, condition);
    match rule {
        Unique::ActiveMember => drop(filter.insert("active", true)),
        Unique::Sku => drop(filter.insert("deletedAt", Bson::Null)),
        _ => {}
    }
    filter
}

/// The claim of a found document and its holder.
pub(crate) fn holder(rule: Unique, row: &RawDocument) -> Result<(Claim, RawId), Unreadable> {
    let (collection, name) = field(rule);
    let row = Row::new(collection.name(), row);
    let value = if is_id(rule) {
        row.id::<RawId>(name)?.to_string()
    } else {
        row.text(name)?
    };
    Ok((Claim { rule, value }, row.id("_id")?))
}
