//! The last owner: a business always keeps a credential that may manage credentials.
//!
//! Owns the search for another owner. That the one found is still an owner is guarded in the
//! commit, so that two owners who remove each other at once do not both succeed.

use abasto_domain::access::Role;
use abasto_domain::credential::{ApiKey, Member};
use abasto_domain::id::BusinessId;
use abasto_store::query::{Page, Position, Query};
use abasto_store::record::{Document, DocumentKey, Record};
use abasto_store::unit::Guard;

use crate::Engine;
use crate::error::Error;

/// Rows that are looked at in one read.
const ROWS: u32 = 200;

impl Engine {
    /// A guard that an owner other than this one stays, or a refusal when there is none.
    pub(crate) async fn another_owner(
        &self,
        business: BusinessId,
        than: DocumentKey,
    ) -> Result<Guard, Error> {
        for query in [Query::ApiKeys, Query::Members] {
            let mut after = None;
            loop {
                let page = Page { after, limit: ROWS };
                let rows = self.store.list(business, &query, page).await?;
                let mut owners = rows.iter().filter_map(owner);
                if let Some(owner) = owners.find(|owner| owner.key() != than) {
                    return Ok(Guard::Document(owner.key(), owner.version()));
                }
                match rows.last() {
                    Some(last) if rows.len() == ROWS as usize => after = Some(Position::of(last)),
                    _ => break,
                }
            }
        }
        Err(Error::LastOwner)
    }
}

fn owner(row: &Record) -> Option<&Document> {
    match row {
        Record::Document(document @ Document::ApiKey(key)) if is_owner_key(key) => Some(document),
        Record::Document(document @ Document::Member(member)) if is_owner_member(member) => {
            Some(document)
        }
        _ => None,
    }
}

/// Whether the key gives an owner's rights now.
pub(crate) fn is_owner_key(key: &ApiKey) -> bool {
    key.role == Role::Owner && key.revoked_at.is_none()
}

/// Whether the membership gives an owner's rights now.
pub(crate) fn is_owner_member(member: &Member) -> bool {
    member.role == Role::Owner && member.active
}
