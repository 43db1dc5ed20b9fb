import PushCore

/// Writes the JSON Schema of tables of keys.
enum SchemaWriter {
    typealias Entries = [(String, JSONValue)]

    /// The schema of an object with only the given keys.
    static func object(_ keys: [ContentKey], orNull: Bool = false) -> JSONValue {
        entries([("type", orNull ? words(["object", "null"]) : .string("object"))] + members(keys))
    }

    static func entries(_ entries: Entries) -> JSONValue {
        .object(entries.map { JSONEntry(name: $0.0, value: $0.1) })
    }

    static func words(_ words: [String]) -> JSONValue { .array(words.map(JSONValue.string)) }

    private static func members(_ keys: [ContentKey]) -> Entries {
        var schema: Entries = [("properties", entries(keys.map { ($0.name, property($0)) }))]
        let required = keys.filter(\.isRequired).map(\.name)
        if !required.isEmpty { schema.append(("required", words(required))) }
        return schema + [("additionalProperties", .boolean(false))]
    }

    /// The schema of a key's value; null means that the key is absent.
    private static func property(_ key: ContentKey) -> JSONValue {
        let (types, rules) = value(key.kind)
        var rulesAndNull = rules
        if !key.isRequired, let index = rules.firstIndex(where: { $0.0 == "enum" }),
            case .array(let choices) = rules[index].1
        {
            rulesAndNull[index].1 = .array(choices + [.null])
        }
        if key.isRequired, types.contains("string"), !rules.contains(where: { $0.0 == "enum" }) {
            rulesAndNull.append(("minLength", .number("1")))
        }
        let allTypes = types + (key.isRequired ? [] : ["null"])
        let type: JSONValue = allTypes.count == 1 ? .string(allTypes[0]) : words(allTypes)
        return entries([("description", .string(key.summary)), ("type", type)] + rulesAndNull)
    }

    /// The types of a value, and their rules.
    private static func value(_ kind: ContentKey.Kind) -> (types: [String], rules: Entries) {
        switch kind {
        case .text: (["string"], [])
        case .time:
            (
                ["string"],
                form(
                    kind,
                    "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})"
                )
            )
        case .texts: (["array"], [("items", type("string"))])
        case .boolean: (["boolean"], [])
        case .integer(let range): (["integer"], bounds("\(range.lowerBound)", "\(range.upperBound)"))
        case .personalisedInteger(let range):
            (["integer", "string"], bounds("\(range.lowerBound)", "\(range.upperBound)") + form(kind, "-?[0-9]+"))
        case .number(let range): (["number"], bounds("\(range.lowerBound)", "\(range.upperBound)"))
        case .seconds: (["number"], seconds)
        case .secondsList: (["array"], [("items", entries([("type", .string("number"))] + seconds))])
        case .choice(let choices): (["string"], [("enum", words(choices))])
        case .integerChoice(let numbers): (["integer"], [("enum", .array(numbers.map { .number(String($0)) }))])
        case .color: (["string"], form(kind, "#[0-9A-Fa-f]{6}"))
        case .label: (["string"], form(kind, "[A-Za-z0-9_.~%-]{1,50}"))
        case .word(let words):
            (
                ["string"],
                form(
                    kind,
                    (words + words.map { $0.lowercased() }).joined(separator: "|"),
                    orEmpty: false
                )
            )
        case .duration: (["string"], duration(kind))
        case .durations:
            (["array"], [("items", entries([("type", .string("string"))] + duration(kind)))])
        case .packageName: (["string"], form(kind, "[A-Za-z][A-Za-z0-9_]*(\\.[A-Za-z][A-Za-z0-9_]*)+"))
        case .strings: (["object"], [("additionalProperties", entries([("type", words(["string", "null"]))]))])
        case .message: (["object"], members(ContentKey.fcmMessage))
        case .lightColor:
            (["string"], [pattern("#[0-9A-Fa-f]{6}([0-9A-Fa-f]{2})?"), wanted(kind)])
        case .variables(let platform): (["object"], variables(platform))
        case .object: (["object"], [])
        case .group(let keys): (["object"], members(keys))
        case .textOrGroup(let keys): (["string", "object"], members(keys))
        case .items(let keys, let count):
            (
                ["array"],
                [
                    ("items", object(keys)), ("minItems", .number(String(count.lowerBound))),
                    ("maxItems", .number(String(count.upperBound))),
                ]
            )
        case .template(let platform): (["object"], template(platform))
        }
    }

    /// A rich template; its type determines its keys.
    private static func template(_ platform: Platform) -> Entries {
        let kinds = RichTemplateKind.all(platform)
        let choices = kinds.map { kind in
            let isKind = entries([
                ("type", .string("object")), ("required", words(["type"])),
                ("properties", entries([("type", entries([("const", .string(kind.rawValue))]))])),
            ])
            let type = ContentKey("type", .choice([kind.rawValue]), "Which template it is.", isRequired: true)
            return entries([("if", isKind), ("then", object([type] + kind.keys(platform)))])
        }
        return [
            ("required", words(["type"])),
            ("properties", entries([("type", entries([("enum", words(kinds.map(\.rawValue)))]))])),
            ("allOf", .array(choices)),
        ]
    }

    private static func duration(_ kind: ContentKey.Kind) -> Entries {
        form(kind, "[0-9]+(\\.[0-9]{1,9})?s", orEmpty: false)
    }

    /// A text of a form. A text with fields may be anything. A comment next to the pattern says in words what to write.
    private static func form(_ kind: ContentKey.Kind, _ form: String, orEmpty: Bool = true) -> Entries {
        [pattern("(\(form)|.*\\{\\{.*\(orEmpty ? "|" : ""))"), wanted(kind)]
    }

    private static func pattern(_ pattern: String) -> (String, JSONValue) { ("pattern", .string("^\(pattern)$")) }

    private static func wanted(_ kind: ContentKey.Kind) -> (String, JSONValue) {
        ("$comment", .string("write \(ContentValidator.expectation(kind))"))
    }

    /// The application's variables: any name that neither the gateway nor tracking reserves.
    private static func variables(_ platform: Platform) -> Entries {
        let escaped = { (name: String) in name.replacing(".", with: "\\.") }
        let names = ContentValidator.reservedNames(platform).map(escaped).joined(separator: "|")
        let prefixes = ContentValidator.reservedPrefixes(platform).map { "(?!\(escaped($0)))" }.joined()
        let namesRule = entries([
            ("$comment", .string("choose another name; this one is reserved by the gateway or by tracking")),
            ("pattern", .string("^(?!(\(names))$)\(prefixes).")),
        ])
        // FCM's data has only strings, and null is not one.
        let values = entries([("type", words(["string", "number", "boolean", "array", "object"]))])
        return [("propertyNames", namesRule)] + (platform == .android ? [("additionalProperties", values)] : [])
    }

    private static let seconds: Entries = [("minimum", .number("0"))]

    private static func bounds(_ minimum: String, _ maximum: String) -> Entries {
        [("minimum", .number(minimum)), ("maximum", .number(maximum))]
    }

    private static func type(_ name: String) -> JSONValue { entries([("type", .string(name))]) }
}
