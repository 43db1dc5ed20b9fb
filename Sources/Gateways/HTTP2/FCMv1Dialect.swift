import HTTP2
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The FCM HTTP v1 specifics: its requests, its answers, its access tokens.
final class FCMv1Dialect: GatewayDialect {
    let name = "FCM"
    let answers = GatewayAnswers.fcmV1
    let bindsTokenToConnection = false
    private let authority: String
    private let path: String
    /// The prefix of the project's message names.
    private let namePrefix: [UInt8]
    private let refresh: AccessTokenRefresh
    private let now: @Sendable () -> Date

    init(authority: String, projectID: String, refresh: AccessTokenRefresh, now: @escaping @Sendable () -> Date) {
        self.authority = authority
        path = "/v1/projects/\(projectID)/messages:send"
        namePrefix = Array("projects/\(projectID)/messages/".utf8)
        self.refresh = refresh
        self.now = now
    }

    func start(onChange: @escaping (AccessTokenRefresh.Change) -> Void) {
        refresh.onChange = onChange
        refresh.start()
    }

    func retryNow() {
        refresh.retryNow()
    }

    func stop() {
        refresh.stop()
    }

    func authorization() -> Authorization {
        refresh.authorization()
    }

    // MARK: Requests

    func flights(
        _ batch: GatewayRequestBatch,
        rows: [Int32]?,
        token: AuthorizationToken,
        tag: () -> Int64
    ) -> [Flight] {
        let bodies = batch.bodies
        let requests = HTTP2RequestBatch(
            sharedHeaders: [
                HTTP2HeaderField(":method", "POST"),
                HTTP2HeaderField(":scheme", "https"),
                HTTP2HeaderField(":authority", authority),
                HTTP2HeaderField(":path", path),
                HTTP2HeaderField("authorization", token.authorization),
                HTTP2HeaderField("content-type", "application/json"),
            ],
            perRequestHeaderNames: [],
            capacity: rows?.count ?? batch.count,
            bodies: bodies.bytes,
            tag: tag()
        )
        if let rows {
            for row in rows { requests.append(bodyIn: bodies.range(Int(row))) }
        } else {
            for row in 0..<batch.count { requests.append(bodyIn: bodies.range(row)) }
        }
        return [Flight(batch: batch, rows: rows, generation: token.generation, requests: requests)]
    }

    // MARK: Answers

    func accepted(_ response: HTTP2Response, row: Int32, flight: Flight) -> Outcome? {
        guard let name = FCMSuccessBody.name(in: response.body, without: namePrefix) else { return nil }
        if refresh.isUnproven { refresh.accepted(generation: flight.generation) }
        return Outcome(index: row, outcomeClass: .accepted, status: 200, gatewayMessageID: name)
    }

    func refused(_ response: HTTP2Response, row: Int32, flight: Flight) -> Decision {
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
        return Decision(outcome: outcome, row: meaning, text: body.message, makesWaitingAnew: makesWaitingAnew)
    }

    func tokenRejected(generation: Int, _ row: inout AnswerRow) -> Bool {
        let isNews = refresh.isCurrent(generation: generation)
        guard let failure = refresh.rejected(generation: generation) else { return isNews }
        row.outcomeClass = .stopApplication
        row.application = .stop
        row.explanation = failure.message
        return false
    }

    func goAway(debugData: [UInt8]) -> (reason: String, row: AnswerRow) {
        let reason = ReasonText.storable(String(decoding: debugData, as: UTF8.self))
        return (reason, answers.goAway(reason: reason))
    }
}

/// The JSON object of an FCM HTTP v1 error, a `google.rpc.Status`.
package struct FCMErrorBody: Sendable, Equatable {
    /// The FCM error code, else the reason of `google.rpc.ErrorInfo`, else the status text, verbatim; empty if the body
    /// has none of them.
    package var reason = ""
    /// The human-readable text.
    package var message = ""
    /// Whether the error names the push token as its cause.
    package var tokenAtFault = false

    /// Reads a body; missing or malformed parts are omitted.
    package init(_ body: [UInt8]) {
        guard let first = body.first(where: { $0 > 0x20 }), first == UInt8(ascii: "{"),
            let error = (try? JSONBody.decode(FCMErrorFields.Envelope.self, from: body))?.error
        else { return }
        message = ReasonText.storable(error.message ?? "")
        let details = error.details ?? []
        let code = details.lazy.filter { $0.type?.hasSuffix("fcm.v1.FcmError") ?? false }.compactMap(\.errorCode).first
        let info = details.first { $0.type?.hasSuffix("rpc.ErrorInfo") ?? false }
        // The project's quota is more specific than the error code, which is the same for a device's quota.
        let isProjectQuota = info?.metadata?.quotaLimit?.hasSuffix("PerProject") ?? false
        let best = isProjectQuota ? info?.reason ?? specific(code) : specific(code) ?? info?.reason
        reason = ReasonText.storable(best ?? error.status ?? code ?? "")
        let fields = details.flatMap { $0.fieldViolations ?? [] }.compactMap(\.field)
        // Some texts do not name the field: it is given separately.
        let unnamed = fields.filter { !message.contains($0) }
        if !unnamed.isEmpty { message = ReasonText.storable(message + " (\(unnamed.joined(separator: ", ")))") }
        let namesToken = details.contains { detail in
            detail.fieldViolations?.contains { $0.field == "message.token" } ?? false
        }
        tokenAtFault = namesToken || message.hasPrefix(Self.invalidTokenMessage)
    }

    /// FCM's text for a malformed token, with or without a list of field violations.
    private static let invalidTokenMessage = "The registration token is not a valid FCM registration token"

    /// `UNSPECIFIED_ERROR` is less specific than the status text.
    private func specific(_ code: String?) -> String? {
        code == "UNSPECIFIED_ERROR" ? nil : code
    }
}

/// The parts of a `google.rpc.Status` in JSON that matter here; a field of an unexpected type counts as absent.
enum FCMErrorFields {
    struct Envelope: Decodable {
        var error: Status?
    }

    struct Status: Decodable {
        var message: String?
        var status: String?
        var details: [Detail]?

        enum CodingKeys: CodingKey {
            case message, status, details
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            message = try? values.decode(String.self, forKey: .message)
            status = try? values.decode(String.self, forKey: .status)
            details = try? values.decode([Detail].self, forKey: .details)
        }
    }

    struct Detail: Decodable {
        var type: String?
        var errorCode: String?
        var reason: String?
        var metadata: Metadata?
        var fieldViolations: [FieldViolation]?

        enum CodingKeys: String, CodingKey {
            case type = "@type"
            case errorCode, reason, metadata, fieldViolations
        }

        init(from decoder: any Decoder) throws {
            // An element that is not an object counts as an empty detail.
            guard let values = try? decoder.container(keyedBy: CodingKeys.self) else { return }
            type = try? values.decode(String.self, forKey: .type)
            errorCode = try? values.decode(String.self, forKey: .errorCode)
            reason = try? values.decode(String.self, forKey: .reason)
            metadata = try? values.decode(Metadata.self, forKey: .metadata)
            fieldViolations = try? values.decode([FieldViolation].self, forKey: .fieldViolations)
        }
    }

    struct Metadata: Decodable {
        var quotaLimit: String?

        enum CodingKeys: String, CodingKey {
            case quotaLimit = "quota_limit"
        }
    }

    struct FieldViolation: Decodable {
        var field: String?
    }
}

/// The body of an accepted FCM HTTP v1 message, `{"name":"projects/…/messages/…"}`.
enum FCMSuccessBody {
    private static let key = Array("\"name\"".utf8)
    /// The prefix of message names; a page or a proxy in FCM's place returns no such name.
    private static let start = Array("projects/".utf8)

    /// The message's name; nil if there is none, in which case the answer is not FCM's. As this runs for every message,
    /// it scans the body without a JSON parser. A name that is longer than a reason may be is cut.
    ///
    /// Names consist of letters, digits and `/:%-_`, so none needs an escape. A name that is not ASCII counts as none.
    ///
    /// - Parameter prefix: the common prefix to remove. The rest is the message's id, in the form of Firebase's exports
    ///   and of the legacy protocol.
    static func name(in body: [UInt8], without prefix: [UInt8] = []) -> String? {
        let opening = skipBlanks(body, from: 0)
        guard opening < body.count, body[opening] == UInt8(ascii: "{"), let keyEnd = endOfKey(body) else { return nil }
        let colon = skipBlanks(body, from: keyEnd)
        guard colon < body.count, body[colon] == UInt8(ascii: ":") else { return nil }
        let quote = skipBlanks(body, from: colon + 1)
        guard quote < body.count, body[quote] == UInt8(ascii: "\"") else { return nil }
        var name = quote + 1..<JSONText.endOfPlain(body, quote + 1..<body.count)
        guard name.upperBound < body.count, body[name.upperBound] == UInt8(ascii: "\""), begins(body, name, with: start)
        else { return nil }
        if name.count > prefix.count, begins(body, name, with: prefix) { name = name.dropFirst(prefix.count) }
        return String(decoding: body[name.prefix(ReasonText.maxBytes)], as: UTF8.self)
    }

    private static func begins(_ body: [UInt8], _ range: Range<Int>, with prefix: [UInt8]) -> Bool {
        guard range.count >= prefix.count else { return false }
        for offset in prefix.indices where body[range.lowerBound + offset] != prefix[offset] { return false }
        return true
    }

    private static func endOfKey(_ body: [UInt8]) -> Int? {
        var start = 0
        while start + key.count <= body.count {
            if body[start] == key[0], body[start + 1] == key[1], body[start..<(start + key.count)].elementsEqual(key) {
                return start + key.count
            }
            start += 1
        }
        return nil
    }

    private static func skipBlanks(_ body: [UInt8], from start: Int) -> Int {
        var position = start
        while position < body.count, body[position] == 0x20 || (0x09...0x0D).contains(body[position]) { position += 1 }
        return position
    }
}
