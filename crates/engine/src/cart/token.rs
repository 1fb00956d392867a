//! The opaque texts that clients hold: tags, device names, contexts, guest secrets.
//!
//! Owns their form and their authentication, each bound to its cart by the cart's own key. Must
//! not know what an operation does.

use abasto_cart::{Context as Seen, Rid, Tag};
use abasto_domain::cart::{Cart, CartSecret};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::error::Error;

/// Bytes of a seal: 128 bits.
const SEAL_BYTES: usize = 16;
/// Longest text that is looked at; a tag of a crowded line has some hundred bytes.
const TEXT_BYTES_MAX: usize = 16 * 1024;

/// What a seal is for: a tag never passes as a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Tag = 1,
    Device = 2,
}

fn seal(cart: &Cart, usage: Use, bytes: &[u8]) -> [u8; SEAL_BYTES] {
    // HMAC takes keys of every length; only the type says that it could fail.
    let mut mac = Hmac::<Sha256>::new_from_slice(&cart.secret.0)
        .unwrap_or_else(|_| Hmac::new(&Default::default()));
    mac.update(&[usage as u8]);
    mac.update(&cart.id.0.0);
    mac.update(bytes);
    let full: [u8; 32] = mac.finalize().into_bytes().into();
    let mut seal = [0; SEAL_BYTES];
    seal.copy_from_slice(&full[..SEAL_BYTES]);
    seal
}

fn sealed(cart: &Cart, usage: Use, bytes: &[u8]) -> String {
    let mut all = seal(cart, usage, bytes).to_vec();
    all.extend_from_slice(bytes);
    URL_SAFE_NO_PAD.encode(all)
}

fn open(cart: &Cart, usage: Use, text: &str) -> Option<Vec<u8>> {
    if text.len() > TEXT_BYTES_MAX {
        return None;
    }
    let all = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (given, bytes) = all.split_at_checked(SEAL_BYTES)?;
    let genuine: bool = seal(cart, usage, bytes).ct_eq(given).into();
    genuine.then(|| bytes.to_vec())
}

/// What a client sends back to say what it had seen.
pub(super) fn tag(cart: &Cart, tag: &Tag) -> String {
    sealed(cart, Use::Tag, &tag.encode())
}

/// Reads a tag that this cart gave.
pub(super) fn read_tag(cart: &Cart, text: &str) -> Option<Tag> {
    let bytes = open(cart, Use::Tag, text)?;
    match Tag::decode(&bytes) {
        Ok(tag) => Some(tag),
        Err(_) => {
            metrics::counter!("abasto_cart_decode_errors_total").increment(1);
            None
        }
    }
}

/// The name under which a device numbers its operations on this cart.
pub(super) fn device(cart: &Cart, rid: Rid) -> String {
    sealed(cart, Use::Device, &rid.bits().to_be_bytes())
}

/// Reads a device name that this cart gave.
pub(super) fn read_device(cart: &Cart, text: &str) -> Option<Rid> {
    let bytes: [u8; 8] = open(cart, Use::Device, text)?.try_into().ok()?;
    Some(Rid::from_bits(u64::from_be_bytes(bytes))).filter(|rid| rid.is_device())
}

/// How much a client has seen. It is only ever compared, so it is not sealed.
pub(super) fn context(seen: &Seen) -> String {
    URL_SAFE_NO_PAD.encode(seen.encode())
}

/// Reads such a text.
pub(super) fn read_context(text: &str) -> Option<Seen> {
    if text.len() > TEXT_BYTES_MAX {
        return None;
    }
    Seen::decode(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()
}

/// A new key of a cart.
pub(super) fn cart_secret() -> Result<CartSecret, Error> {
    Ok(CartSecret(random()?))
}

/// A new secret of a guest, and what is kept of it.
pub(super) fn guest_secret() -> Result<(String, [u8; 32]), Error> {
    let text = URL_SAFE_NO_PAD.encode(random::<32>()?);
    let hash = guest_hash(&text);
    Ok((text, hash))
}

fn guest_hash(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

/// Whether the text is the secret of the cart's guest.
pub(super) fn is_guest(cart: &Cart, text: &str) -> bool {
    cart.guest_hash
        .is_some_and(|hash| guest_hash(text).ct_eq(&hash).into())
}

/// Bytes that nobody can foresee.
pub(super) fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| Error::Unavailable(error.to_string()))?;
    Ok(bytes)
}
