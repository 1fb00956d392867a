//! What the author of an operation had seen of the thing it changes.
//!
//! Owns [`Observed`], [`Subject`] and [`Tag`]. A tag goes to a client with the view and comes
//! back with the operation, so that what is removed is what the shopper saw, in whatever region
//! the operation arrives. Signing is outside: a caller authenticates the bytes of
//! [`Tag::encode`] together with the cart's id, and decodes only bytes that it has verified.

use crate::cart::Cart;
use crate::codec::{self, DecodeError};
use crate::dot::Dot;
use crate::entry::{Entry, Instances};
use crate::fold::weigh;
use crate::line_key::LineKey;
use crate::value::{Name, Quantity};
use crate::view::{LineCap, shown};
use alloc::vec::Vec;

/// What an operation is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// One line.
    Line(LineKey),
    /// One coupon code.
    Coupon(Name),
    /// One field of the cart.
    Field(Name),
    /// All lines.
    Lines,
}

/// What was seen. The default is: nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Units shown; `None` when the line did not show, and for all that is no line.
    pub quantity: Option<Quantity>,
    /// Units before the cap.
    pub raw: i64,
    /// The lives of the line that were present; empty when it did not show.
    pub instances: Vec<Dot>,
    /// The live dots, without attributes.
    pub dots: Vec<Dot>,
    /// The live dots of the line's attributes.
    pub attributes: Vec<(Name, Dot)>,
}

/// What was seen, and of what: the content of the opaque tag that a client holds.
///
/// ```
/// # use abasto_cart::{Cart, Dot, Hlc, LineKey, Operation, PatchStep, Quantity, Rid, Stamp, Subject, Tag, default_cap};
/// # let tea = LineKey::new("tea")?;
/// # let add = |n| Operation::AddItem { line: LineKey::new("tea").unwrap(), quantity: Quantity::new(n).unwrap() };
/// # let stamp = |device, seq| Stamp { dot: Dot::new(Rid::device(device), seq).unwrap(), hlc: Hlc::ZERO };
/// let mut cart = Cart::new();
/// cart.apply(&add(5), stamp(1, 1), &default_cap)?;
/// let shown = cart.tag(Subject::Line(tea.clone()), &default_cap).encode();
///
/// // Two more come from elsewhere before the shopper removes the five on the screen.
/// cart.apply(&add(2), stamp(2, 1), &default_cap)?;
/// let step = PatchStep { operation: Operation::RemoveItem { line: tea }, tag: Some(Tag::decode(&shown)?) };
/// let removed = cart.patch(&[step], stamp(1, 2), &default_cap)?;
/// cart.join(&removed);
/// assert_eq!(cart.view(&default_cap).lines[0].quantity.get(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Of what.
    pub subject: Subject,
    /// What.
    pub seen: Observed,
}

impl Observed {
    /// The lives that an entry made now belongs to: the present ones, else a new one.
    pub(crate) fn anchor(&self, dot: Dot) -> Instances {
        Instances::collect(self.instances.clone()).unwrap_or_else(|| Instances::one(dot))
    }

    /// Whether the cap had cut the quantity.
    pub(crate) fn is_clamped(&self) -> bool {
        self.quantity
            .is_some_and(|quantity| self.raw > i64::from(quantity.get()))
    }

    /// Every live dot.
    pub(crate) fn all_dots(&self) -> impl Iterator<Item = Dot> + '_ {
        self.dots
            .iter()
            .copied()
            .chain(self.attributes.iter().map(|&(_, dot)| dot))
    }
}

impl Tag {
    /// The bytes to authenticate and hand out. A line in its normal state takes 20 to 30 and its key.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        codec::encode_tag(self)
    }

    /// Reads what [`Tag::encode`] wrote. The caller has verified that it did.
    ///
    /// # Errors
    /// [`DecodeError`] for anything else.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        codec::decode_tag(bytes)
    }
}

impl Cart {
    /// What this state shows of the subject.
    #[must_use]
    pub fn observe(&self, subject: &Subject, cap: LineCap<'_>) -> Observed {
        match subject {
            Subject::Line(line) => observe_line(self.line(line), cap(line)),
            Subject::Coupon(code) => {
                self.observe_dots(|entry| matches!(entry, Entry::Coupon { code: c } if c == code))
            }
            Subject::Field(name) => self
                .observe_dots(|entry| matches!(entry, Entry::Field { name: n, .. } if n == name)),
            Subject::Lines => self.observe_dots(|entry| entry.line().is_some()),
        }
    }

    /// The tag of the subject in this state.
    #[must_use]
    pub fn tag(&self, subject: Subject, cap: LineCap<'_>) -> Tag {
        Tag {
            seen: self.observe(&subject, cap),
            subject,
        }
    }

    /// The tags of all visible lines, in the order of the view.
    #[must_use]
    pub fn line_tags(&self, cap: LineCap<'_>) -> Vec<Tag> {
        let by_line = self.by_line();
        let groups = by_line.chunk_by(|a, b| a.0 == b.0);
        let tags = groups.filter_map(|group| {
            let (line, _, _) = group.first()?;
            let entries = group.iter().map(|&(_, dot, entry)| (dot, entry));
            let seen = observe_line(entries, cap(line));
            seen.quantity?;
            Some(Tag {
                subject: Subject::Line((*line).clone()),
                seen,
            })
        });
        tags.collect()
    }

    fn observe_dots(&self, of: impl Fn(&Entry) -> bool) -> Observed {
        let live = self.entries().iter().filter(|(_, entry)| of(entry));
        Observed {
            dots: live.map(|(dot, _)| *dot).collect(),
            ..Observed::default()
        }
    }
}

fn observe_line<'a>(
    entries: impl Iterator<Item = (Dot, &'a Entry)> + Clone,
    cap: Quantity,
) -> Observed {
    let mut seen = Observed::default();
    for (dot, entry) in entries.clone() {
        match entry {
            Entry::Attribute { name, .. } => seen.attributes.push((name.clone(), dot)),
            _ => seen.dots.push(dot),
        }
    }
    let weighed = weigh(entries);
    seen.quantity = shown(&weighed, cap);
    seen.raw = weighed.raw;
    if seen.quantity.is_some() {
        seen.instances = weighed.instances;
    }
    seen
}
