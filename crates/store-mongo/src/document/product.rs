//! `products`. The price is a decimal with the decimals of the business's currency, which stands
//! beside it.

use abasto_domain::currency::Currency;
use abasto_domain::product::Product;
use abasto_domain::quantity::Quantity;
use mongodb::bson::raw::{RawDocumentBuf, cstr};

use super::field::{Fields, Row, Unreadable};
use super::pair;
use super::stamp::{Stamped, stamp};

pub(crate) fn write(product: &Product, currency: Currency) -> RawDocumentBuf {
    Fields::new()
        .id(cstr!("_id"), product.id)
        .id(cstr!("businessId"), product.business)
        .text(cstr!("sku"), &product.sku)
        .text(cstr!("name"), &product.name)
        .money(cstr!("salePrice"), product.sale_price, currency)
        .text(cstr!("currency"), currency.code())
        .rate(cstr!("taxRate"), product.tax_rate)
        .flag(cstr!("active"), product.active)
        .opt_ids(cstr!("branchIds"), product.branches.as_deref())
        .opt_int(
            cstr!("maxPerOrder"),
            product.max_per_order.map(Quantity::units),
        )
        .docs(cstr!("attributes"), pair::write(&product.attributes))
        .opt_date(cstr!("deletedAt"), product.deleted_at)
        .stamped(&product.stamp)
}

pub(crate) fn read(row: Row<'_>) -> Result<Product, Unreadable> {
    let currency = row.parsed("currency", Currency::parse)?;
    let most = row.opt_int("maxPerOrder")?.map(Quantity::new).transpose();
    Ok(Product {
        business: row.id("businessId")?,
        id: row.id("_id")?,
        sku: row.text("sku")?,
        name: row.text("name")?,
        sale_price: row.money("salePrice", currency)?,
        tax_rate: row.rate("taxRate")?,
        active: row.flag("active")?,
        branches: row.opt_ids("branchIds")?,
        max_per_order: most.map_err(|why| row.unreadable("maxPerOrder", why))?,
        attributes: pair::read(row, "attributes")?,
        deleted_at: row.opt_date("deletedAt")?,
        stamp: stamp(row)?,
    })
}
