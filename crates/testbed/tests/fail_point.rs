//! Fail points strike whom they are bound to, as often as they say, and are gone afterwards.
#![cfg(test)]

use std::time::Duration;

use abasto_testbed::fail_point::{FailPoint, Mode};
use abasto_testbed::mongo_cluster::shared_primary;
use mongodb::bson::{Document, doc};
use mongodb::error::ErrorKind;
use mongodb::{Client, Collection};

const LIMIT: Duration = Duration::from_secs(60);

async fn collection(name: &str, application: &str) -> Collection<Document> {
    let server = shared_primary().expect("a MongoDB server to test with");
    let uri = format!(
        "mongodb://{server}/?directConnection=true&retryWrites=false&appName={application}"
    );
    Client::with_uri_str(uri)
        .await
        .unwrap()
        .database("abasto_testbed")
        .collection(name)
}

fn code(error: &mongodb::error::Error) -> Option<i32> {
    match error.kind.as_ref() {
        ErrorKind::Command(error) => Some(error.code),
        _ => None,
    }
}

#[tokio::test]
async fn a_command_fails_as_often_as_said_and_only_for_its_application() {
    let (struck, spared) = (
        collection("fail_times", "struck").await,
        collection("fail_times", "spared").await,
    );
    let how = doc! { "errorCode": 112, "errorLabels": ["Chosen"], "appName": "struck" };
    let point = FailPoint::fail_command(&["insert"], how).mode(Mode::Times(2));
    let point = point.switch_on(shared_primary().unwrap()).unwrap();
    for _ in 0..2 {
        spared.insert_one(doc! {}).await.unwrap();
        let error = struck.insert_one(doc! {}).await.unwrap_err();
        assert_eq!(
            (code(&error), error.contains_label("Chosen")),
            (Some(112), true)
        );
    }
    struck.insert_one(doc! {}).await.unwrap();
    point.wait(2, LIMIT).unwrap();
    point.wait(1000, Duration::from_millis(50)).unwrap_err();
    point.switch_off().unwrap();
}

#[tokio::test]
async fn a_dropped_point_is_off() {
    let struck = collection("fail_always", "struck_always").await;
    let how = doc! { "errorCode": 112, "appName": "struck_always" };
    let point = FailPoint::fail_command(&["insert"], how).switch_on(shared_primary().unwrap());
    let error = struck.insert_one(doc! {}).await.unwrap_err();
    assert_eq!(code(&error), Some(112));
    drop(point);
    struck.insert_one(doc! {}).await.unwrap();
}

#[test]
fn an_unknown_point_is_refused() {
    let refused = FailPoint::new("noSuchPoint").switch_on(shared_primary().unwrap());
    refused.unwrap_err();
}
