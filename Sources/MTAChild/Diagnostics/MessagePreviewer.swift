import Content
import Gateways
import PushCore
import Store

/// Shows a delivery's message to one subscription. It compiles, loads and renders with the child's own code.
package struct MessagePreviewer: Sendable {
    private let delivery: CompiledDelivery
    private let application: ApplicationRow
    private let account: AccountRow
    private let projectID: String?
    private let kind: (any GatewayKind)?

    /// The fields to read of the subscription.
    package var fields: MessageFields { delivery.fields }

    /// The locales with variants of the content; the first one, "", is for all others.
    package var locales: [String] { delivery.content.locales }

    /// - Parameter credential: the kind of the application's credential. As for a child, it and the account's connector
    ///   determine the gateway.
    init(
        _ delivery: CompiledDelivery,
        application: ApplicationRow,
        account: AccountRow,
        credential: CredentialKind?,
        projectID: String? = nil,
        registry: GatewayRegistry = .standard
    ) {
        kind =
            credential.flatMap { registry.kind(of: account.connector, with: $0) }
            ?? registry.kind(of: account.connector)
        self.delivery = delivery
        self.application = application
        self.account = account
        self.projectID = projectID
    }

    /// Compiles a delivery for one of its applications, without the fields of a target mapping.
    ///
    /// - Throws: `ContentError` or `MessageIDError` when the delivery cannot be sent by this application at all.
    init(
        _ delivery: SendingDelivery,
        application: ApplicationRow,
        account: AccountRow,
        credential: CredentialKind?
    ) throws {
        self.init(
            try CompiledDelivery(
                delivery,
                application: application,
                format: PayloadFormat(connector: account.connector, credential: credential)
            ),
            application: application,
            account: account,
            credential: credential
        )
    }

    /// Compiles a delivery for one of its applications, as its account and its credential require.
    ///
    /// - Parameters:
    ///   - credential: the kind of the application's credential; nil if it has none.
    ///   - projectID: Google's name of the project, for the address of FCM HTTP v1; nil if no credential has it yet.
    /// - Throws: `ContentError`, `MessageIDError` or `StoreError` of code `invalid` when the delivery cannot be sent by this
    ///   application at all.
    package static func make(
        _ delivery: SendingDelivery,
        application: ApplicationRow,
        account: AccountRow,
        credential: CredentialKind?,
        projectID: String? = nil,
        store: Store
    ) async throws -> MessagePreviewer {
        let compiled = try await CompiledDelivery.compile(
            delivery,
            application: application,
            format: PayloadFormat(connector: account.connector, credential: credential),
            store: store
        )
        return MessagePreviewer(
            compiled,
            application: application,
            account: account,
            credential: credential,
            projectID: projectID
        )
    }

    /// A message of a loaded part, by default the first one.
    ///
    /// - Parameter now: the time in seconds since 1970, from which an expiration counts.
    package func preview(_ loaded: LoadedPart, row: Int = 0, now: Int64) -> MessagePreview? {
        guard row < loaded.count, row < loaded.tokens.count else { return nil }
        let index = delivery.template(row: row, loaded)
        let template = delivery.content.templates[index]
        let id = delivery.codec.uuid(sequence: loaded.sequences[row])
        var payload: [UInt8] = []
        let size = template.render(
            row: row,
            fields: loaded.fields,
            tokens: loaded.tokens,
            messageID: id,
            sequence: loaded.sequences[row],
            into: &payload
        )
        // What a child would hand to its gateway; empty if the child would refuse the message.
        let validity = delivery.validUntilMilliseconds.map { (until: $0, now: now * 1_000) }
        var renderer = SliceRenderer(delivery: delivery, loaded: loaded, validity: validity)
        let rendered = renderer.render([Int32(row)], newBatchID: { 1 })
        let batch = rendered.batches.first?.batch
        let decision = loaded.decisions[row]
        return MessagePreview(
            locale: delivery.content.locales[index],
            headers: headers(batch, template: template, token: loaded.tokens.string(row), id: id, now: now),
            payload: batch.map { Array($0.bodies[0]) } ?? payload,
            size: size,
            limit: template.payloadLimit,
            problem: decision.isSendable ? rendered.refused.first?.reason : decision.reason,
            notice: delivery.format.platform == .ios ? template.attributes.pushType.tokenNotice : nil
        )
    }

    /// The size of each message of a loaded part that may be sent, in bytes as the gateway counts them, and why it would
    /// not be sent; nil if it would.
    package func measure(_ loaded: LoadedPart, _ note: (_ row: Int, _ size: Int, _ problem: Refusal?) -> Void) {
        var payload: [UInt8] = []
        for row in 0..<loaded.count where loaded.decisions[row].isSendable && loaded.unreadable[row] == nil {
            let template = delivery.content.templates[delivery.template(row: row, loaded)]
            payload.removeAll(keepingCapacity: true)
            let size = template.render(
                row: row,
                fields: loaded.fields,
                tokens: loaded.tokens,
                messageID: delivery.codec.uuid(sequence: loaded.sequences[row]),
                sequence: loaded.sequences[row],
                into: &payload
            )
            let lacksField = template.missingField(row: row, fields: loaded.fields) != nil
            note(row, size, lacksField ? .lacksField : size > template.payloadLimit ? .tooLong : nil)
        }
    }

    /// Why a message would not be sent.
    package enum Refusal: Sendable, Hashable {
        /// A field that its content requires has no value.
        case lacksField
        /// Its payload is larger than the gateway accepts.
        case tooLong
    }

    private func headers(
        _ batch: GatewayRequestBatch?,
        template: PayloadTemplate,
        token: String,
        id: MessageUUID,
        now: Int64
    ) -> [ShownField] {
        let collapseIDs = batch?.collapseIDs
        let message = ShownMessage(
            address: "\(account.host):\(account.port)",
            token: token,
            bundleID: application.bundleID,
            attributes: batch?.attributes ?? template.attributes,
            messageID: id,
            collapseID: collapseIDs.flatMap { $0.isNull(0) ? nil : $0.string(0) },
            projectID: projectID,
            now: now
        )
        return kind?.fields(message) ?? []
    }
}
