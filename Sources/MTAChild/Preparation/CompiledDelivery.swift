import Content
import PushCore
import Store

/// A delivery compiled once per application: payload templates, id codec and retry policy.
final class CompiledDelivery: Sendable {
    let id: Int64
    /// A template for each locale of the content.
    let content: LocalisedTemplate
    /// The format of its payloads.
    let format: PayloadFormat
    /// The fields to read for each message.
    let fields: MessageFields
    /// The group of each template; only messages of one group can share a batch.
    let groups: [Int]
    let groupCount: Int
    let codec: MessageIDCodec
    let retryPolicy: RetryPolicy
    let ambiguityPolicy: AmbiguityPolicy
    let validUntilMilliseconds: Int64?
    /// Its rate limit when it was compiled; the child watches for changes.
    let rateLimit: RateLimit?

    /// Compiles a delivery, and resolves the fields of its service's target mapping.
    ///
    /// - Throws: `ContentError`, `MessageIDError` or `StoreError` of code `invalid` when the delivery cannot be sent by this
    ///   application at all.
    static func compile(
        _ delivery: SendingDelivery,
        application: ApplicationRow,
        format: PayloadFormat,
        store: Store
    ) async throws -> CompiledDelivery {
        let plain = try CompiledDelivery(delivery, application: application, format: format)
        let fields = try await store.resolve(plain.fields, application: application)
        guard fields != plain.fields else { return plain }
        return try CompiledDelivery(delivery, application: application, format: format, fields: fields)
    }

    /// - Parameter fields: the fields to read for each message, if they are more than the names in the content.
    /// - Throws: `ContentError` or `MessageIDError` when the delivery cannot be sent by this application at all.
    init(
        _ delivery: SendingDelivery,
        application: ApplicationRow,
        format: PayloadFormat,
        fields: MessageFields? = nil
    ) throws {
        id = delivery.id
        self.format = format
        let document = try PushContent(json: application.completed(content: delivery.content))
        content = try LocalisedTemplate.compile(
            content: delivery.isContinuous ? document.ofContinuous : document,
            format: format,
            deliveryID: delivery.id,
            messageIDFormat: application.messageIDFormat,
            messageNumbers: try Self.numbers(delivery, application.messageIDFormat),
            // Each message of a continuous delivery has its own validity.
            carriesValidity: delivery.validUntil != nil || delivery.isContinuous
        )
        self.fields =
            fields
            ?? MessageFields(
                names: content.fields.map(\.name),
                withLocale: content.isLocalised,
                areOneTimeCodes: delivery.isOneTimeCode,
                category: delivery.category(ofApplication: application.id)
            )
        (groups, groupCount) = Self.groups(content.templates)
        codec = try MessageIDCodec(deliveryID: delivery.id, trackingKey: delivery.trackingKey)
        retryPolicy = RetryPolicy(
            maxRetries: Int(delivery.maxRetries),
            setting: delivery.retrySchedule,
            isContinuous: delivery.isContinuous,
            periodSeconds: delivery.retryPeriodSeconds
        )
        ambiguityPolicy = delivery.ambiguityPolicy
        rateLimit = delivery.rateLimit
        validUntilMilliseconds = delivery.validUntil.map { $0.microsecondsSince1970 / 1_000 }
    }

    /// The delivery's message numbers, if the application's SDK reads ids as numbers and the delivery has any.
    private static func numbers(_ delivery: SendingDelivery, _ format: MessageIDFormat) throws(MessageIDError)
        -> MessageNumbers?
    {
        guard format == .int32, let base = delivery.messageIDBase else { return nil }
        return try MessageNumbers(base: base, key: delivery.messageNumberKey)
    }

    /// Whether the delivery's validity has passed.
    func isExpired(atMilliseconds now: Int64) -> Bool {
        validUntilMilliseconds.map { now > $0 } ?? false
    }

    /// The index of the template for a message.
    @inline(__always)
    func template(row: Int, _ loaded: LoadedPart) -> Int {
        fields.withLocale ? content.index(locale: loaded.locales[row]) : 0
    }

    /// Groups templates by their headers, because all messages of a batch have the same headers.
    private static func groups(_ templates: [PayloadTemplate]) -> ([Int], Int) {
        var heads: [BatchHead] = []
        let groups = templates.map { template in
            let head = BatchHead(attributes: template.attributes, hasCollapseIDs: template.hasPersonalisedCollapseID)
            if let known = heads.firstIndex(of: head) { return known }
            heads.append(head)
            return heads.count - 1
        }
        return (groups, heads.count)
    }

    private struct BatchHead: Equatable {
        let attributes: MessageAttributes
        let hasCollapseIDs: Bool
    }
}
