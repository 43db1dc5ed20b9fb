import PushCore
import Store

/// How parts end: closed with their last outcomes, fenced, or given back.
extension SendDesk {
    mutating func closeIfDone(_ holding: PartToken, _ now: Int64, _ actions: inout [Action]) {
        guard var part = parts[holding], part.open == 0, !part.isFenced, !part.isClosing else { return }
        part.isClosing = true
        parts[holding] = part
        outcomes.closing.append(
            ClosingPart(
                part: holding.part,
                token: holding.token,
                retries: part.retrySets(now: now),
                resentAfterAmbiguity: part.resent
            )
        )
    }

    /// - Parameter holdings: the parts, with their tokens, that the stored batch was about.
    mutating func stored(
        _ report: StoreReport,
        _ holdings: Set<PartToken>,
        _ windowRows: Int,
        _ actions: inout [Action]
    ) {
        batchesBeingStored -= 1
        unsettled -= windowRows
        counters.progress += 1
        var journal: [UInt8] = []
        for holding in holdings where report.closedParts.contains(holding.part) {
            guard parts[holding]?.isClosing == true else { continue }
            parts[holding] = nil
            JournalEncoder.append(.closed(part: holding.part, token: holding.token), to: &journal)
        }
        if !journal.isEmpty { actions.append(.journal(journal)) }
        for holding in holdings where report.fencedParts.contains(holding.part) {
            // With two claims of one part in a batch it is the older that was fenced.
            let isNewest = !holdings.contains { $0.part == holding.part && $0.token > holding.token }
            let hasOlder = holdings.contains { $0.part == holding.part && $0.token < holding.token }
            if !isNewest || !hasOlder { fence(holding, &actions) }
        }
        for holding in holdings where report.unbalancedParts.contains(holding.part) {
            guard let part = parts[holding], part.isClosing else { continue }
            parts[holding] = nil
            actions.append(.release(holding, part.recovery))
        }
        if isHurrying { giveBackWaiting(&actions) }
        actions.append(.claimMore)
    }

    mutating func fence(_ holding: PartToken, _ actions: inout [Action]) {
        guard var part = parts[holding], !part.isFenced else { return }
        part.isFenced = true
        part.isClosing = false
        part.slices = []
        parts[holding] = part
        waiting.removeAll { $0 == holding }
        for (batchID, flight) in flights where flight.holding == holding && !flight.resend.isEmpty {
            abandon(batchID, &actions)
        }
        dropIfGone(holding, &actions)
    }

    /// Lets go of a part that was fenced or is given back, once nothing of it is on the wire.
    mutating func dropIfGone(_ holding: PartToken, _ actions: inout [Action]) {
        guard let part = parts[holding], part.inGateway == 0, part.isFenced || isHurrying, !part.isClosing else {
            return
        }
        guard !flights.values.contains(where: { $0.holding == holding }) else { return }
        if part.isFenced {
            parts[holding] = nil
        } else if outcomes.isEmpty, batchesBeingStored == 0 {
            // Its outcomes are in the database before the next owner asks for them.
            parts[holding] = nil
            actions.append(.release(part.holding, part.recovery))
        }
    }

    mutating func giveBackWaiting(_ actions: inout [Action]) {
        guard !isMarking else { return }
        waiting.removeAll()
        for (batchID, flight) in flights where !flight.resend.isEmpty {
            abandon(batchID, &actions)
        }
        for holding in parts.keys {
            parts[holding]?.slices = []
            dropIfGone(holding, &actions)
        }
        if !outcomes.isEmpty { actions.append(.store(isFull: true)) }
    }

    mutating func cutIfQuiet(_ actions: inout [Action]) {
        guard wantsCut, unsettled == 0, !isMarking, flights.isEmpty, outcomes.isEmpty, batchesBeingStored == 0 else {
            return
        }
        if parts.values.allSatisfy({ $0.retries.isEmpty }) {
            actions.append(.cutJournal)
        } else {
            // Soft answers of a part that is not at its end stand in the journal only: another time.
            wantsCut = false
            dispatch(&actions)
        }
    }
}
