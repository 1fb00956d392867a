//! Texts that people write: normalised (NFC), bounded in characters, free of control characters.
//!
//! Owns what a text may hold. Must not know which field it is for: the bounds come as arguments
//! from the table in [`crate::limits`].

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};

use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::fault::InvalidValue;

/// How many characters a text has, least and most, and whether it may have more than one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextBound {
    /// Fewest characters, after trimming.
    pub min_chars: usize,
    /// Most characters.
    pub max_chars: usize,
    /// Whether a newline may appear.
    pub lines: Lines,
}

/// Whether a text is one line or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// No newline.
    One,
    /// Newlines are kept (notes).
    Many,
}

/// Normalises a text to NFC, trims it and checks it against its bound.
pub fn clean(text: &str, bound: TextBound) -> Result<String, InvalidValue> {
    let normal: Cow<'_, str> = if is_nfc(text) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfc().collect())
    };
    let trimmed = normal.trim();
    let forbidden = |c: char| c.is_control() && !(c == '\n' && bound.lines == Lines::Many);
    if trimmed.contains(forbidden) {
        return Err(InvalidValue::new(
            "control-character",
            "control characters are not allowed",
        ));
    }
    let chars = trimmed.chars().count();
    if chars < bound.min_chars {
        return Err(InvalidValue {
            code: if bound.min_chars == 1 {
                "required"
            } else {
                "too-short"
            },
            message: format!("at least {} characters", bound.min_chars).into(),
        });
    }
    if chars > bound.max_chars {
        return Err(InvalidValue {
            code: "too-long",
            message: format!("at most {} characters", bound.max_chars).into(),
        });
    }
    Ok(trimmed.to_string())
}

/// The form in which two e-mail addresses are compared: trimmed, NFC, lower case throughout.
pub fn email_key(email: &str) -> String {
    email
        .trim()
        .nfc()
        .flat_map(char::to_lowercase)
        .nfc()
        .collect()
}
