//! A session comes from a store, and from nowhere else.

use strandline::Session;

fn main() {
    let _ = Session::new;
    let _ = Session::from_inner;
    let _ = Session::default();
}
