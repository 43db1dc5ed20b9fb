import PushCore

/// Removes personal data from an exchange: texts that people read, values of fields, user keys.
///
/// The shape of the JSON, its keys and the lengths of its values stay. This type lists what is shown, path by path, and
/// masks everything else: each byte of a text becomes an asterisk, each digit of a number a nine, and a Boolean becomes
/// null.
package struct TraceMask: Sendable {
    /// Request values that say nothing about a person: how gateway and device handle the message, and which
    /// message it is.
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
    /// Values of the gateways' own answers; everything below `error` is Google's `google.rpc.Status`.
    private static let ofAnswers: Set<String> = ["reason", "timestamp", "name", "error"]
    /// Header fields whose values are personal.
    private static let personalFields: Set<String> = ["apns-collapse-id"]
    /// The key of FCM's requests that holds the push token.
    private static let tokenPath = "message.token"

    /// Whether texts are shown as they are; secrets and push tokens are removed in any case.
    private let showsAll: Bool

    package init(showsAll: Bool = false) {
        self.showsAll = showsAll
    }

    /// The masked exchange.
    package func masked(_ exchange: GatewayExchange) -> MaskedExchange {
        var request = Walk(showsAll: showsAll, shown: Self.ofRequests, tokenHash: exchange.tokenHash)
        let requestBody = request.body(exchange.requestBody)
        var answer = Walk(showsAll: showsAll, shown: Self.ofAnswers)
        // Google's error texts repeat the faulty value.
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
        /// The replacement for the push token; nil if there is none.
        var tokenHash: String?
        /// Values masked elsewhere that may be repeated here, longest first.
        var repeated: [String] = []
        /// The values masked here, except single letters and digits, which reveal nothing and occur in every word.
        private(set) var masked: Set<String> = []

        init(showsAll: Bool, shown: Set<String>, tokenHash: String? = nil) {
            self.showsAll = showsAll
            self.shown = shown
            self.tokenHash = tokenHash
        }

        mutating func body(_ bytes: [UInt8]) -> String {
            if bytes.isEmpty { return "" }
            guard let value = try? JSONValue(parsing: bytes) else {
                // A proxy's page, or a gateway's text that repeats a part of the request.
                return showsAll
                    ? String(decoding: bytes, as: UTF8.self) : "(\(bytes.count) bytes that are not JSON, masked)"
            }
            return masked(value, path: "", isShown: showsAll).compactText
        }

        /// - Parameter isShown: whether a value above it is shown completely.
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
            // The token was already replaced by its hash, unless it was written with escapes.
            if inner == TraceMask.tokenPath, let tokenHash {
                return JSONEntry(name: entry.name, value: .string(tokenHash))
            }
            // A dot in a key must not produce another key's path.
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

        /// A number of the same length, with nines for digits. It never begins with a zero, which JSON would not allow.
        private static func nines(_ digits: String) -> String {
            String(digits.map { $0.isNumber ? "9" : $0 })
        }
    }
}

/// A masked exchange, to be shown.
package struct MaskedExchange: Sendable, Equatable {
    /// The request's header fields, in their order.
    package var requestFields: [WireField]
    package var requestBody: String
    /// The answer's header fields; empty without an answer.
    package var answerFields: [WireField]
    /// The answer's body; empty without one.
    package var answerBody: String
}
