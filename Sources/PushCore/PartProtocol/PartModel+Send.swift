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
        let inDoubt = failed & owner.doubted
        owner.pending |= stopped
        owner.accepted |= accepted
        owner.failed |= failed - inDoubt
        owner.unknown |= inDoubt
        owner.soft |= soft
        owner.journal.accepted |= accepted
        owner.journal.failed |= failed - inDoubt
        owner.journal.doubted |= inDoubt
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
        owner.journal.doubted |= lost
        switch policy {
        case .resend:
            owner.pending |= lost
            owner.doubted |= lost
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
