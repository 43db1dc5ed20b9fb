/// A delivery's payload for one application, compiled once and rendered for every message.
public struct PayloadTemplate: Sendable {
    /// The payload key of the message id.
    public static let messageIDKey = "_mId"
    /// The payload key of the delivery id.
    public static let deliveryIDKey = "_dId"

    /// The platform that the payload is for.
    public let platform: Platform
    /// The fields that the content uses, distinct by name, in the order of their first use.
    public let fields: [PersonalisationField]
    /// What the request's headers say; for FCM they are in the body, and this has no meaning.
    public let attributes: MessageAttributes
    /// The size of the smallest payload: all fields empty and without defaults, counted as the gateway does.
    public let minimumPayloadSize: Int

    /// The segments' own bytes: literals and defaults.
    let text: [UInt8]
    let segments: [PayloadSegment]
    /// The segments of `apns-collapse-id` when it is personalised, else empty.
    let collapseSegments: [PayloadSegment]
    let messageIDFormat: MessageIDFormat
    let messageIDBase: Int64
    /// For FCM the literal bytes that count against its limit; nil where the whole body counts.
    let countedBytes: Int?

    /// Whether each message has its own `apns-collapse-id`; see ``renderCollapseID(row:fields:into:)``.
    public var hasPersonalisedCollapseID: Bool { !collapseSegments.isEmpty }

    /// The gateway's limit for a payload, in bytes.
    public func payloadLimit(connector: Connector) -> Int {
        PayloadLimits.limit(connector: connector, pushType: attributes.pushType)
    }
}
