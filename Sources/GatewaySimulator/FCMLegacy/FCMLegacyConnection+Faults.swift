import NIOCore

extension FCMLegacyConnection {
    /// Judges a request and does to it what the plan says.
    ///
    /// Of the plan's faults those of HTTP/2 (GOAWAY, refused streams, stream limits) have no meaning here.
    func serve(_ request: FCMLegacyRequest) {
        requests += 1
        service.recorder.requestCame()
        let conditions = service.conditions.current
        let plan = conditions.plan
        var judgement = service.rules.judge(request, conditions)
        var injected = judgement.isRejected && conditions.isOutage ? max(1, judgement.results.count) : 0
        let isReset = plan.resetAfterStreams.map { requests >= $0 } ?? false
        let (isUnanswered, isTaken) = service.roll { dice in
            if !judgement.isRejected { injected += Self.injectErrors(plan, &judgement, &dice) }
            let isUnanswered = !judgement.isRejected && !isReset && dice.happens(plan.neverAnsweredRate)
            let isTaken = !dice.happens(1 - plan.unansweredAcceptedShare)
            return (isUnanswered, isTaken)
        }
        if isReset || isUnanswered {
            if isUnanswered { injected += judgement.results.count }
            let pushes = judgement.pushes(
                AnswerCatalog.unanswered,
                isTaken: isTaken,
                isAnswered: false
            )
            record(pushes, injected: injected)
            if isReset { abort() }
            return
        }
        guard plan.latency != nil || service.stallEnds != nil else {
            record(judgement.pushes(isTaken: true, isAnswered: true), injected: injected)
            return write(service.answers.answer(judgement))
        }
        if isTaken { record(judgement.pushes(isTaken: true, isAnswered: false), injected: injected) }
        let latency = plan.latency.map { latency in service.roll { dice in latency.sample(&dice) } } ?? 0
        delayed = FCMLegacyDelayedAnswer(
            judgement: judgement,
            due: .now() + .nanoseconds(latency),
            isTaken: isTaken
        )
        scheduleDelayed()
    }

    /// Rejects what the dice say, the whole request or some of its messages; returns how many messages that are.
    private static func injectErrors(
        _ plan: FaultPlan,
        _ judgement: inout FCMLegacyJudgement,
        _ dice: inout FaultDice
    ) -> Int {
        let errors = plan.errors.compactMap { error in FCMLegacyReason(rawValue: error.reason).map { ($0, error) } }
        guard !errors.isEmpty else { return 0 }
        if let (reason, error) = draw(errors.filter { !$0.0.isResult }, &dice) {
            judgement.reason = reason
            judgement.retryAfter = error.retryAfter
            return judgement.results.count
        }
        let perMessage = errors.filter { $0.0.isResult }
        var injected = 0
        for index in judgement.results.indices where judgement.results[index].reason == nil {
            guard let (reason, error) = draw(perMessage, &dice) else { continue }
            judgement.results[index].reason = reason
            judgement.retryAfter = error.retryAfter ?? judgement.retryAfter
            injected += 1
        }
        return injected
    }

    private static func draw(
        _ errors: [(FCMLegacyReason, ErrorRate)],
        _ dice: inout FaultDice
    ) -> (FCMLegacyReason, ErrorRate)? {
        guard !errors.isEmpty else { return nil }
        var draw = dice.unit()
        for error in errors {
            draw -= error.1.rate
            if draw < 0 { return error }
        }
        return nil
    }

    private func record(_ pushes: [RecordedPush], injected: Int) {
        guard !pushes.isEmpty else { return }
        service.recorder.record(pushes, refused: 0, injected: injected, concurrentStreams: 1)
    }

    // MARK: Delays

    /// Sends the answer that waits when its latency and any stall are over.
    func scheduleDelayed() {
        guard let answer = delayed, let eventLoop else { return }
        answer.wakeUp?.cancel()
        let due = max(answer.due, service.stallEnds ?? answer.due)
        guard due > .now() else { return sendDelayed() }
        // A stall without an end is ended by new conditions.
        guard due < .distantFuture else { return }
        let connection = NIOLoopBound(self, eventLoop: eventLoop)
        delayed?.wakeUp = eventLoop.scheduleTask(deadline: due) { connection.value.scheduleDelayed() }
    }

    private func sendDelayed() {
        guard let answer = delayed else { return }
        delayed = nil
        if answer.isTaken {
            let keys = answer.judgement.pushes(isTaken: true, isAnswered: true).filter(\.isAccepted).map(\.key)
            if !keys.isEmpty { service.recorder.answered(keys) }
        } else {
            record(answer.judgement.pushes(isTaken: true, isAnswered: true), injected: 0)
        }
        write(service.answers.answer(answer.judgement))
    }

    /// Forgets the answer that waits: its connection is gone.
    func cutOff() {
        guard let answer = delayed else { return }
        delayed = nil
        answer.wakeUp?.cancel()
        guard !answer.isTaken else { return }
        record(answer.judgement.pushes(AnswerCatalog.unanswered, isTaken: false, isAnswered: false), injected: 0)
    }
}
