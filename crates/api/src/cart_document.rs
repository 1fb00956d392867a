//! Carts as documents: the view that answers carry.
//!
//! Owns its JSON. What requests bring is in `cart_patch.rs`; what a line costs is the engine's.

use std::collections::BTreeMap;

use abasto_domain::cart::CartStatus;
use abasto_domain::currency::Currency;
use abasto_domain::fault::InvalidValue;
use abasto_domain::money::Amount;
use abasto_engine::cart::{CartView, CouponView, FieldName, LineFlag, LineView, ViewProblem};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::business::CartModeName;
use crate::value::{Id, Money, Time};

/// A cart: its lines at the prices of now, and what it would cost.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Cart)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CartDocument {
    id: Id,
    mode: CartModeName,
    branch_id: Id,
    #[schema(required = true)]
    customer_id: Option<Id>,
    status: CartStatusName,
    /// The cart that goes on in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    successor: Option<Id>,
    /// Ascending by `line`.
    lines: Vec<CartLine>,
    coupons: Vec<CartCoupon>,
    /// The fields that are set. An address may be an object of texts.
    #[schema(value_type = BTreeMap<String, FieldValue>)]
    fields: BTreeMap<String, FieldValue>,
    /// Fields that were written side by side, none seeing the other; the later value shows.
    conflicted_fields: Vec<String>,
    estimate: CartEstimate,
    currency: String,
    /// Why it cannot be bought before the shopper has looked at it.
    problems: Vec<CartProblem>,
    /// In mode `occ`.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i64>,
    /// How much is in this view, opaque.
    ctx: String,
    /// There when what the reader had seen elsewhere is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    stale: Option<bool>,
    updated_at: Time,
}

impl CartDocument {
    pub(crate) const fn version(&self) -> Option<i64> {
        self.version
    }
}

impl From<CartView> for CartDocument {
    fn from(view: CartView) -> Self {
        let currency = view.currency;
        let show = |amount| Money::show(amount, currency);
        Self {
            id: view.id.into(),
            mode: view.mode.into(),
            branch_id: view.branch.into(),
            customer_id: view.customer.map(Id::from),
            status: view.status.into(),
            successor: view.successor.map(Id::from),
            lines: view
                .lines
                .into_iter()
                .map(|line| CartLine::new(line, currency))
                .collect(),
            coupons: view.coupons.into_iter().map(CartCoupon::from).collect(),
            fields: view
                .fields
                .into_iter()
                .map(|(name, value)| (name, FieldValue::stored(value)))
                .collect(),
            conflicted_fields: view.conflicted_fields,
            estimate: CartEstimate {
                subtotal: show(view.estimate.subtotal),
                discount: show(view.estimate.discount),
                tax: show(view.estimate.tax),
                total: show(view.estimate.total),
            },
            currency: currency.code().to_owned(),
            problems: view.problems.into_iter().map(CartProblem::from).collect(),
            version: view.version,
            ctx: view.ctx,
            stale: view.stale.then_some(true),
            updated_at: view.updated_at.into(),
        }
    }
}

/// How far the life of a cart has come.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[schema(as = CartStatus)]
#[serde(rename_all = "lowercase")]
enum CartStatusName {
    Active,
    Sealed,
    Merged,
    Closed,
}

impl From<CartStatus> for CartStatusName {
    fn from(status: CartStatus) -> Self {
        match status {
            CartStatus::Active => Self::Active,
            CartStatus::Sealed => Self::Sealed,
            CartStatus::Merged => Self::Merged,
            CartStatus::Closed => Self::Closed,
        }
    }
}

/// One line of a cart.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CartLine {
    /// What operations call it.
    line: String,
    product_id: Id,
    /// Null when the product is not known any more.
    #[schema(required = true)]
    sku: Option<String>,
    #[schema(required = true)]
    name: Option<String>,
    /// What makes these units different from others of the product.
    options: BTreeMap<String, String>,
    /// At most what one order may have.
    quantity: u32,
    #[schema(required = true)]
    unit_price: Option<Money>,
    #[schema(required = true)]
    subtotal: Option<Money>,
    attributes: BTreeMap<String, String>,
    flags: Vec<LineFlagName>,
    /// What an operation on this line sends back: it then takes away what was seen, and no more.
    tag: String,
}

impl CartLine {
    fn new(line: LineView, currency: Currency) -> Self {
        let money = |amount: Option<Amount>| amount.map(|amount| Money::show(amount, currency));
        Self {
            line: line.line,
            product_id: line.product.into(),
            sku: line.sku,
            name: line.name,
            options: line.options,
            quantity: line.quantity,
            unit_price: money(line.unit_price),
            subtotal: money(line.subtotal),
            attributes: line.attributes,
            flags: line.flags.into_iter().map(LineFlagName::from).collect(),
            tag: line.tag,
        }
    }
}

/// What the shopper should look at.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[schema(as = CartLineFlag)]
#[serde(rename_all = "camelCase")]
enum LineFlagName {
    Clamped,
    Conflicted,
    Unavailable,
    PriceChanged,
}

impl From<LineFlag> for LineFlagName {
    fn from(flag: LineFlag) -> Self {
        match flag {
            LineFlag::Clamped => Self::Clamped,
            LineFlag::Conflicted => Self::Conflicted,
            LineFlag::Unavailable => Self::Unavailable,
            LineFlag::PriceChanged => Self::PriceChanged,
        }
    }
}

/// A coupon code on a cart. Whether it is used up is only decided at checkout.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CartCoupon {
    code: String,
    valid: bool,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    tag: String,
}

impl From<CouponView> for CartCoupon {
    fn from(coupon: CouponView) -> Self {
        Self {
            code: coupon.code,
            valid: coupon.reason.is_none(),
            reason: coupon.reason,
            tag: coupon.tag,
        }
    }
}

/// What the lines that can be bought would cost now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CartEstimate {
    subtotal: Money,
    discount: Money,
    /// Inside the total.
    tax: Money,
    total: Money,
}

/// A reason why a cart cannot be bought before the shopper has looked at it.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CartProblem {
    #[schema(example = "clamped")]
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coupon: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
}

impl From<ViewProblem> for CartProblem {
    fn from(problem: ViewProblem) -> Self {
        let coded = |code| Self {
            code,
            ..Self::default()
        };
        match problem {
            ViewProblem::Clamped(line) => Self {
                line: Some(line),
                ..coded("clamped")
            },
            ViewProblem::Unavailable(line) => Self {
                line: Some(line),
                ..coded("unavailable")
            },
            ViewProblem::TooManyLines(count) => Self {
                count: Some(count),
                ..coded("too-many-lines")
            },
            ViewProblem::TooManyCoupons(count) => Self {
                count: Some(count),
                ..coded("too-many-coupons")
            },
            ViewProblem::Coupon(code, reason) => Self {
                coupon: Some(code),
                reason: Some(reason),
                ..coded("coupon-refused")
            },
        }
    }
}

/// A text, or named parts of an address such as `street` and `city`: one value, never mixed from
/// two.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum FieldValue {
    Text(String),
    Parts(BTreeMap<String, String>),
}

impl FieldValue {
    fn stored(text: String) -> Self {
        match serde_json::from_str(&text) {
            Ok(parts) => Self::Parts(parts),
            Err(_) => Self::Text(text),
        }
    }

    /// Parts are kept as the canonical JSON of an object; a text that looks like one is refused,
    /// because it would come back as parts.
    pub(crate) fn to_stored(&self, field: FieldName) -> Result<String, InvalidValue> {
        const PARTS: InvalidValue = InvalidValue::new(
            "not-allowed",
            "only an address may have parts, and a text none",
        );
        match self {
            Self::Text(text) if !matches!(Self::stored(text.clone()), Self::Text(_)) => Err(PARTS),
            Self::Text(text) => Ok(text.clone()),
            Self::Parts(parts) if field == FieldName::ShippingAddress => {
                serde_json::to_string(parts).map_err(|_| PARTS)
            }
            Self::Parts(_) => Err(PARTS),
        }
    }
}
