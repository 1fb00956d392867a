//! A patch of a cart: the operations that a request brings.
//!
//! Owns their JSON and which fields belong to which operation. What one means is the engine's.

use std::collections::{BTreeMap, BTreeSet};

use abasto_domain::fault::{Faults, InvalidValue};
use abasto_engine::cart::{EditCart, EditOperation, EditStep, FieldName};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::cart_document::FieldValue;
use crate::problem::Problem;
use crate::value::{Id, finish};

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
