import PushCore
import Store

/// How parts end: closed with their last outcomes, or fenced; and when the journal is cut.
extension SendDesk {
    mutating func closeIfDone(_ holding: PartToken, _ now: Int64) {
        guard var part = parts[holding], part.open == 0, !part.isFenced, !part.isClosing else { return }
        // What is left of a stopped or expired delivery has no retry.
        if part.isExpired { return }
        if case .close = halts[part.claimed.deliveryID] { return }
        part.isClosing = true
        part.lastBatch = batchNumber
        parts[holding] = part
        outcomes.closing.append(part.closing(now: now))
    }

    /// - Parameter holdings: the parts, with their tokens, that the stored batch was about.
    mutating func stored(
        _ report: StoreReport,
        _ holdings: Set<PartToken>,
        _ windowRows: Int,
        _ actions: inout [Action]
    ) {
        batchesBeingStored -= 1
        storedBatch += 1
        unsettled -= windowRows
        counters.progress += 1
        counters.late += Int64(report.late)
        var journal: [UInt8] = []
        for holding in holdings where report.closedParts.contains(holding.part) {
            guard let part = parts[holding], part.isClosing else { continue }
            counters.resentAfterAmbiguity += Int64(part.resent) + Int64(part.unanswered.count)
            forget(holding)
            JournalEncoder.append(.closed(part: holding.part, token: holding.token), to: &journal)
        }
        if !journal.isEmpty { actions.append(.journal(journal)) }
        for part in Set(report.fencedParts) {
            // With several claims of one part in a batch the older ones were fenced.
            let fenced = report.fencedParts.count { $0 == part }
            let claims = holdings.filter { $0.part == part }.sorted { $0.token < $1.token }
            for holding in claims.prefix(fenced) { fence(holding, &actions) }
        }
        for holding in holdings where report.unbalancedParts.contains(holding.part) {
            guard let part = parts[holding], part.isClosing else { continue }
            forget(holding)
            giveBack(holding, part.recovery, &actions)
        }
        actions.append(.claimMore)
    }

    mutating func fence(_ holding: PartToken, _ actions: inout [Action]) {
        guard var part = parts[holding], !part.isFenced else { return }
        part.isFenced = true
        part.isClosing = false
        part.slices = []
        parts[holding] = part
        waiting.removeAll { $0 == holding }
        dropUndecided(holding)
        abandonWaiting(of: holding)
        dropIfFenced(holding)
    }

    /// A newer claim of the same part, by this child itself, proves that an older one was lost.
    mutating func fenceOlder(_ claimed: ClaimedPart, _ actions: inout [Action]) {
        let older = parts.keys.filter { $0.part == claimed.id && $0.token < claimed.fencingToken }
        guard !older.isEmpty else { return }
        for holding in older { fence(holding, &actions) }
        actions.append(.cancelQueued)
    }

    /// Lets go of a fenced part once nothing of it is on the wire.
    mutating func dropIfFenced(_ holding: PartToken) {
        guard let part = parts[holding], part.isFenced, part.inGateway == 0 else { return }
        forget(holding)
    }

    mutating func cutIfQuiet(_ actions: inout [Action]) {
        guard wantsCut, !isCutting, unsettled == 0, !isMarking, flights.isEmpty, outcomes.isEmpty,
            batchesBeingStored == 0
        else { return }
        if releasing.isEmpty, parts.values.allSatisfy({ $0.retries.isEmpty }) {
            isCutting = true
            actions.append(.cutJournal)
        } else {
            // Soft answers of a part that is not at its end, or what is known of one on its way back, stand in the journal only:
            // another time, as either may last.
            wantsCut = false
            actions.append(.cutJournalLater)
            dispatch(&actions)
        }
    }
}
