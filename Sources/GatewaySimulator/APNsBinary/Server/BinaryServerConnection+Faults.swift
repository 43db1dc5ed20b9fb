import NIOCore

extension BinaryServerConnection {
    /// How long the packet of a shutdown waits for notifications that it can disown: a sender that has nothing more to send must
    /// not wait for ever.
    private static var patience: TimeAmount { .milliseconds(200) }

    /// Judges a notification and does to it what the plan says.
    func serve(_ notification: BinaryNotification, _ conditions: GatewayConditions) {
        received += 1
        let plan = conditions.plan
        var judgement = BinaryJudgement(notification, topics: topics, conditions: conditions)
        if judgement.status == nil {
            judgement.status = service.injected(plan)
            if judgement.status != nil { injected += 1 }
        } else if conditions.isOutage {
            injected += 1
        }
        if let limit = plan.resetAfterStreams, received >= limit {
            let isTaken = judgement.status == nil && service.roll { $0.happens(plan.unansweredAcceptedShare) }
            note(judgement, answer: AnswerCatalog.unanswered, isAccepted: isTaken)
            return abort()
        }
        switch judgement.status {
        case nil: take(notification, judgement)
        case .noErrors:
            take(notification, judgement)
            return refuse(.noErrors, notification.identifier ?? 0)
        case .shutdown:
            // This one is not looked at any more.
            return shutDown(waitingFor: 0)
        case .some(let status):
            note(
                judgement,
                answer: AnswerCatalog.of(.apnsBinary).code(ofReason: status.rawValue) ?? 0,
                isAccepted: false
            )
            // The oldest format has no identifier, and so nothing is said: the connection just ends.
            guard notification.command != 0 else {
                isEnding = true
                commit()
                return end()
            }
            return refuse(status, notification.identifier ?? 0)
        }
        if let goAway = plan.goAway, received >= goAway.afterStreams { shutDown(waitingFor: goAway.unprocessed) }
    }

    private func take(_ notification: BinaryNotification, _ judgement: BinaryJudgement) {
        note(judgement, answer: AnswerCatalog.accepted, isAccepted: true)
        lastTaken = notification.identifier ?? 0
        guard let since = judgement.goneSince, let token = notification.token, let topic = topics.first else { return }
        service.feedback.add(token, since: UInt32(clamping: since / 1_000), topic: topic)
    }

    /// Takes nothing more, and says so when so many more notifications have come.
    private func shutDown(waitingFor number: Int) {
        guard !isEnding else { return }
        isEnding = true
        shutdownAfter = number
        guard number > 0 else { return sayShutdown() }
        later(Self.patience) { $0.sayShutdown() }
    }
}
