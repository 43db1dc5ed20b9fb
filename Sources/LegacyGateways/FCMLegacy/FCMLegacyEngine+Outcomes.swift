import CurlClient
import Gateways
import NIOCore
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Resolves the messages of ended requests.
extension FCMLegacyEngine {
    /// Resolves the messages of an answered request.
    func answered(_ transfer: LegacyTransfer, _ response: CurlResponse) {
        let request = transfer.request
        let answer = LegacyAnswer(status: response.status, body: response.body, count: request.rows.count)
        // Every answer that may carry results counts as 200.
        let status: Int16 = (200..<300).contains(response.status) ? 200 : Int16(clamping: response.status)
        let seconds = Int64(now().timeIntervalSince1970)
        let pause = response.header("retry-after").flatMap { RetryAfter.milliseconds($0, now: seconds) }
        var work = FollowUp()
        var outcomes: [Outcome] = []
        outcomes.reserveCapacity(request.rows.count)
        for (row, result) in zip(request.rows, answer.results) {
            switch result {
            case .accepted(let messageID, let canonical):
                work.hasAccepted = true
                outcomes.append(accepted(row, status, messageID, canonical, request.batch))
            case .refused(let reason):
                let meaning = AnswerTable.fcmLegacy(status: status, reason: reason, isPage: answer.isPage)
                let decision = Decision(
                    outcome: refused(row, status, reason, meaning, pause),
                    row: meaning,
                    text: answer.message == reason ? "" : answer.message
                )
                work.note(decision, of: request.batch.deliveryID)
                outcomes.append(decision.outcome)
            case .unreadable:
                outcomes.append(refused(row, status, LegacyAnswer.unreadable, GatewayAnswers.fcmLegacy.malformed, nil))
            }
        }
        resolve(request, outcomes, latency: transfer.latency(now: .now()))
        follow(work)
    }

    private func accepted(
        _ row: Int32,
        _ status: Int16,
        _ messageID: String?,
        _ canonical: String?,
        _ batch: GatewayRequestBatch
    ) -> Outcome {
        var outcome = Outcome(index: row, outcomeClass: .accepted, status: status, gatewayMessageID: messageID)
        if let canonical, !canonical.utf8.elementsEqual(batch.tokens[Int(row)]) {
            outcome.tokenEffect = AnswerTable.fcmLegacyReplaced.tokenEffect(timestamp: nil, canonical: canonical)
        }
        return outcome
    }

    private func refused(
        _ row: Int32,
        _ status: Int16,
        _ reason: String,
        _ meaning: AnswerRow,
        _ pause: Int32?
    ) -> Outcome {
        Outcome(
            index: row,
            outcomeClass: meaning.outcomeClass,
            status: status,
            reason: reason,
            tokenEffect: meaning.tokenEffect(timestamp: nil),
            retryAfterMilliseconds: meaning.outcomeClass == .retry ? pause ?? meaning.delayMilliseconds : nil,
            isPauseAdvice: pause == nil && meaning.delayMilliseconds != nil,
            applicationWide: meaning.application == .stop || meaning.application == .pause,
            isTokenDoubtful: meaning.isDoubtful,
            failure: meaning.failure,
            fault: meaning.answerFault
        )
    }

    private func follow(_ work: FollowUp) {
        if work.hasAccepted, reports.isInTrouble { tell(reports.accepted()) }
        for decision in work.decisions { tell(reports.answer(decision)) }
    }

    /// Resolves the messages of a request that left but got no answer.
    func unanswered(_ transfer: LegacyTransfer, _ error: CurlError) {
        let reason =
            switch error.code {
            case .cancelled, .timeout: "Timeout"
            case .responseTooLarge: "AnswerTooLarge"
            default: "ConnectionLost"
            }
        let meaning = GatewayAnswers.fcmLegacy.noAnswer(reason: reason, isWritten: error.mayHaveBeenSent)
        resolve(
            transfer.request,
            transfer.request.rows.map { row in
                Outcome(index: row, outcomeClass: meaning.outcomeClass, reason: reason, failure: meaning.failure)
            },
            latency: transfer.latency(now: .now())
        )
    }

    /// Resolves messages that have not left.
    func giveBack(_ requests: [LegacyRequest]) {
        let meaning = GatewayAnswers.fcmLegacy.noAnswer(reason: NoAnswerReason.cancelled, isWritten: false)
        var resolved = ResolvedBatches(expected: 0)
        for request in requests {
            for row in request.rows {
                let outcome = Outcome(
                    index: row,
                    outcomeClass: .unprocessed,
                    reason: NoAnswerReason.cancelled,
                    failure: meaning.failure,
                    neverLeft: true
                )
                resolved.add(outcome, 0, request.batch)
            }
        }
        for batch in resolved.all {
            delegate.resolved(batch.batch, batch.outcomes, latencyMicroseconds: batch.latencies)
        }
    }

    /// Resolves messages whose body cannot be made into a request.
    func refuse(_ request: LegacyRequest) {
        let reason = "MalformedPayload: the payload is not a JSON object"
        let meaning = GatewayAnswers.fcmLegacy.check(reason: reason)
        let outcomes = request.rows.map { row in
            Outcome(
                index: row,
                outcomeClass: meaning.outcomeClass,
                reason: reason,
                failure: meaning.failure,
                neverLeft: true
            )
        }
        resolve(request, outcomes, latency: 0)
    }

    private func resolve(_ request: LegacyRequest, _ outcomes: [Outcome], latency: UInt32) {
        delegate.resolved(
            request.batch,
            outcomes,
            latencyMicroseconds: Array(repeating: latency, count: outcomes.count)
        )
    }
}
