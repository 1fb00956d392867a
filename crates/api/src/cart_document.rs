//! Carts as documents: the view that answers carry, and the patch that requests bring.
//!
//! Owns the JSON of both. What an operation means is the engine's.

use std::collections::{BTreeMap, BTreeSet};

use abasto_domain::cart::CartStatus;
use abasto_domain::currency::Currency;
use abasto_domain::fault::{Faults, InvalidValue};
use abasto_domain::money::Amount;
use abasto_engine::cart::{
    CartView, CouponView, EditCart, EditOperation, EditStep, FieldName, LineFlag, LineView,
    ViewProblem,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::business::CartModeName;
use crate::problem::Problem;
use crate::value::{Id, Money, Time, finish};

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
enum FieldValue {
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
    fn to_stored(&self, field: FieldName) -> Result<String, InvalidValue> {
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

/// Operations that are done together or not at all.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CartPatch)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Patch {
    /// The name that a lease gave.
    #[schema(max_length = 64, nullable = false)]
    device: Option<String>,
    /// The device's number of the first operation; the others follow it.
    #[schema(minimum = 1, maximum = 9_007_199_254_740_991_i64, nullable = false)]
    seq: Option<u64>,
    /// When the device says it was: milliseconds since 1970 times 65 536, plus a counter, as a
    /// decimal string. It decides only among edits that did not see each other.
    #[schema(pattern = "^[0-9]{1,20}$", nullable = false)]
    hlc: Option<String>,
    #[schema(min_items = 1, max_items = 50)]
    ops: Vec<OperationDocument>,
}

/// One operation. Which fields it has depends on `op`.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CartOperation)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OperationDocument {
    op: OperationName,
    /// `addItem`.
    #[schema(nullable = false)]
    product_id: Option<Id>,
    /// `addItem`: what makes these units different from others of the product.
    #[schema(nullable = false)]
    options: Option<BTreeMap<String, String>>,
    /// `addItem`; `setQuantity`, where 0 removes the line.
    #[schema(minimum = 0, maximum = 1_000_000, nullable = false)]
    quantity: Option<u32>,
    /// All that are about a line.
    #[schema(max_length = 256, nullable = false)]
    line: Option<String>,
    /// `increment`, `decrement`.
    #[schema(minimum = 1, maximum = 1_000_000, nullable = false)]
    by: Option<u32>,
    /// `setAttribute`.
    #[schema(max_length = 64, nullable = false)]
    name: Option<String>,
    /// `setAttribute`, `setField`; empty takes the value away.
    #[schema(nullable = false)]
    value: Option<FieldValue>,
    /// `applyCoupon`, `removeCoupon`.
    #[schema(max_length = 64, nullable = false)]
    code: Option<String>,
    /// `setField`.
    #[schema(nullable = false)]
    field: Option<CartFieldName>,
    /// What its author had seen: the tag of the view. Without it, what is there when it arrives
    /// counts as seen.
    #[schema(max_length = 16_384, nullable = false)]
    tag: Option<String>,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[schema(as = CartOperationName)]
#[serde(rename_all = "camelCase")]
enum OperationName {
    AddItem,
    SetQuantity,
    Increment,
    Decrement,
    RemoveItem,
    Clear,
    SetAttribute,
    ApplyCoupon,
    RemoveCoupon,
    SetField,
}

/// A field of a cart.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
enum CartFieldName {
    Note,
    ShippingAddress,
    Email,
    Phone,
    DeliverySlot,
}

impl From<CartFieldName> for FieldName {
    fn from(field: CartFieldName) -> Self {
        match field {
            CartFieldName::Note => Self::Note,
            CartFieldName::ShippingAddress => Self::ShippingAddress,
            CartFieldName::Email => Self::Email,
            CartFieldName::Phone => Self::Phone,
            CartFieldName::DeliverySlot => Self::DeliverySlot,
        }
    }
}

impl Patch {
    pub(crate) fn read(self) -> Result<EditCart, Problem> {
        const PAIR: InvalidValue = InvalidValue::new("required", "device and seq come together");
        const HLC: InvalidValue =
            InvalidValue::new("out-of-range", "a whole number of 64 bits, as a string");
        let mut faults = Faults::default();
        let device = match (self.device, self.seq) {
            (Some(device), Some(seq)) => Some(Some((device, seq))),
            (None, None) => Some(None),
            (Some(_), None) => faults.take("/seq", Err(PAIR)),
            (None, Some(_)) => faults.take("/device", Err(PAIR)),
        };
        let hlc = self.hlc.map(|text| text.parse().map_err(|_| HLC));
        let hlc = hlc.map_or(Some(None), |hlc| faults.take("/hlc", hlc.map(Some)));
        let steps: Vec<Option<EditStep>> = self
            .ops
            .into_iter()
            .enumerate()
            .map(|(at, operation)| Fields::new(&mut faults, at, operation).read())
            .collect();
        let command = || {
            Some(EditCart {
                device: device?,
                hlc: hlc?,
                steps: steps.into_iter().collect::<Option<_>>()?,
                ..EditCart::default()
            })
        };
        finish(faults, command())
    }
}

/// The fields of one operation, taken one by one; what is left does not belong to it.
struct Fields<'a> {
    faults: &'a mut Faults,
    at: usize,
    document: OperationDocument,
    taken: BTreeSet<&'static str>,
}

impl<'a> Fields<'a> {
    fn new(faults: &'a mut Faults, at: usize, document: OperationDocument) -> Self {
        Self {
            faults,
            at,
            document,
            taken: BTreeSet::new(),
        }
    }

    fn need<T>(&mut self, name: &'static str, value: Option<T>) -> Option<T> {
        const NEEDED: InvalidValue =
            InvalidValue::new("required", "this operation needs the field");
        self.taken.insert(name);
        let pointer = format!("/ops/{}/{name}", self.at);
        self.faults.take(pointer, value.ok_or(NEEDED))
    }

    fn line(&mut self) -> Option<String> {
        let line = self.document.line.take();
        self.need("line", line)
    }

    fn text(&mut self) -> Option<String> {
        const TEXT: InvalidValue = InvalidValue::new("not-allowed", "a text");
        let value = self.document.value.take();
        let text = match self.need("value", value)? {
            FieldValue::Text(text) => Ok(text),
            FieldValue::Parts(_) => Err(TEXT),
        };
        self.faults.take(format!("/ops/{}/value", self.at), text)
    }

    fn read(mut self) -> Option<EditStep> {
        use OperationName as Op;
        let operation = match self.document.op {
            Op::AddItem => self.add(),
            Op::SetQuantity => self.set_quantity(),
            Op::Increment => self
                .step()
                .map(|(line, by)| EditOperation::Increment { line, by }),
            Op::Decrement => self
                .step()
                .map(|(line, by)| EditOperation::Decrement { line, by }),
            Op::RemoveItem => self.line().map(|line| EditOperation::RemoveItem { line }),
            Op::Clear => Some(EditOperation::Clear),
            Op::SetAttribute => self.set_attribute(),
            Op::ApplyCoupon => self.code().map(|code| EditOperation::ApplyCoupon { code }),
            Op::RemoveCoupon => self.code().map(|code| EditOperation::RemoveCoupon { code }),
            Op::SetField => self.set_field(),
        };
        let tag = self.document.tag.take();
        self.refuse_rest();
        Some(EditStep {
            operation: operation?,
            tag,
        })
    }

    fn add(&mut self) -> Option<EditOperation> {
        let product = self.document.product_id.take();
        let product = self.need("productId", product);
        let quantity = self.document.quantity.take();
        let quantity = self.need("quantity", quantity);
        self.taken.insert("options");
        Some(EditOperation::AddItem {
            product_id: product?.into(),
            options: self.document.options.take().unwrap_or_default(),
            quantity: quantity?,
        })
    }

    fn set_quantity(&mut self) -> Option<EditOperation> {
        let line = self.line();
        let quantity = self.document.quantity.take();
        let quantity = self.need("quantity", quantity)?;
        Some(EditOperation::SetQuantity {
            line: line?,
            quantity,
        })
    }

    fn step(&mut self) -> Option<(String, u32)> {
        let line = self.line();
        let by = self.document.by.take();
        let by = self.need("by", by)?;
        Some((line?, by))
    }

    fn set_attribute(&mut self) -> Option<EditOperation> {
        let line = self.line();
        let name = self.document.name.take();
        let name = self.need("name", name);
        let value = self.text()?;
        Some(EditOperation::SetAttribute {
            line: line?,
            name: name?,
            value,
        })
    }

    fn code(&mut self) -> Option<String> {
        let code = self.document.code.take();
        self.need("code", code)
    }

    fn set_field(&mut self) -> Option<EditOperation> {
        let field = self.document.field.take();
        let field = self.need("field", field);
        let value = self.document.value.take();
        let value = self.need("value", value);
        let field = FieldName::from(field?);
        let stored = value?.to_stored(field);
        let value = self
            .faults
            .take(format!("/ops/{}/value", self.at), stored)?;
        Some(EditOperation::SetField { field, value })
    }

    fn refuse_rest(&mut self) {
        const FOREIGN: InvalidValue =
            InvalidValue::new("not-allowed", "this operation does not have the field");
        let document = &self.document;
        let there = [
            ("productId", document.product_id.is_some()),
            ("options", document.options.is_some()),
            ("quantity", document.quantity.is_some()),
            ("line", document.line.is_some()),
            ("by", document.by.is_some()),
            ("name", document.name.is_some()),
            ("value", document.value.is_some()),
            ("code", document.code.is_some()),
            ("field", document.field.is_some()),
        ];
        for (name, is_there) in there {
            if is_there && !self.taken.contains(name) {
                let fault = FOREIGN.at(format!("/ops/{}/{name}", self.at));
                self.faults.push(fault);
            }
        }
    }
}
