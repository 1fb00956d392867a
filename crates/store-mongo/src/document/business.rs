//! `businesses`.

use abasto_domain::business::{Business, Settings};
use abasto_domain::currency::Currency;
use mongodb::bson::raw::{RawDocumentBuf, cstr};

use super::field::{Fields, Row, Unreadable};
use super::stamp::{Stamped, stamp};

pub(crate) fn write(business: &Business) -> RawDocumentBuf {
    let settings = &business.settings;
    let settings = Fields::new()
        .int(cstr!("holdMinutes"), i64::from(settings.hold_minutes))
        .int(
            cstr!("unpaidOrderMinutes"),
            i64::from(settings.unpaid_order_minutes),
        )
        .flag(cstr!("autoConfirmPaid"), settings.auto_confirm_paid)
        .flag(cstr!("restockOnCancel"), settings.restock_on_cancel)
        .flag(
            cstr!("returnCouponsOnCancel"),
            settings.return_coupons_on_cancel,
        )
        .name(cstr!("cartMode"), settings.cart_mode);
    Fields::new()
        .id(cstr!("_id"), business.id)
        .text(cstr!("name"), &business.name)
        .text(cstr!("currency"), business.currency.code())
        .text(cstr!("timeZone"), &business.time_zone)
        .doc(cstr!("settings"), settings.done())
        .stamped(&business.stamp)
}

pub(crate) fn read(row: Row<'_>) -> Result<Business, Unreadable> {
    let settings = row.row("settings")?;
    Ok(Business {
        id: row.id("_id")?,
        name: row.text("name")?,
        currency: row.parsed("currency", Currency::parse)?,
        time_zone: row.text("timeZone")?,
        settings: Settings {
            hold_minutes: settings.number("holdMinutes")?,
            unpaid_order_minutes: settings.number("unpaidOrderMinutes")?,
            auto_confirm_paid: settings.flag("autoConfirmPaid")?,
            restock_on_cancel: settings.flag("restockOnCancel")?,
            return_coupons_on_cancel: settings.flag("returnCouponsOnCancel")?,
            cart_mode: settings.name("cartMode")?,
        },
        stamp: stamp(row)?,
    })
}
