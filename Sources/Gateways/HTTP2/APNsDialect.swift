import HTTP2
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The APNs specifics: its requests, its answers, its provider tokens.
final class APNsDialect: GatewayDialect {
    let name = "APNs"
    let answers = GatewayAnswers.apnsHTTP2
    /// APNs allows one token change per connection in 20 minutes, and a young connection may carry an old token.
    let bindsTokenToConnection = true
    /// A placeholder for the token, which a certificate makes unnecessary; it never changes.
    private static let noToken = AuthorizationToken(generation: 1, authorization: "")
    private let authority: String
    private let topic: String
    private let authentication: APNsAuthentication
    private let now: @Sendable () -> Date
    /// The newest token generation that APNs reported as expired; further reports for it need no action.
    private var lastExpiredGeneration = 0

    init(
        authority: String,
        topic: String,
        authentication: APNsAuthentication,
        now: @escaping @Sendable () -> Date
    ) {
        self.authority = authority
        self.topic = topic
        self.authentication = authentication
        self.now = now
    }

    func start(onChange: @escaping (AccessTokenRefresh.Change) -> Void) {}

    func retryNow() {}

    func stop() {}

    func authorization() -> Authorization {
        guard case .providerTokens(let tokens) = authentication else { return .ready(Self.noToken) }
        do {
            return .ready(try tokens.current())
        } catch {
            let text = "no provider token could be signed with \(tokens.key): set the key again"
            return .refused(TokenFailure(kind: .refused, reason: "SigningFailed", message: text))
        }
    }

    // MARK: Requests

    func flights(
        _ batch: GatewayRequestBatch,
        rows: [Int32]?,
        token: AuthorizationToken,
        tag: () -> Int64
    ) -> [Flight] {
        let shared = sharedHeaders(batch.attributes, token)
        guard let collapseIDs = batch.collapseIDs else {
            return [plainFlight(batch, rows: rows, shared: shared, generation: token.generation, tag: tag())]
        }
        let all = rows ?? Array(0..<Int32(batch.count))
        let without = all.filter { collapseIDs.isNull(Int($0)) }
        let with = all.filter { !collapseIDs.isNull(Int($0)) }
        var flights: [Flight] = []
        if !without.isEmpty {
            flights.append(
                plainFlight(batch, rows: without, shared: shared, generation: token.generation, tag: tag())
            )
        }
        if !with.isEmpty {
            let requests = collapsing(batch, collapseIDs, rows: with, shared: shared, tag: tag())
            flights.append(Flight(batch: batch, rows: with, generation: token.generation, requests: requests))
        }
        return flights
    }

    private func sharedHeaders(_ attributes: MessageAttributes, _ token: AuthorizationToken) -> [HTTP2HeaderField] {
        var fields = [
            HTTP2HeaderField(":method", "POST"),
            HTTP2HeaderField(":scheme", "https"),
            HTTP2HeaderField(":authority", authority),
        ]
        if !token.authorization.isEmpty {
            fields.append(HTTP2HeaderField("authorization", token.authorization))
        }
        for field in attributes.apnsFields(topic: topic, now: Int64(now().timeIntervalSince1970)) {
            fields.append(HTTP2HeaderField(field.name, field.value, indexing: field.isVolatile ? .name : .value))
        }
        return fields
    }

    private func plainFlight(
        _ batch: GatewayRequestBatch,
        rows: [Int32]?,
        shared: [HTTP2HeaderField],
        generation: Int,
        tag: Int64
    ) -> Flight {
        let (tokens, bodies) = (batch.tokens, batch.bodies)
        let requests = HTTP2RequestBatch(
            sharedHeaders: shared,
            perRequestHeaderNames: ["apns-id"],
            capacity: rows?.count ?? batch.count,
            bodies: bodies.bytes,
            tag: tag
        )
        var id: [UInt8] = []
        id.reserveCapacity(MessageUUID.textLength)
        let append: (Int) -> Void = { row in
            id.removeAll(keepingCapacity: true)
            batch.messageIDs[row].appendText(to: &id)
            requests.append(
                pathPrefix: "/3/device/",
                pathSuffix: tokens[row],
                headerValue: id[...],
                bodyIn: bodies.range(row)
            )
        }
        if let rows {
            for row in rows { append(Int(row)) }
        } else {
            for row in 0..<batch.count { append(row) }
        }
        return Flight(batch: batch, rows: rows, generation: generation, requests: requests)
    }

    /// Requests with a collapse id each, which replaces the shared one.
    private func collapsing(
        _ batch: GatewayRequestBatch,
        _ collapseIDs: ByteColumn,
        rows: [Int32],
        shared: [HTTP2HeaderField],
        tag: Int64
    ) -> HTTP2RequestBatch {
        let (tokens, bodies) = (batch.tokens, batch.bodies)
        let requests = HTTP2RequestBatch(
            sharedHeaders: shared.filter { $0.name != "apns-collapse-id" },
            perRequestHeaderNames: ["apns-id", "apns-collapse-id"],
            capacity: rows.count,
            bodyBytes: bodies.bytes.count,
            tag: tag
        )
        for row in rows.lazy.map(Int.init) {
            var id: [UInt8] = []
            batch.messageIDs[row].appendText(to: &id)
            let path = Array("/3/device/".utf8) + tokens[row]
            requests.append(path: path, headerValues: [id[...], collapseIDs[row]], body: bodies[row])
        }
        return requests
    }

    // MARK: Answers

    func accepted(_ response: HTTP2Response, row: Int32, flight: Flight) -> Outcome? {
        // APNs returns the message's `apns-id` and nothing else; any other 200 did not accept the message.
        guard response.echoesRequest, response.body.isEmpty else { return nil }
        return Outcome(index: row, outcomeClass: .accepted, status: 200)
    }

    func refused(_ response: HTTP2Response, row: Int32, flight: Flight) -> Decision {
        let body = APNsErrorBody(response.body)
        var meaning = AnswerTable.apns(
            status: response.status,
            reason: body.reason,
            isSuffixed: !flight.batch.attributes.topicSuffix.isEmpty
        )
        var asked: Int32?
        var makesWaitingAnew = false
        if meaning.outcomeClass == .retry {
            let seconds = Int64(now().timeIntervalSince1970)
            asked = response.retryAfter.flatMap { RetryAfter.milliseconds($0, now: seconds) }
        }
        if meaning.application == .renewToken {
            makesWaitingAnew = tokenRejected(generation: flight.generation, &meaning)
        }
        let outcome = Outcome(
            index: row,
            outcomeClass: meaning.outcomeClass,
            status: response.status,
            reason: body.reason,
            tokenEffect: meaning.tokenEffect(timestamp: body.timestamp),
            retryAfterMilliseconds: meaning.outcomeClass == .retry ? asked ?? meaning.delayMilliseconds : nil,
            isPauseAdvice: asked == nil && meaning.delayMilliseconds != nil,
            applicationWide: meaning.application == .stop || meaning.application == .pause,
            isTokenDoubtful: meaning.isDoubtful,
            failure: meaning.failure,
            fault: meaning.answerFault
        )
        return Decision(outcome: outcome, row: meaning, makesWaitingAnew: makesWaitingAnew)
    }

    /// Reacts to a provider token that APNs reports as expired; returns whether this is the first report for the token.
    func tokenRejected(generation: Int, _ meaning: inout AnswerRow) -> Bool {
        guard case .providerTokens(let tokens) = authentication else {
            meaning.outcomeClass = .stopApplication
            meaning.application = .stop
            meaning.explanation =
                "APNs refuses a provider token although a certificate is used: check that the address is the gateway's and what "
                + "proxies do"
            return false
        }
        let isNews = generation > lastExpiredGeneration
        lastExpiredGeneration = max(lastExpiredGeneration, generation)
        // The connections were replaced for this token already.
        if !isNews { meaning.connection = .keep }
        guard case .tooEarly(let seconds)? = try? tokens.rejected(generation: generation) else { return isNews }
        // A young token that Apple considers too old: the clock behind `iat` is wrong.
        meaning.outcomeClass = .stopApplication
        meaning.application = .stop
        meaning.explanation =
            "the provider token is less than 20 minutes old but too old on Apple's clock, and may not be renewed for another "
            + "\(seconds) s: check the database host's clock"
        return false
    }

    func goAway(debugData: [UInt8]) -> (reason: String, row: AnswerRow) {
        let body = APNsErrorBody(debugData)
        let reason = body.reason.isEmpty ? ReasonText.storable(String(decoding: debugData, as: UTF8.self)) : body.reason
        return (reason, answers.goAway(reason: reason))
    }
}

extension MessageAttributes {
    /// A header field of a request to APNs.
    package struct HeaderField: Sendable, Hashable {
        /// Its name, in lower case.
        package let name: String
        package let value: String
        /// Whether its value changes every second, so that it would only fill the connection's header table.
        package let isVolatile: Bool

        init(_ name: String, _ value: String, isVolatile: Bool = false) {
            self.name = name
            // APNs would reset a request that HTTP/2 calls malformed without an answer.
            self.value = HeaderText.cleaned(value)
            self.isVolatile = isVolatile
        }
    }

    /// The header fields that all APNs requests with these attributes share, except authorization and path.
    ///
    /// - Parameters:
    ///   - topic: the application's bundle id.
    ///   - now: the time from which the expiration counts, in seconds since 1970.
    package func apnsFields(topic: String, now: Int64) -> [HeaderField] {
        var fields = [
            HeaderField("apns-topic", HeaderText.cleaned(topic) + topicSuffix),
            HeaderField("apns-push-type", pushType.rawValue),
        ]
        if let priority { fields.append(HeaderField("apns-priority", String(priority))) }
        if let expiration = expiration(now: now) {
            fields.append(
                HeaderField("apns-expiration", String(expiration.moment), isVolatile: expiration.isVolatile)
            )
        }
        if let collapseID { fields.append(HeaderField("apns-collapse-id", collapseID)) }
        return fields
    }
}

/// The JSON object of an APNs error, in a response or in the debug data of GOAWAY.
struct APNsErrorBody: Sendable, Equatable {
    /// The reason, verbatim; empty if there is none.
    var reason = ""
    /// When the token became invalid, in milliseconds since 1970; nil if missing or implausible.
    var timestamp: Int64?

    private struct Fields: Decodable {
        var reason: String?
        var timestamp: Int64?

        enum CodingKeys: CodingKey {
            case reason, timestamp
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            // A field of an unexpected type must not hide the other one.
            reason = try? values.decode(String.self, forKey: .reason)
            timestamp = try? values.decode(Int64.self, forKey: .timestamp)
        }
    }

    /// Reads a body; missing or malformed parts are omitted.
    init(_ body: [UInt8]) {
        guard !body.isEmpty, let fields = try? JSONBody.decode(Fields.self, from: body) else {
            return
        }
        reason = ReasonText.storable(fields.reason ?? "")
        timestamp = TokenEffect.credibleTime(fields.timestamp)
    }
}
