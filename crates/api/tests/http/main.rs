//! The API from outside its crate: the real router on the model store, one request at a time.

mod document;
mod flow;
mod harness;
