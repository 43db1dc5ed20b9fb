import TestSupport

@testable import PushCore

/// Chooses random events that are mostly possible in the model's state, so that short schedules get far.
///
/// It changes no model: they are passed inout because a debug build copies them otherwise, millions of times.
struct ScheduleGenerator {
    var random: TestRandom

    /// The next event among the first `owners` owners.
    mutating func event(_ model: inout PartModel, owners: Int) -> PartEvent {
        let owner = random.below(owners)
        return random.oneIn(5) ? fault(&model, owner) : progress(&model, owner)
    }

    /// A step of an owner's ordinary work, or of its recovery.
    mutating func progress(_ model: inout PartModel, _ index: Int) -> PartEvent {
        let owner = model.owners[index]
        guard owner.isRunning else {
            if owner.hasJournal { return .replay(owner: index, replyArrives: !random.oneIn(4)) }
            return lease(&model)
        }
        if owner.mustReconnect { return .reconnect(owner: index) }
        if owner.part < 0 { return claim(&model, index) }
        if !owner.isOpen { return .readKnown(owner: index) }
        if owner.store.phase != .none, !random.oneIn(3) {
            return owner.store.phase == .sent ? .executeStore(owner: index) : .acknowledgeStore(owner: index)
        }
        if !owner.unstored.isEmpty, owner.store.phase == .none, random.oneIn(4) { return .store(owner: index) }
        return sending(owner, index)
    }

    private mutating func sending(_ owner: ModelOwner, _ index: Int) -> PartEvent {
        if !owner.answered.isEmpty, !random.oneIn(4) {
            return random.oneIn(8) ? .hold(owner: index, some()) : .read(owner: index, some())
        }
        if !owner.held.isEmpty, random.oneIn(2) {
            return random.oneIn(2) ? .decide(owner: index) : .openCircuit(owner: index)
        }
        if !owner.written.isEmpty, !random.oneIn(4) {
            return random.oneIn(12) ? .refuse(owner: index, some()) : .process(owner: index, some(), answer())
        }
        if !owner.intended.isEmpty, !random.oneIn(4) { return .write(owner: index, some()) }
        if !(owner.pending & owner.marked).isEmpty, !random.oneIn(4) { return .intend(owner: index, some()) }
        if !(owner.pending - owner.marked).isEmpty, !owner.isFenced, !random.oneIn(4) {
            return .mark(owner: index, count: 1 + random.below(4), replyArrives: !random.oneIn(8))
        }
        return .store(owner: index)
    }

    private mutating func fault(_ model: inout PartModel, _ index: Int) -> PartEvent {
        switch random.below(16) {
        case 0, 1, 2: .crash(owner: index)
        case 3: .loseHost(owner: index)
        case 4: .replay(owner: index, replyArrives: random.oneIn(2))
        case 5, 6, 7: lease(&model)
        case 8: .loseConnection(owner: index)
        case 9, 10: .loseStore(owner: index)
        case 11: .processStray(some())
        case 12, 13: .giveBack(owner: index)
        case 14: random.oneIn(2) ? .renew(owner: index) : .intend(owner: index, some())
        default: random.oneIn(2) ? .cancelRest(owner: index) : .stop(part: random.below(model.parts.count))
        }
    }

    private mutating func claim(_ model: inout PartModel, _ index: Int) -> PartEvent {
        let start = random.below(model.parts.count)
        var offset = 0
        while offset < model.parts.count {
            let part = (start + offset) % model.parts.count
            offset += 1
            if model.parts[part].state == .ready {
                return .claim(owner: index, part: part, replyArrives: !random.oneIn(8))
            }
        }
        return lease(&model)
    }

    private mutating func lease(_ model: inout PartModel) -> PartEvent {
        let part = random.below(model.parts.count)
        return model.parts[part].observedToken < 0 ? .observe(part: part) : .sweep(part: part)
    }

    private mutating func answer() -> GatewayAnswer {
        switch random.below(10) {
        case 0: .permanent
        case 1: .retry
        case 2: .stop
        default: .accepted
        }
    }

    /// All messages, or each with even odds.
    private mutating func some() -> MessageSet {
        random.oneIn(2) ? MessageSet(bits: .max) : MessageSet(bits: random.next())
    }
}
