//! Who acted, as a small document of its own.

use abasto_domain::access::Actor;
use abasto_domain::id::{ApiKeyId, MemberId};
use mongodb::bson::raw::{RawDocumentBuf, cstr};

use super::field::{Fields, Row, Unreadable};

pub(crate) fn write(actor: &Actor) -> RawDocumentBuf {
    let typed = |name| Fields::new().text(cstr!("type"), name);
    match actor {
        Actor::Key(id) => typed("key").id(cstr!("id"), *id),
        Actor::Member(id) => typed("member").id(cstr!("id"), *id),
        Actor::Platform => typed("platform"),
        Actor::System => typed("system"),
    }
    .done()
}

pub(crate) fn read(row: Row<'_>) -> Result<Actor, Unreadable> {
    match row.str("type")? {
        "key" => Ok(Actor::Key(row.id::<ApiKeyId>("id")?)),
        "member" => Ok(Actor::Member(row.id::<MemberId>("id")?)),
        "platform" => Ok(Actor::Platform),
        "system" => Ok(Actor::System),
        other => Err(row.unreadable("actor.type", format!("unknown value {other:?}"))),
    }
}
