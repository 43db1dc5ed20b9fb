import Content
import PushCore
import Store

/// What is made once per delivery and application: the payload templates, the id codec and the retry policy.
final class CompiledDelivery: Sendable {
    let id: Int64
    /// A template for each locale that the content speaks.
    let content: LocalisedTemplate
    /// The form of its payloads.
    let format: PayloadFormat
    /// What has to be read for each message.
    let fields: MessageFields
    /// The group of each template: messages of one group can be in one batch.
    let groups: [Int]
    let groupCount: Int
    let codec: MessageIDCodec
    let retryPolicy: RetryPolicy
    let ambiguityPolicy: AmbiguityPolicy
    let validUntilMilliseconds: Int64?
    /// Its limit when it was compiled; the child looks for changes.
    let rateLimit: RateLimit?

    /// Compiles a delivery, with the fields of its service's target mapping looked up.
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

    /// - Parameter fields: what has to be read for each message, if that is more than the names of its content's fields.
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
            // A continuous delivery's messages have ends of their own.
            carriesValidity: delivery.validUntil != nil || delivery.isContinuous
        )
        self.fields =
            fields
            ?? MessageFields(
                names: content.fields.map(\.name),
                withLocale: content.isLocalised,
                areOneTimeCodes: delivery.isOneTimeCode
            )
        (groups, groupCount) = Self.groups(content.templates)
        codec = try MessageIDCodec(deliveryID: delivery.id, trackingKey: delivery.trackingKey)
        retryPolicy = RetryPolicy(
            maximumRetries: Int(delivery.maxRetries),
            setting: delivery.retrySchedule,
            isContinuous: delivery.isContinuous,
            periodSeconds: delivery.retryPeriodSeconds
        )
        ambiguityPolicy = delivery.ambiguityPolicy
        rateLimit = delivery.rateLimit
        validUntilMilliseconds = delivery.validUntil.map { $0.microsecondsSince1970 / 1_000 }
    }

    /// The numbers of its messages, if the application's SDK reads their ids as numbers and the delivery has any.
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

    /// The index of the template that a message is rendered with.
    @inline(__always)
    func template(row: Int, _ loaded: LoadedPart) -> Int {
        fields.withLocale ? content.index(locale: loaded.locales[row]) : 0
    }

    /// All messages of a batch say the same in their headers.
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
