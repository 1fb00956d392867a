//! Connecting: client options, and what a deployment must be to hold orders.
//!
//! Owns time limits of the driver and the reasons for which a deployment is refused, each one
//! readable line. Must not create anything.

use std::time::Duration;

use mongodb::bson::{Document, doc};
use mongodb::options::{
    Acknowledgment, ClientOptions, ReadConcern, ReadPreference, SelectionCriteria, WriteConcern,
};
use mongodb::{Client, Database};

use crate::fault::brief;

/// Database of an address that names none.
const DEFAULT_DATABASE: &str = "abasto";
/// Wire version of MongoDB 6.0: unique rules are brought in with `prepareUnique`.
const OLDEST_WIRE_VERSION: i32 = 17;
/// A dead node is noticed after about this long.
const HEARTBEAT: Duration = Duration::from_secs(1);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long an operation waits for a primary before it fails.
const SELECTION_TIMEOUT: Duration = Duration::from_secs(3);
const POOL_SIZE: u32 = 100;

/// Why a deployment is not used.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address cannot be read.
    #[error("the MongoDB address is not valid: {0}")]
    Address(String),
    /// Nothing answers, or not in time.
    #[error("MongoDB cannot be reached: {0}")]
    Unreachable(String),
    /// Transactions need a replica set.
    #[error(
        "MongoDB runs as a single server without a replica set; transactions need one, even of one \
         node (start mongod with --replSet)"
    )]
    Standalone,
    /// A sharded cluster.
    #[error("MongoDB is a sharded cluster; this version works on a replica set")]
    Sharded,
    /// An acknowledged order could be lost.
    #[error("the write concern {0} is weaker than majority: acknowledged orders could be lost")]
    WeakWriteConcern(String),
    /// A read could show what is lost later, or what is old.
    #[error("{0} in the MongoDB address: Abasto reads from the primary with read concern majority")]
    WeakRead(String),
    /// Too old.
    #[error("MongoDB {0} is too old; 6.0 or newer is needed")]
    OldServer(String),
}

/// A database on a deployment that was checked.
pub(crate) async fn connect(uri: &str) -> Result<Database, ConnectError> {
    let options = ClientOptions::parse(uri)
        .await
        .map_err(|why| ConnectError::Address(why.to_string()))?;
    let options = completed(options)?;
    let name = options.default_database.clone();
    let client =
        Client::with_options(options).map_err(|why| ConnectError::Address(why.to_string()))?;
    let hello = client
        .database("admin")
        .run_command(doc! { "hello": 1 })
        .selection_criteria(nearest())
        .await
        .map_err(|why| ConnectError::Unreachable(brief(&why)))?;
    check_deployment(&hello)?;
    check_version(&client, &hello).await?;
    check_journal(&client).await?;
    Ok(client.database(name.as_deref().unwrap_or(DEFAULT_DATABASE)))
}

/// Any node: what is asked this way is the same on all.
const fn nearest() -> SelectionCriteria {
    SelectionCriteria::ReadPreference(ReadPreference::Nearest { options: None })
}

/// Options with our limits where the address says nothing, or why they cannot be used.
fn completed(mut options: ClientOptions) -> Result<ClientOptions, ConnectError> {
    if let Some(concern) = &options.write_concern {
        check_write_concern(concern)?;
    }
    if let Some(concern) = &options.read_concern
        && *concern != ReadConcern::majority()
    {
        return Err(ConnectError::WeakRead(format!(
            "readConcernLevel {:?}",
            concern.level
        )));
    }
    match &options.selection_criteria {
        None | Some(SelectionCriteria::ReadPreference(ReadPreference::Primary)) => {}
        Some(other) => return Err(ConnectError::WeakRead(format!("{other:?}"))),
    }
    let journaled = WriteConcern::builder()
        .w(Acknowledgment::Majority)
        .journal(true)
        .build();
    options.write_concern = Some(journaled);
    options.read_concern = Some(ReadConcern::majority());
    options.retry_writes = Some(true);
    options.retry_reads = Some(true);
    options
        .app_name
        .get_or_insert_with(|| DEFAULT_DATABASE.to_owned());
    options.heartbeat_freq.get_or_insert(HEARTBEAT);
    options.connect_timeout.get_or_insert(CONNECT_TIMEOUT);
    options
        .server_selection_timeout
        .get_or_insert(SELECTION_TIMEOUT);
    options.max_pool_size.get_or_insert(POOL_SIZE);
    Ok(options)
}

fn check_write_concern(concern: &WriteConcern) -> Result<(), ConnectError> {
    let weak = |what: String| Err(ConnectError::WeakWriteConcern(what));
    match &concern.w {
        None | Some(Acknowledgment::Majority) => {}
        Some(Acknowledgment::Nodes(nodes)) => return weak(format!("w={nodes}")),
        Some(Acknowledgment::Custom(name)) => return weak(format!("w={name}")),
        Some(other) => return weak(format!("{other:?}")),
    }
    match concern.journal {
        Some(false) => weak("journal=false".to_owned()),
        _ => Ok(()),
    }
}

fn check_deployment(hello: &Document) -> Result<(), ConnectError> {
    if hello.get_str("msg").is_ok_and(|kind| kind == "isdbgrid") {
        return Err(ConnectError::Sharded);
    }
    match hello.get_str("setName") {
        Ok(_) => Ok(()),
        Err(_) => Err(ConnectError::Standalone),
    }
}

async fn check_version(client: &Client, hello: &Document) -> Result<(), ConnectError> {
    if hello.get_i32("maxWireVersion").unwrap_or(0) >= OLDEST_WIRE_VERSION {
        return Ok(());
    }
    let build = client
        .database("admin")
        .run_command(doc! { "buildInfo": 1 })
        .await;
    let version = build
        .ok()
        .and_then(|build| build.get_str("version").ok().map(str::to_owned));
    Err(ConnectError::OldServer(
        version.unwrap_or_else(|| "(of unknown version)".to_owned()),
    ))
}

/// A majority must mean a majority of journals. Who may not read the configuration of the set is
/// taken at the server's default, which is so.
async fn check_journal(client: &Client) -> Result<(), ConnectError> {
    let admin = client.database("admin");
    let config = admin.run_command(doc! { "replSetGetConfig": 1 });
    let Ok(reply) = config.selection_criteria(nearest()).await else {
        tracing::info!("the configuration of the replica set cannot be read");
        return Ok(());
    };
    match reply.get_document("config") {
        Ok(config) => check_set(config),
        Err(_) => Ok(()),
    }
}

fn check_set(config: &Document) -> Result<(), ConnectError> {
    match config.get_bool("writeConcernMajorityJournalDefault") {
        Ok(false) => Err(ConnectError::WeakWriteConcern(
            "of the set (writeConcernMajorityJournalDefault: false)".to_owned(),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn refusal(parameters: &str) -> String {
        let uri = format!("mongodb://localhost:1/shop?{parameters}");
        let options = ClientOptions::parse(uri).await.expect("an address");
        match completed(options) {
            Ok(options) => panic!("accepted: {options:?}"),
            Err(why) => why.to_string(),
        }
    }

    #[tokio::test]
    async fn weak_concerns_are_refused_in_one_line() {
        for (parameters, part) in [
            ("w=1", "w=1"),
            ("w=0", "w=0"),
            ("w=2", "w=2"),
            ("w=eu-nodes", "w=eu-nodes"),
            ("w=majority&journal=false", "journal=false"),
            ("readConcernLevel=local", "Local"),
            ("readPreference=secondary", "Secondary"),
            ("readPreference=primaryPreferred", "PrimaryPreferred"),
        ] {
            let line = refusal(parameters).await;
            assert!(line.contains(part), "{parameters}: {line}");
            assert!(!line.contains('\n'), "{line}");
        }
    }

    #[tokio::test]
    async fn an_address_without_opinions_gets_safe_ones() {
        let options = ClientOptions::parse("mongodb://localhost:1/shop")
            .await
            .expect("an address");
        let options = completed(options).expect("accepted");
        let concern = options.write_concern.expect("a write concern");
        assert_eq!(concern.w, Some(Acknowledgment::Majority));
        assert_eq!(concern.journal, Some(true));
        assert_eq!(options.heartbeat_freq, Some(HEARTBEAT));
        assert_eq!(options.connect_timeout, Some(CONNECT_TIMEOUT));
    }

    #[test]
    fn a_single_server_and_a_router_are_refused() {
        let single = doc! { "ok": 1, "isWritablePrimary": true, "maxWireVersion": 17 };
        assert!(matches!(
            check_deployment(&single),
            Err(ConnectError::Standalone)
        ));
        let router = doc! { "ok": 1, "msg": "isdbgrid", "maxWireVersion": 17 };
        assert!(matches!(
            check_deployment(&router),
            Err(ConnectError::Sharded)
        ));
        let node = doc! { "ok": 1, "setName": "rs0", "maxWireVersion": 17 };
        assert!(check_deployment(&node).is_ok());
    }

    #[test]
    fn a_set_that_confirms_without_its_journals_is_refused() {
        let set = |journaled: bool| doc! { "writeConcernMajorityJournalDefault": journaled };
        assert!(matches!(
            check_set(&set(false)),
            Err(ConnectError::WeakWriteConcern(_))
        ));
        assert!(check_set(&set(true)).is_ok());
        assert!(check_set(&doc! {}).is_ok());
    }
}
