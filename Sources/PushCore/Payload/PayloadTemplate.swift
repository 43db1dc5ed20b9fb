/// A delivery's payload for one application, compiled once and rendered for every message.
public struct PayloadTemplate: Sendable {
    /// The payload key of the message id.
    public static let messageIDKey = "_mId"
    /// The payload key of the delivery id.
    public static let deliveryIDKey = "_dId"

    /// The form of the payload.
    public let format: PayloadFormat
    /// The fields that the content uses, distinct by name, in the order of their first use.
    ///
    /// The templates of a ``LocalisedTemplate`` have one list in common.
    public internal(set) var fields: [PersonalisationField]
    /// What the request's headers say; for FCM they are in the body, and this has no meaning.
    public let attributes: MessageAttributes
    /// The size of the smallest payload: all fields empty and without defaults, counted as the gateway does.
    public let minimumPayloadSize: Int

    /// The segments' own bytes: literals and defaults.
    let text: [UInt8]
    let segments: [PayloadSegment]
    /// The segments of `apns-collapse-id` when it is personalised, else empty.
    let collapseSegments: [PayloadSegment]
    /// The texts with sections that segments refer to.
    let sections: [SectionSegment]
    /// The entries with values of a certain form that segments refer to.
    let checked: [CheckedSegment]
    /// The columns of fields without which a message must not go out, those in sections not included.
    let requiredColumns: [Int]
    let missing: MissingValuePolicy
    let messageIDFormat: MessageIDFormat
    let messageNumbers: MessageNumbers?
    /// For FCM the literal bytes that count against its limit; nil where the whole body counts.
    let countedBytes: Int?

    /// Whether each message has its own `apns-collapse-id`; see ``renderCollapseID(row:fields:into:)``.
    public var hasPersonalisedCollapseID: Bool { !collapseSegments.isEmpty }

    /// Whether every message has the same body, so that many of them can share a request.
    public var hasEqualBodies: Bool {
        segments.allSatisfy { if case .literal = $0 { true } else { false } }
    }

    /// The gateway's limit for a payload, in bytes.
    public var payloadLimit: Int {
        PayloadLimits.limit(format: format, pushType: attributes.pushType)
    }
}
