@testable import PushCore

/// Claim, lease and giving back.
extension PartModel {
    mutating func claim(_ index: Int, _ partIndex: Int, _ replyArrives: Bool) -> [PartAction] {
        var owner = owners[index]
        var part = parts[partIndex]
        guard owner.isRunning, owner.part < 0, !owner.mustReconnect, owner.store.phase == .none else { return [] }
        guard part.state == .ready else { return [] }
        part.state = .claimed
        part.token += 1
        part.owner = index
        part.renewal = 0
        part.observedToken = -1
        parts[partIndex] = part
        if replyArrives {
            owner.hold(partIndex, token: part.token)
        } else {
            owner.mustReconnect = true
        }
        owners[index] = owner
        return [.claimed(part: partIndex, token: part.token)]
    }

    mutating func reconnect(_ index: Int) -> [PartAction] {
        guard owners[index].isRunning, owners[index].mustReconnect else { return [] }
        owners[index].mustReconnect = false
        guard let held = parts.firstIndex(where: { $0.state == .claimed && $0.owner == index }) else { return [] }
        owners[index].hold(held, token: parts[held].token)
        return []
    }

    /// Reads the outcomes and the notes of earlier owners. A refusal is the later knowledge: who sends an ambiguous
    /// message again and is refused notes that, and nobody sends a refused one under the same part.
    mutating func readKnown(_ index: Int) -> [PartAction] {
        var owner = owners[index]
        guard owner.isRunning, owner.part >= 0, !owner.isOpen else { return [] }
        let part = parts[owner.part]
        let known = guards.contains(.knownOutcomes) ? recorded : .empty
        owner.isOpen = true
        owner.soft = part.soft - known
        owner.pending = part.messages - known - owner.soft
        if policy == .report {
            owner.unknown = part.ambiguous & owner.pending
            owner.pending -= owner.unknown
        } else {
            owner.ambiguousRows = part.ambiguous - known
        }
        owners[index] = owner
        return []
    }

    mutating func mark(_ index: Int, _ count: Int, _ replyArrives: Bool) -> [PartAction] {
        var owner = owners[index]
        guard owner.isRunning, owner.isOpen, !owner.isFenced else { return [] }
        var part = parts[owner.part]
        let next = (owner.pending - owner.marked).lowest(count)
        guard !next.isEmpty else { return [] }
        guard stands(part, token: owner.token) else { return lost(index) }
        part.marked |= part.messages & next.prefix
        parts[owner.part] = part
        if replyArrives {
            owner.marked = part.marked
            owners[index] = owner
        }
        return []
    }

    mutating func renew(_ index: Int) -> [PartAction] {
        let owner = owners[index]
        guard owner.isRunning, owner.part >= 0, !owner.isFenced else { return [] }
        guard stands(parts[owner.part], token: owner.token) else { return lost(index) }
        parts[owner.part].renewal += 1
        return []
    }

    mutating func giveBack(_ index: Int) -> [PartAction] {
        let owner = owners[index]
        guard owner.isRunning, owner.isOpen, !owner.isFenced, owner.store.phase == .none else { return [] }
        guard (owner.inFlight | owner.unstored).isEmpty else { return [] }
        guard stands(parts[owner.part], token: owner.token) else { return lost(index) }
        release(owner.part, ambiguous: .empty, soft: owner.soft)
        // Counted when they became so.
        parts[owner.part].ambiguous |= owner.ambiguousRows & (owner.pending | owner.soft)
        owners[index].drop()
        return [.released(part: owner.part)]
    }

    mutating func cancelRest(_ index: Int) -> [PartAction] {
        guard owners[index].isRunning, owners[index].isOpen, !owners[index].isFenced else { return [] }
        owners[index].cancelsRest = true
        return []
    }

    /// Makes a part ready for others. What is known of its messages is noted in the same transaction, so the mark
    /// starts anew.
    mutating func release(_ index: Int, ambiguous: MessageSet, soft: MessageSet) {
        parts[index].state = .ready
        parts[index].owner = -1
        parts[index].marked = .empty
        parts[index].observedToken = -1
        guard guards.contains(.noteAtRelease) else { return }
        parts[index].ambiguous |= ambiguous
        parts[index].soft |= soft
        self.ambiguous.add(ambiguous)
    }

    /// An owner learns that its part is another's: it sends nothing more, and stores the answers it still gets.
    mutating func lost(_ index: Int) -> [PartAction] {
        owners[index].isFenced = true
        owners[index].dropIfFinished()
        return [.fenced(owner: index)]
    }
}

extension ModelOwner {
    mutating func hold(_ part: Int, token: Int) {
        self.part = part
        self.token = token
        isOpen = false
        journal = ModelJournal()
        journal.part = part
        journal.token = token
    }

    /// Drops a part that was lost, once all its answers are stored.
    mutating func dropIfFinished() {
        if isFenced, (inFlight | accepted | failed).isEmpty, store.phase == .none { drop() }
    }
}

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
        if guards.contains(.resolveAmbiguous) { record(parts[index].ambiguous - recorded, .unknown, &actions) }
        canceledRest |= parts[index].messages - recorded
        actions.append(.closed(part: index))
        return actions
    }
}
