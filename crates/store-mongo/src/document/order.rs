//! `orders`: one document per order with its lines, buyer and sums as they were.

use abasto_domain::coupon::{AppliedCoupon, CouponCode};
use abasto_domain::currency::Currency;
use abasto_domain::number::OrderNumber;
use abasto_domain::order::{Address, Buyer, Fulfilment, Order};
use abasto_domain::order_state::Timeline;
use abasto_domain::pricing::{Item, Line, Totals};
use abasto_domain::time::Timestamp;
use mongodb::bson::raw::{RawDocumentBuf, cstr};

use super::field::{Fields, Row, Unreadable};
use super::pair;
use super::stamp::{Stamped, stamp};

/// An order, and when it is due.
pub(crate) fn write(order: &Order, due_at: Option<Timestamp>) -> RawDocumentBuf {
    let currency = order.currency;
    let lines = order.lines.iter().map(|line| write_line(line, currency));
    let coupons = order
        .coupons
        .iter()
        .map(|coupon| write_coupon(coupon, currency));
    let timeline = &order.timeline;
    Fields::new()
        .id(cstr!("_id"), order.id)
        .id(cstr!("businessId"), order.business)
        .text(cstr!("number"), &order.number.to_string())
        .id(cstr!("branchId"), order.branch)
        .name(cstr!("status"), order.status)
        .name(cstr!("paymentStatus"), order.payment_status)
        .name(cstr!("paymentMethod"), order.payment_method)
        .doc(cstr!("customer"), write_buyer(&order.customer))
        .docs(cstr!("items"), lines)
        .doc(cstr!("totals"), write_totals(&order.totals, currency))
        .text(cstr!("currency"), currency.code())
        .docs(cstr!("coupons"), coupons)
        .doc(cstr!("fulfilment"), write_fulfilment(&order.fulfilment))
        .opt_text(cstr!("note"), order.note.as_deref())
        .opt_id(cstr!("checkoutId"), order.checkout)
        .opt_id(cstr!("cartId"), order.cart)
        .opt_date(cstr!("reservationExpiresAt"), order.reservation_expires_at)
        .opt_date(cstr!("dueAt"), due_at)
        .opt_date(cstr!("confirmedAt"), timeline.confirmed_at)
        .opt_date(cstr!("preparingAt"), timeline.preparing_at)
        .opt_date(cstr!("dispatchedAt"), timeline.dispatched_at)
        .opt_date(cstr!("deliveredAt"), timeline.delivered_at)
        .opt_date(cstr!("cancelledAt"), timeline.cancelled_at)
        .opt_date(cstr!("expiredAt"), timeline.expired_at)
        .opt_date(cstr!("paidAt"), timeline.paid_at)
        .opt_text(cstr!("cancelReason"), order.cancel_reason.as_deref())
        .opt_id(cstr!("reservedAnewId"), order.reserved_anew)
        .docs(
            cstr!("returnedItems"),
            order.returned.iter().map(write_returned),
        )
        .int(
            cstr!("returnCount"),
            i64::try_from(order.returns).unwrap_or(i64::MAX),
        )
        .stamped(&order.stamp)
}

fn write_line(line: &Line, currency: Currency) -> RawDocumentBuf {
    Fields::new()
        .id(cstr!("productId"), line.product)
        .text(cstr!("skuAtPurchase"), &line.sku)
        .text(cstr!("nameAtPurchase"), &line.name)
        .int(cstr!("quantity"), line.quantity.units())
        .money(cstr!("unitPrice"), line.unit_price, currency)
        .money(cstr!("subtotal"), line.subtotal, currency)
        .money(cstr!("discount"), line.discount, currency)
        .money(cstr!("tax"), line.tax, currency)
        .money(cstr!("total"), line.total, currency)
        .done()
}

fn write_coupon(coupon: &AppliedCoupon, currency: Currency) -> RawDocumentBuf {
    Fields::new()
        .id(cstr!("couponId"), coupon.coupon)
        .text(cstr!("codeAtPurchase"), coupon.code.as_str())
        .money(cstr!("discount"), coupon.discount, currency)
        .name(cstr!("redemption"), coupon.redemption)
        .done()
}

fn write_returned(item: &Item) -> RawDocumentBuf {
    Fields::new()
        .id(cstr!("productId"), item.product)
        .int(cstr!("quantity"), item.quantity.units())
        .done()
}

fn write_totals(totals: &Totals, currency: Currency) -> RawDocumentBuf {
    Fields::new()
        .money(cstr!("subtotal"), totals.subtotal, currency)
        .money(cstr!("discount"), totals.discount, currency)
        .money(cstr!("tax"), totals.tax, currency)
        .money(cstr!("deliveryFee"), totals.delivery_fee, currency)
        .money(cstr!("total"), totals.total, currency)
        .done()
}

fn write_buyer(buyer: &Buyer) -> RawDocumentBuf {
    Fields::new()
        .opt_id(cstr!("id"), buyer.id)
        .opt_text(cstr!("nameAtPurchase"), buyer.name.as_deref())
        .opt_text(cstr!("phoneAtPurchase"), buyer.phone.as_deref())
        .done()
}

fn write_fulfilment(fulfilment: &Fulfilment) -> RawDocumentBuf {
    let fields = Fields::new().name(cstr!("type"), fulfilment.kind);
    let fields = match &fulfilment.address {
        None => fields.null(cstr!("address")),
        Some(Address::Text(text)) => fields.text(cstr!("address"), text),
        Some(Address::Parts(parts)) => fields.docs(cstr!("address"), pair::write(parts)),
    };
    fields.opt_id(cstr!("courierId"), fulfilment.courier).done()
}

pub(crate) fn read(row: Row<'_>) -> Result<Order, Unreadable> {
    let currency = row.parsed("currency", Currency::parse)?;
    Ok(Order {
        business: row.id("businessId")?,
        id: row.id("_id")?,
        number: row.parsed("number", OrderNumber::parse)?,
        branch: row.id("branchId")?,
        status: row.name("status")?,
        payment_status: row.name("paymentStatus")?,
        payment_method: row.name("paymentMethod")?,
        customer: read_buyer(row.row("customer")?)?,
        lines: row.rows("items", |line| read_line(line, currency))?,
        totals: read_totals(row.row("totals")?, currency)?,
        currency,
        coupons: row.rows("coupons", |coupon| read_coupon(coupon, currency))?,
        fulfilment: read_fulfilment(row.row("fulfilment")?)?,
        note: row.opt_text("note")?,
        checkout: row.opt_id("checkoutId")?,
        cart: row.opt_id("cartId")?,
        reservation_expires_at: row.opt_date("reservationExpiresAt")?,
        timeline: Timeline {
            confirmed_at: row.opt_date("confirmedAt")?,
            preparing_at: row.opt_date("preparingAt")?,
            dispatched_at: row.opt_date("dispatchedAt")?,
            delivered_at: row.opt_date("deliveredAt")?,
            cancelled_at: row.opt_date("cancelledAt")?,
            expired_at: row.opt_date("expiredAt")?,
            paid_at: row.opt_date("paidAt")?,
        },
        cancel_reason: row.opt_text("cancelReason")?,
        reserved_anew: row.opt_id("reservedAnewId")?,
        returned: row.rows("returnedItems", read_returned)?,
        returns: row.number("returnCount")?,
        stamp: stamp(row)?,
    })
}

fn read_line(row: Row<'_>, currency: Currency) -> Result<Line, Unreadable> {
    Ok(Line {
        product: row.id("productId")?,
        sku: row.text("skuAtPurchase")?,
        name: row.text("nameAtPurchase")?,
        quantity: row.number("quantity")?,
        unit_price: row.money("unitPrice", currency)?,
        subtotal: row.money("subtotal", currency)?,
        discount: row.money("discount", currency)?,
        tax: row.money("tax", currency)?,
        total: row.money("total", currency)?,
    })
}

fn read_coupon(row: Row<'_>, currency: Currency) -> Result<AppliedCoupon, Unreadable> {
    Ok(AppliedCoupon {
        coupon: row.id("couponId")?,
        code: row.parsed("codeAtPurchase", CouponCode::parse)?,
        discount: row.money("discount", currency)?,
        redemption: row.name("redemption")?,
    })
}

fn read_returned(row: Row<'_>) -> Result<Item, Unreadable> {
    Ok(Item {
        product: row.id("productId")?,
        quantity: row.number("quantity")?,
    })
}

fn read_totals(row: Row<'_>, currency: Currency) -> Result<Totals, Unreadable> {
    Ok(Totals {
        subtotal: row.money("subtotal", currency)?,
        discount: row.money("discount", currency)?,
        tax: row.money("tax", currency)?,
        delivery_fee: row.money("deliveryFee", currency)?,
        total: row.money("total", currency)?,
    })
}

fn read_buyer(row: Row<'_>) -> Result<Buyer, Unreadable> {
    Ok(Buyer {
        id: row.opt_id("id")?,
        name: row.opt_text("nameAtPurchase")?,
        phone: row.opt_text("phoneAtPurchase")?,
    })
}

fn read_fulfilment(row: Row<'_>) -> Result<Fulfilment, Unreadable> {
    let address = if row.is_text("address") {
        Some(Address::Text(row.text("address")?))
    } else if row.is_there("address") {
        Some(Address::Parts(pair::read(row, "address")?))
    } else {
        None
    };
    Ok(Fulfilment {
        kind: row.name("type")?,
        address,
        courier: row.opt_id("courierId")?,
    })
}
