//! A customer of a business.
//!
//! Owns the form of a phone number and the comparison of e-mail addresses. A phone is unique in
//! the business where present, an e-mail address among verified ones.

use alloc::string::{String, ToString};

use crate::fault::InvalidValue;
use crate::id::{BusinessId, CustomerId};
use crate::limits;
use crate::stamp::Stamp;
use crate::text::{clean, email_key};
use crate::time::Timestamp;

/// One customer.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Customer {
    /// The tenant.
    pub business: BusinessId,
    /// Its id.
    pub id: CustomerId,
    /// Its name.
    pub name: String,
    /// In E.164 form.
    pub phone: Option<String>,
    /// As written.
    pub email: Option<String>,
    /// When the address was verified.
    pub email_verified_at: Option<Timestamp>,
    /// Version and times.
    pub stamp: Stamp,
}

impl Customer {
    /// The key under which the address is unique, when it is verified.
    pub fn verified_email_key(&self) -> Option<String> {
        let email = self.email.as_deref()?;
        self.email_verified_at.map(|_| email_key(email))
    }
}

/// Checks an E.164 number: `+`, then 7 to 15 digits, the first not zero.
pub fn phone(text: &str) -> Result<String, InvalidValue> {
    let text = text.trim();
    let digits = text.strip_prefix('+').unwrap_or_default();
    let shape = (7..=15).contains(&digits.len()) && digits.bytes().all(|d| d.is_ascii_digit());
    if shape && !digits.starts_with('0') {
        Ok(text.to_string())
    } else {
        Err(InvalidValue::new(
            "invalid-phone",
            "a phone number is in E.164 form, such as \"+573001234567\"",
        ))
    }
}

/// Checks an address loosely: one `@` with something before it and a dotted name after it, no
/// white space or invisible characters. Whether it exists is what verification shows.
pub fn email(text: &str) -> Result<String, InvalidValue> {
    const MALFORMED: InvalidValue = InvalidValue::new(
        "invalid-email",
        "an e-mail address is like \"ana@example.org\"",
    );
    let text = clean(text, limits::EMAIL)?;
    let (local, host) = text.rsplit_once('@').ok_or(MALFORMED)?;
    let invisible = |c: char| {
        c.is_whitespace()
            || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let dotted = host.split('.').count() >= 2 && host.split('.').all(|label| !label.is_empty());
    if local.is_empty() || local.contains('@') || !dotted || text.contains(invisible) {
        return Err(MALFORMED);
    }
    Ok(text)
}
