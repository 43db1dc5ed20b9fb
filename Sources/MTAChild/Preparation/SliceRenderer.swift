import Content
import Gateways
import PushCore
import Store

/// Renders the payloads of a part's messages into request batches.
struct SliceRenderer {
    struct Rendered {
        /// Messages that are sent together, each with its row in the part.
        var batches: [(rows: [Int32], batch: GatewayRequestBatch)] = []
        /// Messages that cannot be sent, and why.
        var refused: [PreparedPart.Decided] = []
    }

    /// The maximum number of messages in a request batch, unless more of them can share a request.
    ///
    /// A batch frees most of its memory when three quarters of its messages have answers, and the rest with the last
    /// answer. Assume a gateway that answers half of all messages within 80 ms and one in a hundred after more than 800
    /// ms. There the last answer comes after 1.0 s with 200 messages, and after 1.7 s with 1,000.
    static let usualBatchSize = 200

    private let delivery: CompiledDelivery
    private let batchSize: Int
    private let loaded: LoadedPart
    private let isUrgent: Bool
    private let dueMilliseconds: Int64
    /// Until when the messages are valid, in seconds since 1970; nil if there is no limit.
    private let validUntil: Int64?
    /// The seconds left until then.
    private let validitySeconds: Int64?
    /// The average bytes of a message, taken from the first one, then from the last slice.
    private var average: (token: Int, body: Int)?

    /// - Parameters:
    ///   - messagesPerRequest: how many messages the gateway takes in one request.
    ///   - isUrgent: whether the messages go before others that wait for a stream.
    ///   - dueMilliseconds: when they were due, if that is measured.
    ///   - validity: until when they are valid, and now, in milliseconds since 1970 of one clock; nil if there is no
    ///     limit.
    init(
        delivery: CompiledDelivery,
        loaded: LoadedPart,
        messagesPerRequest: Int = 1,
        isUrgent: Bool = false,
        dueMilliseconds: Int64 = 0,
        validity: (until: Int64, now: Int64)? = nil
    ) {
        self.delivery = delivery
        self.loaded = loaded
        batchSize = max(Self.usualBatchSize, messagesPerRequest)
        self.isUrgent = isUrgent
        self.dueMilliseconds = dueMilliseconds
        validUntil = validity.map { $0.until / 1_000 }
        validitySeconds = validity.map { max(0, $0.until - $0.now) / 1_000 }
    }

    /// Renders messages, in batches with the same headers, which may differ by locale.
    mutating func render(_ candidates: ArraySlice<Int32>, newBatchID: () -> Int64) -> Rendered {
        var rendered = Rendered()
        for group in 0..<delivery.groupCount {
            var rest = candidates
            if delivery.groupCount > 1 {
                rest = candidates.filter { delivery.groups[delivery.template(row: Int($0), loaded)] == group }[...]
            }
            while !rest.isEmpty {
                render(rest.prefix(batchSize), group: group, newBatchID: newBatchID, into: &rendered)
                rest = rest.dropFirst(batchSize)
            }
        }
        return rendered
    }

    private mutating func render(
        _ candidates: ArraySlice<Int32>,
        group: Int,
        newBatchID: () -> Int64,
        into rendered: inout Rendered
    ) {
        let templates = delivery.content.templates
        guard let head = delivery.groups.firstIndex(of: group), !candidates.isEmpty else { return }
        var ids: [MessageUUID] = []
        ids.reserveCapacity(candidates.count)
        delivery.codec.appendUUIDs(sequences: candidates.map { loaded.sequences[Int($0)] }, to: &ids)
        var slice = Columns(hasCollapseIDs: templates[head].hasPersonalisedCollapseID)
        if let average { slice.reserve(candidates.count, average) }
        // The template is looked up only when the locale changes, not for each message.
        var (index, template) = (head, templates[head])
        for (position, row) in candidates.enumerated() {
            let own = delivery.template(row: Int(row), loaded)
            if own != index { (index, template) = (own, templates[own]) }
            if let refused = append(row, ids[position], template, to: &slice) { rendered.refused.append(refused) }
            guard average == nil, let first = slice.average else { continue }
            average = first
            slice.reserve(candidates.count, first)
        }
        guard !slice.rows.isEmpty else { return }
        average = slice.average
        let batch = GatewayRequestBatch(
            id: newBatchID(),
            tokens: slice.tokens,
            messageIDs: slice.ids,
            bodies: slice.bodies,
            attributes: templates[head].attributes.valid(until: validUntil),
            collapseIDs: slice.collapseIDs,
            isUrgent: isUrgent,
            deliveryID: delivery.id,
            dueMilliseconds: dueMilliseconds
        )
        rendered.batches.append((slice.rows, batch))
    }

    /// Renders one message, unless it cannot be sent.
    @inline(__always)
    private func append(
        _ row: Int32,
        _ id: MessageUUID,
        _ template: PayloadTemplate,
        to slice: inout Columns
    ) -> PreparedPart.Decided? {
        if let field = template.missingField(row: Int(row), fields: loaded.fields) {
            let reason = PayloadTemplate.missingReason(field: template.fields[field].name)
            return .init(row: row, status: .notApplicable, reason: reason)
        }
        var size = 0
        slice.bodies.append { buffer in
            size = template.render(
                row: Int(row),
                fields: loaded.fields,
                tokens: loaded.tokens,
                messageID: id,
                sequence: loaded.sequences[Int(row)],
                validitySeconds: validitySeconds,
                into: &buffer
            )
            return true
        }
        if size > template.payloadLimit {
            slice.bodies.removeLast()
            return .init(row: row, status: .failed, reason: PayloadLimits.tooLongReason(limit: template.payloadLimit))
        }
        slice.collapseIDs?.append { buffer in
            template.renderCollapseID(row: Int(row), fields: loaded.fields, into: &buffer)
        }
        slice.rows.append(row)
        slice.ids.append(id)
        slice.tokens.append(loaded.tokens[Int(row)])
        return nil
    }

    /// A batch under construction.
    private struct Columns {
        var rows: [Int32] = []
        var ids: [MessageUUID] = []
        var tokens = ByteColumn()
        var bodies = ByteColumn()
        var collapseIDs: ByteColumn?

        /// The average bytes of a message; nil if there is none.
        var average: (token: Int, body: Int)? {
            rows.isEmpty ? nil : (tokens.bytes.count / rows.count, bodies.bytes.count / rows.count)
        }

        init(hasCollapseIDs: Bool) {
            collapseIDs = hasCollapseIDs ? ByteColumn() : nil
        }

        /// Reserves room for messages of this average size and a little more, because a growing column doubles its
        /// room.
        mutating func reserve(_ count: Int, _ average: (token: Int, body: Int)) {
            let left = count - rows.count
            rows.reserveCapacity(count)
            ids.reserveCapacity(count)
            tokens.reserve(rows: left, bytes: left * (average.token + 2))
            bodies.reserve(rows: left, bytes: left * (average.body + 12))
        }
    }
}
