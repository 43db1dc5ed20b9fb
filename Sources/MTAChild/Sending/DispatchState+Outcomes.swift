import Gateways
import PushCore
import Store

/// What the gateway's answers mean for the messages.
extension DispatchState {
    /// What one call from the gateway brought, apart from message outcomes.
    private struct Results {
        var answers: JournalAnswers
        /// Why every message of the application is refused; nil if that is not the case.
        var stopReason: String?
        /// Why every message of the delivery is refused; nil if that is not the case.
        var holdReason: String?
        /// Whether the gateway accepted a message, or recognized its token.
        var hasWorked = false
        /// The credential, in the gateway's words, that an accepted message had waited for; nil if there is none.
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
        // Both calls look the part up, and with a gateway that answers out of order most calls bring a single answer.
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
        case .unprocessed where flight.attempt <= RetryPolicy.maxUnprocessedResends:
            flight.resend.append(outcome.index)
        case .stopApplication:
            flight.unsent.append(outcome.index)
            if results.stopReason == nil { results.stopReason = "\(outcome.status) \(outcome.reason)" }
        case .stopDelivery:
            flight.unsent.append(outcome.index)
            if results.holdReason == nil {
                results.holdReason = topicReason(outcome, flight.batch.attributes.pushType)
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
            if outcome.isAnswer { guards.application.count(hasWorked: Self.hasWorked(outcome)) }
            if Self.hasWorked(outcome) { results.hasWorked = true }
            // A message refused by this child's own checks says nothing about the gateway.
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
        // The journal does not know messages without an intent; an intent may cover more than the connection took.
        if !outcome.neverLeft || flight.hasDeparted(outcome.index) { results.answers.append(answer) }
    }

    /// Whether an answer that condemns a push token has to wait for other answers: taken together, they may have
    /// another cause.
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
            // A token that has never worked is not disabled by one refusal, whatever its fault; nor is one whose part
            // goes alone.
            if !part.isProven(row) || weight == .none, case .invalid = outcome.tokenEffect {
                outcome.tokenEffect = .softError
            }
            guards.application.hold(part.claim, row: row, outcome, weight: weight)
        }
    }

    /// Whether the answer proves that credential and topic are right: a message was accepted, or a token was found to
    /// be no longer valid.
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

    /// A new journal record for answers to a part's messages.
    private static func answers(of part: HeldPart, _ now: Int64, capacity: Int = 1) -> JournalAnswers {
        JournalAnswers(
            part: part.claimed.id,
            token: part.claimed.fencingToken,
            timeMilliseconds: now,
            capacity: capacity
        )
    }

    /// Journals the decision about one message of a part.
    static func journal(_ answer: JournalAnswer, of part: HeldPart, _ now: Int64, _ actions: inout [Action]) {
        var answers = answers(of: part, now)
        answers.append(answer)
        actions.append(.journal(answers.record()))
    }

    /// Delays messages that came back unsent, so that a gateway that takes nothing causes no busy loop.
    private mutating func wait(_ batchID: Int64, _ actions: inout [Action]) {
        guard var flight = flights[batchID], flight.waiting > 0, !flight.hasPause else { return }
        flight.hasPause = true
        flights.put(flight)
        actions.append(.resendLater(batchID: batchID, attempt: flight.resend.isEmpty ? 1 : flight.attempt))
    }
}

/// What becomes of a message after its answer: a final outcome, or a retry.
extension DispatchState {
    /// Decides one message, and notes the decision in its journal answer.
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
        // The remaining cases are decisions, and a fenced owner makes none.
        case .permanent, .ambiguous, .retry, .unprocessed, .stopApplication, .stopDelivery:
            // A replay of the journal would take it for a fact; another owner of the part asks again.
            if outcome.outcomeClass == .permanent { answer.outcomeClass = .ambiguous }
            guard !part.isFenced else {
                window.leave(1)
                return
            }
            switch outcome.outcomeClass {
            case .permanent:
                // The message is refused now, but an earlier attempt may have arrived.
                counters.counts.unknown += 1
                final(&part, row, .unknown, outcome, tokenEffect: outcome.tokenEffect)
            case .ambiguous: ambiguous(&part, row, outcome, now, &answer)
            default: retry(&part, row, outcome, now, &answer)
            }
        }
    }

    /// Decides a message that left the window when it was held undecided, so that neither its outcome nor its retry
    /// counts as leaving again.
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

    /// Whether the token is invalid, so that no earlier attempt can have arrived either.
    private static func saysTokenIsDead(_ outcome: Outcome) -> Bool {
        if case .invalid = outcome.tokenEffect { true } else { false }
    }

    /// A message that may have arrived goes to a retry part. If it must not or cannot be resent, it ends as `unknown`.
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

    /// A message that was refused too often fails.
    ///
    /// The journal keeps only the gateway's answer. If it held the failure, a replay would take it for a fact, although
    /// another owner of the part may know better. That costs at most one more attempt.
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

    /// Ends a message as `unknown`: an earlier attempt may have arrived, whatever became of this one.
    private mutating func unknownAfterAll(_ part: inout HeldPart, _ row: Int32, _ outcome: Outcome) {
        counters.counts.unknown += 1
        final(&part, row, .unknown, outcome)
    }

    private mutating func retryDecision(_ part: HeldPart, _ outcome: Outcome, _ now: Int64) -> RetryDecision {
        var asked = outcome.retryAfterMilliseconds
        // Only documentation asks for an advised pause, so it does not make a message expire.
        if outcome.isPauseAdvice, let pause = asked, let end = part.validUntilMilliseconds, now + Int64(pause) > end {
            asked = nil
        }
        return part.delivery.retryPolicy.decide(
            attempt: Int(part.claimed.attempt),
            isAmbiguous: outcome.outcomeClass == .ambiguous,
            retryAfterMilliseconds: asked,
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
                maxDelayMilliseconds: notBefore - now,
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
    ///   - isFirst: whether no message to the push token was accepted before.
    ///   - isDecision: whether this child decided a `failed` that the gateway did not send; other statuses need no such
    ///     mark.
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
