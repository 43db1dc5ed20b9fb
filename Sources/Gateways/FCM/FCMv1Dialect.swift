import HTTP2
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What is particular to FCM HTTP v1: its requests, its answers, its access tokens.
final class FCMv1Dialect: GatewayDialect {
    let name = "FCM"
    let answers = AnswerGateway.fcmV1
    let bindsTokenToConnection = false
    private let authority: String
    private let path: [UInt8]
    private let keeper: AccessTokenKeeper
    private let now: @Sendable () -> Date

    init(authority: String, projectID: String, keeper: AccessTokenKeeper, now: @escaping @Sendable () -> Date) {
        self.authority = authority
        path = Array("/v1/projects/\(projectID)/messages:send".utf8)
        self.keeper = keeper
        self.now = now
    }

    func start(onChange: @escaping (AccessTokenKeeper.Change) -> Void) {
        keeper.onChange = onChange
        keeper.start()
    }

    func retryNow() {
        keeper.retryNow()
    }

    func stop() {
        keeper.stop()
    }

    func authorization() -> Authorization {
        keeper.authorization()
    }

    // MARK: Requests

    func flights(
        _ batch: GatewayRequestBatch,
        rows: [Int32]?,
        token: AuthorizationToken,
        tag: () -> Int64
    ) -> [Flight] {
        let requests = HTTP2RequestBatch(
            sharedHeaders: [
                HTTP2HeaderField(":method", "POST"),
                HTTP2HeaderField(":scheme", "https"),
                HTTP2HeaderField(":authority", authority),
                // A secret stays out of HPACK's table.
                HTTP2HeaderField("authorization", token.authorization, indexing: .never),
                HTTP2HeaderField("content-type", "application/json"),
            ],
            perRequestHeaderNames: [],
            capacity: rows?.count ?? batch.count,
            bodyBytes: batch.bodies.bytes.count,
            tag: tag()
        )
        let noValues: [ArraySlice<UInt8>] = []
        let append: (Int) -> Void = { [path] row in
            requests.append(path: path, headerValues: noValues, body: batch.bodies[row])
        }
        if let rows {
            for row in rows { append(Int(row)) }
        } else {
            for row in 0..<batch.count { append(row) }
        }
        return [Flight(batch: batch, rows: rows, generation: token.generation, requests: requests)]
    }

    // MARK: Answers

    func accepted(_ response: HTTP2Response, row: Int32, flight: Flight) -> Outcome? {
        guard let name = FCMSuccessBody.name(in: response.body) else { return nil }
        if keeper.isUnproven { keeper.accepted(generation: flight.generation) }
        return Outcome(index: row, outcomeClass: .accepted, status: 200, gatewayMessageID: name)
    }

    func refused(_ response: HTTP2Response, row: Int32, flight: Flight) -> Verdict {
        let body = FCMErrorBody(response.body)
        var meaning = AnswerTable.fcmV1(status: response.status, reason: body.reason, tokenAtFault: body.tokenAtFault)
        var makesWaitingAnew = false
        if meaning.application == .renewToken {
            makesWaitingAnew = tokenRejected(generation: flight.generation, &meaning)
        }
        var asked: Int32?
        if meaning.outcomeClass == .retry {
            let seconds = Int64(now().timeIntervalSince1970)
            asked = response.retryAfter.flatMap { RetryAfter.milliseconds($0, now: seconds) }
        }
        let outcome = Outcome(
            index: row,
            outcomeClass: meaning.outcomeClass,
            status: response.status,
            reason: body.reason,
            tokenEffect: meaning.tokenEffect(timestamp: nil),
            retryAfterMilliseconds: meaning.outcomeClass == .retry ? asked ?? meaning.delayMilliseconds : nil,
            isPauseAdvice: asked == nil && meaning.delayMilliseconds != nil,
            applicationWide: meaning.application == .stop || meaning.application == .pause,
            isTokenDoubtful: meaning.isDoubtful,
            failure: meaning.failure,
            fault: meaning.answerFault
        )
        return Verdict(outcome: outcome, row: meaning, text: body.message, makesWaitingAnew: makesWaitingAnew)
    }

    func tokenRejected(generation: Int, _ row: inout AnswerRow) -> Bool {
        let isNews = keeper.isCurrent(generation: generation)
        guard let failure = keeper.rejected(generation: generation) else { return isNews }
        row.outcomeClass = .stopApplication
        row.application = .stop
        row.explanation = failure.message
        return false
    }

    func goAway(debugData: [UInt8]) -> (reason: String, row: AnswerRow) {
        let reason = ReasonText.storable(String(decoding: debugData, as: UTF8.self))
        return (reason, AnswerTable.fcmV1GoAway(reason: reason))
    }
}
