/// What a gateway remembers of one message.
public struct MessageRecord: Sendable, Codable, Equatable {
    /// The gateway that it was sent to.
    public var gateway: SimulatedGateway
    /// The id by which it is known: a UUID in lower case, or the decimal of a number.
    public var id: String
    /// How often it came, accepted or not; at most 4,095 are counted.
    public var seen: Int
    /// How often it was accepted; at most 4,095 are counted.
    public var accepted: Int
    /// A hash of the device token that it came with last, as 8 hexadecimal digits.
    public var tokenHash: String
    /// The last answer: `Accepted`, `Unanswered` or the reason of the rejection.
    public var answer: String

    enum CodingKeys: String, CodingKey {
        case gateway, id, seen, accepted, answer
        case tokenHash = "token_hash"
    }
}
