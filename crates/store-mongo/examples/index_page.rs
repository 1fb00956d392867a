//! Prints the page about indexes: `cargo run -p abasto-store-mongo --example index_page`.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

fn main() {
    print!("{}", abasto_store_mongo::index_page());
}
