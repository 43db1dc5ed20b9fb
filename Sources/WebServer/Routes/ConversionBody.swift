import PushCore

/// The body of recordConversion.
struct ConversionBody: Sendable {
    /// Any id of the message.
    let message: String
    let name: String
    let value: Double?
    /// Where to look for the message; nil for everywhere.
    let delivery: Int64?

    /// The values that can be stored.
    static let values = -1e12...1e12
    static let usualName = "conversion"

    init(_ body: JSONValue) throws(APIProblem) {
        var reader = JSONReader(body)
        message = reader.text("messageId", required: true, as: .messageID, mayBeEmpty: false) ?? ""
        name = reader.text("name", as: .conversion, mayBeEmpty: false) ?? Self.usualName
        value = reader.number("value", Self.values)
        delivery = reader.integer("deliveryId", 1...Int64.max)
        try reader.close()
    }
}
