//! The definitions in the forms that MCP and the model APIs take.

use serde_json::{Map, Value, json};

use super::definition::{Definition, Field};

impl Definition {
    /// The form that an MCP server lists in answer to `tools/list`.
    ///
    /// It has an `outputSchema`, so results must go back with `structuredContent`, as
    /// [`ToolResult::mcp`](super::ToolResult::mcp) has them. The annotations are the
    /// [server's](crate::tools#what-the-annotations-say).
    ///
    /// ```
    /// let get = strandline::tools::definitions()[1].mcp();
    /// assert_eq!(get["inputSchema"]["required"][0], "key");
    /// assert_eq!(get["annotations"]["readOnlyHint"], true);
    /// ```
    pub fn mcp(&self) -> Value {
        json!({
            "name": self.name,
            "title": self.title(),
            "description": self.description(),
            "inputSchema": self.input_schema(),
            "outputSchema": self.output_schema(),
            "annotations": self.annotations(),
        })
    }

    /// The form that the Anthropic Messages API takes in `tools`.
    ///
    /// ```
    /// let get = strandline::tools::definitions()[1].anthropic();
    /// assert_eq!(get["input_schema"]["required"][0], "key");
    /// ```
    pub fn anthropic(&self) -> Value {
        json!({
            "name": self.name,
            "description": self.description(),
            "input_schema": self.input_schema(),
        })
    }

    /// The form that the OpenAI Chat Completions API, and servers like it, take in `tools`.
    ///
    /// ```
    /// let get = strandline::tools::definitions()[1].openai();
    /// assert_eq!(get["type"], "function");
    /// assert_eq!(get["function"]["parameters"]["required"][0], "key");
    /// ```
    pub fn openai(&self) -> Value {
        json!({
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description(),
                "parameters": self.input_schema(),
            },
        })
    }

    /// As [`openai`](Self::openai), for strict mode.
    ///
    /// In strict mode the API has the model keep to the schema, and asks for one in which every field
    /// is required: an optional one may be null instead, which its list of types says. Servers like
    /// OpenAI's often don't know such lists; give them the other form.
    ///
    /// ```
    /// let search = strandline::tools::definitions()[2].openai_strict();
    /// let parameters = &search["function"]["parameters"];
    /// assert_eq!(parameters["required"], serde_json::json!(["query", "max_results"]));
    /// assert_eq!(parameters["properties"]["max_results"]["type"][1], "null");
    /// ```
    pub fn openai_strict(&self) -> Value {
        json!({
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description(),
                "parameters": self.strict_schema(),
                "strict": true,
            },
        })
    }

    /// The flat form that the OpenAI Responses API takes in `tools`.
    ///
    /// It turns strict mode off, in which that API makes every optional field a required one.
    ///
    /// ```
    /// let get = strandline::tools::definitions()[1].openai_responses();
    /// assert_eq!(get["name"], "memory_get");
    /// assert_eq!(get["strict"], false);
    /// ```
    pub fn openai_responses(&self) -> Value {
        self.flat(&self.input_schema(), false)
    }

    /// As [`openai_responses`](Self::openai_responses), for strict mode; see
    /// [`openai_strict`](Self::openai_strict).
    ///
    /// ```
    /// let list = strandline::tools::definitions()[3].openai_responses_strict();
    /// assert_eq!(list["strict"], true);
    /// assert_eq!(list["parameters"]["required"][0], "tag");
    /// ```
    pub fn openai_responses_strict(&self) -> Value {
        self.flat(&self.strict_schema(), true)
    }

    /// The form that the Gemini API takes in `functionDeclarations`, of one of its `tools`.
    ///
    /// Its schemas are a part of `OpenAPI` 3.0: types are written in capitals, an optional field is
    /// `nullable`, and there is no `additionalProperties`.
    ///
    /// ```
    /// let save = strandline::tools::definitions()[0].gemini();
    /// assert_eq!(save["parameters"]["type"], "OBJECT");
    /// assert_eq!(save["parameters"]["properties"]["tags"]["items"]["type"], "STRING");
    /// ```
    pub fn gemini(&self) -> Value {
        json!({
            "name": self.name,
            "description": self.description(),
            "parameters": self.gemini_schema(),
        })
    }

    fn flat(&self, parameters: &Value, strict: bool) -> Value {
        json!({
            "type": "function",
            "name": self.name,
            "description": self.description(),
            "parameters": parameters,
            "strict": strict,
        })
    }

    fn strict_schema(&self) -> Value {
        let property = |field: &Field| {
            let name = field.kind.type_name();
            let kind = if field.required {
                json!(name)
            } else {
                json!([name, "null"])
            };
            (field.name.to_owned(), Value::Object(field.schema(kind)))
        };
        json!({
            "type": "object",
            "properties": self.fields.iter().map(property).collect::<Map<_, _>>(),
            "required": self.fields.iter().map(|field| field.name).collect::<Vec<_>>(),
            "additionalProperties": false,
        })
    }

    fn gemini_schema(&self) -> Value {
        let property = |field: &Field| {
            let mut schema = capitals(field.schema(field.kind.type_name()));
            if !field.required {
                schema.insert("nullable".to_owned(), json!(true));
            }
            (field.name.to_owned(), Value::Object(schema))
        };
        let required = self.fields.iter().filter(|field| field.required);
        let required: Vec<_> = required.map(|field| field.name).collect();
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("OBJECT"));
        let properties: Map<_, _> = self.fields.iter().map(property).collect();
        schema.insert("properties".to_owned(), Value::Object(properties));
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        Value::Object(schema)
    }
}

/// The schema with its types in capitals.
fn capitals(schema: Map<String, Value>) -> Map<String, Value> {
    let capital = |(name, value)| match (name, value) {
        (name, Value::String(kind)) if name == "type" => (name, json!(kind.to_ascii_uppercase())),
        (name, Value::Object(inner)) => (name, Value::Object(capitals(inner))),
        other => other,
    };
    schema.into_iter().map(capital).collect()
}
