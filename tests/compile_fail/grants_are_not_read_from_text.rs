//! No grant, event or session can be read from JSON.

use serde::Deserialize;
use strandline::Session;
use strandline::audit::Event;
use strandline::policy::{HostGrant, ReadGrant, WriteGrant};

fn main() {
    let _ = ReadGrant::deserialize(serde_json::json!({}));
    let _ = WriteGrant::deserialize(serde_json::json!({}));
    let _ = HostGrant::deserialize(serde_json::json!({}));
    let _ = Event::deserialize(serde_json::json!({}));
    let _ = Session::deserialize(serde_json::json!({}));
}
