/// The store transaction and the part's end.
extension PartModel {
    mutating func store(_ index: Int) -> [PartAction] {
        var owner = owners[index]
        guard owner.isRunning, owner.isOpen, owner.store.phase == .none else { return [] }
        let isFinished = owner.inFlight.isEmpty && (owner.pending.isEmpty || owner.cancelsRest) && !owner.isFenced
        guard isFinished || !owner.unstored.isEmpty else { return [] }
        owner.store = ModelStore(
            phase: .sent,
            part: owner.part,
            token: owner.token,
            accepted: owner.accepted,
            failed: owner.failed,
            unknown: owner.unknown,
            soft: isFinished ? owner.soft : .empty,
            closes: isFinished,
            cancelsRest: owner.cancelsRest
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
            let handsOver = guards.contains(.atomicHandOver)
            close(store.part, soft: store.soft, makesRetryPart: handsOver, cancelsRest: store.cancelsRest, &actions)
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
        if !guards.contains(.atomicHandOver) { handOver(store.soft, of: store.part, &actions) }
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
    mutating func close(
        _ index: Int,
        soft: MessageSet,
        makesRetryPart: Bool,
        cancelsRest: Bool,
        _ actions: inout [PartAction]
    ) {
        parts[index].state = .done
        if parts[index].attempt >= maximumAttempts {
            record(soft - recorded, .failed, &actions)
        } else if makesRetryPart {
            handOver(soft, of: index, &actions)
        }
        if cancelsRest { canceledRest |= parts[index].messages - recorded - soft }
        actions.append(.closed(part: index))
    }

    mutating func handOver(_ messages: MessageSet, of index: Int, _ actions: inout [PartAction]) {
        guard !messages.isEmpty, parts[index].attempt < maximumAttempts else { return }
        actions.append(.handedOver(messages, part: parts.count))
        parts.append(ModelPart(messages: messages, attempt: parts[index].attempt + 1))
    }
}
