//! Texts in which two stores that did the same are the same.
//!
//! Ids and secrets are made by chance on each side. An id that an answer told is replaced by the
//! number of its first appearance; one that no answer told, and whatever is opaque, by a sign.

use std::collections::{BTreeMap, HashMap};

use abasto_cart::Cart as Content;
use abasto_cart::limit::default_cap;
use abasto_domain::id::{BusinessId, CartId};
use abasto_store::Store;
use abasto_store::record::{Document, Kind, Record};

/// Digits from which a number is one of chance: the name of an author, a fingerprint.
const CHANCE_DIGITS: usize = 16;
/// Letters of an id; a word with more of them is opaque.
const ID_LETTERS: usize = 24;

/// The ids that answers of one side told.
#[derive(Debug, Default)]
pub(crate) struct Names(HashMap<String, usize>);

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

impl Names {
    /// The text of an answer; the ids in it are known from now on.
    pub(crate) fn learn(&mut self, text: &str) -> String {
        replaced(text, |id| {
            let next = self.0.len();
            let number = *self.0.entry(id.to_owned()).or_insert(next);
            format!("#{number}")
        })
    }

    /// The text of something that no answer told.
    pub(crate) fn of(&self, text: &str) -> String {
        replaced(text, |id| match self.0.get(id) {
            Some(number) => format!("#{number}"),
            None => "#?".to_owned(),
        })
    }
}

fn replaced(text: &str, mut name: impl FnMut(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_token = false;
    while let Some(first) = rest.bytes().next() {
        let (piece, after) = if is_word(first) {
            rest.split_at(rest.bytes().take_while(|byte| is_word(*byte)).count())
        } else if let Some(length) = bytes_at(rest) {
            out.push_str("[bytes]");
            rest = &rest[length..];
            continue;
        } else {
            rest.split_at(rest.chars().next().map_or(1, char::len_utf8))
        };
        rest = after;
        let is_number = piece.bytes().all(|byte| byte.is_ascii_digit());
        // How a client names what it has seen is opaque, however short.
        let was_token = std::mem::replace(&mut is_token, false);
        if !is_word(first) || piece == "String" {
            is_token = was_token;
        } else if was_token {
            out.push('~');
            continue;
        } else {
            is_token = piece == "ctx" || piece == "tag";
        }
        let is_hex = piece.bytes().all(|byte| byte.is_ascii_hexdigit());
        if piece.len() == ID_LETTERS && is_hex {
            out.push_str(&name(piece));
        } else if piece.len() > ID_LETTERS || (is_number && piece.len() >= CHANCE_DIGITS) {
            out.push('~');
        } else {
            out.push_str(piece);
        }
    }
    out
}

/// The length of an array of sixteen numbers or more at the start of the text.
fn bytes_at(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('[')?;
    let length = inside
        .bytes()
        .take_while(|byte| byte.is_ascii_digit() || *byte == b',' || *byte == b' ')
        .count();
    let numbers = inside[..length].split(',').count();
    (inside[length..].starts_with(']') && numbers >= 16).then_some(length + 2)
}

/// Everything that is stored of a business, as sorted texts.
pub(crate) async fn state_of(
    store: &dyn Store,
    business: BusinessId,
    names: &Names,
) -> Vec<String> {
    let mut texts = Vec::new();
    let mut carts: BTreeMap<CartId, Content> = BTreeMap::new();
    let mut take = |record: Record| {
        match record {
            Record::CartState(state) => join(&mut carts, state.cart, &state.state),
            Record::CartAppend(edit) => join(&mut carts, edit.dot.cart, &edit.delta),
            other => texts.extend(shown(&other).map(|text| names.of(&text))),
        }
        Ok(())
    };
    store.walk(business, &mut take).await.unwrap();
    // How much of a cart is in its state and how much beside it is a matter of time.
    texts.extend(carts.iter().map(|(cart, content)| {
        let view = content.view(&default_cap);
        names.of(&format!("content of {cart:?}: {view:?}"))
    }));
    texts.sort_unstable();
    texts
}

fn join(carts: &mut BTreeMap<CartId, Content>, cart: CartId, bytes: &[u8]) {
    let content = Content::decode(bytes).unwrap();
    carts.entry(cart).or_default().join(&content);
}

/// A record without what depends on chance or on which of two things at once came first.
fn shown(record: &Record) -> Option<String> {
    match record {
        // Units that expire together go back in any order. That the sequence has no gap and each
        // balance is the running sum is the audit's matter.
        Record::Movement(it) => Some(format!(
            "movement {:?} {:?} {} {} {:?} {:?} {:?} {:?}",
            it.place, it.kind, it.available, it.reserved, it.operation, it.cause, it.actor, it.at
        )),
        // When a message is looked at again is left to chance.
        Record::Document(Document::PaymentEvent(it)) if it.tries > 0 => {
            Some(format!("tried {:?} {:?}", it.message, it.stamp.created_at))
        }
        Record::Event(it) if it.subject.kind == Kind::PaymentEvent && it.sequence > 1 => None,
        Record::CartLog(it) if it.operation["op"] == "fold" => None,
        Record::CartLog(it) => Some(format!(
            "log {:?} {:?} {:?} {} {}",
            it.cart, it.at, it.actor, it.request, it.operation
        )),
        other => Some(format!("{other:?}")),
    }
}

#[test]
fn what_differs_by_chance_is_the_same_text_and_nothing_else_is() {
    let id = |last: char| format!("{}{last}", "0123456789abcdef0123456");
    let told = |names: &mut Names, id: String, units: u32| {
        names.learn(&format!(
            "Order {{ id: OrderId({id}), units: {units}, key: [{}] }}",
            "7, ".repeat(20)
        ))
    };
    let (mut left, mut right) = (Names::default(), Names::default());
    let first = told(&mut left, id('a'), 1);
    assert_eq!(first, told(&mut right, id('b'), 1));
    // The same id again is the same name, another one is not.
    assert_ne!(told(&mut left, id('a'), 1), told(&mut right, id('c'), 1));
    assert_ne!(first, told(&mut left, id('a'), 2));
    assert_eq!(left.of(&id('f')), "#?");
    assert_eq!(
        left.of("tag \"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\" 12"),
        "tag \"~\" 12"
    );
}
