//! Tokens (JWT) on the real binary: who signed, with what, when, and keys that change.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{self, KeySize};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::harness::{Server, Setup, Shop, StoreKind, from_now, on_both_stores};

on_both_stores!(genuine_tokens_in_time_are_believed_and_others_are_not);

/// Who signs.
enum Signer {
    Shared(Vec<u8>),
    Rsa(Box<rsa::KeyPair>),
    Ed(Box<Ed25519KeyPair>),
    Nobody,
}

impl Signer {
    fn rsa() -> Self {
        Self::Rsa(Box::new(rsa::KeyPair::generate(KeySize::Rsa2048).unwrap()))
    }

    fn ed() -> Self {
        Self::Ed(Box::new(Ed25519KeyPair::generate().unwrap()))
    }

    fn algorithm(&self) -> &'static str {
        match self {
            Self::Shared(_) => "HS256",
            Self::Rsa(_) => "RS256",
            Self::Ed(_) => "EdDSA",
            Self::Nobody => "none",
        }
    }

    fn signature(&self, text: &[u8]) -> Vec<u8> {
        match self {
            Self::Shared(secret) => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
                hmac::sign(&key, text).as_ref().to_vec()
            }
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                key.sign(
                    &RSA_PKCS1_SHA256,
                    &SystemRandom::new(),
                    text,
                    &mut signature,
                )
                .unwrap();
                signature
            }
            Self::Ed(key) => key.sign(text).as_ref().to_vec(),
            Self::Nobody => Vec::new(),
        }
    }

    /// A token that says of its algorithm what it is told to say.
    fn claiming(&self, algorithm: &str, id: Option<&str>, claims: &Value) -> String {
        let mut header = json!({"alg": algorithm, "typ": "JWT"});
        if let Some(id) = id {
            header["kid"] = id.into();
        }
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&header), part(claims));
        let signature = URL_SAFE_NO_PAD.encode(self.signature(signed.as_bytes()));
        format!("{signed}.{signature}")
    }

    fn token(&self, claims: &Value) -> String {
        self.claiming(self.algorithm(), None, claims)
    }

    fn public_der(&self) -> Vec<u8> {
        let der: PublicKeyX509Der<'_> = match self {
            Self::Rsa(key) => key.public_key().as_der().unwrap(),
            Self::Ed(key) => key.public_key().as_der().unwrap(),
            Self::Shared(_) | Self::Nobody => panic!("nothing public"),
        };
        der.as_ref().to_vec()
    }

    fn public_pem(&self) -> String {
        let text = STANDARD.encode(self.public_der());
        format!("-----BEGIN PUBLIC KEY-----\n{text}\n-----END PUBLIC KEY-----\n")
    }

    fn jwk(&self, id: &str) -> Value {
        match self {
            Self::Rsa(key) => {
                // PKCS #1 of 2048 bits: two headers, a zero, the modulus, then the exponent.
                let der = key.public_key().as_ref();
                assert_eq!(der.len(), 270);
                json!({"kty": "RSA", "alg": "RS256", "use": "sig", "kid": id,
                    "n": URL_SAFE_NO_PAD.encode(&der[9..265]), "e": "AQAB"})
            }
            Self::Ed(key) => json!({"kty": "OKP", "crv": "Ed25519", "kid": id,
                "x": URL_SAFE_NO_PAD.encode(key.public_key().as_ref())}),
            Self::Shared(_) | Self::Nobody => panic!("nothing public"),
        }
    }
}

fn claims() -> Value {
    json!({"sub": "ana", "exp": from_now(600)})
}

/// Makes `ana` a manager of a new business.
async fn employ(server: &Server) {
    let key = Shop::business(server, "USD").await;
    let member = json!({"userId": "ana", "role": "manager", "branchIds": null, "active": true});
    let made = server.http(&key).post("/v1/members", None, &member).await;
    made.expect(201);
}

async fn status(server: &Server, token: &str) -> u16 {
    server.http(token).get("/v1/business").await.status
}

const SECRET: &str = "a shared secret of these tests, long";

/// A server that believes one key of each kind, and a business in which `ana` works.
struct Gate {
    server: Server,
    secret: Signer,
    rsa: Signer,
    ed: Signer,
}

impl Gate {
    async fn open(kind: StoreKind) -> Self {
        let setup = Setup::on(kind);
        let (rsa, ed) = (Signer::rsa(), Signer::ed());
        let write = |name: &str, text: &str| {
            let path = setup.folder().join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let rsa_file = write("rsa.pem", &rsa.public_pem());
        let ed_file = write("ed.pem", &ed.public_pem());
        let server = setup
            .variable("ABASTO_JWT__HS256_SECRET", SECRET)
            .variable("ABASTO_JWT__RS256_KEY_FILE", &rsa_file)
            .variable("ABASTO_JWT__EDDSA_KEY_FILE", &ed_file)
            .start();
        // Nobody is a member of anything yet: a genuine token of a stranger.
        assert_eq!(status(&server, &rsa.token(&claims())).await, 401);
        employ(&server).await;
        Self {
            server,
            secret: Signer::Shared(SECRET.as_bytes().to_vec()),
            rsa,
            ed,
        }
    }
}

async fn genuine_tokens_in_time_are_believed_and_others_are_not(kind: StoreKind) {
    let gate = Gate::open(kind).await;
    let server = &gate.server;
    for signer in [&gate.secret, &gate.rsa, &gate.ed] {
        let said = signer.algorithm();
        // `sub` alone names a member of one business.
        assert_eq!(
            status(server, &signer.token(&claims())).await,
            200,
            "{said}"
        );
        for (claims, what) in [
            (json!({"sub": "ana", "exp": from_now(-120)}), "expired"),
            (json!({"sub": "ana"}), "for ever"),
            (
                json!({"sub": "ana", "exp": from_now(600), "nbf": from_now(300)}),
                "early",
            ),
            (json!({"sub": "eva", "exp": from_now(600)}), "a stranger"),
            (json!({"exp": from_now(600)}), "nobody"),
        ] {
            let token = signer.token(&claims);
            assert_eq!(status(server, &token).await, 401, "{said}, {what}");
        }
        let mut token = signer.token(&claims()).into_bytes();
        let place = token.len() - 10;
        token[place] = if token[place] == b'A' { b'B' } else { b'A' };
        let token = String::from_utf8(token).unwrap();
        assert_eq!(status(server, &token).await, 401, "{said}, altered");
    }
}

#[tokio::test]
async fn a_key_of_one_algorithm_is_no_key_of_another() {
    let gate = Gate::open(StoreKind::Sqlite).await;
    let (rsa, ed) = (&gate.rsa, &gate.ed);
    let shared = |bytes: Vec<u8>| Signer::Shared(bytes);
    let pem = |signer: &Signer| signer.public_pem().into_bytes();
    for (forger, said, what) in [
        (Signer::rsa(), "RS256", "another key"),
        (Signer::ed(), "EdDSA", "another key"),
        (shared(vec![7; 36]), "HS256", "another key"),
        (shared(pem(rsa)), "HS256", "the public key as secret"),
        (shared(pem(ed)), "HS256", "the public key as secret"),
        (
            shared(rsa.public_der()),
            "HS256",
            "the public key as secret",
        ),
        (shared(pem(rsa)), "RS256", "a hash in place of a signature"),
        (Signer::Nobody, "none", "unsigned"),
        (Signer::Nobody, "NONE", "unsigned"),
        (Signer::Nobody, "HS256", "unsigned"),
        (Signer::Nobody, "RS256", "unsigned"),
        (Signer::Nobody, "EdDSA", "unsigned"),
    ] {
        let token = forger.claiming(said, None, &claims());
        assert_eq!(status(&gate.server, &token).await, 401, "{said}, {what}");
    }
    for (signer, said) in [
        (rsa, "PS256"),
        (rsa, "RS512"),
        (rsa, "HS256"),
        (ed, "RS256"),
    ] {
        let token = signer.claiming(said, None, &claims());
        assert_eq!(status(&gate.server, &token).await, 401, "as {said}");
    }
}

#[tokio::test]
async fn a_set_in_a_file_holds_several_keys() {
    let setup = Setup::new();
    let (rsa, ed) = (Signer::rsa(), Signer::ed());
    let path = setup.folder().join("jwks.json");
    let set = json!({"keys": [rsa.jwk("r"), ed.jwk("e")]});
    std::fs::write(&path, set.to_string()).unwrap();
    let path = path.to_str().unwrap().to_owned();
    let server = setup.variable("ABASTO_JWT__JWKS_FILE", &path).start();
    employ(&server).await;
    for (signer, id, expected) in [
        (&rsa, Some("r"), 200),
        (&rsa, None, 200),
        (&ed, Some("e"), 200),
        (&ed, Some("r"), 401),
        (&rsa, Some("unknown"), 401),
    ] {
        let token = signer.claiming(signer.algorithm(), id, &claims());
        assert_eq!(status(&server, &token).await, expected, "{id:?}");
    }
}

/// Serves whatever the set is now.
async fn publish(set: Arc<Mutex<String>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/jwks", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let body = set.lock().unwrap().clone();
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
                 connection: close\r\n\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    url
}

#[tokio::test]
async fn a_set_behind_a_url_may_change() {
    let (old, new) = (Signer::ed(), Signer::rsa());
    let set = Arc::new(Mutex::new(json!({"keys": [old.jwk("old")]}).to_string()));
    let url = publish(Arc::clone(&set)).await;
    let server = Setup::new().variable("ABASTO_JWT__JWKS_URL", &url).start();
    employ(&server).await;
    let token = |signer: &Signer, id| signer.claiming(signer.algorithm(), Some(id), &claims());
    assert_eq!(status(&server, &token(&old, "old")).await, 200);
    assert_eq!(status(&server, &token(&new, "new")).await, 401);
    *set.lock().unwrap() = json!({"keys": [new.jwk("new")]}).to_string();
    // An unknown key id has the set fetched anew, but not at every request: within a minute.
    let limit = Duration::from_secs(180);
    let rotated = tokio::time::timeout(limit, async {
        while status(&server, &token(&new, "new")).await != 200 {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    });
    rotated.await.expect("the new key is believed");
    assert_eq!(
        status(&server, &token(&old, "old")).await,
        401,
        "the old one no more"
    );
}
