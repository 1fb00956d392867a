//! `$jsonSchema` validators: types pinned, closed sets listed, numbers bounded on both sides.
//!
//! Owns the schemas. They are the second net behind the program: what passes a partial filter by a
//! wrong type, or a number that is infinite, is refused by the server.

use abasto_domain::access::Role;
use abasto_domain::business::CartMode;
use abasto_domain::coupon::Redemption;
use abasto_domain::limits::{ATTRIBUTES_MAX, COUPONS_PER_ORDER_MAX, ORDER_LINES_MAX, QUANTITY_MAX};
use abasto_domain::order::{FulfilmentKind, PaymentMethod};
use abasto_domain::order_state::{PaymentStatus, Status};
use abasto_domain::stock::{MovementKind, UNITS_MAX};
use abasto_store::index::Collection;
use abasto_store::record::Kind;
use abasto_store::tally::TallyKind;
use mongodb::bson::{Document, doc};

use super::schema_part::{
    appended, bound, closed, date, decimal, flag, id, ids_or_null, money, one_of, opt_date, opt_id,
    opt_text, owned, pairs, sale, seen_price, text, version, versioned, whole,
};

/// The validator of a collection.
pub(crate) fn of(collection: Collection) -> Document {
    let properties = match collection {
        Collection::Businesses => businesses(),
        Collection::Branches => branches(),
        Collection::Members => members(),
        Collection::ApiKeys => api_keys(),
        Collection::Products => products(),
        Collection::Customers => customers(),
        Collection::Orders => orders(),
        Collection::StockLevels => stock_levels(),
        Collection::StockMovements => stock_movements(),
        Collection::Events => events(),
        Collection::Checkouts => sale(doc! { "openCartId": opt_id(), "dueAt": opt_date() }),
        Collection::Coupons => sale(doc! { "code": text() }),
        Collection::Payments => sale(doc! {
            "orderId": id(),
            "providerKey": opt_text(),
            "dueAt": opt_date(),
        }),
        Collection::PaymentEvents => sale(doc! { "providerKey": text(), "dueAt": opt_date() }),
        Collection::OrderReturns => sale(doc! { "orderId": id() }),
        Collection::Carts => sale(doc! {
            "activeFor": opt_text(),
            "dueAt": opt_date(),
            "editedAt": opt_date(),
        }),
        Collection::CartStates => appended(doc! {
            "cartId": id(),
            "version": version(),
            "state": { "bsonType": "binData" },
            "recent": { "bsonType": "binData" },
            "prices": { "bsonType": "array", "items": seen_price() },
            "editedAt": date(),
        }),
        Collection::CartAppends => appended(doc! {
            "cartId": id(),
            "rid": { "bsonType": "binData" },
            "sequence": version(),
            "fingerprint": { "bsonType": "long" },
            "delta": { "bsonType": "binData" },
            "price": { "oneOf": [{ "bsonType": "null" }, seen_price()] },
            "occurredAt": date(),
        }),
        Collection::CartLogs => appended(doc! {
            "cartId": id(),
            "at": date(),
            "actor": actor(),
            "requestId": { "bsonType": "string" },
            "operation": { "bsonType": "object" },
            "rid": { "bsonType": ["binData", "null"] },
            "sequence": { "bsonType": ["long", "null"], "minimum": 1i64 },
            "delta": { "bsonType": "binData" },
        }),
        Collection::Tallies => appended(doc! {
            "kind": one_of::<TallyKind>(),
            "subjectId": id(),
            "byId": id(),
            "value": whole(0, i64::MAX),
        }),
        Collection::Counters => counters(),
        Collection::Operations => operations(),
    };
    doc! { "$jsonSchema": closed(properties) }
}

fn businesses() -> Document {
    versioned(doc! {
        "name": text(),
        "currency": currency(),
        "timeZone": text(),
        "settings": closed(doc! {
            "holdMinutes": whole(1, 1_440),
            "unpaidOrderMinutes": whole(1, 10_080),
            "autoConfirmPaid": flag(),
            "restockOnCancel": flag(),
            "returnCouponsOnCancel": flag(),
            "cartMode": one_of::<CartMode>(),
        }),
    })
}

fn currency() -> Document {
    doc! { "bsonType": "string", "pattern": "^[A-Z]{3}$" }
}

fn branch_code() -> Document {
    doc! { "bsonType": "string", "pattern": "^[A-Z0-9]{2,8}$" }
}

fn branches() -> Document {
    owned(doc! { "code": branch_code(), "name": text(), "timeZone": text(), "active": flag() })
}

fn members() -> Document {
    owned(doc! {
        "userId": text(),
        "role": one_of::<Role>(),
        "branchIds": ids_or_null(),
        "customerId": opt_id(),
        "active": flag(),
    })
}

fn api_keys() -> Document {
    owned(doc! {
        "name": text(),
        "role": one_of::<Role>(),
        "branchIds": ids_or_null(),
        "customerId": opt_id(),
        "secretHash": { "bsonType": "binData" },
        "revokedAt": opt_date(),
    })
}

fn products() -> Document {
    owned(doc! {
        "sku": text(),
        "name": text(),
        "salePrice": money(),
        "currency": currency(),
        "taxRate": { "bsonType": "decimal", "minimum": decimal(0), "maximum": decimal(1) },
        "active": flag(),
        "branchIds": ids_or_null(),
        "maxPerOrder": { "bsonType": ["long", "null"], "minimum": 1i64, "maximum": QUANTITY_MAX },
        "attributes": pairs(ATTRIBUTES_MAX),
        "deletedAt": opt_date(),
    })
}

fn customers() -> Document {
    owned(doc! {
        "name": text(),
        "phone": opt_text(),
        "email": opt_text(),
        "emailVerifiedAt": opt_date(),
        "verifiedEmailKey": opt_text(),
    })
}

fn orders() -> Document {
    let line = closed(doc! {
        "productId": id(),
        "skuAtPurchase": text(),
        "nameAtPurchase": text(),
        "quantity": whole(1, QUANTITY_MAX),
        "unitPrice": money(),
        "subtotal": money(),
        "discount": money(),
        "tax": money(),
        "total": money(),
    });
    owned(doc! {
        "number": { "bsonType": "string", "pattern": "^[A-Z0-9]{2,8}-[0-9]{4}-[0-9]{6,15}$" },
        "branchId": id(),
        "status": one_of::<Status>(),
        "paymentStatus": one_of::<PaymentStatus>(),
        "paymentMethod": one_of::<PaymentMethod>(),
        "customer": closed(doc! {
            "id": opt_id(),
            "nameAtPurchase": opt_text(),
            "phoneAtPurchase": opt_text(),
        }),
        "items": { "bsonType": "array", "minItems": 1i64, "maxItems": bound(ORDER_LINES_MAX), "items": line },
        "totals": closed(doc! {
            "subtotal": money(),
            "discount": money(),
            "tax": money(),
            "deliveryFee": money(),
            "total": money(),
        }),
        "currency": currency(),
        "coupons": {
            "bsonType": "array",
            "maxItems": bound(COUPONS_PER_ORDER_MAX),
            "items": closed(doc! {
                "couponId": id(),
                "codeAtPurchase": text(),
                "discount": money(),
                "redemption": one_of::<Redemption>(),
            }),
        },
        "fulfilment": closed(doc! {
            "type": one_of::<FulfilmentKind>(),
            "address": { "oneOf": [opt_text(), pairs(ATTRIBUTES_MAX)] },
            "courierId": opt_id(),
        }),
        "note": { "bsonType": ["string", "null"] },
        "checkoutId": opt_id(),
        "cartId": opt_id(),
        "reservationExpiresAt": opt_date(),
        "dueAt": opt_date(),
        "confirmedAt": opt_date(),
        "preparingAt": opt_date(),
        "dispatchedAt": opt_date(),
        "deliveredAt": opt_date(),
        "cancelledAt": opt_date(),
        "expiredAt": opt_date(),
        "paidAt": opt_date(),
        "cancelReason": opt_text(),
        "reservedAnewId": opt_id(),
        "returnedItems": {
            "bsonType": "array",
            "maxItems": bound(ORDER_LINES_MAX),
            "items": closed(doc! { "productId": id(), "quantity": whole(1, QUANTITY_MAX) }),
        },
        "returnCount": whole(0, i64::MAX),
    })
}

fn stock_levels() -> Document {
    appended(doc! {
        "branchId": id(),
        "productId": id(),
        "available": whole(0, UNITS_MAX),
        "reserved": whole(0, UNITS_MAX),
        "version": version(),
        "updatedAt": date(),
    })
}

fn stock_movements() -> Document {
    appended(doc! {
        "branchId": id(),
        "productId": id(),
        "sequence": version(),
        "type": one_of::<MovementKind>(),
        "quantity": whole(-UNITS_MAX, UNITS_MAX),
        "reservedDelta": whole(-UNITS_MAX, UNITS_MAX),
        "balanceAfter": whole(0, UNITS_MAX),
        "reservedAfter": whole(0, UNITS_MAX),
        "operationId": { "bsonType": "string", "pattern": "^[0-9a-f]{24}-[a-z-]+-[0-9]{1,5}$" },
        "orderId": opt_id(),
        "checkoutId": opt_id(),
        "reason": opt_text(),
        "reference": opt_text(),
        "actor": actor(),
        "occurredAt": date(),
    })
}

fn actor() -> Document {
    doc! {
        "bsonType": "object",
        "required": ["type"],
        "additionalProperties": false,
        "properties": {
            "type": { "bsonType": "string", "enum": ["key", "member", "platform", "system"] },
            "id": id(),
        },
    }
}

fn events() -> Document {
    appended(doc! {
        "subject": closed(doc! { "kind": one_of::<Kind>(), "id": id() }),
        "sequence": version(),
        "type": text(),
        "actor": actor(),
        "requestId": { "bsonType": "string" },
        "occurredAt": date(),
        "data": {},
    })
}

fn counters() -> Document {
    appended(doc! {
        "code": branch_code(),
        "year": whole(0, 9_999),
        "lastNumber": whole(0, i64::MAX),
    })
}

fn operations() -> Document {
    appended(doc! {
        "customerId": opt_id(),
        "key": text(),
        "fingerprint": { "bsonType": "binData" },
        "reply": { "bsonType": "object", "required": ["type"] },
        "createdAt": date(),
    })
}
