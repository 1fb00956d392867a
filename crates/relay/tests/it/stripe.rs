//! The provider with payment intents: a call happens once however often it is made.

use abasto_domain::currency::Currency;
use abasto_domain::id::{BusinessId, PaymentId, RawId, RefundId};
use abasto_domain::money::Amount;
use abasto_domain::payment::Provider;
use abasto_domain::payment_call::{CallKind, ProviderCall, Standing};
use abasto_domain::payment_event::{NewsKind, UnreadableMessage};
use abasto_domain::time::Timestamp;
use abasto_relay::WebhookSecrets;
use abasto_relay::gateway::PaymentProvider;
use abasto_relay::signature::sign_stripe;
use abasto_relay::stripe::Stripe;

use crate::double::{Double, Mood};

const SECRET: &str = "whsec_test_secret_of_the_double";
const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn stripe(base: &str) -> Stripe {
    let secrets = WebhookSecrets::shared([SECRET.to_owned().into()]);
    Stripe::new(base, "sk_test".to_owned().into(), secrets, None).unwrap()
}

fn business() -> BusinessId {
    BusinessId(RawId([1; 12]))
}

fn call(kind: CallKind) -> ProviderCall {
    let known = kind != CallKind::Start;
    ProviderCall {
        business: business(),
        payment: PaymentId(RawId([4; 12])),
        provider: Provider::Stripe,
        kind,
        provider_ref: known.then(|| "pi_1".to_owned()),
        amount: Amount::from_minor(900_000).unwrap(),
        currency: Currency::parse("COP").unwrap(),
        return_url: Some("https://shop.example/back?a=b&c=d".to_owned()),
        fence: 1,
    }
}

#[tokio::test]
async fn an_attempt_is_begun_once_although_the_answer_is_lost() {
    let double = Double::start(&[Mood::ActsThenSilent, Mood::Broken]).await;
    let stripe = stripe(&double.base);
    for _ in 0..2 {
        let answer = stripe.call(&call(CallKind::Start)).await;
        assert!(
            matches!(answer.standing, Standing::Unclear(_)),
            "{answer:?}"
        );
    }
    let answer = stripe.call(&call(CallKind::Start)).await;
    assert_eq!(answer.standing, Standing::Pending);
    assert_eq!(answer.provider_ref.as_deref(), Some("pi_1"));
    assert_eq!(
        answer.redirect_url.as_deref(),
        Some("https://pay.example/1")
    );
    assert_eq!(double.made(), 1, "one key, one intent");
    let again = stripe.call(&call(CallKind::Start)).await;
    assert_eq!(again, answer, "asked twice, answered the same");
    let (path, body) = double.requests().pop().unwrap();
    assert_eq!(path, "/v1/payment_intents");
    assert!(body.starts_with("amount=900000&currency=cop&"), "{body}");
    assert!(
        body.ends_with("=https%3A%2F%2Fshop.example%2Fback%3Fa%3Db%26c%3Dd"),
        "{body}"
    );
}

#[tokio::test]
async fn a_refusal_ends_the_attempt_and_a_fault_does_not() {
    let double = Double::start(&[Mood::Refuses]).await;
    let answer = stripe(&double.base).call(&call(CallKind::Start)).await;
    assert_eq!(
        answer.standing,
        Standing::Failed("card_declined".to_owned())
    );
    let nobody = stripe("http://127.0.0.1:9");
    let answer = nobody.call(&call(CallKind::Start)).await;
    assert!(
        matches!(answer.standing, Standing::Unclear(_)),
        "{answer:?}"
    );
}

#[tokio::test]
async fn a_cancellation_finds_out_whether_the_money_is_there() {
    let double = Double::start(&[Mood::AlreadyCaptured]).await;
    let stripe = stripe(&double.base);
    let answer = stripe.call(&call(CallKind::Cancel)).await;
    assert_eq!(answer.standing, Standing::Captured);
    let answer = stripe.call(&call(CallKind::Cancel)).await;
    assert_eq!(answer.standing, Standing::Failed("cancelled".to_owned()));
}

#[tokio::test]
async fn a_refund_is_made_once() {
    let double = Double::start(&[Mood::ActsThenSilent]).await;
    let stripe = stripe(&double.base);
    let refund = call(CallKind::Refund(RefundId(RawId([5; 12]))));
    let lost = stripe.call(&refund).await;
    assert!(matches!(lost.standing, Standing::Unclear(_)));
    assert_eq!(stripe.call(&refund).await.standing, Standing::Pending);
    assert_eq!(double.made(), 1);
}

fn told(kind: &str, object: &str) -> String {
    format!(r#"{{"id":"evt_1","type":"{kind}","created":1800000000,"data":{{"object":{object}}}}}"#)
}

fn read(body: &str) -> Result<Option<(String, NewsKind, i64)>, UnreadableMessage> {
    let signature = sign_stripe(1_800_000_000, body.as_bytes(), SECRET);
    let header = |name: &str| signature.clone().filter(|_| name == "stripe-signature");
    let message = stripe("http://127.0.0.1:9").read(business(), &header, body.as_bytes(), NOW)?;
    Ok(message.map(|it| (it.provider_ref, it.news.kind, it.news.amount.minor())))
}

#[test]
fn messages_about_money_are_read_and_others_pass() {
    let intent = r#"{"id":"pi_1","amount":900,"amount_received":800,"currency":"cop"}"#;
    for (name, kind, amount) in [
        ("payment_intent.succeeded", NewsKind::Captured, 800),
        ("payment_intent.payment_failed", NewsKind::Failed, 900),
        ("payment_intent.canceled", NewsKind::Failed, 900),
        (
            "payment_intent.amount_capturable_updated",
            NewsKind::Authorized,
            900,
        ),
    ] {
        let expected = Some(("pi_1".to_owned(), kind, amount));
        assert_eq!(read(&told(name, intent)), Ok(expected), "{name}");
    }
    let refund = |status: &str| {
        format!(
            r#"{{"id":"re_1","payment_intent":"pi_1","amount":300,"currency":"cop",
            "status":"{status}"}}"#
        )
    };
    let back = told("refund.updated", &refund("succeeded"));
    let expected = Some(("pi_1".to_owned(), NewsKind::RefundSucceeded, 300));
    assert_eq!(read(&back), Ok(expected));
    assert_eq!(read(&told("refund.updated", &refund("pending"))), Ok(None));
    assert_eq!(read(&told("customer.created", "{}")), Ok(None));
    let odd = told("payment_intent.succeeded", r#"{"id":"pi_1"}"#);
    assert_eq!(read(&odd), Err(UnreadableMessage::Malformed));
}

#[test]
fn a_message_that_is_not_signed_now_is_refused() {
    let body = told("customer.created", "{}");
    let bad = Err(UnreadableMessage::BadSignature);
    let stripe = stripe("http://127.0.0.1:9");
    for signature in [
        None,
        Some(String::new()),
        Some("t=1800000000".to_owned()),
        Some("t=1800000000,v1=00".to_owned()),
        sign_stripe(1_800_000_000, body.as_bytes(), "whsec_of_another"),
        sign_stripe(1_800_000_000 - 360, body.as_bytes(), SECRET),
        sign_stripe(1_800_000_000, b"other", SECRET),
    ] {
        let header = |_: &str| signature.clone();
        let read = stripe.read(business(), &header, body.as_bytes(), NOW);
        assert_eq!(read.map(|_| ()), bad, "{signature:?}");
    }
}
