import PushCore

/// The JSON Schema (draft 2020-12) of a delivery's content.
///
/// It is built from the same tables of keys as the checks. It covers each single key; ``ContentRule`` covers
/// combinations of keys.
package enum ContentSchema {
    /// The schema's text; `Config/content.schema.json` is a copy.
    package static let json = JSONText.pretty(schema)

    /// The rules for combinations of keys, for the database's check: a JSON object.
    package static let rules = ContentRule.document

    private static let schema = object([
        ("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
        ("$id", .string("urn:pushmta:delivery-content")),
        ("title", .string("The content of a delivery")),
        (
            "description",
            .string(
                "What a delivery's messages say, for each platform and locale. Texts may have {{name}}, {{name|default}}, "
                    + "{{#name}}…{{/name}} and {{^name}}…{{/name}} in them."
            )
        ),
        ("type", .string("object")),
        ("properties", properties),
        ("additionalProperties", .boolean(false)),
        ("anyOf", .array(Platform.allCases.map { object([("required", words([$0.rawValue]))]) })),
        (
            "$defs",
            object(
                Platform.allCases.map { platform in
                    (platform.rawValue, SchemaWriter.object(ContentKey.keys(platform), orNull: true))
                }
            )
        ),
    ])

    private static let properties: JSONValue = object(
        [("$schema", object([("type", .string("string"))]))]
            + sections + [
                ("locales", locales),
                (
                    "missing",
                    object([
                        (
                            "description",
                            .string(
                                "When a field has no value: its default at the place, or nothing (default); always nothing (empty); or "
                                    + "the message is not sent unless there is a default (exclude)."
                            )
                        ),
                        ("enum", .array(MissingValuePolicy.allCases.map { .string($0.rawValue) } + [.null])),
                    ])
                ),
                (
                    "tracking",
                    object([
                        (
                            "description",
                            .string("Whether payloads carry the ids by which opens and clicks are reported.")
                        ),
                        ("type", words(["boolean", "null"])),
                    ])
                ),
            ]
    )

    private static let sections: [(String, JSONValue)] = Platform.allCases.map { platform in
        (
            platform.rawValue,
            object([("$ref", .string("#/$defs/\(platform.rawValue)"))])
        )
    }

    private static let locales = object([
        (
            "description",
            .string(
                "Variants for locales such as fr or fr-CA; each inherits from its platform's section whatever it does not set, variables by name, and null removes a key. One with another push_type, silent, kind or template inherits nothing."
            )
        ),
        ("type", words(["object", "null"])),
        (
            "propertyNames",
            object([
                ("pattern", .string("^[A-Za-z0-9]{2,8}([-_][A-Za-z0-9]{1,8})*$")),
                ("maxLength", .number(String(LocaleMatcher.maxLocaleLength))),
            ])
        ),
        (
            "additionalProperties",
            object([
                ("type", words(["object", "null"])), ("properties", object(sections)),
                ("additionalProperties", .boolean(false)),
            ])
        ),
    ])

    private static func object(_ entries: [(String, JSONValue)]) -> JSONValue { SchemaWriter.entries(entries) }
    private static func words(_ words: [String]) -> JSONValue { SchemaWriter.words(words) }
}
