//! The five tools as data: one table, from which both the schemas and the parser are made.

use serde_json::{Map, Value, json};

/// Which tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    Save,
    Get,
    Search,
    List,
    Delete,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Texts,
    Count,
}

impl Kind {
    /// The type's name in JSON Schema.
    pub(super) const fn type_name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Texts => "array",
            Self::Count => "integer",
        }
    }

    /// What a value must be, in a model's words.
    pub(super) const fn expected(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Texts => "an array of strings",
            Self::Count => "a whole number of at least 1",
        }
    }

    /// What JSON Schema says beside the type.
    fn bounds(self) -> Option<(&'static str, Value)> {
        match self {
            Self::Text => None,
            Self::Texts => Some(("items", json!({"type": "string"}))),
            Self::Count => Some(("minimum", json!(1))),
        }
    }
}

/// One parameter of a tool.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) required: bool,
    description: &'static str,
}

impl Field {
    /// Its schema, with this as the type.
    pub(super) fn schema(&self, kind: impl Into<Value>) -> Map<String, Value> {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), kind.into());
        schema.insert("description".to_owned(), self.description.into());
        if let Some((name, bound)) = self.kind.bounds() {
            schema.insert(name.to_owned(), bound);
        }
        schema
    }
}

/// A tool as a model is told of it.
///
/// Every schema is a plain `object` with `properties` and no unions, so that every model provider
/// takes it; every field that isn't in it is refused. The parser reads the same table, so the two
/// can't differ.
///
/// ```
/// let save = &strandline::tools::definitions()[0];
/// assert_eq!(save.name(), "memory_save");
/// assert_eq!(save.input_schema()["required"], serde_json::json!(["key", "content"]));
/// assert!(!save.input_schema().to_string().contains("classification"));
/// ```
#[derive(Debug)]
pub struct Definition {
    pub(super) tool: Tool,
    pub(super) name: &'static str,
    pub(super) fields: &'static [Field],
    description: &'static str,
}

impl Definition {
    /// The name that a call bears.
    ///
    /// ```
    /// let names = strandline::tools::definitions().iter().map(|tool| tool.name());
    /// assert!(names.eq([
    ///     "memory_save", "memory_get", "memory_search", "memory_list", "memory_delete",
    /// ]));
    /// ```
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What it does, written for a model.
    ///
    /// ```
    /// let search = &strandline::tools::definitions()[2];
    /// assert!(search.description().contains("best match first"));
    /// ```
    pub const fn description(&self) -> &'static str {
        self.description
    }

    /// The JSON Schema of its arguments.
    ///
    /// ```
    /// let search = &strandline::tools::definitions()[2];
    /// assert_eq!(search.input_schema()["properties"]["max_results"]["type"], "integer");
    /// ```
    pub fn input_schema(&self) -> Value {
        let property = |field: &Field| {
            let schema = field.schema(field.kind.type_name());
            (field.name.to_owned(), Value::Object(schema))
        };
        let required = self.fields.iter().filter(|field| field.required);
        json!({
            "type": "object",
            "properties": self.fields.iter().map(property).collect::<Map<_, _>>(),
            "required": required.map(|field| field.name).collect::<Vec<_>>(),
            "additionalProperties": false,
        })
    }

    pub(super) fn find(name: &str) -> Option<&'static Self> {
        DEFINITIONS.iter().find(|tool| tool.name == name)
    }

    /// The names of its fields, for a message.
    pub(super) fn field_names(&self) -> String {
        let mark = |field: &Field| if field.required { " (required)" } else { "" };
        let names = self
            .fields
            .iter()
            .map(|field| format!("`{}`{}", field.name, mark(field)));
        let names: Vec<_> = names.collect();
        names.join(", ")
    }
}

/// The five tools, in a fixed order.
///
/// ```
/// // What goes into a request to a model:
/// let tools: Vec<_> = strandline::tools::definitions().iter().map(|tool| tool.anthropic()).collect();
/// assert_eq!(tools.len(), 5);
/// ```
pub const fn definitions() -> &'static [Definition; 5] {
    &DEFINITIONS
}

static DEFINITIONS: [Definition; 5] = [
    Definition {
        tool: Tool::Save,
        name: "memory_save",
        description: "Remembers a fact for later conversations, under a key of your choice. Saving \
            under a key that is in use replaces what you remembered under it. How confidential the \
            memory is follows from this conversation; you can't choose it, so send no level.",
        fields: &[
            Field {
                name: "key",
                kind: Kind::Text,
                required: true,
                description: "A short, descriptive name that you will recognise later, such as \
                    \"user-name\" or \"project-atlas-deadline\". Exact and case-sensitive.",
            },
            Field {
                name: "content",
                kind: Kind::Text,
                required: true,
                description: "The fact, in words that can be understood without this conversation.",
            },
            Field {
                name: "tags",
                kind: Kind::Texts,
                required: false,
                description: "Labels to list it by; case doesn't matter. Memories tagged \"rule\", \
                    \"preference\", \"persona\" or \"project\" are shown to you at the start of \
                    later conversations.",
            },
        ],
    },
    Definition {
        tool: Tool::Get,
        name: "memory_get",
        description: "Returns the memory under an exact key, or found: false. Where a key holds \
            several versions of different levels, it is the highest that this conversation may \
            read. If you don't know the exact key, use memory_search.",
        fields: &[Field {
            name: "key",
            kind: Kind::Text,
            required: true,
            description: "The exact key, in the same case as it was saved.",
        }],
    },
    Definition {
        tool: Tool::Search,
        name: "memory_search",
        description: "Searches the keys, tags and contents of everything that you remember, best \
            match first. Any word of the query may match, in any of its forms.",
        fields: &[
            Field {
                name: "query",
                kind: Kind::Text,
                required: true,
                description: "What you look for, in plain words or as a question. Nothing in it is \
                    syntax.",
            },
            Field {
                name: "max_results",
                kind: Kind::Count,
                required: false,
                description: "How many results to return at most; 10 if absent. A number above the \
                    store's limit counts as that limit, which the result then gives as max_results.",
            },
        ],
    },
    Definition {
        tool: Tool::List,
        name: "memory_list",
        description: "Lists what you remember, by key: everything, or what has a tag. At most 200 \
            memories are returned; if there are more, the result has truncated: true and their \
            number as total. Then narrow it with tag, or use memory_search.",
        fields: &[Field {
            name: "tag",
            kind: Kind::Text,
            required: false,
            description: "Only memories with this tag, compared as a whole and without case.",
        }],
    },
    Definition {
        tool: Tool::Delete,
        name: "memory_delete",
        description: "Forgets the memory under an exact key. Only a memory of exactly this \
            conversation's level can be deleted.",
        fields: &[Field {
            name: "key",
            kind: Kind::Text,
            required: true,
            description: "The exact key, in the same case as it was saved.",
        }],
    },
];
