import PushCore

/// A sample message for one person, for previews.
package struct MessageSample: Sendable, Hashable {
    /// The locale of the content's variant; "" for the main one.
    package let locale: String
    package let payload: JSONValue
    /// The size as the gateway counts it.
    package let size: Int
    /// The gateway's limit.
    package let limit: Int
    /// A required field that has no value, so that the message would not be sent; nil if there is none.
    package let missingField: String?
}

extension LocalisedTemplate {
    /// The message for a person with these values and this locale, rendered like any message of a delivery.
    ///
    /// Its push token and ids are examples.
    package func sample(values: [String: String], locale: String) -> MessageSample {
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
