//! Problems (RFC 9457): every way in which a request can be refused, as one closed list.
//!
//! Owns the codes with their status, title and page, and the body they are told in. Must not know
//! which route a problem came from.

use std::borrow::Cow;

use abasto_domain::fault::Fault;
use axum::http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $status:literal, $title:literal;)*) => {
        /// A stable code that programs can rely on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[$doc])* $variant,)* }

        impl Code {
            /// All codes, by status.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The code as it stands in an answer.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The HTTP status.
            pub const fn status_number(self) -> u16 {
                match self { $(Self::$variant => $status,)* }
            }

            /// One line for people, the same for every occurrence.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }

            /// The page that explains it, as markdown.
            pub const fn page(self) -> &'static str {
                match self {
                    $(Self::$variant =>
                        include_str!(concat!("../../../docs/problems/", $name, ".md")),)*
                }
            }
        }
    };
}

codes! {
    /// The body is no JSON.
    MalformedBody = "malformed-body", 400, "The body cannot be read";
    /// A header has a form that it must not have.
    MalformedHeader = "malformed-header", 400, "A header cannot be read";
    /// A cursor that this list did not give.
    InvalidCursor = "invalid-cursor", 400, "The cursor is not valid here";
    /// The route needs an idempotency key.
    IdempotencyKeyMissing = "idempotency-key-missing", 400, "An Idempotency-Key is needed";
    /// The idempotency key is not 1 to 255 visible ASCII characters.
    IdempotencyKeyInvalid = "idempotency-key-invalid", 400, "The Idempotency-Key cannot be read";
    /// No credential, or none that is valid.
    Unauthenticated = "unauthenticated", 401, "A valid credential is needed";
    /// The caller sees the thing but has not the right.
    Forbidden = "forbidden", 403, "The credential does not have this right";
    /// Nothing there, or nothing that the caller may see.
    NotFound = "not-found", 404, "Not found";
    /// The path exists, the method does not.
    MethodNotAllowed = "method-not-allowed", 405, "The method is not allowed here";
    /// The body came too slowly.
    BodyTimeout = "body-timeout", 408, "The body came too slowly";
    /// Fewer units than asked for.
    InsufficientStock = "insufficient-stock", 409, "There is not enough stock";
    /// A product is not sold any more, or not here.
    ProductUnavailable = "product-unavailable", 409, "A product cannot be sold";
    /// The branch takes no orders.
    BranchInactive = "branch-inactive", 409, "The branch is not active";
    /// The total is not what the caller expected.
    PriceChanged = "price-changed", 409, "The price has changed";
    /// A coupon cannot be used for this order.
    CouponRefused = "coupon-refused", 409, "A coupon cannot be used";
    /// The checkout became an order, ran out of time or was given up.
    CheckoutEnded = "checkout-ended", 409, "The checkout has ended";
    /// The holder has as many open checkouts as it may have.
    TooManyCheckouts = "too-many-checkouts", 409, "Too many checkouts are open";
    /// The order does not wait for an online payment.
    NotPayable = "not-payable", 409, "The order does not wait for a payment";
    /// More is asked back than is there.
    RefundExceeds = "refund-exceeds", 409, "More than can be refunded";
    /// The order has not left the house.
    NotReturnable = "not-returnable", 409, "The order cannot be returned";
    /// More comes back than was sold.
    NothingLeftToReturn = "nothing-left-to-return", 409, "Nothing is left to return";
    /// The coupon code is taken.
    DuplicateCoupon = "duplicate-coupon", 409, "Another coupon has this code";
    /// A message of a payment provider is not signed as it must be.
    BadSignature = "bad-signature", 401, "The signature is not valid";
    /// The order cannot go there from where it is.
    InvalidTransition = "invalid-transition", 409, "The order cannot take this step";
    /// The level moved since it was read.
    StockChanged = "stock-changed", 409, "The stock has changed";
    /// Fewer units were counted than are reserved.
    BelowReserved = "below-reserved", 409, "Fewer units were counted than are reserved";
    /// The key was used for other content.
    IdempotencyKeyReuse = "idempotency-key-reuse", 409, "The Idempotency-Key was used before";
    /// The sku is taken.
    DuplicateSku = "duplicate-sku", 409, "Another product has this sku";
    /// The verified address is taken.
    DuplicateEmail = "duplicate-email", 409, "Another customer has this verified address";
    /// The phone number is taken.
    DuplicatePhone = "duplicate-phone", 409, "Another customer has this phone number";
    /// The branch code is taken.
    DuplicateCode = "duplicate-code", 409, "Another branch has this code";
    /// The business would have no owner.
    LastOwner = "last-owner", 409, "The last owner stays";
    /// The user is an active member already.
    DuplicateMember = "duplicate-member", 409, "The user is an active member already";
    /// The device used this number before.
    DotReuse = "dot-reuse", 409, "The device used this number before";
    /// Every other edit was first.
    CartContention = "cart-contention", 409, "Too many others change the cart";
    /// The cart shows something else than what was put in.
    CartNeedsLook = "cart-needs-look", 409, "The cart must be looked at first";
    /// The cart takes no operations any more.
    CartSealed = "cart-sealed", 410, "The cart has ended";
    /// Somebody else changed the resource.
    VersionMismatch = "version-mismatch", 412, "The resource has another version";
    /// Too large.
    BodyTooLarge = "body-too-large", 413, "The body is too large";
    /// Not JSON (or what the route takes).
    UnsupportedMediaType = "unsupported-media-type", 415, "The media type is not supported";
    /// Fields that are wrong.
    Validation = "validation", 422, "The input is not valid";
    /// Fields that do not exist.
    UnknownField = "unknown-field", 422, "The input has a field that does not exist";
    /// More units of a product than one order may have.
    MaxPerOrder = "max-per-order", 422, "More units than one order may have";
    /// The cart would exceed a bound.
    CartLimit = "cart-limit", 422, "The cart would become too large";
    /// A time too far in the future.
    ClockSkew = "clock-skew", 422, "The clock is ahead";
    /// A tag that this cart did not make, or not for this.
    BadTag = "bad-tag", 422, "The tag is not valid";
    /// An operation on a line that is not there.
    NoSuchLine = "no-such-line", 422, "The line is not in the cart";
    /// `If-Match` is needed.
    PreconditionRequired = "precondition-required", 428, "If-Match is needed";
    /// Too many requests of one credential.
    RateLimited = "rate-limited", 429, "Too many requests";
    /// A defect of ours.
    Internal = "internal", 500, "Something went wrong on our side";
    /// Too much is waiting.
    Overloaded = "overloaded", 503, "Too busy";
    /// The store cannot be used now.
    Unavailable = "unavailable", 503, "Not available now";
    /// It may or may not have been done.
    OutcomeUnknown = "outcome-unknown", 503, "The outcome is not known";
}

impl Code {
    /// The HTTP status.
    pub fn status(self) -> StatusCode {
        StatusCode::from_u16(self.status_number()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The code with this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.name() == name)
    }
}

/// One refusal. Its body is written at the edge, which knows the request's id.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem(Box<Facts>);

#[derive(Debug, Clone, PartialEq)]
struct Facts {
    code: Code,
    detail: Cow<'static, str>,
    fields: Map<String, Value>,
    header: Option<(axum::http::HeaderName, HeaderValue)>,
}

/// Seconds after which an overloaded store is worth another try.
const RETRY_AFTER_S: u64 = 1;

impl Problem {
    /// A problem with a sentence about this occurrence. The sentence never repeats internals.
    pub fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Facts {
            code,
            detail: detail.into(),
            fields: Map::new(),
            header: None,
        }))
    }

    /// The answer for everything that is not there or not for the caller: always the same.
    pub fn not_found() -> Self {
        Self::new(
            Code::NotFound,
            "There is nothing here, or nothing that this credential may see.",
        )
    }

    /// A credential is missing or not valid; why is not told.
    pub fn unauthenticated() -> Self {
        Self::new(
            Code::Unauthenticated,
            "Send a valid API key or JWT as \"Authorization: Bearer …\".",
        )
        .with_header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
    }

    /// A defect of ours; what it was is only logged.
    pub fn internal() -> Self {
        Self::new(
            Code::Internal,
            "The request failed for a reason that is not yours. The requestId finds it in the log.",
        )
    }

    /// Too much is waiting.
    pub fn overloaded() -> Self {
        Self::new(Code::Overloaded, "Nothing was done. Try again shortly.")
            .with_retry_after(RETRY_AFTER_S)
    }

    /// All faults of an input.
    pub fn validation(faults: &[Fault]) -> Self {
        Self::faulty(faults, |fault| {
            serde_json::json!({
                "pointer": fault.pointer, "code": fault.code, "message": fault.message,
            })
        })
    }

    /// All faults of a query string; each names its parameter, also as a pointer into the query.
    pub fn invalid_query(faults: &[Fault]) -> Self {
        Self::faulty(faults, |fault| {
            serde_json::json!({
                "pointer": fault.pointer, "parameter": fault.pointer.trim_start_matches('/'),
                "code": fault.code, "message": fault.message,
            })
        })
    }

    fn faulty(faults: &[Fault], show: impl Fn(&Fault) -> Value) -> Self {
        let unknown = faults.iter().any(|fault| fault.code == "unknown-field");
        let (code, detail) = if unknown {
            (
                Code::UnknownField,
                "The input has fields that do not exist; see errors.",
            )
        } else {
            (Code::Validation, "The input has faults; see errors.")
        };
        let errors = faults.iter().map(show);
        Self::new(code, detail).with("errors", Value::Array(errors.collect()))
    }

    /// Adds a field to the body.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.fields.insert(name.to_owned(), value.into());
        self
    }

    /// Adds `Retry-After`.
    #[must_use]
    pub fn with_retry_after(self, seconds: u64) -> Self {
        self.with_header(RETRY_AFTER, HeaderValue::from(seconds))
    }

    fn with_header(mut self, name: axum::http::HeaderName, value: HeaderValue) -> Self {
        self.0.header = Some((name, value));
        self
    }

    /// Its code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Its sentence.
    pub(crate) fn detail(&self) -> &str {
        &self.0.detail
    }

    /// One of its own fields.
    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        self.0.fields.get(name)
    }

    /// The body as told to the caller.
    pub(crate) fn body(&self, request_id: &str) -> Value {
        let mut body = Map::new();
        body.insert(
            "type".into(),
            format!("/problems/{}", self.0.code.name()).into(),
        );
        body.insert("title".into(), self.0.code.title().into());
        body.insert("status".into(), self.0.code.status_number().into());
        body.insert("detail".into(), self.0.detail.as_ref().into());
        body.insert("code".into(), self.0.code.name().into());
        body.insert("requestId".into(), request_id.into());
        body.extend(self.0.fields.clone());
        Value::Object(body)
    }

    /// The whole answer.
    pub(crate) fn render(&self, request_id: &str) -> Response {
        let body = self.body(request_id).to_string();
        let mut response = (self.0.code.status(), body).into_response();
        let headers = response.headers_mut();
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        if let Some((name, value)) = &self.0.header {
            headers.insert(name, value.clone());
        }
        response
    }
}

/// A problem travels to the edge as an extension of an empty answer; the edge writes it out.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.0.code.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Keeps what a router already said about an answer that becomes a problem.
pub(crate) fn keep_allow(from: &Response, to: &mut Response) {
    if let Some(allow) = from.headers().get(ALLOW) {
        to.headers_mut().insert(ALLOW, allow.clone());
    }
}
