//! A draft has no level to set.

use strandline::{Classification, Draft};

fn main() {
    let _ = Draft::new("k", "v").classification(Classification::Public);
    let _ = Draft::new("k", "v").level(Classification::Public);
}
