/// Error packets at a regular distance: every so many notifications that would have been taken one is refused.
public struct ErrorPacketFault: Sendable, Equatable {
    /// The distance, over all connections; 1 refuses every notification.
    public var every: Int
    /// The status of the packet, as Apple numbers them.
    public var status: UInt8

    /// An error packet every so many notifications.
    public init(every: Int, status: UInt8) {
        self.every = every
        self.status = status
    }
}

extension ErrorPacketFault: Codable {
    private enum Key: String, CodingKey, CaseIterable {
        case every, status
    }

    /// Reads `{"every":1000,"status":8}`.
    public init(from decoder: any Decoder) throws {
        try StrictKeys.check(decoder, known: Key.allCases.map(\.rawValue))
        let values = try decoder.container(keyedBy: Key.self)
        self.init(
            every: try values.decode(Int.self, forKey: .every),
            status: try values.decode(UInt8.self, forKey: .status)
        )
    }

    /// Writes the form that `init(from:)` reads.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(every, forKey: .every)
        try values.encode(status, forKey: .status)
    }
}
