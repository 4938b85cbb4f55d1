//! The conformance suite, on each of the crate's providers.

mod in_memory {
    strandline::conformance!(crate::providers::Memory);
}

mod sqlite {
    strandline::conformance!(crate::providers::File);
}
