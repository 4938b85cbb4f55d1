//! Stores with a key.
