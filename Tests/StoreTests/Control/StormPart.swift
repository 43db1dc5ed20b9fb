import PushCore
import Store
import TestSupport

/// A child's work on one part: it sends a piece, and then ends the part, releases it, or dies.
struct StormPart {
    let store: Store
    let part: ClaimedPart
    let random: Storm

    private var token: PartToken { PartToken(part: part.id, token: part.fencingToken) }

    func send() async throws {
        let loaded = try await store.loadPart(part, fieldNames: [])
        let known = part.mayHaveHistory ? try await store.knownOutcomes(part) : []
        let open = (0..<loaded.count).filter { !known.contains(loaded.sequences[$0]) }
        let answered = open.prefix(random.number(open.count + 1))
        var batch = OutcomeBatch()
        for row in answered { batch.append(part, loaded, rows: row..<(row + 1), .sent) }
        let rest = open.dropFirst(answered.count).map { loaded.sequences[$0] }
        switch random.number(4) {
        case 0: try await giveBack(batch, rest)
        case 1: try await die(batch, rest)
        default: try await end(batch, rest)
        }
    }

    /// Ends the part as the delivery's state requires: with retry parts, or with one outcome for the rest.
    private func end(_ batch: OutcomeBatch, _ rest: [Int32]) async throws {
        var batch = batch
        let state = try await store.sendingState(
            application: part.applicationID,
            account: 1,
            deliveries: [part.deliveryID]
        )
        let stopped = state.deliveries[part.deliveryID] == .stopped
        batch.closing = [
            ClosingPart(
                part: part.id,
                token: part.fencingToken,
                retries: stopped || rest.isEmpty ? [] : [RetrySet(sequences: rest, delayMilliseconds: 0)],
                ambiguous: stopped ? [] : Array(rest.prefix(1)),
                restStatus: stopped ? .canceled : nil,
                restReason: stopped ? "stopped" : ""
            )
        ]
        let report = try await store.storeOutcomes(batch)
        if !report.unbalancedParts.isEmpty { _ = try await store.releasePart(token) }
    }

    private func giveBack(_ batch: OutcomeBatch, _ rest: [Int32]) async throws {
        _ = try await store.storeOutcomes(batch)
        _ = try await store.releasePart(token, recovery: PartRecovery(ambiguous: Array(rest.prefix(2))))
    }

    /// The sweep recovers the part first; the gateway's answers arrive late, twice.
    private func die(_ batch: OutcomeBatch, _ rest: [Int32]) async throws {
        _ = try await store.mark([PartMark(part: part.id, token: part.fencingToken, through: part.size / 2)])
        _ = try await store.releasePart(token, ambiguousThroughMark: true)
        _ = try await store.storeFacts(batch)
        _ = try await store.storeOutcomes(batch)
    }
}
