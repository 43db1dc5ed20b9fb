/// What rendering messages of a delivery before its start showed.
package struct AnalysisFindings: Sendable, Hashable, Encodable {
    /// A rendered message, to be looked at.
    package struct Sample: Sendable, Hashable, Codable {
        package let application: String
        /// The label of the variant that it shows; nil if the delivery is no experiment.
        package let variant: String?
        package let subscriptionID: Int64
        package let locale: String
        package let bytes: Int
        package let limit: Int
        /// The payload, as the gateway would get it.
        package let payload: String

        private enum CodingKeys: String, CodingKey {
            case application, variant
            case subscriptionID = "subscription_id"
            case locale, bytes, limit, payload
        }

        package init(
            application: String,
            variant: String? = nil,
            subscriptionID: Int64,
            locale: String,
            bytes: Int,
            limit: Int,
            payload: String
        ) {
            self.application = application
            self.variant = variant
            self.subscriptionID = subscriptionID
            self.locale = locale
            self.bytes = bytes
            self.limit = limit
            self.payload = payload
        }
    }

    /// The sizes of rendered payloads, in bytes as the gateway counts them.
    package struct Sizes: Sendable, Hashable, Codable {
        /// The label of the variant that the messages show; nil for all messages.
        package let variant: String?
        /// The number of rendered messages.
        package var rendered: Int64 = 0
        /// Nil if none was rendered.
        package var smallest: Int?
        package var largest: Int?
        /// The number of rendered messages that would not be sent.
        package var refused: Int64 = 0

        package init(variant: String? = nil) {
            self.variant = variant
        }

        /// Counts a rendered payload.
        mutating func add(bytes: Int, isRefused: Bool) {
            rendered += 1
            if isRefused { refused += 1 }
            smallest = min(smallest ?? bytes, bytes)
            largest = max(largest ?? bytes, bytes)
        }
    }

    package private(set) var sizes = Sizes()
    /// The sizes by variant, if the delivery is an experiment.
    package private(set) var variants: [Sizes] = []
    package var samples: [Sample] = []
    /// Why the delivery must not be sent as it is.
    package var problems: [DeliveryProblem] = []

    package init() {}

    /// Counts a rendered payload.
    ///
    /// - Parameter variant: the label of the variant that it shows; nil if the delivery is no experiment.
    package mutating func add(bytes: Int, isRefused: Bool = false, variant: String? = nil) {
        sizes.add(bytes: bytes, isRefused: isRefused)
        guard let variant else { return }
        if !variants.contains(where: { $0.variant == variant }) { variants.append(Sizes(variant: variant)) }
        for place in variants.indices where variants[place].variant == variant {
            variants[place].add(bytes: bytes, isRefused: isRefused)
        }
    }

    private enum CodingKeys: CodingKey {
        case rendered, smallest, largest, refused, variants, samples
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(sizes.rendered, forKey: .rendered)
        try container.encodeIfPresent(sizes.smallest, forKey: .smallest)
        try container.encodeIfPresent(sizes.largest, forKey: .largest)
        try container.encode(sizes.refused, forKey: .refused)
        try container.encode(variants, forKey: .variants)
        try container.encode(samples, forKey: .samples)
    }
}
