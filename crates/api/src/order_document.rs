//! The documents of orders: as shown, as placed.

use std::collections::BTreeMap;

use abasto_domain::currency::Currency;
use abasto_domain::customer;
use abasto_domain::fault::{Faults, InvalidValue};
use abasto_domain::limits;
use abasto_domain::order::{Address, Order};
use abasto_domain::pricing::Line;
use abasto_domain::text::clean;
use abasto_engine::order::{BuyerChoice, PlaceOrder};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::inventory_document::{ItemDocument, read_items};
use crate::order_names::{FulfilmentType, PaymentMethodName, PaymentStatusName, StatusName};
use crate::problem::Problem;
use crate::value::{Id, Money, Price, Prices, Time, finish, optional};

/// An order. Its items are snapshots: no later change of a product shows in them.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Order)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderView {
    id: Id,
    /// Branch code, year in the branch's zone, sequence without gaps.
    #[schema(example = "BOG-2026-000184")]
    number: String,
    branch_id: Id,
    status: StatusName,
    payment_status: PaymentStatusName,
    payment_method: PaymentMethodName,
    customer: BuyerView,
    items: Vec<LineView>,
    totals: TotalsView,
    #[schema(example = "COP")]
    currency: String,
    fulfilment: FulfilmentView,
    #[schema(required = true)]
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkout_id: Option<Id>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cart_id: Option<Id>,
    /// When an unpaid order gives its units back.
    #[schema(required = true)]
    reservation_expires_at: Option<Time>,
    version: i64,
    created_at: Time,
    updated_at: Time,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmed_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preparing_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dispatched_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivered_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelled_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancel_reason: Option<String>,
}

impl From<&Order> for OrderView {
    fn from(order: &Order) -> Self {
        let currency = order.currency;
        let prices = Prices::of(currency);
        let money = |amount| prices.show(amount);
        Self {
            id: order.id.into(),
            number: order.number.to_string(),
            branch_id: order.branch.into(),
            status: order.status.into(),
            payment_status: order.payment_status.into(),
            payment_method: order.payment_method.into(),
            customer: BuyerView {
                id: order.customer.id.map(Id::from),
                name_at_purchase: order.customer.name.clone(),
                phone_at_purchase: order.customer.phone.clone(),
            },
            items: order
                .lines
                .iter()
                .map(|line| LineView::new(line, prices))
                .collect(),
            totals: TotalsView {
                subtotal: money(order.totals.subtotal),
                discount: money(order.totals.discount),
                tax: money(order.totals.tax),
                delivery_fee: money(order.totals.delivery_fee),
                total: money(order.totals.total),
            },
            currency: currency.code().to_owned(),
            fulfilment: FulfilmentView {
                r#type: order.fulfilment.kind.into(),
                address: order.fulfilment.address.clone().map(AddressDocument::from),
                courier_id: order.fulfilment.courier.map(Id::from),
            },
            note: order.note.clone(),
            checkout_id: order.checkout.map(Id::from),
            cart_id: order.cart.map(Id::from),
            reservation_expires_at: order.reservation_expires_at.map(Time::from),
            version: order.stamp.version,
            created_at: order.stamp.created_at.into(),
            updated_at: order.stamp.updated_at.into(),
            confirmed_at: order.timeline.confirmed_at.map(Time::from),
            preparing_at: order.timeline.preparing_at.map(Time::from),
            dispatched_at: order.timeline.dispatched_at.map(Time::from),
            delivered_at: order.timeline.delivered_at.map(Time::from),
            cancelled_at: order.timeline.cancelled_at.map(Time::from),
            cancel_reason: order.cancel_reason.clone(),
        }
    }
}

/// The buyer as known when the order was placed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Buyer)]
#[serde(rename_all = "camelCase")]
struct BuyerView {
    #[schema(required = true)]
    id: Option<Id>,
    #[schema(required = true)]
    name_at_purchase: Option<String>,
    #[schema(required = true)]
    phone_at_purchase: Option<String>,
}

/// One product of an order, as it was sold.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OrderItem)]
#[serde(rename_all = "camelCase")]
struct LineView {
    product_id: Id,
    sku_at_purchase: String,
    name_at_purchase: String,
    quantity: i64,
    /// Price of one unit, tax included.
    unit_price: Price,
    /// `unitPrice × quantity`.
    subtotal: Price,
    discount: Price,
    /// The tax inside `total`.
    tax: Price,
    /// `subtotal − discount`.
    total: Price,
}

impl LineView {
    fn new(line: &Line, prices: Prices) -> Self {
        let money = |amount| prices.show(amount);
        Self {
            product_id: line.product.into(),
            sku_at_purchase: line.sku.clone(),
            name_at_purchase: line.name.clone(),
            quantity: line.quantity.units(),
            unit_price: money(line.unit_price),
            subtotal: money(line.subtotal),
            discount: money(line.discount),
            tax: money(line.tax),
            total: money(line.total),
        }
    }
}

/// The sums of an order.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Totals)]
#[serde(rename_all = "camelCase")]
struct TotalsView {
    subtotal: Price,
    discount: Price,
    /// Inside the prices, not on top.
    tax: Price,
    delivery_fee: Price,
    /// `subtotal − discount + deliveryFee`.
    total: Price,
}

/// How an order reaches its buyer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OrderFulfilment)]
#[serde(rename_all = "camelCase")]
struct FulfilmentView {
    r#type: FulfilmentType,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<AddressDocument>,
    /// The member who brings it.
    #[serde(skip_serializing_if = "Option::is_none")]
    courier_id: Option<Id>,
}

/// An address: one text, or named parts such as `street` and `city`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = Address)]
#[serde(untagged)]
enum AddressDocument {
    Text(AddressText),
    Parts(BTreeMap<String, String>),
}

/// As written on a label.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, min_length = 1, max_length = 500)]
struct AddressText(String);

impl From<Address> for AddressDocument {
    fn from(address: Address) -> Self {
        match address {
            Address::Text(text) => Self::Text(AddressText(text)),
            Address::Parts(parts) => Self::Parts(parts),
        }
    }
}

impl AddressDocument {
    /// An address has at most twenty parts.
    fn read(self) -> Result<Address, InvalidValue> {
        const MANY: InvalidValue = InvalidValue::new("too-many", "1 to 20 parts");
        match self {
            Self::Text(AddressText(text)) => clean(&text, limits::ADDRESS).map(Address::Text),
            Self::Parts(parts) if (1..=20).contains(&parts.len()) => {
                let part = |(name, value): (String, String)| {
                    let name = clean(&name, limits::ATTRIBUTE_NAME)?;
                    Ok((name, clean(&value, limits::ATTRIBUTE_VALUE)?))
                };
                let parts: Result<_, InvalidValue> = parts.into_iter().map(part).collect();
                parts.map(Address::Parts)
            }
            Self::Parts(_) => Err(MANY),
        }
    }
}

/// An order to be placed. Prices are the catalogue's; none can be sent.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = PlaceOrder)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OrderDraft {
    branch_id: Id,
    /// Items of one product are summed.
    #[schema(min_items = 1, max_items = 200)]
    items: Vec<ItemDocument>,
    /// Who buys; a calling customer always buys for themselves.
    customer: Option<BuyerDraft>,
    fulfilment: FulfilmentDraft,
    payment_method: PaymentMethodName,
    /// Only staff, managers and owners may set it.
    delivery_fee: Option<Money>,
    /// For the people who pack.
    #[schema(max_length = 1000)]
    note: Option<String>,
    /// What the caller believes the total to be; another total refuses the order.
    expected_total: Option<Money>,
}

/// A customer of the business by `id`, or anybody by `name`.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = OrderCustomer)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BuyerDraft {
    id: Option<Id>,
    #[schema(min_length = 1, max_length = 200)]
    name: Option<String>,
    /// In E.164 form.
    #[schema(max_length = 16)]
    phone: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Fulfilment)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FulfilmentDraft {
    r#type: FulfilmentType,
    /// Needed for a delivery.
    address: Option<AddressDocument>,
}

impl OrderDraft {
    pub(crate) fn read(self, currency: Currency) -> Result<PlaceOrder, Problem> {
        let mut faults = Faults::default();
        let f = &mut faults;
        let items = read_items(f, &self.items);
        let customer = read_buyer(f, self.customer);
        let address = optional(
            f,
            "/fulfilment/address",
            self.fulfilment.address,
            |address| address.read(),
        );
        let fee = optional(f, "/deliveryFee", self.delivery_fee, |fee| {
            fee.read(currency)
        });
        let note = optional(f, "/note", self.note, |note| clean(&note, limits::NOTE));
        let expected = optional(f, "/expectedTotal", self.expected_total, |total| {
            total.read(currency)
        });
        let command = || {
            Some(PlaceOrder {
                branch: self.branch_id.into(),
                items: items?,
                customer: customer?,
                fulfilment: self.fulfilment.r#type.into(),
                address: address?,
                payment_method: self.payment_method.into(),
                delivery_fee: fee?,
                note: note?.filter(|note| !note.is_empty()),
                expected_total: expected?,
            })
        };
        finish(faults, command())
    }
}

fn read_buyer(faults: &mut Faults, draft: Option<BuyerDraft>) -> Option<BuyerChoice> {
    const BOTH: InvalidValue = InvalidValue::new(
        "not-allowed",
        "with an id, name and phone come from the customer",
    );
    const NOBODY: InvalidValue = InvalidValue::new("required", "an id or a name is needed");
    let Some(draft) = draft else {
        return Some(BuyerChoice::Unnamed);
    };
    match draft {
        BuyerDraft {
            id: Some(id),
            name: None,
            phone: None,
        } => Some(BuyerChoice::Known(id.into())),
        BuyerDraft {
            id: None,
            name: Some(name),
            phone,
        } => {
            let name = faults.take("/customer/name", clean(&name, limits::NAME));
            let phone = optional(faults, "/customer/phone", phone, |phone| {
                customer::phone(&phone)
            });
            Some(BuyerChoice::Named {
                name: name?,
                phone: phone?,
            })
        }
        BuyerDraft { id: Some(_), .. } => faults.take("/customer", Err(BOTH)),
        BuyerDraft { id: None, .. } => faults.take("/customer/name", Err(NOBODY)),
    }
}
