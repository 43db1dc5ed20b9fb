import PushCore

/// A key that an object of the content may have.
///
/// The tables of keys are the one source of what a content may say: its checks, its JSON Schema and the keys of rich templates are
/// all made of them.
struct ContentKey: Sendable {
    /// What a key's value must be.
    indirect enum Kind: Sendable {
        /// A string, which may have fields in it.
        case text
        /// A list of strings, which may have fields in them.
        case texts
        case boolean
        case integer(ClosedRange<Int64>)
        /// A whole number, or a string with fields that gives one.
        case personalisedInteger(ClosedRange<Int64>)
        /// A number with a fraction.
        case number(ClosedRange<Double>)
        /// A time in seconds, with at most nine digits behind the point.
        case seconds
        /// A list of times in seconds.
        case secondsList
        /// One of the given words.
        case choice([String])
        /// One of the given numbers.
        case integerChoice([Int64])
        /// `#rrggbb`, or a string with fields that gives one.
        case color
        /// `#rrggbb` or `#rrggbbaa`; it is taken apart, so it has no fields.
        case lightColor
        /// A time as RFC 3339 writes it, or a string with fields that gives one.
        case time
        /// A label of FCM's statistics, or a string with fields that gives one.
        case label
        /// One of the given words in upper or lower case, as protobuf takes the names of an enum, or a string with fields that gives one.
        case word([String])
        /// A time as protobuf writes it, such as `"3.5s"`, of so many seconds at most, or a string with fields that gives one.
        case duration(Double)
        /// A list of such times.
        case durations
        /// The id of an Android app, or a string with fields that gives one.
        case packageName
        /// An object whose values are strings, which may have fields in them.
        case strings
        /// The message of FCM HTTP v1.
        case message
        /// An object of the application's own variables.
        case variables(Platform)
        /// Any object; its strings may have fields in them.
        case object
        /// An object with keys of its own.
        case group([ContentKey])
        /// A string with fields, or an object.
        case textOrGroup([ContentKey])
        /// A list of objects of so many.
        case items([ContentKey], ClosedRange<Int>)
        /// A rich template; its key `type` says which keys it has.
        case template(Platform)
    }

    let name: String
    let kind: Kind
    /// What it means, for people: a sentence that begins with a capital.
    let summary: String
    /// Its name in the payload, where a table is all that is needed to know it.
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
