//! Messages of the sandbox: signed now, with a secret of this business, over these very bytes.

use abasto_domain::id::{BusinessId, RawId};
use abasto_domain::payment_event::{NewsKind, ProviderMessage, UnreadableMessage};
use abasto_domain::time::Timestamp;
use abasto_relay::WebhookSecrets;
use abasto_relay::sandbox::Sandbox;
use abasto_relay::signature::{TOLERANCE_MS, sign_standard};

const OLD: &str = "whsec_b2xkLW9sZC1vbGQtb2xkLW9sZC1vbGQtb2xkLW9sZA==";
const NEW: &str = "whsec_bmV3LW5ldy1uZXctbmV3LW5ldy1uZXctbmV3LW5ldw==";
const OTHER: &str = "whsec_b3RoZXItb3RoZXItb3RoZXItb3RoZXItb3RoZXIh";
const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

const BODY: &str = r#"{"eventId":"evt_1","type":"payment.captured","providerRef":"sandbox_1",
    "amount":"9000.00","currency":"COP","occurredAt":"2027-01-15T08:00:00.000Z"}"#;

fn business(number: u8) -> BusinessId {
    BusinessId(RawId([number; 12]))
}

fn secrets() -> WebhookSecrets {
    let shared = [NEW, OLD].map(|secret| secret.to_owned().into());
    let own = [OTHER.to_owned().into()];
    WebhookSecrets::shared(shared).with_own(business(2), own)
}

struct Sent<'a> {
    business: BusinessId,
    secret: &'a str,
    at_ms: i64,
    signed: &'a str,
    body: &'a str,
}

fn sent<'a>() -> Sent<'a> {
    Sent {
        business: business(1),
        secret: NEW,
        at_ms: NOW.as_millis(),
        signed: BODY,
        body: BODY,
    }
}

fn read(sent: &Sent<'_>) -> Result<ProviderMessage, UnreadableMessage> {
    let seconds = sent.at_ms / 1000;
    let signature = sign_standard("msg_1", seconds, sent.signed.as_bytes(), sent.secret);
    let header = |name: &str| match name {
        "webhook-id" => Some("msg_1".to_owned()),
        "webhook-timestamp" => Some(seconds.to_string()),
        "webhook-signature" => signature.as_ref().map(|it| format!("v1a,xx v1,AAAA {it}")),
        _ => None,
    };
    Sandbox::new(secrets()).read(sent.business, &header, sent.body.as_bytes(), NOW)
}

#[test]
fn a_signed_message_is_read() {
    let message = read(&sent()).unwrap();
    assert_eq!(message.event_id, "evt_1");
    assert_eq!(message.provider_ref, "sandbox_1");
    assert_eq!(message.news.kind, NewsKind::Captured);
    assert_eq!(message.news.amount.minor(), 900_000);
    assert_eq!(message.news.occurred_at.as_millis(), 1_800_000_000_000);
}

#[test]
fn two_secrets_count_while_one_replaces_the_other() {
    for secret in [OLD, NEW] {
        assert!(read(&Sent { secret, ..sent() }).is_ok());
    }
}

#[test]
fn another_secret_another_body_or_another_time_is_refused() {
    let bad = Err(UnreadableMessage::BadSignature);
    let of_other = Sent {
        secret: OTHER,
        ..sent()
    };
    assert_eq!(read(&of_other), bad, "the secret of another business");
    let for_other = Sent {
        business: business(2),
        ..sent()
    };
    assert_eq!(read(&for_other), bad, "a business with a secret of its own");
    let changed = BODY.replace("9000.00", "1.00");
    let tampered = Sent {
        body: &changed,
        ..sent()
    };
    assert_eq!(read(&tampered), bad);
    for beyond in [TOLERANCE_MS + 1_000, -TOLERANCE_MS - 1_000] {
        let at_ms = NOW.as_millis() + beyond;
        assert_eq!(read(&Sent { at_ms, ..sent() }), bad, "{beyond}");
    }
    for within in [TOLERANCE_MS, -TOLERANCE_MS] {
        let at_ms = NOW.as_millis() + within;
        assert!(read(&Sent { at_ms, ..sent() }).is_ok(), "{within}");
    }
    let nothing = Sandbox::new(secrets()).read(business(1), &|_| None, BODY.as_bytes(), NOW);
    assert_eq!(nothing, bad);
    let none = Sandbox::new(WebhookSecrets::default());
    let header = |_: &str| Some("v1,".to_owned());
    assert_eq!(none.read(business(1), &header, BODY.as_bytes(), NOW), bad);
}

#[test]
fn a_signed_message_of_another_form_is_malformed() {
    for body in [
        "",
        "[]",
        "{}",
        &BODY.replace("payment.captured", "payment.imagined"),
        &BODY.replace("9000.00", "-1"),
        &BODY.replace("9000.00", "1e3"),
        &BODY.replace("COP", "XXX"),
        &BODY.replace("\"evt_1\"", "\"\""),
        &BODY.replace("2027-01-15T08:00:00.000Z", "yesterday"),
    ] {
        let odd = Sent {
            signed: body,
            body,
            ..sent()
        };
        assert_eq!(read(&odd), Err(UnreadableMessage::Malformed), "{body}");
    }
}
