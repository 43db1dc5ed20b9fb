/// When the messages of a delivery may leave, as a person or a program sets it.
package struct DeliveryPlan: Sendable, Hashable {
    /// What happens where the local time has passed at the start.
    package enum PastRule: String, Sendable, CaseIterable {
        /// The message leaves at once.
        case now
        /// It leaves at that time of the next day.
        case nextDay = "next_day"
        /// It is not sent.
        case skip
    }

    /// What happens to messages outside of the sending hours of their service.
    package enum HoursRule: String, Sendable, CaseIterable {
        /// They wait for the next hours.
        case postpone
        /// They are not sent.
        case drop
        /// They are sent anyway.
        case ignore
    }

    /// One wave.
    package struct Wave: Sendable, Hashable {
        package enum Size: Sendable, Hashable {
            /// A share of all messages, in percent.
            case percent(Double)
            /// A number of messages.
            case messages(Int64)
            /// All that are left: the last wave.
            case rest
        }

        package var size: Size
        /// When it begins at the earliest, in RFC 3339; nil for no fixed moment.
        package var startsAt: String?
        /// How long after the wave before it begins at the earliest; nil: when that wave has ended.
        package var afterSeconds: Int64?
        /// The next wave begins only if no greater share of its messages has failed (0 to 1); nil for no guard.
        package var maxFailed: Double?
        /// The same for bad push tokens; nil for the default, which only the first wave has.
        package var maxTokenErrors: Double?
        /// The same for recipients who opted out.
        package var maxOptOuts: Double?

        package init(_ size: Size = .rest) { self.size = size }
    }

    /// A date and a time of day on the recipient's clock, as in `2026-12-01T09:00`; nil: the delivery's start.
    package var localTime: String?
    package var onPast: PastRule?
    /// Nil: what the service says.
    package var hours: HoursRule?
    package var waves: [Wave] = []

    /// A plan that says nothing.
    package init() {}

    /// Whether a text is a date and a time of day without a zone, as in `2026-12-01T09:00` or `2026-12-01 09:00:30`.
    package static func isLocalTime(_ text: String) -> Bool {
        [16, 19].contains(text.utf8.count) && ZonedTime(text + "Z") != nil
    }

    package static let percents = 0.001...99.999
    package static let counts: ClosedRange<Int64> = 1...2_147_483_647
    package static let shares = 0.0...1.0
    package static let waveCounts = 2...100
    /// Up to a year, in seconds.
    package static let pauses: ClosedRange<Int64> = 0...365 * 86_400

    /// As `pushmta.set_plan` accepts it.
    package var json: JSONValue {
        var members: [JSONEntry] = []
        if let localTime { members.append(JSONEntry(name: "local_time", value: .string(localTime))) }
        if let onPast { members.append(JSONEntry(name: "on_past", value: .string(onPast.rawValue))) }
        if let hours { members.append(JSONEntry(name: "hours", value: .string(hours.rawValue))) }
        if !waves.isEmpty { members.append(JSONEntry(name: "waves", value: .array(waves.map(\.json)))) }
        return .object(members)
    }
}

extension DeliveryPlan.Wave {
    fileprivate var json: JSONValue {
        var members: [JSONEntry] = []
        func add(_ name: String, _ number: Double?) {
            if let number { members.append(JSONEntry(name: name, value: .number("\(number)"))) }
        }
        switch size {
        case .percent(let share): add("percent", share)
        case .messages(let count): members.append(JSONEntry(name: "count", value: .number("\(count)")))
        case .rest: break
        }
        if let startsAt { members.append(JSONEntry(name: "at", value: .string(startsAt))) }
        if let afterSeconds { members.append(JSONEntry(name: "after", value: .string("\(afterSeconds) seconds"))) }
        add("max_failed", maxFailed)
        add("max_token_errors", maxTokenErrors)
        add("max_opt_outs", maxOptOuts)
        return .object(members)
    }
}
