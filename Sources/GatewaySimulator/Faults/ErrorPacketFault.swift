/// Error packets at regular intervals: one of this many acceptable notifications is refused.
package struct ErrorPacketFault: Sendable, Equatable {
    /// The interval in notifications, over all connections; 1 refuses every notification.
    package var every: Int
    /// The packet's status, in Apple's numbering.
    package var status: UInt8

    /// An error packet every this many notifications.
    package init(every: Int, status: UInt8) {
        self.every = every
        self.status = status
    }
}

extension ErrorPacketFault: Codable {
    private enum Key: String, CodingKey, CaseIterable {
        case every, status
    }

    /// Reads `{"every":1000,"status":8}`.
    package init(from decoder: any Decoder) throws {
        try StrictKeys.check(decoder, known: Key.allCases.map(\.rawValue))
        let values = try decoder.container(keyedBy: Key.self)
        self.init(
            every: try values.decode(Int.self, forKey: .every),
            status: try values.decode(UInt8.self, forKey: .status)
        )
    }

    /// Writes the form that `init(from:)` reads.
    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(every, forKey: .every)
        try values.encode(status, forKey: .status)
    }
}
