import PushCore
import Store

extension SendDesk.Halt {
    /// What a delivery's state means for its parts; nil if they are sent.
    init?(_ state: DeliveryState) {
        switch state {
        case .preparing, .inProgress: return nil
        case .paused, .editing, .pending: self = .giveBack
        case .stopped, .failed: self = .close(.canceled, reason: state.rawValue)
        // It cannot finish with an open part; whatever it is, this child does not go on.
        case .finished: self = .giveBack
        }
    }
}

/// Deliveries that are paused, stopped or expired, and how their parts end.
extension SendDesk {
    /// Why nothing more of the part leaves; nil if it may.
    func halt(of part: HeldPart) -> Halt? {
        let halt = halts[part.claimed.deliveryID]
        if part.isExpired, halt == nil || halt == .giveBack { return .close(.ignored, reason: "expired") }
        return halt ?? (isHurrying || part.refusal != nil ? .giveBack : nil)
    }

    mutating func take(_ states: [Int64: DeliveryState], _ actions: inout [Action]) {
        let held = heldDeliveries
        for (delivery, state) in states where held.contains(delivery) {
            let halt = Halt(state)
            // The database does not know yet what this child has found.
            if halt == nil, onHold.contains(delivery) { continue }
            onHold.remove(delivery)
            switch halts[delivery] {
            // A delivery that was stopped or has expired stays so.
            case .close?: continue
            case .giveBack? where halt == nil: halts[delivery] = nil
            case .giveBack?, nil:
                guard let halt, halts[delivery] != halt else { continue }
                halts[delivery] = halt
                actions.append(.cancelQueued)
            }
        }
    }

    mutating func haltExpired(_ now: Int64, _ actions: inout [Action]) {
        nextExpiry = .max
        expireParts(now, &actions)
        for part in parts.values where !part.isFenced {
            guard let end = part.delivery.validUntilMilliseconds else { continue }
            if now <= end {
                nextExpiry = min(nextExpiry, end)
            } else if halts[part.claimed.deliveryID].map({ $0 == .giveBack }) ?? true {
                halts[part.claimed.deliveryID] = .close(.ignored, reason: "expired")
                actions.append(.cancelQueued)
            }
        }
    }

    /// A message of its own has its own end, whatever others of its delivery have.
    private mutating func expireParts(_ now: Int64, _ actions: inout [Action]) {
        for part in parts.values where part.ownValidUntil != nil && !part.isFenced && !part.isExpired && !part.isClosing
        {
            guard let end = part.ownValidUntil else { continue }
            if now <= end {
                nextExpiry = min(nextExpiry, end)
            } else {
                parts[part.holding]?.isExpired = true
                hasExpired = true
                actions.append(.cancelQueued)
            }
        }
    }

    /// Asks once more for what a halted delivery has in the gateway: an order to submit may have been carried out after the order
    /// to give back that followed it, as they come from several threads. Once is enough, and all that others have there comes back
    /// with it.
    mutating func cancelHalted(_ actions: inout [Action]) {
        let late = Set(parts.values.filter { $0.inGateway > 0 && halt(of: $0) != nil }.map(\.claimed.deliveryID))
        if !late.isSubset(of: askedAgain) { actions.append(.cancelQueued) }
        askedAgain = late
    }

    /// Hands a part back to the database, which has it when ``Event/released(_:)`` says so.
    mutating func giveBack(
        _ holding: PartToken,
        _ recovery: PartRecovery,
        _ actions: inout [Action],
        alone: Bool = false,
        problem: String? = nil
    ) {
        releasing.insert(holding)
        actions.append(alone ? .putAside(holding, recovery, reason: problem) : .release(holding, recovery))
    }

    /// Ends the parts of halted deliveries of which nothing is on the wire any more.
    mutating func settleHalted(_ actions: inout [Action]) {
        guard isHurrying || hasExpired || hasRefused || !halts.isEmpty else { return }
        if hasRefused { hasRefused = parts.values.contains { $0.refusal != nil && !$0.isFenced } }
        if hasExpired { hasExpired = parts.values.contains { $0.isExpired && !$0.isClosing } }
        // In the order of the parts, so that the same events have the same effects.
        for holding in parts.keys.sorted(by: { ($0.part, $0.token) < ($1.part, $1.token) }) {
            guard let part = parts[holding], part.inGateway == 0, !part.isFenced, !part.isClosing else { continue }
            switch halt(of: part) {
            case .close(let status, let reason): closeRest(holding, status, reason)
            // Its outcomes are in the database before the next owner asks for them.
            case .giveBack where part.lastBatch <= storedBatch:
                forget(holding)
                giveBack(holding, part.recovery, &actions, alone: part.goesAlone, problem: part.refusal)
            case .giveBack, nil: continue
            }
        }
    }

    /// Ends a part with one outcome for all messages that have none, but for those that may have been sent.
    private mutating func closeRest(_ holding: PartToken, _ status: MessageStatus, _ reason: String) {
        abandonWaiting(of: holding)
        dropUndecided(holding)
        guard var part = parts[holding] else { return }
        waiting.removeAll { $0 == holding }
        part.slices = []
        let retries = Set(part.retries.map(\.row))
        let doubted = part.unanswered.union(part.reported)
        let resent = part.resent - Int32(part.lost.count { !retries.contains($0) })
        for row in part.lost.union(part.unanswered).sorted() {
            counters.unknown += 1
            record(
                &part,
                row: row,
                .unknown,
                reason: "sent before, without an answer; not sent again: \(reason)",
                httpStatus: 0,
                gatewayMessageID: nil
            )
        }
        part.resent = resent
        part.isClosing = true
        part.lastBatch = batchNumber
        parts[holding] = part
        outcomes.closing.append(
            ClosingPart(
                part: holding.part,
                token: holding.token,
                resentAfterAmbiguity: resent,
                ambiguous: doubted.map { part.sequences[Int($0)] }.sorted(),
                restStatus: status,
                restReason: reason
            )
        )
    }

    /// Leaves the messages of a part that wait to be sent again to its next owner, or to the part's end.
    mutating func abandonWaiting(of holding: PartToken) {
        for (batchID, flight) in flights where flight.holding == holding && flight.waiting > 0 {
            unsettled -= flight.waiting
            var rest = flight
            rest.open -= flight.waiting
            rest.resend = []
            rest.unsent = []
            flights[batchID] = rest.open > 0 ? rest : nil
        }
    }

    /// Lets go of a part.
    mutating func forget(_ holding: PartToken) {
        abandonWaiting(of: holding)
        dropUndecided(holding)
        waiting.removeAll { $0 == holding }
        guard let part = parts.removeValue(forKey: holding) else { return }
        let delivery = part.claimed.deliveryID
        // The next claim says how the delivery is then.
        if halts[delivery] != nil, !parts.values.contains(where: { $0.claimed.deliveryID == delivery }) {
            halts[delivery] = nil
            // It is judged anew when somebody lets it go on.
            if onHold.remove(delivery) != nil { topicGuards[delivery] = nil }
        }
    }
}

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
