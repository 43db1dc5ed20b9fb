import PushCore
import Store

/// How parts end: closed with their last outcomes, fenced, or given back.
extension SendDesk {
    mutating func closeIfDone(_ partID: Int64, _ now: Int64, _ actions: inout [Action]) {
        guard var part = parts[partID], part.open == 0, !part.isFenced, !part.isClosing else { return }
        part.isClosing = true
        parts[partID] = part
        outcomes.closing.append(
            ClosingPart(
                part: partID,
                token: part.claimed.fencingToken,
                retries: part.retrySets(now: now),
                resentAfterAmbiguity: part.resent
            )
        )
    }

    mutating func stored(_ report: StoreReport, _ windowRows: Int, _ now: Int64, _ actions: inout [Action]) {
        batchesBeingStored -= 1
        unsettled -= windowRows
        counters.progress += 1
        var journal: [UInt8] = []
        for partID in report.closedParts {
            guard let part = parts.removeValue(forKey: partID) else { continue }
            JournalEncoder.append(.closed(part: partID, token: part.claimed.fencingToken), to: &journal)
        }
        if !journal.isEmpty { actions.append(.journal(journal)) }
        for partID in report.fencedParts { fence(partID, &actions) }
        for partID in report.unbalancedParts {
            guard let part = parts.removeValue(forKey: partID) else { continue }
            actions.append(.release(part.holding, part.recovery))
        }
        if isHurrying { giveBackWaiting(&actions) }
        actions.append(.claimMore)
    }

    mutating func fence(_ partID: Int64, _ actions: inout [Action]) {
        guard var part = parts[partID], !part.isFenced else { return }
        part.isFenced = true
        part.isClosing = false
        part.slices = []
        parts[partID] = part
        waiting.removeAll { $0 == partID }
        for (batchID, flight) in flights where flight.partID == partID && !flight.resend.isEmpty {
            abandon(batchID, &actions)
        }
        dropIfGone(partID, &actions)
    }

    /// Lets go of a part that was fenced or is given back, once nothing of it is on the wire.
    mutating func dropIfGone(_ partID: Int64, _ actions: inout [Action]) {
        guard let part = parts[partID], part.inGateway == 0, part.isFenced || isHurrying, !part.isClosing else {
            return
        }
        guard !flights.values.contains(where: { $0.partID == partID }) else { return }
        if part.isFenced {
            parts[partID] = nil
        } else if outcomes.isEmpty, batchesBeingStored == 0 {
            // Its outcomes are in the database before the next owner asks for them.
            parts[partID] = nil
            actions.append(.release(part.holding, part.recovery))
        }
    }

    mutating func giveBackWaiting(_ actions: inout [Action]) {
        guard !isMarking else { return }
        waiting.removeAll()
        for (batchID, flight) in flights where !flight.resend.isEmpty {
            abandon(batchID, &actions)
        }
        for partID in parts.keys {
            parts[partID]?.slices = []
            dropIfGone(partID, &actions)
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
