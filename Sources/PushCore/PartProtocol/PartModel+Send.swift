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
        owner.answeredAccepted -= accepted
        owner.answeredFailed -= failed
        owner.answeredSoft -= soft
        owner.accepted |= accepted
        owner.failed |= failed
        owner.soft |= soft
        owner.journal.accepted |= accepted
        owner.journal.failed |= failed
        owner.journal.soft |= soft
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
        switch policy {
        case .resend: owner.pending |= lost
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
