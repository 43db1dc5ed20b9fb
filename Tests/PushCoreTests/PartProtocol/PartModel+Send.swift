@testable import PushCore

/// Intents, the gateway, and its answers.
extension PartModel {
    mutating func intend(_ index: Int, _ messages: MessageSet) -> [PartAction] {
        var owner = owners[index]
        guard owner.isRunning, owner.isOpen, !owner.isFenced, !owner.cancelsRest else { return [] }
        let allowed = guards.contains(.mark) ? owner.pending & owner.marked : owner.pending
        let messages = messages & allowed
        owner.pending -= messages
        owner.intended |= messages
        if guards.contains(.intent) { owner.journal.intended |= messages }
        owners[index] = owner
        return []
    }

    mutating func write(_ index: Int, _ messages: MessageSet) -> [PartAction] {
        guard owners[index].isRunning else { return [] }
        let messages = messages & owners[index].intended
        owners[index].intended -= messages
        owners[index].written |= messages
        return []
    }

    mutating func process(_ index: Int, _ messages: MessageSet, _ answer: GatewayAnswer) -> [PartAction] {
        let messages = messages & owners[index].written
        guard !messages.isEmpty else { return [] }
        owners[index].written -= messages
        switch answer {
        case .accepted:
            delivered.add(messages)
            owners[index].answeredAccepted |= messages
            return [.delivered(messages)]
        case .permanent:
            refused |= messages
            owners[index].answeredFailed |= messages
        case .retry:
            refused |= messages
            owners[index].answeredSoft |= messages
        case .stop:
            owners[index].answeredStop |= messages
        }
        return []
    }

    mutating func refuse(_ index: Int, _ messages: MessageSet) -> [PartAction] {
        var owner = owners[index]
        let messages = messages & owner.written
        owner.written -= messages
        owner.pending |= messages
        owner.journal.intended -= messages
        owner.dropIfFinished()
        owners[index] = owner
        return []
    }

    mutating func read(_ index: Int, _ messages: MessageSet) -> [PartAction] {
        var owner = owners[index]
        guard owner.isRunning else { return [] }
        let accepted = messages & owner.answeredAccepted
        let failed = messages & owner.answeredFailed
        let soft = messages & owner.answeredSoft
        let stopped = messages & owner.answeredStop
        owner.answeredAccepted -= accepted
        owner.answeredFailed -= failed
        owner.answeredSoft -= soft
        owner.answeredStop -= stopped
        // A refusal of what may have arrived with an earlier attempt is no fact about the message.
        let ambiguous = failed & owner.ambiguousRows
        owner.pending |= stopped
        owner.accepted |= accepted
        owner.failed |= failed - ambiguous
        owner.unknown |= ambiguous
        owner.soft |= soft
        owner.journal.accepted |= accepted
        owner.journal.failed |= failed - ambiguous
        owner.journal.ambiguousRows |= ambiguous
        owner.journal.soft |= soft
        owner.journal.intended -= stopped
        owner.dropIfFinished()
        owners[index] = owner
        return []
    }

    mutating func hold(_ index: Int, _ messages: MessageSet) -> [PartAction] {
        guard owners[index].isRunning else { return [] }
        let messages = messages & owners[index].answeredFailed
        owners[index].answeredFailed -= messages
        owners[index].held |= messages
        owners[index].journal.intended -= messages
        return []
    }

    mutating func decide(_ index: Int) -> [PartAction] {
        guard owners[index].isRunning else { return [] }
        let messages = owners[index].held
        owners[index].held = .empty
        owners[index].failed |= messages
        owners[index].journal.intended |= messages
        owners[index].journal.failed |= messages
        return []
    }

    mutating func openCircuit(_ index: Int) -> [PartAction] {
        var owner = owners[index]
        guard owner.isRunning else { return [] }
        owner.pending |= owner.held
        owner.held = .empty
        owner.dropIfFinished()
        owners[index] = owner
        return []
    }

    mutating func loseConnection(_ index: Int) -> [PartAction] {
        var owner = owners[index]
        let lost = owner.written | owner.answered
        guard owner.isRunning, !lost.isEmpty else { return [] }
        stray |= owner.written
        ambiguous.add(lost)
        owner.written = .empty
        owner.answeredAccepted = .empty
        owner.answeredFailed = .empty
        owner.answeredSoft = .empty
        owner.answeredStop = .empty
        owner.journal.ambiguousRows |= lost
        switch policy {
        case .resend:
            owner.pending |= lost
            owner.ambiguousRows |= lost
        case .report: owner.unknown |= lost
        }
        owner.dropIfFinished()
        owners[index] = owner
        return [.ambiguous(lost)]
    }

    mutating func processStray(_ messages: MessageSet) -> [PartAction] {
        let messages = messages & stray
        guard !messages.isEmpty else { return [] }
        stray -= messages
        delivered.add(messages)
        return [.delivered(messages)]
    }
}

/// The store transaction and the part's end.
extension PartModel {
    mutating func store(_ index: Int) -> [PartAction] {
        var owner = owners[index]
        guard owner.isRunning, owner.isOpen, owner.store.phase == .none else { return [] }
        let isFinished = owner.inFlight.isEmpty && (owner.pending.isEmpty || owner.cancelsRest) && !owner.isFenced
        guard isFinished || !owner.unstored.isEmpty else { return [] }
        let cancels = isFinished && owner.cancelsRest
        let ambiguousRows =
            cancels && guards.contains(.resolveAmbiguous) ? owner.ambiguousRows & (owner.pending | owner.soft) : .empty
        owner.store = ModelStore(
            phase: .sent,
            part: owner.part,
            token: owner.token,
            accepted: owner.accepted,
            failed: owner.failed,
            unknown: owner.unknown | ambiguousRows,
            soft: isFinished && !cancels ? owner.soft : .empty,
            ambiguousRows: owner.ambiguousRows,
            closes: isFinished,
            cancelsRest: cancels
        )
        if !guards.contains(.cutAfterCommit) { owner.journal.cut(owner.store.outcomes) }
        owners[index] = owner
        return []
    }

    mutating func executeStore(_ index: Int) -> [PartAction] {
        var store = owners[index].store
        guard store.phase == .sent else { return [] }
        store.isFenced = !stands(parts[store.part], token: store.token)
        store.phase = owners[index].isRunning ? .executed : .none
        owners[index].store = store
        var actions: [PartAction] = []
        recordFacts(accepted: store.accepted, failed: store.failed, isLate: store.isFenced, &actions)
        if store.isFenced { return actions }
        record(store.unknown, .unknown, &actions)
        if store.closes {
            close(store, &actions)
        }
        return actions
    }

    mutating func acknowledgeStore(_ index: Int) -> [PartAction] {
        var owner = owners[index]
        let store = owner.store
        guard owner.isRunning, store.phase == .executed else { return [] }
        owner.store.phase = .none
        owner.accepted -= store.accepted
        owner.failed -= store.failed
        owner.unknown -= store.unknown
        owner.journal.cut(store.outcomes)
        owners[index] = owner
        if store.isFenced { return lost(index) }
        guard store.closes else { return [] }
        owners[index].drop()
        var actions: [PartAction] = []
        if !guards.contains(.atomicHandOver) { handOver(store, &actions) }
        return actions
    }

    mutating func loseStore(_ index: Int) -> [PartAction] {
        if owners[index].isRunning { owners[index].store.phase = .none }
        return []
    }

    /// Inserts a gateway's answers, whoever brings them.
    mutating func recordFacts(
        accepted: MessageSet,
        failed: MessageSet,
        isLate: Bool,
        _ actions: inout [PartAction]
    ) {
        let before = recorded
        record(accepted, .sent, &actions)
        record(failed, .failed, &actions)
        let late = recorded - before
        if isLate, !late.isEmpty { actions.append(.recordedLate(late)) }
    }

    /// Inserts outcome rows where there are none.
    mutating func record(_ messages: MessageSet, _ status: MessageStatus, _ actions: inout [PartAction]) {
        guard !messages.isEmpty else { return }
        let known = messages & recorded
        if !known.isEmpty {
            if guards.contains(.uniqueOutcome) { actions.append(.uniqueViolation(known)) } else { doubled |= known }
        }
        let inserted = messages - known
        counted += guards.contains(.countInserted) ? inserted.count : messages.count
        switch status {
        case .sent: sent |= inserted
        case .failed: failed |= inserted
        default: unknown |= inserted
        }
        if !inserted.isEmpty { actions.append(.recorded(inserted, status)) }
    }

    /// Ends a part: refused messages go to a retry part, or fail when they have had all their attempts.
    private mutating func close(_ store: ModelStore, _ actions: inout [PartAction]) {
        let index = store.part
        parts[index].state = .done
        if parts[index].attempt >= maxAttempts {
            record(store.soft - recorded, .failed, &actions)
        } else if guards.contains(.atomicHandOver) {
            handOver(store, &actions)
        }
        if store.cancelsRest { canceledRest |= parts[index].messages - recorded }
        actions.append(.closed(part: index))
    }

    /// What may have arrived once may have arrived in the retry part as well.
    private mutating func handOver(_ store: ModelStore, _ actions: inout [PartAction]) {
        guard !store.soft.isEmpty, parts[store.part].attempt < maxAttempts else { return }
        actions.append(.handedOver(store.soft, part: parts.count))
        let attempt = parts[store.part].attempt + 1
        parts.append(ModelPart(messages: store.soft, attempt: attempt, ambiguous: store.ambiguousRows & store.soft))
    }
}
