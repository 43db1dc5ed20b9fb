/// A share of otherwise acceptable pushes that are rejected with one reason.
package struct ErrorRate: Sendable, Equatable {
    /// The reason as the gateway writes it, such as `Unregistered` or `UNAVAILABLE`.
    package var reason: String
    /// The share, from 0 to 1.
    package var rate: Double
    /// The value of the Retry-After header, a number of seconds or an HTTP date; nil for none.
    package var retryAfter: String?

    /// Rejects this share of pushes with this reason.
    package init(reason: String, rate: Double, retryAfter: String? = nil) {
        self.reason = reason
        self.rate = rate
        self.retryAfter = retryAfter
    }
}

extension ErrorRate: Codable {
    private enum Key: String, CodingKey, CaseIterable {
        case reason, rate
        case retryAfter = "retry_after"
    }

    /// Reads `{"reason":"Unregistered","rate":0.01,"retry_after":"5"}`; the last key is optional.
    package init(from decoder: any Decoder) throws {
        try StrictKeys.check(decoder, known: Key.allCases.map(\.rawValue))
        let values = try decoder.container(keyedBy: Key.self)
        reason = try values.decode(String.self, forKey: .reason)
        rate = try values.decode(Double.self, forKey: .rate)
        retryAfter = try values.decodeIfPresent(String.self, forKey: .retryAfter)
    }

    /// Writes the form that `init(from:)` reads.
    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(reason, forKey: .reason)
        try values.encode(rate, forKey: .rate)
        try values.encodeIfPresent(retryAfter, forKey: .retryAfter)
    }
}
