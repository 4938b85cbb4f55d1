//! The tests of what the crate promises, through its public API alone; a file for each behaviour.

mod taint;
