/// Death of processes and hosts, and what supervisors do about it.
extension PartModel {
    mutating func crash(_ index: Int) -> [PartAction] {
        var owner = owners[index]
        guard owner.isRunning else { return [] }
        // What was written may still be processed.
        stray |= owner.written
        let (store, journal) = (owner.store, owner.journal)
        owner.drop()
        owner.isRunning = false
        owner.journal = journal
        owner.store = store.phase == .sent ? store : ModelStore()
        owners[index] = owner
        return []
    }

    mutating func loseHost(_ index: Int) -> [PartAction] {
        let actions = crash(index)
        owners[index].journal = ModelJournal()
        owners[index].hasJournal = false
        return actions
    }

    /// One transaction: the journal's facts, and, where the token stands, its other knowledge and the part's release.
    mutating func replay(_ index: Int, _ replyArrives: Bool) -> [PartAction] {
        let owner = owners[index]
        guard owner.hasJournal, !owner.isRunning || !guards.contains(.journalLock) else { return [] }
        let journal = owner.journal
        var actions: [PartAction] = []
        let held = parts.firstIndex { $0.state == .claimed && $0.owner == index }
        let isCurrent = held.map { $0 == journal.part && parts[$0].token == journal.token } ?? false
        recordFacts(accepted: journal.accepted, failed: journal.failed, isLate: !isCurrent, &actions)
        if let held {
            // A part that was claimed and is not in the journal was never begun.
            let journal = isCurrent ? journal : ModelJournal()
            let ambiguous = journal.ambiguous - recorded
            release(held, ambiguous: ambiguous, soft: journal.soft - recorded)
            if !ambiguous.isEmpty { actions.append(.ambiguous(ambiguous)) }
            actions.append(.released(part: held))
        }
        if replyArrives {
            owners[index].hasJournal = false
            if !owner.isRunning { owners[index].journal = ModelJournal() }
        }
        return actions
    }

    mutating func observe(_ index: Int) -> [PartAction] {
        guard parts[index].state == .claimed else { return [] }
        parts[index].observedToken = parts[index].token
        parts[index].observedRenewal = parts[index].renewal
        return []
    }

    /// One transaction: what is marked and has no row is noted as ambiguous, and the part is released.
    mutating func sweep(_ index: Int) -> [PartAction] {
        let part = parts[index]
        guard part.state == .claimed else { return [] }
        guard part.observedToken == part.token, part.observedRenewal == part.renewal else { return [] }
        let ambiguous = part.marked - recorded - part.soft
        release(index, ambiguous: ambiguous, soft: .empty)
        return ambiguous.isEmpty ? [.released(part: index)] : [.ambiguous(ambiguous), .released(part: index)]
    }

    mutating func stop(_ index: Int) -> [PartAction] {
        guard parts[index].state == .ready else { return [] }
        parts[index].token += 1
        var actions: [PartAction] = []
        parts[index].state = .done
        if guards.contains(.settleDoubt) { record(parts[index].ambiguous - recorded, .unknown, &actions) }
        canceledRest |= parts[index].messages - recorded
        actions.append(.closed(part: index))
        return actions
    }
}
