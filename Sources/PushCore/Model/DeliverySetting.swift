/// A setting that controls how a delivery is sent, by its name in the database.
///
/// This is the only table of these settings. The checks of `create_delivery` and of templates, the API with its OpenAPI
/// document, the console's form and the commands take names, ranges, defaults and descriptions from here.
package enum DeliverySetting: String, Sendable, CaseIterable {
    case onePerUser = "one_per_user"
    case explicitTargets = "explicit_targets"
    case allSeeds = "all_seeds"
    case priority
    case weight
    case validity = "validity_seconds"
    case ambiguityPolicy = "ambiguity_policy"
    case maxRetries = "max_retries"
    case retrySchedule = "retry_schedule"
    case retryPeriod = "retry_period_seconds"
    case rate = "messages_per_second"
    case category

    /// The values that a setting accepts.
    package enum Form: Sendable, Hashable {
        case integer(ClosedRange<Int64>)
        case number(ClosedRange<Double>)
        case flag
        case choice([String])
        /// A text that matches a regular expression.
        case word(String)
    }

    /// The form of a category's name; the database checks it, too.
    package static let categoryForm = "^[a-z][a-z0-9_-]{0,49}$"

    /// Whether a category can have a name.
    package static func isCategory(_ name: String) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        guard let first = name.utf8.first, letters.contains(first), name.utf8.count <= 50 else { return false }
        return name.utf8.allSatisfy { byte in
            letters.contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
        }
    }

    package static let priorities: ClosedRange<Int64> = -100...100
    package static let weights: ClosedRange<Int64> = 1...10
    /// Up to ten years, in seconds. A year has twelve months of 30 days, as in PostgreSQL's comparison of intervals.
    package static let validities: ClosedRange<Int64> = 1...3_600 * 86_400
    package static let retryCounts: ClosedRange<Int64> = 0...1_000
    /// Up to a year, in seconds.
    package static let retryPeriods: ClosedRange<Int64> = 1...365 * 86_400
    package static let rates = 0.001...1_000_000.0

    package static let defaultPriority: Int16 = 0
    package static let defaultWeight = 1
    /// Five days.
    package static let defaultValiditySeconds: Int64 = 5 * 86_400
    package static let defaultMaxRetries: Int32 = 5
    package static let defaultAmbiguityPolicy = AmbiguityPolicy.resend

    /// The default of ``retryPeriod``, in words, as each schedule has its own.
    package static let usualRetryPeriods: String = {
        let (daily, exponential) = (RetryPolicy.Schedule.daily, RetryPolicy.Schedule.exponential)
        return "\(daily.usualSeconds) with a \(daily.rawValue) schedule and "
            + "\(exponential.usualSeconds) with an \(exponential.rawValue) one"
    }()

    package var form: Form {
        switch self {
        case .onePerUser, .explicitTargets, .allSeeds: .flag
        case .priority: .integer(Self.priorities)
        case .weight: .integer(Self.weights)
        case .validity: .integer(Self.validities)
        case .ambiguityPolicy: .choice(AmbiguityPolicy.allCases.map(\.rawValue))
        case .maxRetries: .integer(Self.retryCounts)
        case .retrySchedule: .choice(RetryPolicy.ScheduleSetting.allCases.map(\.rawValue))
        case .retryPeriod: .integer(Self.retryPeriods)
        case .rate: .number(Self.rates)
        case .category: .word(Self.categoryForm)
        }
    }

    /// The default; nil if there is none.
    package var defaultValue: JSONValue? {
        switch self {
        case .onePerUser, .explicitTargets, .allSeeds: .boolean(false)
        case .priority: .number("\(Self.defaultPriority)")
        case .weight: .number("\(Self.defaultWeight)")
        case .validity: .number("\(Self.defaultValiditySeconds)")
        case .ambiguityPolicy: .string(Self.defaultAmbiguityPolicy.rawValue)
        case .maxRetries: .number("\(Self.defaultMaxRetries)")
        case .retrySchedule: .string(RetryPolicy.ScheduleSetting.byKind.rawValue)
        case .retryPeriod, .rate, .category: nil
        }
    }

    /// The name of its member in the API.
    package var memberName: String { Self.memberName(of: rawValue) }

    /// The API's name of a setting; the setting may be one that only a newer program knows.
    package static func memberName(of name: String) -> String {
        let words = name.split(separator: "_")
        return words.dropFirst().reduce(into: words.first.map(String.init) ?? "") {
            $0 += $1.prefix(1).uppercased() + $1.dropFirst()
        }
    }

    /// The accepted values, as words that follow "write".
    package var expectation: String {
        if self == .validity {
            let range = Self.validities
            let days = range.upperBound / 86_400
            return "a number of seconds from \(range.lowerBound) to \(range.upperBound) (\(days) days)"
        }
        return switch form {
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .number(let range): "a number from \(range.lowerBound) to \(Int64(range.upperBound))"
        case .flag: "true or false"
        case .choice(let words): words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
        case .word: "the name of one of the service's categories"
        }
    }

    /// What it does, for people: sentences that begin with a capital letter.
    package var summary: String {
        switch self {
        case .onePerUser: "Each user gets the message on the newest of their devices only."
        case .explicitTargets: "Whether the delivery goes to the targets added with addTargets."
        case .allSeeds: "The delivery also goes to all seed addresses of its applications."
        case .priority: "Higher priorities are sent first."
        case .weight: "The share of the delivery among deliveries of the same priority."
        case .validity: "How long after its start messages may be sent, in seconds."
        case .ambiguityPolicy:
            "What to do with an ambiguous message, which may or may not have been sent: resend sends it again, report records it as unknown."
        case .maxRetries: "The maximum number of retries of a message after transient failures."
        case .retrySchedule:
            "daily: maxRetries on the first day, then one a day until the validity ends. exponential: maxRetries, after pauses that double. default: daily for a batch delivery, exponential for a continuous one."
        case .retryPeriod:
            "Seconds before the first retry; by default \(Self.usualRetryPeriods)."
        case .rate: "The maximum number of messages a second, over all hosts; by default there is no limit."
        case .category:
            "What it is about: a category of its applications' services, whose opt-outs it respects; by default marketing."
        }
    }

    /// The problem of a number; nil if the setting accepts it.
    package func problem(_ number: Double) -> String? {
        let isTaken =
            switch form {
            case .integer(let range): number >= Double(range.lowerBound) && number <= Double(range.upperBound)
            case .number(let range): range.contains(number)
            case .flag, .choice, .word: false
            }
        if case .integer = form, number.isFinite, number.rounded() != number {
            return "\(number) is not a whole number; \(remedy)"
        }
        return isTaken ? nil : "\(Self.plain(number)) is out of range; \(remedy)"
    }

    /// What is wrong with a whole number; nil if the setting takes it.
    package func problem(_ number: Int64) -> String? {
        problem(Double(number)) == nil ? nil : "\(number) is out of range; \(remedy)"
    }

    /// A number, without a fraction of zero.
    private static func plain(_ number: Double) -> String { Int64(exactly: number).map(String.init) ?? "\(number)" }

    /// What to do about a value that it does not accept.
    private var remedy: String {
        switch self {
        case .weight: "write \(expectation); to have the delivery pass others, give it a higher priority"
        case .rate: "write \(expectation); to send nothing, pause the delivery"
        default: "write \(expectation)"
        }
    }

    /// The JSON Schema of a value.
    private var rule: [JSONEntry] {
        let bounds = { (minimum: String, maximum: String) in
            [JSONEntry(name: "minimum", value: .number(minimum)), JSONEntry(name: "maximum", value: .number(maximum))]
        }
        let type = { (name: String) in JSONEntry(name: "type", value: .string(name)) }
        switch form {
        case .integer(let range): return [type("integer")] + bounds("\(range.lowerBound)", "\(range.upperBound)")
        case .number(let range): return [type("number")] + bounds("\(range.lowerBound)", "\(Int64(range.upperBound))")
        case .flag: return [type("boolean")]
        case .choice(let words):
            return [type("string"), JSONEntry(name: "enum", value: .array(words.map(JSONValue.string)))]
        case .word(let pattern): return [type("string"), JSONEntry(name: "pattern", value: .string(pattern))]
        }
    }

    /// The property in the API's OpenAPI document.
    ///
    /// - Parameter showsDefault: whether to include the default. It does not apply if omitted values come from a
    ///   template.
    package func openAPIProperty(showsDefault: Bool = true) -> String {
        var entries = rule
        if showsDefault, let defaultValue { entries.append(JSONEntry(name: "default", value: defaultValue)) }
        entries.append(JSONEntry(name: "description", value: .string(summary)))
        return "\"\(memberName)\": \(JSONValue.object(entries).compactText)"
    }

    /// The properties of these settings in the API's OpenAPI document, with commas between them.
    package static func openAPIProperties(_ settings: [DeliverySetting], showsDefaults: Bool = true) -> String {
        settings.map { $0.openAPIProperty(showsDefault: showsDefaults) }.joined(separator: ",\n")
    }

    /// The settings of a new delivery: a weight and all seed addresses are set afterwards.
    package static let ofDelivery = allCases.filter { $0 != .weight && $0 != .allSeeds }

    /// The settings of a delivery that a change can name: whether it has explicit targets is fixed, and its rate can be
    /// changed at any time, in a call of its own.
    package static let ofChange = ofDelivery.filter { $0 != .explicitTargets && $0 != .rate }

    /// The JSON Schema of an object of settings. The database uses it to check settings, and takes the defaults from
    /// it.
    package static let rules: String = {
        let properties = allCases.map { setting in
            var entries = setting.rule
            if let value = setting.defaultValue { entries.append(JSONEntry(name: "default", value: value)) }
            entries.append(JSONEntry(name: "$comment", value: .string(setting.remedy)))
            return JSONEntry(name: setting.rawValue, value: .object(entries))
        }
        return JSONText.compact(
            .object([
                JSONEntry(name: "type", value: .string("object")),
                JSONEntry(name: "properties", value: .object(properties)),
                JSONEntry(name: "additionalProperties", value: .boolean(false)),
            ])
        )
    }()
}
