import PushCore
import Store

/// The body of sendMessage.
struct MessageBody: Sendable {
    let delivery: Int64
    let address: Addressee
    let variables: String

    init(_ body: JSONValue) throws(APIProblem) {
        var reader = JSONReader(body)
        let delivery = reader.integer("deliveryId", 1...Int64.max)
        let address = Self.address(&reader)
        variables = Self.variables(&reader)
        if delivery == nil, !reader.faults.contains(where: { $0.path == "/deliveryId" }) {
            reader.note("deliveryId", "it is missing")
        }
        try reader.close()
        guard let delivery, let address else { throw .invalid("", "deliveryId and an address are expected") }
        self.delivery = delivery
        self.address = address
    }

    /// The values for a message's fields.
    static func variables(_ reader: inout JSONReader) -> String {
        let variables = reader.object("variables")?.compactText ?? "{}"
        if variables.utf8.count > MessageLimits.maxVariablesBytes {
            reader.note("variables", "they have more than \(MessageLimits.maxVariablesBytes) bytes")
        }
        return variables
    }

    /// The addressee of a message: exactly one of three members; nil after noting a fault.
    static func address(_ reader: inout JSONReader) -> Addressee? {
        let before = reader.faults.count
        let device = reader.integer("deviceId", 1...Int64.max)
        let user = reader.text("userKey", as: .userKey, mayBeEmpty: false)
        let token = reader.text("pushToken", as: .pushToken, mayBeEmpty: false)
        if let addressee = Addressee(subscription: device, userKey: user, pushToken: token) { return addressee }
        if reader.faults.count == before {
            reader.note("", "exactly one of deviceId, userKey and pushToken is expected")
        }
        return nil
    }
}
