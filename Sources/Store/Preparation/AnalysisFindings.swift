/// What rendering messages of a delivery before its start showed.
package struct AnalysisFindings: Sendable, Hashable, Encodable {
    /// A rendered message, to be looked at.
    package struct Sample: Sendable, Hashable, Codable {
        package let application: String
        package let subscriptionID: Int64
        package let locale: String
        package let bytes: Int
        package let limit: Int
        /// The payload, as the gateway would get it.
        package let payload: String

        private enum CodingKeys: String, CodingKey {
            case application
            case subscriptionID = "subscription_id"
            case locale, bytes, limit, payload
        }

        package init(
            application: String,
            subscriptionID: Int64,
            locale: String,
            bytes: Int,
            limit: Int,
            payload: String
        ) {
            self.application = application
            self.subscriptionID = subscriptionID
            self.locale = locale
            self.bytes = bytes
            self.limit = limit
            self.payload = payload
        }
    }

    /// The number of rendered messages.
    package var rendered: Int64 = 0
    /// The size of the smallest payload, in bytes as the gateway counts them; nil if none was rendered.
    package var smallest: Int?
    package var largest: Int?
    /// The number of rendered messages that would not be sent.
    package var refused: Int64 = 0
    package var samples: [Sample] = []
    /// Why the delivery must not be sent as it is.
    package var problems: [DeliveryProblem] = []

    package init() {}

    private enum CodingKeys: CodingKey {
        case rendered, smallest, largest, refused, samples
    }

    /// Counts a rendered payload.
    package mutating func add(bytes: Int) {
        rendered += 1
        smallest = min(smallest ?? bytes, bytes)
        largest = max(largest ?? bytes, bytes)
    }
}
