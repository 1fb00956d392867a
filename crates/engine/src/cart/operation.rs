//! The vocabulary of edits, as callers send it and as the history keeps it.
//!
//! Owns the step from a request to an operation of the cart type: cleaned texts, known products,
//! authentic tags. All faults of a request are told at once.

use std::collections::BTreeMap;

use abasto_cart::{LineKey, Name, Operation, PatchStep, Quantity, Tag, Text};
use abasto_domain::cart::Cart;
use abasto_domain::coupon::CouponCode;
use abasto_domain::fault::{Faults, InvalidValue};
use abasto_domain::id::ProductId;
use abasto_domain::limits;
use abasto_domain::text::{Lines, TextBound, clean};
use serde::{Deserialize, Serialize};

use super::refusal::CartRefusal;
use super::token;
use super::view::LineView;
use crate::error::Error;

/// Characters of a value: a note, an address, an attribute.
const VALUE: TextBound = TextBound {
    min_chars: 0,
    max_chars: 1000,
    lines: Lines::Many,
};

/// One edit, with what its author had seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditStep {
    /// What to do.
    #[serde(flatten)]
    pub operation: EditOperation,
    /// The tag that the view carried for the thing it is about.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tag: Option<String>,
}

/// One edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum EditOperation {
    /// More units of a product.
    AddItem {
        /// Which.
        product_id: ProductId,
        /// What makes these units different from others of the product.
        #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
        options: BTreeMap<String, String>,
        /// How many, from 1.
        quantity: u32,
    },
    /// The quantity of a line shall be this.
    SetQuantity {
        /// Which line.
        line: String,
        /// How many; 0 removes the line.
        quantity: u32,
    },
    /// So many more units of a line that is there.
    Increment {
        /// Which line.
        line: String,
        /// How many.
        by: u32,
    },
    /// So many fewer units of a line that is there.
    Decrement {
        /// Which line.
        line: String,
        /// How many.
        by: u32,
    },
    /// The line goes.
    RemoveItem {
        /// Which line.
        line: String,
    },
    /// All lines go.
    Clear,
    /// A value at a line that is there.
    SetAttribute {
        /// Which line.
        line: String,
        /// Which attribute.
        name: String,
        /// Its value.
        value: String,
    },
    /// Puts a coupon code on the cart.
    ApplyCoupon {
        /// The code.
        code: String,
    },
    /// Takes a coupon code off the cart.
    RemoveCoupon {
        /// The code.
        code: String,
    },
    /// A value of the whole cart.
    SetField {
        /// Which field.
        field: FieldName,
        /// Its value, one piece; empty takes it away from the view.
        value: String,
    },
}

/// The fields of a cart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FieldName {
    /// For the people who pack.
    Note,
    /// Where to bring it.
    ShippingAddress,
    /// Where to write to.
    Email,
    /// Whom to call.
    Phone,
    /// When to bring it.
    DeliverySlot,
}

impl FieldName {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Note,
        Self::ShippingAddress,
        Self::Email,
        Self::Phone,
        Self::DeliverySlot,
    ];

    /// The name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::ShippingAddress => "shippingAddress",
            Self::Email => "email",
            Self::Phone => "phone",
            Self::DeliverySlot => "deliverySlot",
        }
    }
}

impl EditOperation {
    /// The name in the contract.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::AddItem { .. } => "addItem",
            Self::SetQuantity { .. } => "setQuantity",
            Self::Increment { .. } => "increment",
            Self::Decrement { .. } => "decrement",
            Self::RemoveItem { .. } => "removeItem",
            Self::Clear => "clear",
            Self::SetAttribute { .. } => "setAttribute",
            Self::ApplyCoupon { .. } => "applyCoupon",
            Self::RemoveCoupon { .. } => "removeCoupon",
            Self::SetField { .. } => "setField",
        }
    }
}

impl EditOperation {
    /// Whether it edits this line, or one of the same product.
    pub(super) fn is_about(&self, shown: &LineView) -> bool {
        match self {
            Self::AddItem { product_id, .. } => *product_id == shown.product,
            Self::SetQuantity { line, .. }
            | Self::Increment { line, .. }
            | Self::Decrement { line, .. }
            | Self::RemoveItem { line }
            | Self::SetAttribute { line, .. } => *line == shown.line,
            Self::Clear
            | Self::ApplyCoupon { .. }
            | Self::RemoveCoupon { .. }
            | Self::SetField { .. } => false,
        }
    }
}

/// Reads the steps of a request for a cart.
pub(super) fn compile(cart: &Cart, steps: &[EditStep]) -> Result<Vec<PatchStep>, Error> {
    let mut faults = Faults::default();
    let operations: Vec<Option<Operation>> = steps
        .iter()
        .enumerate()
        .map(|(at, step)| read(&mut faults, at, &step.operation))
        .collect();
    faults.finish().map_err(Error::Invalid)?;
    let compiled = operations.into_iter().flatten().zip(steps).enumerate();
    compiled
        .map(|(at, (operation, step))| {
            Ok(PatchStep {
                tag: read_tag(cart, at, step.tag.as_deref())?,
                operation,
            })
        })
        .collect()
}

fn read_tag(cart: &Cart, at: usize, text: Option<&str>) -> Result<Option<Tag>, Error> {
    match text {
        None => Ok(None),
        Some(text) => match token::read_tag(cart, text) {
            Some(tag) => Ok(Some(tag)),
            None => Err(CartRefusal::BadTag(at).into()),
        },
    }
}

fn read(faults: &mut Faults, at: usize, operation: &EditOperation) -> Option<Operation> {
    use EditOperation as E;
    let mut field = Field { faults, at };
    match operation {
        E::AddItem {
            product_id,
            options,
            quantity,
        } => {
            let line = field.line_of(*product_id, options);
            let quantity = field.quantity("quantity", *quantity)?;
            Some(Operation::AddItem {
                line: line?,
                quantity,
            })
        }
        E::SetQuantity { line, quantity } => {
            let line = field.line(line);
            let quantity = match quantity {
                0 => None,
                units => Some(field.quantity("quantity", *units)?),
            };
            Some(Operation::SetQuantity {
                line: line?,
                quantity,
            })
        }
        E::Increment { line, by } => {
            let (line, by) = (field.line(line), field.quantity("by", *by));
            Some(Operation::Increment {
                line: line?,
                by: by?,
            })
        }
        E::Decrement { line, by } => {
            let (line, by) = (field.line(line), field.quantity("by", *by));
            Some(Operation::Decrement {
                line: line?,
                by: by?,
            })
        }
        E::RemoveItem { line } => Some(Operation::RemoveItem {
            line: field.line(line)?,
        }),
        E::Clear => Some(Operation::Clear),
        E::SetAttribute { line, name, value } => {
            let line = field.line(line);
            let name = field.name("name", name);
            let value = field.text("value", value)?;
            Some(Operation::SetAttribute {
                line: line?,
                name: name?,
                value,
            })
        }
        E::ApplyCoupon { code } => Some(Operation::ApplyCoupon {
            code: field.code(code)?,
        }),
        E::RemoveCoupon { code } => Some(Operation::RemoveCoupon {
            code: field.code(code)?,
        }),
        E::SetField { field: name, value } => {
            let value = field.text("value", value)?;
            let name = Name::new(name.name()).ok()?;
            Some(Operation::SetField { name, value })
        }
    }
}

/// Reads the fields of one operation and notes what is wrong with them.
struct Field<'a> {
    faults: &'a mut Faults,
    at: usize,
}

const NOT_A_LINE: InvalidValue =
    InvalidValue::new("invalid-line", "a line as the view of the cart names it");
const NOT_A_NAME: InvalidValue = InvalidValue::new("too-long", "at most 64 bytes");

impl Field<'_> {
    fn take<T>(&mut self, field: &str, value: Result<T, InvalidValue>) -> Option<T> {
        self.faults.take(format!("/ops/{}/{field}", self.at), value)
    }

    fn line_of(
        &mut self,
        product: ProductId,
        options: &BTreeMap<String, String>,
    ) -> Option<LineKey> {
        const OPTIONS: InvalidValue = InvalidValue::new(
            "invalid-options",
            "names and values of 1 to 64 bytes, 200 bytes in all; no name begins with @",
        );
        let cleaned: Result<Vec<_>, InvalidValue> = options
            .iter()
            .map(|(name, value)| {
                let name = clean(name, limits::ATTRIBUTE_NAME)?;
                Ok((name, clean(value, limits::ATTRIBUTE_NAME)?))
            })
            .collect();
        let cleaned = self.take("options", cleaned)?;
        let product = product.to_string();
        let mut key = LineKey::builder(&product);
        for (name, value) in &cleaned {
            key = key.option(name, value);
        }
        self.take("options", key.build().map_err(|_| OPTIONS))
    }

    fn line(&mut self, text: &str) -> Option<LineKey> {
        let line = LineKey::parse(text).ok();
        let known = line.filter(|line| ProductId::parse(line.product()).is_ok());
        self.take("line", known.ok_or(NOT_A_LINE))
    }

    fn quantity(&mut self, field: &str, units: u32) -> Option<Quantity> {
        const RANGE: InvalidValue = InvalidValue::new(
            "out-of-range",
            "a quantity is a whole number from 1 to 1000000",
        );
        self.take(field, Quantity::new(units).map_err(|_| RANGE))
    }

    fn name(&mut self, field: &str, text: &str) -> Option<Name> {
        let cleaned = clean(text, limits::ATTRIBUTE_NAME);
        let name = cleaned.and_then(|text| Name::new(&text).map_err(|_| NOT_A_NAME));
        self.take(field, name)
    }

    fn text(&mut self, field: &str, text: &str) -> Option<Text> {
        const LONG: InvalidValue = InvalidValue::new("too-long", "at most 4096 bytes");
        let cleaned = clean(text, VALUE);
        let text = cleaned.and_then(|text| Text::new(&text).map_err(|_| LONG));
        self.take(field, text)
    }

    fn code(&mut self, text: &str) -> Option<Name> {
        let code = CouponCode::parse(text).map(|code| code.to_string());
        let name = code.and_then(|code| Name::new(&code).map_err(|_| NOT_A_NAME));
        self.take("code", name)
    }
}
