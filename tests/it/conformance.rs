//! The conformance suite, on each of the crate's providers.

mod in_memory {
    strandline::conformance!(crate::providers::Memory);
}

mod sqlite {
    strandline::conformance!(crate::providers::File);
}

/// The same of stores that are set to a language.
mod german {
    use std::sync::Arc;

    use strandline::conformance::{Subject, check, names};
    use strandline::search::analysis::Language;
    use strandline::storage::{InMemory, Sqlite, SqliteOptions, StorageProvider};
    use tempfile::TempDir;

    use crate::providers::Memory;

    struct InGerman(Memory);

    impl Subject for InGerman {
        fn fresh() -> Self {
            Self(Memory(Arc::new(InMemory::with_language(Language::German))))
        }

        fn provider(&self) -> &dyn StorageProvider {
            self.0.provider()
        }

        fn reopen(self) -> Self {
            Self::fresh()
        }
    }

    /// The language is said once, when the file is made.
    struct GermanFile(Sqlite, TempDir);

    impl GermanFile {
        fn open(folder: TempDir, language: Option<Language>) -> Self {
            let options = SqliteOptions {
                language,
                ..crate::keyed::options()
            };
            let provider = Sqlite::open(folder.path().join("memory.db"), &options);
            Self(provider.expect("the file opens"), folder)
        }
    }

    impl Subject for GermanFile {
        fn fresh() -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            Self::open(folder, Some(Language::German))
        }

        fn provider(&self) -> &dyn StorageProvider {
            &self.0
        }

        fn reopen(self) -> Self {
            let Self(provider, folder) = self;
            drop(provider);
            Self::open(folder, None)
        }
    }

    /// The clauses of search and of what makes the index anew; the others don't look at it.
    #[test]
    fn stores_of_another_language_keep_the_clauses_of_search() {
        let of_search = |name: &&str| {
            ["c10", "c15", "c16", "c20"]
                .iter()
                .any(|c| name.starts_with(c))
        };
        let clauses = names();
        for clause in clauses.iter().filter(|name| of_search(name)) {
            check::<InGerman>(clause);
            check::<GermanFile>(clause);
        }
    }
}
