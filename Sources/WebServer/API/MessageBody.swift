import PushCore
import Store

/// The body of a single message.
struct MessageBody: Sendable {
    let delivery: Int64
    let address: MessageAddress
    let variables: String

    /// An index holds a user's key.
    private static let longestKey = 1_000

    init(_ body: JSONValue) throws(APIProblem) {
        var reader = JSONReader(body)
        let delivery = reader.integer("deliveryId", 1...Int64.max)
        let address = Self.address(&reader)
        variables = reader.object("variables")?.compactText ?? "{}"
        if variables.utf8.count > MessageLimits.longestVariables {
            reader.note("variables", "they have more than \(MessageLimits.longestVariables) bytes")
        }
        if delivery == nil, !reader.faults.contains(where: { $0.path == "/deliveryId" }) {
            reader.note("deliveryId", "it is missing")
        }
        try reader.close()
        guard let delivery, let address else { throw .invalid("", "deliveryId and an address are expected") }
        self.delivery = delivery
        self.address = address
    }

    /// Whom a message goes to: exactly one of three members; nil if that was noted as wrong.
    static func address(_ reader: inout JSONReader) -> MessageAddress? {
        let before = reader.faults.count
        let device = reader.integer("deviceId", 1...Int64.max)
        let user = reader.text("userKey", most: longestKey, mayBeEmpty: false)
        let token = reader.text("pushToken", most: PushTokenForm.androidLength.upperBound, mayBeEmpty: false)
        switch (device, user, token) {
        case (let device?, nil, nil): return .subscription(device)
        case (nil, let user?, nil): return .userKey(user)
        case (nil, nil, let token?): return .pushToken(token)
        default:
            if reader.faults.count == before {
                reader.note("", "exactly one of deviceId, userKey and pushToken is expected")
            }
            return nil
        }
    }
}
