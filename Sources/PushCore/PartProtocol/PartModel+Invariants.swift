/// What must hold after every event.
extension PartModel {
    /// A promise of the protocol that is broken in the present state, or nil when all hold.
    public var violation: String? {
        var unfinished = MessageSet.empty
        var overlap = MessageSet.empty
        // An index, not an iterator: a debug build checks this some ten million times.
        var index = 0
        while index < parts.count {
            if parts[index].state != .done {
                overlap |= unfinished & parts[index].messages
                unfinished |= parts[index].messages
            }
            index += 1
        }
        let recorded = recorded
        if !overlap.isEmpty { return "messages \(overlap) are in two unfinished parts" }
        let lost = target - unfinished - recorded - canceledRest
        if !lost.isEmpty { return "messages \(lost) have no outcome and are in no unfinished part" }
        if !doubled.isEmpty { return "messages \(doubled) have two outcomes" }
        if counted != recorded.count { return "the counters say \(counted) and there are \(recorded.count) rows" }
        let both = canceledRest & recorded
        if !both.isEmpty { return "messages \(both) are canceled and have an outcome" }
        return deliveryViolation
    }

    private var deliveryViolation: String? {
        if !sent.isSubset(of: delivered.once) { return "messages \(sent - delivered.once) are sent and never arrived" }
        if !failed.isSubset(of: refused) { return "messages \(failed - refused) failed and were never refused" }
        let canceled = canceledRest & delivered.once
        if !canceled.isEmpty { return "messages \(canceled) are canceled and arrived" }
        let twice = policy == .report ? delivered.twice : delivered.twice - ambiguous.once
        if !twice.isEmpty { return "messages \(twice) arrived twice" }
        let thrice = delivered.thrice - ambiguous.twice
        if !thrice.isEmpty { return "messages \(thrice) arrived three times and were ambiguous only once" }
        return nil
    }

    /// Whether every message has its outcome and every part has ended.
    public var isFinished: Bool {
        target.isSubset(of: recorded | canceledRest) && parts.allSatisfy { $0.state == .done }
    }
}
