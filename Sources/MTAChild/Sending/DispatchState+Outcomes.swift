import Gateways
import PushCore
import Store

/// What the gateway's answers mean for the messages.
extension DispatchState {
    /// What one call of the gateway brought besides outcomes of messages.
    private struct Results {
        var answers: JournalAnswers
        /// Why every message of the application is refused; nil if it is not.
        var stopReason: String?
        /// Why every message of the delivery is refused; nil if it is not.
        var holdReason: String?
        /// Whether the gateway has taken a message, or knew its token.
        var hasWorked = false
        /// The credential, in the gateway's words, for which a message had waited that was taken; nil if there is none.
        var rightCredential: String?
    }

    mutating func resolved(_ batchID: Int64, _ resolved: [Outcome], _ now: Int64, _ actions: inout [Action]) {
        guard var flight = flights.take(batchID) else { return }
        guard var part = parts[flight.claim] else { return flights.put(flight) }
        var results = Results(answers: Self.answers(of: part, now, capacity: resolved.count))
        for index in resolved.indices where flight.rows.indices.contains(Int(resolved[index].index)) {
            part.answered()
            window.answered(isReported: part.isReported)
            resolve(resolved[index], &flight, &part, now, &results)
        }
        handleQuotaRefusals(&flight, &part, now)
        counters.progress += 1
        parts[flight.claim] = part
        flight.letGo()
        flights.put(flight)
        if results.answers.count > 0 { actions.append(.journal(results.answers.record())) }
        if part.isFenced { abandonWaiting(of: flight.claim) }
        if flight.waiting > 0 { wait(batchID, &actions) }
        if let reason = results.holdReason { holdDelivery(part.claimed.deliveryID, reason: reason, &actions) }
        guardTopic(part.claimed.deliveryID, now, &actions)
        follow(results, now, &actions)
        // Each looks the part up; at a gateway whose answers come in no order an answer of most is here alone.
        if part.open == 0 { closeIfDone(flight.claim, now) }
        if part.isFenced { dropIfFenced(flight.claim) }
    }

    private mutating func resolve(
        _ outcome: Outcome,
        _ flight: inout Flight,
        _ part: inout HeldPart,
        _ now: Int64,
        _ results: inout Results
    ) {
        let row = flight.rows[Int(outcome.index)]
        if outcome.status == 429 { counters.counts.throttled += 1 }
        var answer = JournalAnswer(
            sequence: part.sequences[Int(row)],
            outcomeClass: outcome.outcomeClass,
            status: outcome.status,
            attempt: part.claimed.attempt,
            reason: outcome.reason,
            gatewayMessageID: outcome.gatewayMessageID,
            tokenEffect: outcome.tokenEffect,
            failure: outcome.failure,
            healsErrors: part.heals(row, outcome)
        )
        switch outcome.outcomeClass {
        case .unprocessed where outcome.neverLeft || outcome.isCollateral:
            flight.unsent.append(outcome.index)
        case .unprocessed where flight.attempt <= RetryPolicy.maximumUnprocessedResends:
            flight.resend.append(outcome.index)
        case .stopApplication:
            flight.unsent.append(outcome.index)
            if results.stopReason == nil { results.stopReason = "\(outcome.status) \(outcome.reason)" }
        case .stopDelivery:
            flight.unsent.append(outcome.index)
            if results.holdReason == nil {
                results.holdReason = Self.topicReason(outcome, flight.batch.attributes.pushType)
            }
        case .retry where outcome.fault == .credential:
            waitForCredential(outcome, &flight, &part, now, &answer)
        case .retry where outcome.fault.sparesAttempt, .unprocessed:
            refusedByGateway(outcome, &flight, &part, now, &answer)
        case .retry where admission.givesBack || part.isFenced || admission.isProbingGateway:
            if admission.isProbingGateway { gateway.failed(Self.words(outcome), at: moment) }
            answer.outcomeClass = .unprocessed
            flight.unsent.append(outcome.index)
        case .retry:
            answer.outcomeClass = .unprocessed
            holdSoft(outcome, &flight, part)
        case .permanent where isUndecided(outcome, flight, part):
            answer.outcomeClass = .stopApplication
            gatewayAnswered(outcome, part)
            if admission.givesBack || part.isFenced {
                flight.unsent.append(outcome.index)
            } else {
                flight.decide(outcome.index)
                window.leave(1)
                hold(row, outcome, flight, part)
            }
        default:
            flight.decide(outcome.index)
            if outcome.outcomeClass == .accepted, flight.hasSuffixedTopic {
                guards.topics[part.claimed.deliveryID, default: TopicGuard()].noteWorking()
            }
            // The binary protocol has no status for success.
            if outcome.status != 0 || outcome.outcomeClass == .accepted {
                guards.application.count(hasWorked: Self.hasWorked(outcome))
            }
            if Self.hasWorked(outcome) { results.hasWorked = true }
            // What was found unfit here was said by no gateway.
            if outcome.outcomeClass == .ambiguous {
                unanswered(outcome)
            } else if !outcome.neverLeft {
                gatewayAnswered(outcome, part)
                if part.triesCredential, outcome.outcomeClass == .accepted {
                    part.triesCredential = false
                    results.rightCredential = part.claimed.waitsFor
                }
            }
            decide(&part, row, outcome, now, &answer)
        }
        // What has no intent is not known to the journal; an intent may have been for more than the connection took.
        if !outcome.neverLeft || flight.hasDeparted(outcome.index) { results.answers.append(answer) }
    }

    /// Whether an answer that condemns a push token has to wait for others: all of them together may say something else.
    private func isUndecided(_ outcome: Outcome, _ flight: Flight, _ part: HeldPart) -> Bool {
        guard outcome.isTokenDoubtful, !part.claimed.believesRefusals else { return false }
        return !flight.hasSuffixedTopic || isTopicAmbiguous(part.claimed.deliveryID)
    }

    private mutating func hold(_ row: Int32, _ outcome: Outcome, _ flight: Flight, _ part: HeldPart) {
        let weight = part.weight(row)
        if flight.hasSuffixedTopic {
            guards.topics[part.claimed.deliveryID, default: TopicGuard()].hold(
                part.claim,
                row: row,
                outcome,
                weight: weight
            )
        } else {
            var outcome = outcome
            // A token that has never worked is not lost for ever by one refusal, whoever is right; nor is one whose part is judged by itself.
            if !part.isProven(row) || weight == .none, case .invalid = outcome.tokenEffect {
                outcome.tokenEffect = .softError
            }
            guards.application.hold(part.claim, row: row, outcome, weight: weight)
        }
    }

    /// Credential and topic are right if a message was taken, or a token was found to be gone.
    private static func hasWorked(_ outcome: Outcome) -> Bool {
        switch (outcome.outcomeClass, outcome.tokenEffect) {
        case (.accepted, _): true
        case (.permanent, .invalid): !outcome.isTokenDoubtful
        default: false
        }
    }

    private mutating func follow(_ results: Results, _ now: Int64, _ actions: inout [Action]) {
        followTrouble(now, &actions)
        if let reason = results.rightCredential {
            notes.rightCredential(reason)
            actions.append(.credentialWorks(reason: reason))
        }
        if let reason = results.stopReason {
            openCircuit(reason: reason, holdsTokenEffects: false, &actions)
        } else if results.hasWorked, admission.circuit == .probing {
            admission.closeCircuit()
            actions.append(.closeCircuit)
        }
        guardAgainstMassFailure(now, &actions)
    }

    /// The record for answers to messages of a part.
    private static func answers(of part: HeldPart, _ now: Int64, capacity: Int = 1) -> JournalAnswers {
        JournalAnswers(
            part: part.claimed.id,
            token: part.claimed.fencingToken,
            timeMilliseconds: now,
            capacity: capacity
        )
    }

    /// Journals what was decided about a single message of a part.
    static func journal(_ answer: JournalAnswer, of part: HeldPart, _ now: Int64, _ actions: inout [Action]) {
        var answers = answers(of: part, now)
        answers.append(answer)
        actions.append(.journal(answers.record()))
    }

    /// Lets what came back unsent wait a moment, so that a gateway which takes nothing makes no busy loop.
    private mutating func wait(_ batchID: Int64, _ actions: inout [Action]) {
        guard var flight = flights[batchID], flight.waiting > 0, !flight.hasPause else { return }
        flight.hasPause = true
        flights.put(flight)
        actions.append(.resendLater(batchID: batchID, attempt: flight.resend.isEmpty ? 1 : flight.attempt))
    }
}

/// What becomes of a message after an answer: final, or again.
extension DispatchState {
    /// Decides about one message, and says in the journal what was decided.
    mutating func decide(
        _ part: inout HeldPart,
        _ row: Int32,
        _ outcome: Outcome,
        _ now: Int64,
        _ answer: inout JournalAnswer
    ) {
        switch outcome.outcomeClass {
        case .accepted:
            counters.counts.sent += 1
            final(&part, row, .sent, outcome, tokenEffect: outcome.tokenEffect)
        case .permanent where !part.isAmbiguous(row) || Self.saysTokenIsDead(outcome):
            counters.counts.failed += 1
            final(&part, row, .failed, outcome, tokenEffect: outcome.tokenEffect)
        // The rest are decisions: a fenced owner makes none.
        case .permanent, .ambiguous, .retry, .unprocessed, .stopApplication, .stopDelivery:
            // In the journal it would come as a fact; another owner of the part asks once more.
            if outcome.outcomeClass == .permanent { answer.outcomeClass = .ambiguous }
            guard !part.isFenced else {
                window.leave(1)
                return
            }
            switch outcome.outcomeClass {
            case .permanent:
                // What is refused now may have arrived with an earlier attempt.
                counters.counts.unknown += 1
                final(&part, row, .unknown, outcome, tokenEffect: outcome.tokenEffect)
            case .ambiguous: ambiguous(&part, row, outcome, now, &answer)
            default: retry(&part, row, outcome, now, &answer)
            }
        }
    }

    /// Decides about a message that left the window when it was held undecided: neither its outcome nor its retry leaves it once more.
    mutating func decideHeld(
        _ part: inout HeldPart,
        _ row: Int32,
        _ outcome: Outcome,
        _ now: Int64,
        _ answer: inout JournalAnswer
    ) {
        window.enter(1)
        let rows = outbox.windowRows
        decide(&part, row, outcome, now, &answer)
        guard outbox.windowRows > rows else { return }
        outbox.uncountRow()
        window.leave(1)
    }

    /// To such a token no attempt has got through.
    private static func saysTokenIsDead(_ outcome: Outcome) -> Bool {
        if case .invalid = outcome.tokenEffect { true } else { false }
    }

    /// A message that may have been taken goes to a retry part or, if it must not or cannot be sent again, is `unknown`.
    private mutating func ambiguous(
        _ part: inout HeldPart,
        _ row: Int32,
        _ outcome: Outcome,
        _ now: Int64,
        _ answer: inout JournalAnswer
    ) {
        guard part.delivery.ambiguityPolicy == .resend, case .again(let notBefore) = retryDecision(part, outcome, now)
        else {
            counters.counts.unknown += 1
            part.ambiguous.reported.insert(row)
            final(&part, row, .unknown, outcome)
            return
        }
        part.ambiguous.unanswered.insert(row)
        answer.notBeforeMilliseconds = notBefore
        postpone(&part, row, notBefore, now)
    }

    private mutating func retry(
        _ part: inout HeldPart,
        _ row: Int32,
        _ outcome: Outcome,
        _ now: Int64,
        _ answer: inout JournalAnswer
    ) {
        let decision = retryDecision(part, outcome, now)
        if case .again(let notBefore) = decision {
            answer.notBeforeMilliseconds = notBefore
            return postpone(&part, row, notBefore, now)
        }
        if decision == .exhausted {
            giveUp(&part, row, outcome)
        } else {
            expire(&part, row, outcome)
        }
    }

    /// A message that was refused often enough fails.
    ///
    /// The journal keeps what the gateway said: out of it the giving up would come as a fact, which another owner of the part may know
    /// better. It costs one more attempt at most.
    mutating func giveUp(_ part: inout HeldPart, _ row: Int32, _ outcome: Outcome) {
        guard !part.isAmbiguous(row) else { return unknownAfterAll(&part, row, outcome) }
        counters.counts.failed += 1
        final(&part, row, .failed, outcome, tokenEffect: outcome.tokenEffect, isDecision: true)
    }

    /// A message whose next attempt would come after its validity ends.
    mutating func expire(_ part: inout HeldPart, _ row: Int32, _ outcome: Outcome) {
        guard !part.isAmbiguous(row) else { return unknownAfterAll(&part, row, outcome) }
        record(
            &part,
            row: row,
            .ignored,
            reason: "expired",
            httpStatus: outcome.status,
            gatewayMessageID: nil,
            tokenEffect: outcome.tokenEffect,
            failure: outcome.failure
        )
        outbox.countRow(of: part)
    }

    /// An earlier attempt may have arrived, whatever became of this one.
    private mutating func unknownAfterAll(_ part: inout HeldPart, _ row: Int32, _ outcome: Outcome) {
        counters.counts.unknown += 1
        final(&part, row, .unknown, outcome)
    }

    private mutating func retryDecision(_ part: HeldPart, _ outcome: Outcome, _ now: Int64) -> RetryDecision {
        part.delivery.retryPolicy.decide(
            attempt: Int(part.claimed.attempt),
            isAmbiguous: outcome.outcomeClass == .ambiguous,
            retryAfterMilliseconds: outcome.isPauseAdvice ? nil : outcome.retryAfterMilliseconds,
            nowMilliseconds: now,
            validUntilMilliseconds: part.validUntilMilliseconds,
            using: &random
        )
    }

    mutating func postpone(
        _ part: inout HeldPart,
        _ row: Int32,
        _ notBefore: Int64,
        _ now: Int64,
        as kind: PreparedPart.Soft.Kind = .attempt
    ) {
        part.open -= 1
        part.retries.append(
            .init(
                row: row,
                notBeforeMilliseconds: notBefore,
                longestDelayMilliseconds: notBefore - now,
                kind: kind
            )
        )
        counters.counts.retried += 1
        window.leave(1)
    }

    private mutating func final(
        _ part: inout HeldPart,
        _ row: Int32,
        _ status: MessageStatus,
        _ outcome: Outcome,
        tokenEffect: TokenEffect = .none,
        isDecision: Bool = false
    ) {
        record(
            &part,
            row: row,
            status,
            reason: outcome.reason,
            httpStatus: outcome.status,
            gatewayMessageID: outcome.gatewayMessageID,
            tokenEffect: tokenEffect,
            failure: outcome.failure,
            healsErrors: part.heals(row, outcome),
            isFirst: status == .sent && !part.isProven(row),
            isDecision: isDecision
        )
        outbox.countRow(of: part)
    }

    /// Adds a final outcome to the batch for the database.
    ///
    /// - Parameters:
    ///   - isFirst: no message to the push token was taken before.
    ///   - isDecision: a `failed` that no gateway said; other statuses speak for themselves.
    mutating func record(
        _ part: inout HeldPart,
        row: Int32,
        _ status: MessageStatus,
        reason: String,
        httpStatus: Int16,
        gatewayMessageID: String?,
        tokenEffect: TokenEffect = .none,
        failure: MessageFailure? = nil,
        healsErrors: Bool = false,
        isFirst: Bool = false,
        isDecision: Bool = false
    ) {
        part.isDecided(row)
        part.lastBatch = outbox.number
        counters.outcomes.add(status, OutcomeCounts.ReasonClass(status, reason, failure))
        outbox.append(
            of: part,
            row: row,
            status: status,
            httpStatus: httpStatus,
            reason: reason,
            gatewayMessageID: gatewayMessageID,
            tokenEffect: tokenEffect,
            failure: failure,
            healsErrors: healsErrors,
            firstOf: isFirst ? applicationID : nil,
            isDecision: isDecision
        )
    }
}
