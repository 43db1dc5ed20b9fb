import PushCore

/// A message as it would be made for somebody, for people to look at.
public struct MessageSample: Sendable, Hashable {
    /// The locale of the content's variant; "" for the one without.
    public let locale: String
    public let payload: JSONValue
    /// Its size as the gateway counts it.
    public let size: Int
    /// The size that the gateway takes.
    public let limit: Int
    /// A field without which this message would not go out; nil if it has them all.
    public let missingField: String?
}

extension LocalisedTemplate {
    /// The message for somebody with these values and this language, rendered as each message of a delivery is.
    ///
    /// Push token and ids in it are examples.
    public func sample(values: [String: String], locale: String) -> MessageSample {
        let index = index(locale: Array(locale.utf8)[...])
        let template = templates[index]
        let columns = fields.map { ByteColumn([values[$0.name]]) }
        var body: [UInt8] = []
        let size = template.render(
            row: 0,
            fields: columns,
            tokens: ByteColumn(["token"]),
            messageID: MessageUUID(high: 0, low: 1),
            sequence: 1,
            into: &body
        )
        return MessageSample(
            locale: locales[index],
            payload: (try? JSONValue(parsing: body)) ?? .null,
            size: size,
            limit: template.payloadLimit,
            missingField: template.missingField(row: 0, fields: columns).map { fields[$0].name }
        )
    }
}
