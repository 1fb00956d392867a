//! Cursors: a position in a list, sealed so that only the list that gave it takes it back.
//!
//! Owns their form: version, position and an HMAC over position and scope. The scope is tenant,
//! route and filter; the sort follows from the route. The key comes from the configuration, so
//! cursors survive a restart and are good on every instance.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use abasto_domain::id::RawId;
use abasto_store::query::Position;

/// The key that seals cursors.
#[derive(Clone)]
pub struct CursorKey([u8; 32]);

impl std::fmt::Debug for CursorKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CursorKey(…)")
    }
}

const VERSION: u8 = 1;
const POSITION: usize = 1 + 8 + 12;
const SEAL: usize = 16;

impl CursorKey {
    /// Derives the key from a secret of the installation.
    pub fn derive(secret: &[u8]) -> Self {
        let mut mac = keyed(secret);
        mac.update(b"abasto cursor 1");
        Self(mac.finalize().into_bytes().into())
    }

    /// Seals a position for a scope.
    pub(crate) fn seal(&self, position: Position, scope: &str) -> String {
        let mut bytes = Vec::with_capacity(POSITION + SEAL);
        bytes.push(VERSION);
        bytes.extend(position.order.to_be_bytes());
        bytes.extend(position.id.0);
        let seal = self.tag(&bytes, scope);
        bytes.extend(seal);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Opens a cursor; `None` unless this key sealed exactly this text for this scope.
    pub(crate) fn open(&self, cursor: &str, scope: &str) -> Option<Position> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let (position, seal) = bytes.split_at_checked(POSITION)?;
        let genuine: bool = self.tag(position, scope).ct_eq(seal).into();
        if !genuine || position[0] != VERSION {
            return None;
        }
        Some(Position {
            order: i64::from_be_bytes(position[1..9].try_into().ok()?),
            id: RawId(position[9..].try_into().ok()?),
        })
    }

    fn tag(&self, position: &[u8], scope: &str) -> [u8; SEAL] {
        let mut mac = keyed(&self.0);
        mac.update(position);
        mac.update(scope.as_bytes());
        let mut tag = [0; SEAL];
        tag.copy_from_slice(&mac.finalize().into_bytes()[..SEAL]);
        tag
    }
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    // HMAC takes keys of every length; only the type says that it could fail.
    Hmac::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&Default::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSITION: Position = Position {
        order: 1_790_000_000_123,
        id: RawId([7; 12]),
    };

    #[test]
    fn a_cursor_opens_where_it_was_given_and_after_a_restart() {
        let cursor = CursorKey::derive(b"secret").seal(POSITION, "scope");
        let again = CursorKey::derive(b"secret");
        assert_eq!(again.open(&cursor, "scope"), Some(POSITION));
    }

    #[test]
    fn another_scope_another_secret_and_every_flipped_bit_are_refused() {
        let key = CursorKey::derive(b"secret");
        let cursor = key.seal(POSITION, "scope");
        assert_eq!(key.open(&cursor, "scopf"), None);
        assert_eq!(CursorKey::derive(b"secreu").open(&cursor, "scope"), None);
        let bytes = URL_SAFE_NO_PAD.decode(&cursor).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let flipped = URL_SAFE_NO_PAD.encode(flipped);
            assert_eq!(key.open(&flipped, "scope"), None, "bit {bit}");
        }
        for cut in 0..cursor.len() {
            assert_eq!(key.open(&cursor[..cut], "scope"), None);
        }
        assert_eq!(key.open(&format!("{cursor}="), "scope"), None);
        assert_eq!(key.open(&format!("{cursor}A"), "scope"), None);
    }
}
