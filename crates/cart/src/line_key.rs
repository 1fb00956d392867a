//! What makes two units the same line.
//!
//! Owns [`LineKey`]. Everything that makes two units non-interchangeable is in the key (product,
//! options, seller, personalisation, the bundle they belong to); everything a shopper may edit
//! afterwards is an attribute and is not. The key is its own text, so any receiver can read it
//! without having seen the cart.

use crate::limit::{MAX_LINE_KEY_BYTES, MAX_NAME_BYTES};
use crate::value::{ValueError, is_name};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};

const SELLER: &str = "@seller";
const PERSONALISATION: &str = "@personalisation";
const PARENT: &str = "@parent";

/// The identity of a line: `product` or `product?name=value&name=value`.
///
/// Pairs are sorted by name, names are unique, and `%`, `&`, `=`, `?` inside them are written
/// `%25`, `%26`, `%3D`, `%3F`, so one identity has one text.
///
/// ```
/// use abasto_cart::LineKey;
///
/// let key = LineKey::builder("croissant").option("size", "L").option("filling", "jam").build()?;
/// assert_eq!(key.as_str(), "croissant?filling=jam&size=L");
/// assert_eq!(LineKey::parse("croissant?filling=jam&size=L")?, key);
/// assert!(LineKey::parse("croissant?size=L&filling=jam").is_err());
/// # Ok::<(), abasto_cart::ValueError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineKey(Arc<str>);

impl LineKey {
    /// The key of a product without options.
    ///
    /// # Errors
    /// [`ValueError::LineKey`] when the product is not 1 to 64 visible ASCII characters without
    /// `%`, `&`, `=`, `?`.
    pub fn new(product: &str) -> Result<Self, ValueError> {
        Self::builder(product).build()
    }

    /// Starts a key with options.
    #[must_use]
    pub fn builder(product: &str) -> LineKeyBuilder<'_> {
        LineKeyBuilder {
            product,
            pairs: Vec::new(),
        }
    }

    /// Reads the canonical text form.
    ///
    /// # Errors
    /// [`ValueError::LineKey`] when the text is not what [`LineKey::as_str`] would give.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        if is_canonical(text) {
            Ok(Self(text.into()))
        } else {
            Err(ValueError::LineKey)
        }
    }

    /// The canonical text, at most 256 bytes.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The product part.
    #[must_use]
    pub fn product(&self) -> &str {
        self.split().0
    }

    /// The options, ascending by name, without seller, personalisation and parent.
    pub fn options(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.pairs()
            .filter(|(name, _)| !name.starts_with('@'))
            .map(|(n, v)| (unescape(n), unescape(v)))
    }

    /// The seller whose offer it is, when there is more than one.
    #[must_use]
    pub fn seller(&self) -> Option<String> {
        self.pair(SELLER)
    }

    /// The bundle line that this line is a part of.
    #[must_use]
    pub fn parent(&self) -> Option<String> {
        self.pair(PARENT)
    }

    /// The digest of the personalisation (engraving, uploaded picture), as lower-case hex.
    #[must_use]
    pub fn personalisation(&self) -> Option<String> {
        self.pair(PERSONALISATION)
    }

    fn pair(&self, wanted: &str) -> Option<String> {
        self.pairs()
            .find(|(name, _)| *name == wanted)
            .map(|(_, value)| unescape(value))
    }

    fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.split()
            .1
            .split('&')
            .filter_map(|pair| pair.split_once('='))
    }

    fn split(&self) -> (&str, &str) {
        self.0.split_once('?').unwrap_or((&self.0, ""))
    }
}

impl fmt::Debug for LineKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// Collects the parts of a key in any order. Values are compared as bytes: normalise Unicode first.
#[derive(Clone, Debug)]
pub struct LineKeyBuilder<'a> {
    product: &'a str,
    pairs: Vec<(&'a str, Cow<'a, str>)>,
}

impl<'a> LineKeyBuilder<'a> {
    /// An option that the shopper chose. Its name may not start with `@`.
    #[must_use]
    pub fn option(mut self, name: &'a str, value: &'a str) -> Self {
        // A reserved name must not slip in as an option; the empty name makes `build` refuse it.
        let name = if name.starts_with('@') { "" } else { name };
        self.pairs.push((name, value.into()));
        self
    }

    /// The seller whose offer it is.
    #[must_use]
    pub fn seller(mut self, seller: &'a str) -> Self {
        self.pairs.push((SELLER, seller.into()));
        self
    }

    /// The bundle line that this line is a part of.
    #[must_use]
    pub fn parent(mut self, parent: &'a str) -> Self {
        self.pairs.push((PARENT, parent.into()));
        self
    }

    /// The digest of what was personalised; 128 bits of a cryptographic hash are enough.
    #[must_use]
    pub fn personalisation(mut self, digest: [u8; 16]) -> Self {
        let mut hex = String::with_capacity(32);
        for byte in digest {
            // Writing to a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
        }
        self.pairs.push((PERSONALISATION, hex.into()));
        self
    }

    /// # Errors
    /// [`ValueError::LineKey`] when a part is empty, out of bounds or given twice, or the text
    /// would exceed 256 bytes.
    pub fn build(self) -> Result<LineKey, ValueError> {
        let mut pairs: Vec<(String, String)> = self
            .pairs
            .iter()
            .map(|(name, value)| (escape(name), escape(value)))
            .collect();
        pairs.sort_unstable();
        let mut text = String::from(self.product);
        for (at, (name, value)) in pairs.iter().enumerate() {
            text.push(if at == 0 { '?' } else { '&' });
            text.push_str(name);
            text.push('=');
            text.push_str(value);
        }
        LineKey::parse(&text)
    }
}

fn is_canonical(text: &str) -> bool {
    let (product, pairs) = match text.split_once('?') {
        Some((product, pairs)) => (product, Some(pairs)),
        None => (text, None),
    };
    text.len() <= MAX_LINE_KEY_BYTES && is_product(product) && pairs.is_none_or(are_pairs)
}

fn is_product(product: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_graphic() && !is_reserved(byte);
    (1..=MAX_NAME_BYTES).contains(&product.len()) && product.bytes().all(is_allowed)
}

fn are_pairs(pairs: &str) -> bool {
    let mut last = "";
    pairs.split('&').all(|pair| {
        let Some((name, value)) = pair.split_once('=') else {
            return false;
        };
        let ascending = last < name;
        last = name;
        ascending && is_part(name) && is_part(value)
    })
}

/// A name or value whose escapes are exactly those that [`escape`] makes.
fn is_part(part: &str) -> bool {
    let plain = unescape(part);
    is_name(&plain) && escape(&plain) == part
}

fn is_reserved(byte: u8) -> bool {
    matches!(byte, b'%' | b'&' | b'=' | b'?')
}

fn escape(plain: &str) -> String {
    let mut part = String::with_capacity(plain.len());
    for c in plain.chars() {
        match c {
            '%' => part.push_str("%25"),
            '&' => part.push_str("%26"),
            '=' => part.push_str("%3D"),
            '?' => part.push_str("%3F"),
            other => part.push(other),
        }
    }
    part
}

fn unescape(part: &str) -> String {
    part.replace("%3F", "?")
        .replace("%3D", "=")
        .replace("%26", "&")
        .replace("%25", "%")
}
