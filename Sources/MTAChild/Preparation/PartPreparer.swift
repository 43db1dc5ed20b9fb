import Gateways
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// Turns claimed parts into prepared ones: reads their history, loads their messages and renders the payloads.
final class PartPreparer: Sendable {
    /// The maximum number of messages marked together; a larger part is sent in pieces.
    static let markSize = 1_000
    /// The maximum number of compiled deliveries. Thousands of small deliveries may take turns in a child, and one that
    /// is not cached costs a round trip and a compilation for each part.
    private static let maxCompiled = 4_096
    /// The maximum bytes of content of all cached deliveries, as an estimate of their templates' memory; one content
    /// may have a megabyte.
    private static let maxCompiledBytes = 8 << 20

    private let store: Store
    private let views: ViewLoads
    private let application: ApplicationRow
    private let format: PayloadFormat
    private let messagesPerRequest: Int
    private let clock: DatabaseClock
    /// Whether messages that a lost owner may have sent follow their delivery's policy; if not, they end as `unknown`.
    private let sendsLost: Bool
    private let nextBatchID = Atomic<Int64>(1)
    private let measures: ChildMeasures
    private let compiled = Mutex(
        RecentlyUsed<DeliveryVariant, CompiledDelivery>(maxEntries: maxCompiled, maxWeight: maxCompiledBytes)
    )

    /// - Parameters:
    ///   - views: loads parts whose content reads a view.
    ///   - messagesPerRequest: how many messages the gateway takes in one request.
    init(
        store: Store,
        views: ViewLoads,
        application: ApplicationRow,
        format: PayloadFormat,
        messagesPerRequest: Int = 1,
        clock: DatabaseClock,
        sendsLost: Bool,
        measures: ChildMeasures = ChildMeasures()
    ) {
        self.store = store
        self.views = views
        self.application = application
        self.format = format
        self.messagesPerRequest = messagesPerRequest
        self.clock = clock
        self.sendsLost = sendsLost
        self.measures = measures
    }

    func newBatchID() -> Int64 {
        nextBatchID.add(1, ordering: .relaxed).oldValue
    }

    func prepare(_ part: ClaimedPart) async throws -> PreparedPart {
        let cached = try await delivery(part.deliveryVariant)
        async let loading = load(part, cached)
        var known: Set<Int32> = []
        var recovery = PartRecovery()
        // A retry part may have late outcomes, too: facts from a fenced owner of the first part, stored after that
        // part's end.
        if part.mayHaveHistory || part.isRetry { known = try await store.knownOutcomes(part) }
        let inherited = part.isRetry ? try await store.inheritedAmbiguous(part) : []
        if part.mayHaveHistory { recovery = try await store.recovery(part) }
        let (delivery, loaded) = try await loading
        return render(part, delivery, loaded, known: known, recovery: recovery, inherited: inherited)
    }

    /// Prepares small parts of one delivery without a history, with a single load; nil if each has to be prepared
    /// separately.
    func prepare(together parts: [ClaimedPart]) async throws -> [PreparedPart]? {
        guard let one = parts.first, parts.count > 1 else { return nil }
        let delivery = try await delivery(one.deliveryVariant)
        guard !delivery.fields.isMapped else { return nil }
        let loaded = try await measures.time(\.load) { try await store.loadParts(parts, delivery.fields) }
        return zip(parts, loaded).map { part, loaded in
            render(part, delivery, loaded, known: [], recovery: PartRecovery(), inherited: [])
        }
    }

    /// Loads a part. A view that was recreated may have other columns, or columns of other types, than when the
    /// delivery was compiled. Then the delivery is compiled again, which finds the new columns or reports the problem
    /// better.
    private func load(_ part: ClaimedPart, _ delivery: CompiledDelivery) async throws -> (CompiledDelivery, LoadedPart)
    {
        do {
            return (delivery, try await load(part, delivery.fields))
        } catch  where LoadProblem(error).scope == .delivery && !LoadProblem(error).isTimeout {
            compiled.withLock { $0.remove(part.deliveryVariant) }
            let anew = try await self.delivery(part.deliveryVariant)
            guard anew.fields != delivery.fields else { throw error }
            return (anew, try await load(part, anew.fields))
        }
    }

    private func load(_ part: ClaimedPart, _ fields: MessageFields) async throws -> LoadedPart {
        try await measures.time(\.load) {
            try await fields.isMapped ? views.load(part, fields) : store.loadPart(part, fields)
        }
    }

    private func delivery(_ wanted: DeliveryVariant) async throws -> CompiledDelivery {
        if let known = compiled.withLock({ $0.use(wanted) }) { return known }
        let delivery = try await store.deliveryForSending(wanted.deliveryID, variant: wanted.variant)
        let new = try await CompiledDelivery.compile(delivery, application: application, format: format, store: store)
        compiled.withLock { $0.insert(new, wanted, weight: delivery.content.utf8.count) }
        return new
    }

    private func render(
        _ part: ClaimedPart,
        _ delivery: CompiledDelivery,
        _ loaded: LoadedPart,
        known: Set<Int32>,
        recovery: PartRecovery,
        inherited: Set<Int32>
    ) -> PreparedPart {
        var prepared = PreparedPart(
            claimed: part,
            delivery: delivery,
            sequences: loaded.sequences,
            subscriptionIDs: loaded.subscriptionIDs,
            open: loaded.count
        )
        var sorter = RowSorter(
            sendsLost: sendsLost && delivery.ambiguityPolicy == .resend,
            known: known,
            recovery: recovery,
            inherited: inherited,
            now: clock.nowMilliseconds
        )
        var rows: [Int32] = []
        rows.reserveCapacity(loaded.count)
        for row in 0..<loaded.count {
            switch sorter.sort(row: row, loaded) {
            case .known: prepared.open -= 1
            case .send: rows.append(Int32(row))
            case .decided(let status, let reason):
                prepared.decided.append(.init(row: Int32(row), status: status, reason: reason))
            case .soft(let notBefore, let maxDelay, let kind):
                prepared.softAnswers.append(
                    .init(
                        row: Int32(row),
                        notBeforeMilliseconds: notBefore,
                        maxDelayMilliseconds: maxDelay,
                        kind: kind
                    )
                )
            }
        }
        prepared.lost = sorter.lost
        prepared.ambiguousRows = sorter.ambiguousRows
        prepared.withErrors = sorter.withErrors
        prepared.accepted = loaded.accepted
        prepared.userHashes = loaded.userHashes
        // Under `report` ambiguous messages are not resent, so the soft answer was the last one.
        prepared.unanswered = delivery.ambiguityPolicy == .resend ? sorter.unanswered : []
        prepared.resent = sorter.resent
        let ends = [delivery.validUntilMilliseconds, part.validUntil.map { $0.microsecondsSince1970 / 1_000 }]
        let isUrgent = part.validUntil != nil
        var renderer = SliceRenderer(
            delivery: delivery,
            loaded: loaded,
            messagesPerRequest: messagesPerRequest,
            isUrgent: isUrgent,
            dueMilliseconds: isUrgent ? part.dueAt.microsecondsSince1970 / 1_000 : 0,
            validity: ends.compactMap(\.self).min().map { ($0, clock.nowMilliseconds) }
        )
        var start = 0
        while start < rows.count {
            let end = min(start + Self.markSize, rows.count)
            let mark = rows[end - 1] + 1
            let rendered = renderer.render(rows[start..<end], newBatchID: newBatchID)
            for refused in rendered.refused { refuse(refused, in: &prepared) }
            // The mark of each batch covers all of them: if headers differ by locale, the rows of a batch are not
            // contiguous.
            for (rows, batch) in rendered.batches {
                prepared.slices.append(.init(rows: rows, batch: batch, markThrough: mark))
            }
            start = end
        }
        return prepared
    }

    /// Ends a message that cannot be sent because its payload is too long or lacks a value. It ends as `unknown` if it
    /// may have arrived before.
    private func refuse(_ refused: PreparedPart.Decided, in prepared: inout PreparedPart) {
        var decided = refused
        let isLost = prepared.lost.remove(refused.row) != nil
        if isLost { prepared.resent -= 1 }
        if isLost || prepared.ambiguousRows.contains(refused.row) {
            decided.status = .unknown
            decided.reason = "sent before, without an answer, and now: \(refused.reason)"
        }
        prepared.decided.append(decided)
    }
}
