import Content
import Gateways
import PushCore
import Store

/// Shows what a delivery says to one subscription: it compiles, loads and renders as a child does, with the child's own code.
public struct MessagePreviewer: Sendable {
    private let delivery: CompiledDelivery
    private let application: ApplicationRow
    private let account: AccountRow
    private let projectID: String?

    /// What has to be read of the subscription.
    public var fields: MessageFields { delivery.fields }

    /// The locales that the content has variants for; the first one, "", is for everyone else.
    public var locales: [String] { delivery.content.locales }

    init(_ delivery: CompiledDelivery, application: ApplicationRow, account: AccountRow, projectID: String? = nil) {
        self.delivery = delivery
        self.application = application
        self.account = account
        self.projectID = projectID
    }

    /// Compiles a delivery for one of its applications, over the account that decides the form of its payloads.
    ///
    /// - Parameter projectID: Google's name of the project, for the address of FCM HTTP v1; nil if no credential says it yet.
    /// - Throws: `ContentError`, `MessageIDError` or `StoreError` of code `invalid` when the delivery cannot be sent by this
    ///   application at all.
    public static func make(
        _ delivery: SendingDelivery,
        application: ApplicationRow,
        account: AccountRow,
        format: PayloadFormat,
        projectID: String? = nil,
        store: Store
    ) async throws -> MessagePreviewer {
        let compiled = try await CompiledDelivery.compile(
            delivery,
            application: application,
            format: format,
            store: store
        )
        return MessagePreviewer(compiled, application: application, account: account, projectID: projectID)
    }

    /// The first message of a loaded part.
    ///
    /// - Parameter now: seconds since 1970, from which an expiration counts.
    public func preview(_ loaded: LoadedPart, now: Int64) -> MessagePreview? {
        guard loaded.count > 0, loaded.tokens.count > 0 else { return nil }
        let index = delivery.template(row: 0, loaded)
        let template = delivery.content.templates[index]
        let id = delivery.codec.uuid(sequence: loaded.sequences[0])
        var payload: [UInt8] = []
        let size = template.render(
            row: 0,
            fields: loaded.fields,
            tokens: loaded.tokens,
            messageID: id,
            sequence: loaded.sequences[0],
            into: &payload
        )
        // What a child would hand to its gateway; nothing if it would refuse the message.
        let validity = delivery.validUntilMilliseconds.map { (until: $0, now: now * 1_000) }
        var renderer = SliceRenderer(delivery: delivery, loaded: loaded, validity: validity)
        let rendered = renderer.render([0], newBatchID: { 1 })
        let batch = rendered.batches.first?.batch
        let decision = loaded.decisions[0]
        return MessagePreview(
            locale: delivery.content.locales[index],
            headers: headers(batch, template: template, token: loaded.tokens.string(0), id: id, now: now),
            payload: batch.map { Array($0.bodies[0]) } ?? payload,
            size: size,
            limit: template.payloadLimit,
            problem: decision.isSendable ? rendered.refused.first?.reason : decision.reason,
            notice: delivery.format.platform == .ios ? template.attributes.pushType.tokenNotice : nil
        )
    }

    private func headers(
        _ batch: GatewayRequestBatch?,
        template: PayloadTemplate,
        token: String,
        id: MessageUUID,
        now: Int64
    ) -> [MessagePreview.Field] {
        let attributes = batch?.attributes ?? template.attributes
        var text: [UInt8] = []
        id.appendText(to: &text)
        let authority = "\(account.host):\(account.port)"
        switch delivery.format {
        case .apns:
            var fields = [
                MessagePreview.Field(name: ":method", value: "POST"), .init(name: ":authority", value: authority),
                .init(name: ":path", value: "/3/device/\(token)"),
            ]
            fields += attributes.apnsFields(topic: application.bundleID, now: now)
                .map { .init(name: $0.name, value: $0.value) }
            fields.append(.init(name: "apns-id", value: String(decoding: text, as: UTF8.self)))
            if let collapseIDs = batch?.collapseIDs, !collapseIDs.isNull(0) {
                fields.append(.init(name: "apns-collapse-id", value: collapseIDs.string(0)))
            }
            return fields
        case .apnsBinary:
            var fields = [
                MessagePreview.Field(name: "gateway", value: authority), .init(name: "device token", value: token),
            ]
            let apns = attributes.apnsFields(topic: application.bundleID, now: now)
            for (name, header) in [("expiration", "apns-expiration"), ("priority", "apns-priority")] {
                guard let field = apns.first(where: { $0.name == header }) else { continue }
                fields.append(.init(name: name, value: field.value))
            }
            return fields
        case .fcmV1:
            return [
                .init(name: ":method", value: "POST"), .init(name: ":authority", value: authority),
                .init(name: ":path", value: "/v1/projects/\(projectID ?? "PROJECT")/messages:send"),
                .init(name: "content-type", value: "application/json"),
            ]
        case .fcmLegacy:
            return [
                .init(name: ":method", value: "POST"), .init(name: ":authority", value: authority),
                .init(name: ":path", value: "/fcm/send"), .init(name: "content-type", value: "application/json"),
            ]
        }
    }
}

/// A message as it would go to its gateway, for people to look at.
public struct MessagePreview: Sendable, Hashable {
    /// A header field, or what a protocol without headers has in their place.
    public struct Field: Sendable, Hashable {
        public let name: String
        public let value: String
    }

    /// The locale of the content's variant; "" for the one without.
    public let locale: String
    /// What the request says besides its payload; without the authorization, which is a secret.
    public let headers: [Field]
    /// The payload, byte for byte.
    public let payload: [UInt8]
    /// The payload's size as the gateway counts it.
    public let size: Int
    /// The size that the gateway takes.
    public let limit: Int
    /// Why the message would not go out, as it would stand in its outcome; nil if it would.
    public let problem: String?
    /// What has to be known of the push token that it goes to; nil if there is nothing.
    public let notice: String?
}
