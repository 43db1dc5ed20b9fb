import PushCore
import Store

/// What is made once per delivery and application: the payload template, the id codec and the retry policy.
final class CompiledDelivery: Sendable {
    let id: Int64
    let template: PayloadTemplate
    let codec: MessageIDCodec
    let retryPolicy: RetryPolicy
    let ambiguityPolicy: AmbiguityPolicy
    let validUntilMilliseconds: Int64?
    let fieldNames: [String]
    let payloadLimit: Int

    /// - Throws: `ContentError` or `MessageIDError` when the delivery cannot be sent by this application at all.
    init(_ delivery: SendingDelivery, application: ApplicationRow, connector: Connector) throws {
        id = delivery.id
        let content = try PushContent(json: delivery.content)
        template = try PayloadTemplate.compile(
            content: content,
            platform: application.platform,
            deliveryID: delivery.id,
            messageIDFormat: application.messageIDFormat,
            messageIDBase: delivery.messageIDBase ?? 0
        )
        codec = try MessageIDCodec(deliveryID: delivery.id, trackingKey: delivery.trackingKey)
        let period = Duration.seconds(Int64(max(1, delivery.retryPeriodSeconds)))
        // A retry comes a day later at most: Adobe's own schedule after the first day is one attempt a day.
        retryPolicy = RetryPolicy(
            maximumRetries: Int(delivery.maxRetries),
            backOff: BackOff(initial: period, maximum: .seconds(86_400), floor: period / 2)
        )
        ambiguityPolicy = delivery.ambiguityPolicy
        validUntilMilliseconds = delivery.validUntil.map { $0.microsecondsSince1970 / 1_000 }
        fieldNames = template.fields.map(\.name)
        payloadLimit = template.payloadLimit(connector: connector)
    }

    /// Whether the delivery's validity has passed.
    func isExpired(atMilliseconds now: Int64) -> Bool {
        validUntilMilliseconds.map { now > $0 } ?? false
    }
}
