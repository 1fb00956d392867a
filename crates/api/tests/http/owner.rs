//! The last owner of a business stays, whatever kind of credential that is.

use serde_json::{Value, json};

use crate::harness::{Shop, World};

/// The id of the key that the business was opened with.
async fn first_key(shop: &Shop) -> String {
    let keys = shop.get("/v1/api-keys").await.expect(200);
    let last = keys["items"].as_array().unwrap().last().unwrap().clone();
    last["id"].as_str().unwrap().to_owned()
}

async fn owner_member(shop: &Shop, user: &str) -> String {
    let body = json!({"userId": user, "role": "owner", "branchIds": null, "active": true});
    let made = shop.post("/v1/members", &body).await;
    shop.made(&made)
}

async fn change(shop: &Shop, member: &str, body: &Value) -> crate::harness::Answer {
    let path = format!("/v1/members/{member}");
    shop.call("PATCH", &path).json(body).send().await
}

#[tokio::test]
async fn the_only_owner_key_cannot_be_revoked() {
    let shop = World::new().business("La Espiga").await;
    let path = format!("/v1/api-keys/{}", first_key(&shop).await);
    for role in ["manager", "service"] {
        shop.key(&json!({"name": role, "role": role})).await;
    }
    for _ in 0..2 {
        let refused = shop.call("DELETE", &path).send().await;
        refused.refused(409, "last-owner");
        shop.get("/v1/business").await.expect(200);
    }
    let second = shop.key(&json!({"name": "second", "role": "owner"})).await;
    shop.call("DELETE", &path).send().await.expect(204);
    // Again is no error, and the one that is left stays.
    second.call("DELETE", &path).send().await.expect(204);
    let keys = second.get("/v1/api-keys").await.expect(200);
    let left = keys["items"].as_array().unwrap().iter();
    let left = left.filter(|key| key["role"] == "owner" && key["revokedAt"].is_null());
    let left: Vec<_> = left.map(|key| key["id"].as_str().unwrap()).collect();
    assert_eq!(left.len(), 1);
    let path = format!("/v1/api-keys/{}", left[0]);
    second
        .call("DELETE", &path)
        .send()
        .await
        .refused(409, "last-owner");
}

#[tokio::test]
async fn the_only_owner_member_cannot_be_removed() {
    let shop = World::new().business("La Espiga").await;
    let ana = owner_member(&shop, "ana").await;
    // With an owner's key beside it, anything goes.
    change(&shop, &ana, &json!({"active": false}))
        .await
        .expect(200);
    change(&shop, &ana, &json!({"active": true}))
        .await
        .expect(200);
    // A membership is an owner as well as a key is.
    let path = format!("/v1/api-keys/{}", first_key(&shop).await);
    let other = shop.key(&json!({"name": "b", "role": "owner"})).await;
    shop.call("DELETE", &path).send().await.expect(204);
    let keys = other.get("/v1/api-keys").await.expect(200);
    let own = keys["items"][0]["id"].as_str().unwrap().to_owned();
    // The key goes while a member is owner; from then on nobody can ask with a key any more.
    let own = format!("/v1/api-keys/{own}");
    other.call("DELETE", &own).send().await.expect(204);
    other
        .get("/v1/business")
        .await
        .refused(401, "unauthenticated");
}
