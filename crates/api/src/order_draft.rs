//! Orders as they are placed: of a checkout, or directly of items.

use abasto_domain::coupon::CouponCode;
use abasto_domain::currency::Currency;
use abasto_domain::customer;
use abasto_domain::fault::{Faults, InvalidValue};
use abasto_domain::limits;
use abasto_domain::order::{Address, FulfilmentKind};
use abasto_domain::text::clean;
use abasto_engine::order::{BuyerChoice, PlaceOrder};
use abasto_engine::order_checkout::OrderCheckout;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::inventory_document::{ItemDocument, read_items};
use crate::order_document::AddressDocument;
use crate::order_names::{FulfilmentType, PaymentMethodName};
use crate::problem::Problem;
use crate::value::{Id, Money, finish, optional};

/// An order to be placed: of a checkout, or directly of items. Prices are the catalogue's; none can
/// be sent.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = PlaceOrder)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OrderDraft {
    /// The checkout whose hold becomes the order. Only `customer`, `note` and `expectedTotal` go
    /// with it.
    checkout_id: Option<Id>,
    /// Needed without a checkout.
    branch_id: Option<Id>,
    /// Needed without a checkout. Items of one product are summed.
    #[schema(min_items = 1, max_items = 200)]
    items: Option<Vec<ItemDocument>>,
    /// Who buys; a calling customer always buys for themselves.
    customer: Option<BuyerDraft>,
    /// Needed without a checkout.
    fulfilment: Option<FulfilmentDraft>,
    /// Needed without a checkout.
    payment_method: Option<PaymentMethodName>,
    /// The coupons to use.
    #[schema(max_items = 5)]
    coupon_codes: Option<Vec<String>>,
    /// Only staff, managers and owners may set it.
    delivery_fee: Option<Money>,
    /// For the people who pack.
    #[schema(max_length = 1000)]
    note: Option<String>,
    /// What the caller believes the total to be; another total refuses the order.
    expected_total: Option<Money>,
}

/// What an [`OrderDraft`] asks for.
pub(crate) enum Placing {
    Direct(PlaceOrder),
    OfCheckout(OrderCheckout),
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
pub(crate) struct FulfilmentDraft {
    r#type: FulfilmentType,
    /// Needed for a delivery.
    address: Option<AddressDocument>,
}

impl FulfilmentDraft {
    /// Whether it is fetched or brought, and where to.
    pub(crate) fn read(self, faults: &mut Faults) -> Option<(FulfilmentKind, Option<Address>)> {
        let pointer = "/fulfilment/address";
        let address = optional(faults, pointer, self.address, |address| address.read());
        Some((self.r#type.into(), address?))
    }
}

/// Coupon codes of a request.
pub(crate) fn read_codes(
    faults: &mut Faults,
    codes: Option<Vec<String>>,
) -> Option<Vec<CouponCode>> {
    let codes = codes.unwrap_or_default().into_iter().enumerate();
    let codes: Vec<Option<CouponCode>> = codes
        .map(|(index, code)| faults.take(format!("/couponCodes/{index}"), CouponCode::parse(&code)))
        .collect();
    codes.into_iter().collect()
}

/// A field that is needed without a checkout.
fn needed<T>(faults: &mut Faults, pointer: &str, value: Option<T>) -> Option<T> {
    const MISSING: InvalidValue = InvalidValue::new("required", "this field is required");
    faults.take(pointer, value.ok_or(MISSING))
}

impl OrderDraft {
    pub(crate) fn read(self, currency: Currency) -> Result<Placing, Problem> {
        match self.checkout_id {
            Some(checkout) => self
                .of_checkout(checkout, currency)
                .map(Placing::OfCheckout),
            None => self.direct(currency).map(Placing::Direct),
        }
    }

    fn of_checkout(self, checkout: Id, currency: Currency) -> Result<OrderCheckout, Problem> {
        const OF_CHECKOUT: InvalidValue =
            InvalidValue::new("not-allowed", "the checkout says this already");
        let mut faults = Faults::default();
        let f = &mut faults;
        for (pointer, given) in [
            ("/branchId", self.branch_id.is_some()),
            ("/items", self.items.is_some()),
            ("/fulfilment", self.fulfilment.is_some()),
            ("/paymentMethod", self.payment_method.is_some()),
            ("/couponCodes", self.coupon_codes.is_some()),
            ("/deliveryFee", self.delivery_fee.is_some()),
        ] {
            if given {
                f.push(OF_CHECKOUT.at(pointer));
            }
        }
        let customer = read_buyer(f, self.customer);
        let note = optional(f, "/note", self.note, |note| clean(&note, limits::NOTE));
        let expected = optional(f, "/expectedTotal", self.expected_total, |total| {
            total.read(currency)
        });
        let command = || {
            Some(OrderCheckout {
                checkout: checkout.into(),
                customer: customer?,
                note: note?.filter(|note| !note.is_empty()),
                expected_total: expected?,
            })
        };
        finish(faults, command())
    }

    fn direct(self, currency: Currency) -> Result<PlaceOrder, Problem> {
        let mut faults = Faults::default();
        let f = &mut faults;
        let branch = needed(f, "/branchId", self.branch_id);
        let items = needed(f, "/items", self.items);
        let items = items.and_then(|items| read_items(f, &items));
        let customer = read_buyer(f, self.customer);
        let fulfilment = needed(f, "/fulfilment", self.fulfilment);
        let fulfilment = fulfilment.and_then(|fulfilment| fulfilment.read(f));
        let method = needed(f, "/paymentMethod", self.payment_method);
        let coupons = read_codes(f, self.coupon_codes);
        let fee = optional(f, "/deliveryFee", self.delivery_fee, |fee| {
            fee.read(currency)
        });
        let note = optional(f, "/note", self.note, |note| clean(&note, limits::NOTE));
        let expected = optional(f, "/expectedTotal", self.expected_total, |total| {
            total.read(currency)
        });
        let command = || {
            let (kind, address) = fulfilment?;
            Some(PlaceOrder {
                branch: branch?.into(),
                items: items?,
                customer: customer?,
                fulfilment: kind,
                address,
                payment_method: method?.into(),
                coupons: coupons?,
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
