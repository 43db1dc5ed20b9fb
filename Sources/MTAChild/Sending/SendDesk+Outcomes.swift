import Gateways
import PushCore
import Store

/// What the gateway's answers mean for the messages.
extension SendDesk {
    mutating func settled(_ batchID: Int64, _ settled: [Outcome], _ now: Int64, _ actions: inout [Action]) {
        guard var flight = flights[batchID], var part = parts[flight.holding] else { return }
        var answers: [JournalAnswer] = []
        answers.reserveCapacity(settled.count)
        let hadResends = !flight.resend.isEmpty
        for outcome in settled where outcome.index >= 0 && Int(outcome.index) < flight.rows.count {
            let row = flight.rows[Int(outcome.index)]
            part.inGateway -= 1
            var answer = JournalAnswer(
                sequence: part.sequences[Int(row)],
                outcomeClass: outcome.outcomeClass,
                status: outcome.status,
                attempt: part.claimed.attempt,
                reason: outcome.reason,
                gatewayMessageID: outcome.gatewayMessageID,
                tokenEffect: outcome.tokenEffect
            )
            if outcome.outcomeClass == .unprocessed, flight.attempt <= RetryPolicy.maximumUnprocessedResends {
                flight.resend.append(outcome.index)
            } else {
                flight.open -= 1
                answer.notBeforeMilliseconds = decide(&part, row, outcome, now)
            }
            answers.append(answer)
        }
        counters.progress += 1
        parts[flight.holding] = part
        flights[batchID] = flight.open > 0 ? flight : nil
        var journal: [UInt8] = []
        journal.reserveCapacity(answers.count * 12 + 64)
        JournalEncoder.appendAnswers(
            part: part.claimed.id,
            token: part.claimed.fencingToken,
            timeMilliseconds: now,
            answers,
            to: &journal
        )
        actions.append(.journal(journal))
        closeIfDone(flight.holding, now, &actions)
        if !flight.resend.isEmpty {
            if part.isFenced || isHurrying {
                abandon(batchID, &actions)
            } else if !hadResends {
                actions.append(.resendLater(batchID: batchID, attempt: flight.attempt))
            }
        }
        dropIfGone(flight.holding, &actions)
        if !outcomes.isEmpty { actions.append(.store(isFull: outcomes.count >= batchSize)) }
    }

    /// Decides about one message.
    /// - Returns: when it may be tried again, if it may.
    private mutating func decide(_ part: inout HeldPart, _ row: Int32, _ outcome: Outcome, _ now: Int64) -> Int64? {
        switch outcome.outcomeClass {
        case .accepted:
            counters.sent += 1
            final(&part, row, .sent, outcome)
        case .permanent:
            counters.failed += 1
            final(&part, row, .failed, outcome)
            noteToken(part, row, outcome)
        case .ambiguous where part.delivery.ambiguityPolicy == .report:
            counters.unknown += 1
            final(&part, row, .unknown, outcome)
        case .ambiguous:
            part.resent += 1
            counters.resentAfterAmbiguity += 1
            return retry(&part, row, outcome, now)
        case .retry, .unprocessed:
            return retry(&part, row, outcome, now)
        case .stopApplication:
            return keep(&part, row, outcome, now)
        }
        return nil
    }

    private mutating func retry(_ part: inout HeldPart, _ row: Int32, _ outcome: Outcome, _ now: Int64) -> Int64? {
        guard !part.isFenced else {
            unsettled -= 1
            return nil
        }
        let decision = part.delivery.retryPolicy.decide(
            attempt: Int(part.claimed.attempt),
            retryAfterMilliseconds: outcome.retryAfterMilliseconds,
            nowMilliseconds: now,
            validUntilMilliseconds: part.delivery.validUntilMilliseconds,
            using: &random
        )
        switch decision {
        case .again(let notBefore):
            postpone(&part, row, notBefore)
            return notBefore
        case .expired:
            record(&part, row: row, .ignored, reason: "expired", httpStatus: outcome.status, gatewayMessageID: nil)
        case .exhausted:
            counters.failed += 1
            record(&part, row: row, .failed, reason: outcome.reason, httpStatus: outcome.status, gatewayMessageID: nil)
        }
        outcomeWindowRows += 1
        return nil
    }

    /// Every message of the application is being refused: this one is not at fault, so it waits, however often it takes.
    private mutating func keep(_ part: inout HeldPart, _ row: Int32, _ outcome: Outcome, _ now: Int64) -> Int64? {
        guard !part.isFenced else {
            unsettled -= 1
            return nil
        }
        // A minute is time for an operator to act, and short enough to notice that he has.
        let notBefore = now + 60_000
        if part.delivery.isExpired(atMilliseconds: notBefore) {
            record(&part, row: row, .ignored, reason: "expired", httpStatus: outcome.status, gatewayMessageID: nil)
            outcomeWindowRows += 1
            return nil
        }
        postpone(&part, row, notBefore)
        return notBefore
    }

    private mutating func postpone(_ part: inout HeldPart, _ row: Int32, _ notBefore: Int64) {
        part.open -= 1
        part.retries.append(.init(sequence: part.sequences[Int(row)], notBeforeMilliseconds: notBefore))
        counters.retried += 1
        unsettled -= 1
    }

    private mutating func final(_ part: inout HeldPart, _ row: Int32, _ status: MessageStatus, _ outcome: Outcome) {
        record(
            &part,
            row: row,
            status,
            reason: outcome.reason,
            httpStatus: outcome.status,
            gatewayMessageID: outcome.gatewayMessageID
        )
        outcomeWindowRows += 1
    }

    /// Adds a final outcome to the batch for the database.
    mutating func record(
        _ part: inout HeldPart,
        row: Int32,
        _ status: MessageStatus,
        reason: String,
        httpStatus: Int16,
        gatewayMessageID: String?
    ) {
        part.open -= 1
        outcomes.append(
            part: part.claimed.id,
            token: part.claimed.fencingToken,
            sequence: part.sequences[Int(row)],
            subscriptionID: part.subscriptionIDs[Int(row)],
            status: status,
            httpStatus: httpStatus,
            reason: reason,
            gatewayMessageID: gatewayMessageID,
            attempt: part.claimed.attempt
        )
    }

    private mutating func noteToken(_ part: HeldPart, _ row: Int32, _ outcome: Outcome) {
        guard case .invalid(let since) = outcome.tokenEffect else { return }
        outcomes.tokenEvents.append(
            TokenEventRow(
                applicationID: applicationID,
                subscriptionID: part.subscriptionIDs[Int(row)],
                kind: .invalid,
                deliveryID: part.claimed.deliveryID,
                sequence: part.sequences[Int(row)],
                reason: outcome.reason,
                sinceMilliseconds: since
            )
        )
    }
}
