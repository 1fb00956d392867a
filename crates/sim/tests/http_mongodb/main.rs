//! The API from outside on a MongoDB replica set: the tests of `api/tests/http`, word for word.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod store;

#[path = "../../../api/tests/http/bad_input.rs"]
mod bad_input;
#[path = "../../../api/tests/http/cart.rs"]
mod cart;
#[path = "../../../api/tests/http/cart_bounds.rs"]
mod cart_bounds;
#[path = "../../../api/tests/http/cart_view.rs"]
mod cart_view;
#[path = "../../../api/tests/http/credential.rs"]
mod credential;
#[path = "../../../api/tests/http/document.rs"]
mod document;
#[path = "../../../api/tests/http/flow.rs"]
mod flow;
#[path = "../../../api/tests/http/harness.rs"]
mod harness;
#[path = "../../../api/tests/http/headers.rs"]
mod headers;
#[path = "../../../api/tests/http/lists.rs"]
mod lists;
#[path = "../../../api/tests/http/owner.rs"]
mod owner;
#[path = "../../../api/tests/http/selling.rs"]
mod selling;
#[path = "../../../api/tests/http/stock_answers.rs"]
mod stock_answers;
#[path = "../../../api/tests/http/tenancy.rs"]
mod tenancy;
