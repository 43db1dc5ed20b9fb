import Gateways
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// Turns claimed parts into prepared ones: reads what is known of them, loads their messages, renders the payloads.
final class PartPreparer: Sendable {
    /// The most messages that are marked together, so that a large part is sent in pieces.
    static let markSize = 1_000
    /// Thousands of small deliveries at once take turns in a child, and one that is not kept costs a round trip and a compilation a part.
    private static let mostCompiled = 4_096
    /// Bytes of content of all that are kept, in place of the memory that their templates take: a content may have a megabyte.
    private static let mostCompiledBytes = 8 << 20

    private let store: Store
    private let views: ViewLoads
    private let application: ApplicationRow
    private let format: PayloadFormat
    private let clock: DatabaseClock
    /// Whether messages that a lost owner may have sent go by their delivery's policy; if not, they end as `unknown`.
    private let sendsLost: Bool
    private let nextBatchID = Atomic<Int64>(1)
    private let measures: ChildMeasures
    private let compiled = Mutex(
        RecentlyUsed<CompiledDelivery>(mostEntries: mostCompiled, mostWeight: mostCompiledBytes)
    )

    /// - Parameter views: reads parts whose content asks for a view.
    init(
        store: Store,
        views: ViewLoads,
        application: ApplicationRow,
        format: PayloadFormat,
        clock: DatabaseClock,
        sendsLost: Bool,
        measures: ChildMeasures = ChildMeasures()
    ) {
        self.store = store
        self.views = views
        self.application = application
        self.format = format
        self.clock = clock
        self.sendsLost = sendsLost
        self.measures = measures
    }

    func newBatchID() -> Int64 {
        nextBatchID.add(1, ordering: .relaxed).oldValue
    }

    func prepare(_ part: ClaimedPart) async throws -> PreparedPart {
        let cached = try await delivery(part.deliveryID)
        async let loading = load(part, cached)
        var known: Set<Int32> = []
        var recovery = PartRecovery()
        // A retry part may have late outcomes too: facts of an owner of the first part that was fenced after its end.
        if part.mayHaveHistory || part.isRetry { known = try await store.knownOutcomes(part) }
        let inherited = part.isRetry ? try await store.inheritedAmbiguous(part) : []
        if part.mayHaveHistory { recovery = try await store.recovery(part) }
        let (delivery, loaded) = try await loading
        return render(part, delivery, loaded, known: known, recovery: recovery, inherited: inherited)
    }

    /// Prepares small parts of one delivery that nothing is known of, all with one load; nil if each has to be prepared by itself.
    func prepare(together parts: [ClaimedPart]) async throws -> [PreparedPart]? {
        guard let one = parts.first, parts.count > 1 else { return nil }
        let delivery = try await delivery(one.deliveryID)
        guard !delivery.fields.isMapped else { return nil }
        let loaded = try await measures.time(\.load) { try await store.loadParts(parts, delivery.fields) }
        return zip(parts, loaded).map { part, loaded in
            render(part, delivery, loaded, known: [], recovery: PartRecovery(), inherited: [])
        }
    }

    /// Loads a part. A view that was made anew may have other columns, or columns of other types, than when the delivery was compiled:
    /// then it is compiled anew, which finds out, and knows better what is wrong.
    private func load(_ part: ClaimedPart, _ delivery: CompiledDelivery) async throws -> (CompiledDelivery, LoadedPart)
    {
        do {
            return (delivery, try await load(part, delivery.fields))
        } catch  where LoadProblem(error).scope == .delivery && !LoadProblem(error).isTimeout {
            compiled.withLock { $0.remove(part.deliveryID) }
            let anew = try await self.delivery(part.deliveryID)
            guard anew.fields != delivery.fields else { throw error }
            return (anew, try await load(part, anew.fields))
        }
    }

    private func load(_ part: ClaimedPart, _ fields: MessageFields) async throws -> LoadedPart {
        try await measures.time(\.load) {
            try await fields.isMapped ? views.load(part, fields) : store.loadPart(part, fields)
        }
    }

    private func delivery(_ id: Int64) async throws -> CompiledDelivery {
        if let known = compiled.withLock({ $0.use(id) }) { return known }
        let delivery = try await store.deliveryForSending(id)
        let new = try await CompiledDelivery.compile(delivery, application: application, format: format, store: store)
        compiled.withLock { $0.insert(new, id, weight: delivery.content.utf8.count) }
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
            case .soft(let notBefore, let longestDelay, let kind):
                prepared.softAnswers.append(
                    .init(
                        row: Int32(row),
                        notBeforeMilliseconds: notBefore,
                        longestDelayMilliseconds: longestDelay,
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
        // Under `report` nobody sends again what is ambiguous, so the soft answer was the last word.
        prepared.unanswered = delivery.ambiguityPolicy == .resend ? sorter.unanswered : []
        prepared.resent = sorter.resent
        let ends = [delivery.validUntilMilliseconds, part.validUntil.map { $0.microsecondsSince1970 / 1_000 }]
        let isUrgent = part.validUntil != nil
        var renderer = SliceRenderer(
            delivery: delivery,
            loaded: loaded,
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
            // The mark of each covers all: where headers differ by locale, their rows are not in one piece.
            for (rows, batch) in rendered.batches {
                prepared.slices.append(.init(rows: rows, batch: batch, markThrough: mark))
            }
            start = end
        }
        return prepared
    }

    /// A message cannot go out (its payload has become too long, or lacks a value): that is its end, unless it may have arrived
    /// before.
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

/// A claimed part, loaded and rendered: ready to be marked and sent.
struct PreparedPart: Sendable {
    /// A message whose fate is known without sending it.
    struct Decided: Sendable {
        var row: Int32
        var status: MessageStatus
        var reason: String
    }

    /// A message that an earlier owner sent and that was answered softly.
    struct Soft: Sendable {
        var row: Int32
        var notBeforeMilliseconds: Int64
        /// How long it was to wait when that was decided, in milliseconds; it never waits longer, as the database's clock may
        /// have been set back since.
        var longestDelayMilliseconds = Int64.max
        /// What came of the attempt.
        var kind = Kind.attempt

        /// Whether the attempt was the message's own: one that failed for the gateway's sake counts for nothing.
        var countsAttempt: Bool { kind == .attempt }

        /// Why a message goes to a retry part.
        enum Kind: Sendable, Hashable {
            /// Its attempt counts.
            case attempt
            /// It was refused for the gateway's sake, as far as was known. Where another one was taken at this moment of the owner's
            /// monotonic clock or later, the fault is its own; else it counts unless many others were refused, too.
            case refused(since: Duration, isLone: Bool)
            /// A credential that is stored with the gateway is wrong, as this reason says: it waits apart until that is put right.
            case apart(reason: String)
        }
    }

    /// Messages that are sent together: rows of the part, and the request batch in the same order.
    struct Slice: Sendable {
        var rows: [Int32]
        var batch: GatewayRequestBatch
        /// How many of the part's messages, in sequence order, may have left once this slice is sent.
        var markThrough: Int32
    }

    var claimed: ClaimedPart
    var delivery: CompiledDelivery
    var sequences: [Int32]
    var subscriptionIDs: [Int64]
    /// Messages without an outcome in the database.
    var open: Int
    var decided: [Decided] = []
    var softAnswers: [Soft] = []
    var slices: [Slice] = []
    /// Rows of messages that are to be sent although an earlier owner may have sent them.
    var lost: Set<Int32> = []
    /// Rows of messages that are to be sent although a send of the part before may have arrived.
    var ambiguousRows: Set<Int32> = []
    /// Rows of messages to subscriptions with soft errors.
    var withErrors: Set<Int32> = []
    /// Whether a gateway has ever taken a message for the subscription of each row; empty if it has for none.
    var accepted: [Bool] = []
    /// Tells the users of the rows apart, 0 for who has no key; empty if none has.
    var userHashes: [Int32] = []
    /// Rows among the soft answers to which an earlier owner got no answer.
    var unanswered: Set<Int32> = []
    /// Messages that are sent again although the gateway may have had them, those of a retry part not included.
    var resent: Int32 = 0

    /// Messages that have to be sent.
    var sendable: Int { slices.messageCount }
}

extension Collection<PreparedPart.Slice> {
    /// The messages of all of them.
    var messageCount: Int { reduce(0) { $0 + $1.rows.count } }
    /// About the memory that their batches hold.
    var byteCount: Int { reduce(0) { $0 + $1.batch.byteCount } }
}
