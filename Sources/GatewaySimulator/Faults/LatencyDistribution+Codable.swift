extension LatencyDistribution: Codable {
    private enum Key: String, CodingKey, CaseIterable {
        case fixed, uniform, exponential, p50, p99
    }

    /// Reads `{"fixed":50}`, `{"uniform":[10,80]}`, `{"exponential":40}` or `{"p50":30,"p99":200}`.
    public init(from decoder: any Decoder) throws {
        try StrictKeys.check(decoder, known: Key.allCases.map(\.rawValue))
        let values = try decoder.container(keyedBy: Key.self)
        if let milliseconds = try values.decodeIfPresent(Double.self, forKey: .fixed) {
            self = .fixed(milliseconds: milliseconds)
        } else if let bounds = try values.decodeIfPresent([Double].self, forKey: .uniform), bounds.count == 2 {
            self = .uniform(from: bounds[0], to: bounds[1])
        } else if let mean = try values.decodeIfPresent(Double.self, forKey: .exponential) {
            self = .exponential(mean: mean)
        } else if let p50 = try values.decodeIfPresent(Double.self, forKey: .p50) {
            self = .quantiles(p50: p50, p99: try values.decode(Double.self, forKey: .p99))
        } else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription:
                        "a latency is {\"fixed\":ms}, {\"uniform\":[from,to]}, {\"exponential\":mean} or {\"p50\":ms,\"p99\":ms}"
                )
            )
        }
    }

    /// Writes the form that `init(from:)` reads.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        switch self {
        case .fixed(let milliseconds): try values.encode(milliseconds, forKey: .fixed)
        case .uniform(let from, let to): try values.encode([from, to], forKey: .uniform)
        case .exponential(let mean): try values.encode(mean, forKey: .exponential)
        case .quantiles(let p50, let p99):
            try values.encode(p50, forKey: .p50)
            try values.encode(p99, forKey: .p99)
        }
    }
}
