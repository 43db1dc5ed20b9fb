import PushCore

/// A key of an object in a content.
///
/// The tables of keys are the only source for the form of a content: the checks, the JSON Schema and the keys of rich
/// templates are all derived from them.
struct ContentKey: Sendable {
    /// The kind of a key's value.
    indirect enum Kind: Sendable {
        /// A string, which may have fields.
        case text
        /// A list of strings, which may have fields.
        case texts
        case boolean
        case integer(ClosedRange<Int64>)
        /// A whole number, or a string with fields that results in one.
        case personalisedInteger(ClosedRange<Int64>)
        /// A number, with or without a fraction.
        case number(ClosedRange<Double>)
        /// A time in seconds, with at most nine decimal places.
        case seconds
        /// A list of times in seconds.
        case secondsList
        /// One of the given words.
        case choice([String])
        /// One of the given numbers.
        case integerChoice([Int64])
        /// `#rrggbb`, or a string with fields that results in one.
        case color
        /// `#rrggbb` or `#rrggbbaa`. It is split into its parts, so it cannot have fields.
        case lightColor
        /// An RFC 3339 time, or a string with fields that results in one.
        case time
        /// A label of FCM's statistics, or a string with fields that results in one.
        case label
        /// One of the given words in upper or lower case, as protobuf accepts the names of an enum, or a string with
        /// fields that results in one.
        case word([String])
        /// A protobuf duration such as `"3.5s"`, of at most this many seconds, or a string with fields that results in
        /// one.
        case duration(Double)
        /// A list of such durations.
        case durations
        /// The id of an Android app, or a string with fields that results in one.
        case packageName
        /// An object whose values are strings, which may have fields.
        case strings
        /// An FCM HTTP v1 message.
        case message
        /// An object of the application's own variables.
        case variables(Platform)
        /// Any object; its strings may have fields.
        case object
        /// An object with keys of its own.
        case group([ContentKey])
        /// A string with fields, or an object.
        case textOrGroup([ContentKey])
        /// A list of objects, with the allowed number of them.
        case items([ContentKey], ClosedRange<Int>)
        /// A rich template; its key `type` determines its keys.
        case template(Platform)
    }

    let name: String
    let kind: Kind
    /// What it means, for people: a sentence that begins with a capital letter.
    let summary: String
    /// Its name in the payload, if that can be given in a table.
    let payloadName: String
    let isRequired: Bool

    init(_ name: String, _ kind: Kind, _ summary: String, payload: String? = nil, isRequired: Bool = false) {
        self.name = name
        self.kind = kind
        self.summary = summary
        self.payloadName = payload ?? name
        self.isRequired = isRequired
    }

    /// The keys of a platform's section.
    static func keys(_ platform: Platform) -> [ContentKey] {
        switch platform {
        case .ios: ios
        case .android: android
        }
    }
}

extension ContentKey {
    /// The entries of an object of these keys, with each whole number in plain digits: a content may say `5.0`, and the
    /// gateways get 5.
    static func plain(_ entries: [JSONEntry], _ keys: [ContentKey]) -> [JSONEntry] {
        entries.map { entry in
            guard let key = keys.first(where: { $0.name == entry.name }) else { return entry }
            return JSONEntry(name: entry.name, value: key.plain(entry.value))
        }
    }

    private func plain(_ value: JSONValue) -> JSONValue {
        switch (kind, value) {
        case (.integer, .number(let digits)), (.personalisedInteger, .number(let digits)),
            (.integerChoice, .number(let digits)):
            guard let number = JSONNumber.whole(digits) else { return value }
            return .number(String(number))
        case (.group(let keys), .object(let entries)), (.textOrGroup(let keys), .object(let entries)):
            return .object(Self.plain(entries, keys))
        case (.items(let keys, _), .array(let elements)):
            return .array(
                elements.map { element in
                    guard case .object(let entries) = element else { return element }
                    return .object(Self.plain(entries, keys))
                }
            )
        case (.template(let platform), .object(let entries)):
            let type = ContentSection(platform: platform, entries: entries).string(RichTemplateKind.typeName)
            let keys = type.flatMap(RichTemplateKind.init(rawValue:))?.keys(platform) ?? []
            return .object(Self.plain(entries, keys))
        default: return value
        }
    }
}
