import Gateways
import PushCore
import Store

/// What becomes of a message after an answer: final, or again.
extension SendDesk {
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
            counters.sent += 1
            final(&part, row, .sent, outcome, tokenEffect: outcome.tokenEffect)
        case .permanent where !part.isInDoubt(row) || Self.saysTokenIsDead(outcome):
            counters.failed += 1
            final(&part, row, .failed, outcome, tokenEffect: outcome.tokenEffect)
        // The rest are decisions: a fenced owner makes none.
        case .permanent, .ambiguous, .retry, .unprocessed, .stopApplication, .stopDelivery:
            // In the journal it would come as a fact; another owner of the part asks once more.
            if outcome.outcomeClass == .permanent { answer.outcomeClass = .ambiguous }
            guard !part.isFenced else {
                unsettled -= 1
                return
            }
            switch outcome.outcomeClass {
            case .permanent:
                // What is refused now may have arrived with an earlier attempt.
                counters.unknown += 1
                final(&part, row, .unknown, outcome, tokenEffect: outcome.tokenEffect)
            case .ambiguous: inDoubt(&part, row, outcome, now, &answer)
            default: retry(&part, row, outcome, now, &answer)
            }
        }
    }

    /// To such a token no attempt has got through.
    private static func saysTokenIsDead(_ outcome: Outcome) -> Bool {
        if case .invalid = outcome.tokenEffect { true } else { false }
    }

    /// A message that may have been taken goes to a retry part or, if it must not or cannot be sent again, is `unknown`.
    private mutating func inDoubt(
        _ part: inout HeldPart,
        _ row: Int32,
        _ outcome: Outcome,
        _ now: Int64,
        _ answer: inout JournalAnswer
    ) {
        guard part.delivery.ambiguityPolicy == .resend, case .again(let notBefore) = retryDecision(part, outcome, now)
        else {
            counters.unknown += 1
            part.reported.insert(row)
            final(&part, row, .unknown, outcome)
            return
        }
        part.unanswered.insert(row)
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
        guard !part.isInDoubt(row) else { return unknownAfterAll(&part, row, outcome) }
        counters.failed += 1
        final(&part, row, .failed, outcome, tokenEffect: outcome.tokenEffect, isDecision: true)
    }

    /// A message whose next attempt would come after its validity ends.
    mutating func expire(_ part: inout HeldPart, _ row: Int32, _ outcome: Outcome) {
        guard !part.isInDoubt(row) else { return unknownAfterAll(&part, row, outcome) }
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
        outcomeWindowRows += 1
    }

    /// An earlier attempt may have arrived, whatever became of this one.
    private mutating func unknownAfterAll(_ part: inout HeldPart, _ row: Int32, _ outcome: Outcome) {
        counters.unknown += 1
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
        countsAttempt: Bool = true
    ) {
        part.open -= 1
        part.retries.append(
            .init(
                row: row,
                notBeforeMilliseconds: notBefore,
                longestDelayMilliseconds: notBefore - now,
                countsAttempt: countsAttempt
            )
        )
        counters.retried += 1
        unsettled -= 1
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
        outcomeWindowRows += 1
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
        part.lastBatch = batchNumber
        outcomes.append(
            part: part.claimed.id,
            token: part.claimed.fencingToken,
            sequence: part.sequences[Int(row)],
            subscriptionID: part.subscriptionIDs[Int(row)],
            status: status,
            httpStatus: httpStatus,
            reason: reason,
            gatewayMessageID: gatewayMessageID,
            attempt: part.claimed.attempt,
            tokenEffect: tokenEffect,
            failure: failure,
            healsErrors: healsErrors,
            firstOf: isFirst ? applicationID : nil,
            isDecision: isDecision
        )
    }
}
