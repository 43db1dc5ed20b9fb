import PushCore

/// The structure of a payload before it is compiled.
struct PayloadLayout: Sendable {
    let body: PayloadNode
    let attributes: MessageAttributes

    /// - Parameters:
    ///   - trackedDelivery: the delivery whose ids go into the payload; nil for none.
    ///   - carriesValidity: whether to tell FCM how long to keep a message if the content does not set that.
    init(_ section: ContentSection, format: PayloadFormat, trackedDelivery: Int64?, carriesValidity: Bool = false) {
        switch format {
        case .apns, .apnsBinary:
            let layout = APNsLayout(section, trackedDelivery: trackedDelivery)
            body = layout.body
            attributes = layout.attributes
        case .fcmV1:
            body = FCMLayout(section, trackedDelivery: trackedDelivery, carriesValidity: carriesValidity).message
            attributes = MessageAttributes()
        case .fcmLegacy:
            body = FCMLayout(section, trackedDelivery: trackedDelivery, carriesValidity: carriesValidity).legacyMessage
            attributes = MessageAttributes()
        }
    }

    /// `_mId` and `_dId`. Both are strings, because the SDKs do not read numbers there.
    static func ids(_ delivery: Int64?) -> [PayloadEntry] {
        guard let delivery else { return [] }
        return [
            PayloadEntry(PayloadTemplate.messageIDKey, .messageID),
            PayloadEntry(PayloadTemplate.deliveryIDKey, .literal(DeliveryID.hexText(delivery))),
        ]
    }
}

extension ContentSection {
    /// The value of a key for the payload, nil if the key has none. Only for kinds whose JSON is the same in the
    /// payload.
    func node(_ key: ContentKey) -> PayloadNode? {
        guard has(key.name), let value = self[key.name] else { return nil }
        switch (key.kind, value) {
        case (.personalisedInteger(let range), .string):
            return text(key.name).map { .checked(CheckedTemplate(text: $0, form: .wholeNumber(range))) }
        case (.color, .string): return checked(key.name, .color)
        case (.time, .string): return checked(key.name, .time)
        case (.label, .string): return checked(key.name, .label)
        case (.texts, .array(let elements)):
            return .array(elements.map(PayloadNode.init))
        default:
            return PayloadNode(value)
        }
    }

    /// A text that must have a certain form. A text without fields has already been checked.
    private func checked(_ key: String, _ form: CheckedTemplate.Form) -> PayloadNode? {
        text(key).map { $0.isLiteral ? .text($0) : .checked(.quoted($0, form)) }
    }
}
