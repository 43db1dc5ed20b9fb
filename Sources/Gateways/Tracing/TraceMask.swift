import PushCore

/// Takes out of an exchange what is somebody's: texts that people read, values of fields, keys of users.
///
/// The shape of the JSON, its keys and the lengths of its values stay. What is shown is named here, path by path, and all else is masked:
/// each byte of a text is an asterisk, each digit of a number a nine, and what is true or false is null.
public struct TraceMask: Sendable {
    /// Values of requests that say nothing of a person: how the gateway and the device are to handle the message, and whose message it is.
    private static let ofRequests: Set<String> = [
        "_mId", "_dId",
        "aps.content-available", "aps.mutable-content", "aps.category", "aps.interruption-level", "aps.relevance-score",
        "aps.sound", "aps.sound.critical", "aps.sound.name", "aps.sound.volume", "aps.event", "aps.timestamp",
        "aps.stale-date", "aps.dismissal-date",
        "message.token", "message.data._mId", "message.data._dId", "message.android.priority", "message.android.ttl",
        "message.android.direct_boot_ok", "message.android.restricted_package_name",
        "message.android.notification.channel_id", "message.android.notification.sound",
        "message.android.notification.notification_priority", "message.android.notification.visibility",
        "message.fcm_options.analytics_label", "validate_only",
    ]
    /// Values of the gateways' own answers; all that is below `error` is Google's, a `google.rpc.Status`.
    private static let ofAnswers: Set<String> = ["reason", "timestamp", "name", "error"]
    /// Header fields whose values are made for each person.
    private static let personalFields: Set<String> = ["apns-collapse-id"]
    /// The key of FCM's requests that has the push token.
    private static let tokenPath = "message.token"

    /// Whether texts are shown as they are; secrets and push tokens are not there all the same.
    private let showsAll: Bool

    public init(showsAll: Bool = false) {
        self.showsAll = showsAll
    }

    /// The exchange as people see it.
    public func masked(_ exchange: GatewayExchange) -> MaskedExchange {
        var request = Walk(showsAll: showsAll, shown: Self.ofRequests, tokenHash: exchange.tokenHash)
        let requestBody = request.body(exchange.requestBody)
        var answer = Walk(showsAll: showsAll, shown: Self.ofAnswers)
        // Google's words for a mistake repeat the value that has it.
        answer.repeated = request.masked.sorted { $0.utf8.count > $1.utf8.count }
        return MaskedExchange(
            requestFields: exchange.requestFields.map(field),
            requestBody: requestBody,
            answerFields: exchange.answerFields.map(field),
            answerBody: answer.body(exchange.answerBody)
        )
    }

    private func field(_ field: WireField) -> WireField {
        guard !showsAll, Self.personalFields.contains(field.name) else { return field }
        return WireField(field.name, Self.asterisks(field.value))
    }

    private static func asterisks(_ text: String) -> String { String(repeating: "*", count: text.utf8.count) }
}

extension TraceMask {
    /// One body on its way through the mask.
    private struct Walk {
        let showsAll: Bool
        let shown: Set<String>
        /// What stands for the push token; nil where there is none.
        var tokenHash: String?
        /// What was masked elsewhere and may be repeated here, the longest first.
        var repeated: [String] = []
        /// What was masked here; single letters and digits say nothing, and would be found in every word.
        private(set) var masked: Set<String> = []

        init(showsAll: Bool, shown: Set<String>, tokenHash: String? = nil) {
            self.showsAll = showsAll
            self.shown = shown
            self.tokenHash = tokenHash
        }

        mutating func body(_ bytes: [UInt8]) -> String {
            if bytes.isEmpty { return "" }
            guard let value = try? JSONValue(parsing: bytes) else {
                // A page of a proxy, or what a gateway makes of a request that it repeats.
                return showsAll
                    ? String(decoding: bytes, as: UTF8.self) : "(\(bytes.count) bytes that are no JSON, masked)"
            }
            return masked(value, path: "", isShown: showsAll).compactText
        }

        /// - Parameter isShown: whether something above it is shown as a whole.
        private mutating func masked(_ value: JSONValue, path: String, isShown: Bool) -> JSONValue {
            let isShown = isShown || shown.contains(path)
            switch value {
            case .object(let entries): return .object(entries.map { masked($0, path: path, isShown: isShown) })
            case .array(let elements):
                return .array(elements.map { masked($0, path: "\(path).\u{0}", isShown: isShown) })
            case .string(let text):
                return .string(isShown ? withoutRepeated(text) : hide(text, TraceMask.asterisks(text)))
            case .number(let digits): return isShown ? value : .number(hide(digits, Self.nines(digits)))
            case .boolean: return isShown ? value : .null
            case .null: return value
            }
        }

        private mutating func masked(_ entry: JSONEntry, path: String, isShown: Bool) -> JSONEntry {
            let inner = path.isEmpty ? entry.name : "\(path).\(entry.name)"
            // The token is its hash already, unless it was written with escapes.
            if inner == TraceMask.tokenPath, let tokenHash {
                return JSONEntry(name: entry.name, value: .string(tokenHash))
            }
            // A dot in a key must not lead to the path of another.
            let isPlain = !entry.name.contains(".")
            let value = masked(entry.value, path: isPlain ? inner : "\(path).\u{0}", isShown: isShown)
            return JSONEntry(name: entry.name, value: value)
        }

        private mutating func hide(_ value: String, _ mask: String) -> String {
            if value.utf8.count > 1 { masked.insert(value) }
            return mask
        }

        private func withoutRepeated(_ text: String) -> String {
            repeated.reduce(text) { $0.replacing($1, with: TraceMask.asterisks($1)) }
        }

        /// A number of the same length: nines for digits. It never begins with a zero, which JSON would not take.
        private static func nines(_ digits: String) -> String {
            String(digits.map { $0.isNumber ? "9" : $0 })
        }
    }
}

/// An exchange as people see it.
public struct MaskedExchange: Sendable, Equatable {
    /// The request's header fields, in their order.
    public var requestFields: [WireField]
    public var requestBody: String
    /// The answer's header fields; empty without an answer.
    public var answerFields: [WireField]
    /// The answer's body; empty without one.
    public var answerBody: String
}
