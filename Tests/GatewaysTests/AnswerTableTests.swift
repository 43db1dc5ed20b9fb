import PushCore
import Testing

@testable import Gateways

@Suite("Answer table")
struct AnswerTableTests {
    @Test("No two rows match the same answer")
    func unique() {
        var seen: Set<String> = []
        for row in AnswerTable.rows {
            let key = "\(row.gateway) \(row.source) \(row.status) \(row.reason) \(row.condition)"
            #expect(seen.insert(key).inserted, "\(key) twice")
            #expect(!row.explanation.isEmpty)
            #expect(row.delayMilliseconds == nil || row.outcomeClass == .retry)
            // An answer that stops the application must not fail the message.
            if row.source != .goAway { #expect((row.application == .stop) == (row.outcomeClass == .stopApplication)) }
            switch row.token {
            case .none: break
            case .invalid, .invalidSinceTimestamp: #expect(row.outcomeClass == .permanent)
            case .replaced: #expect(row.outcomeClass == .accepted)
            // A temporary failure counts only when the message is given up.
            case .softError: #expect(row.outcomeClass == .permanent || row.outcomeClass == .retry)
            }
        }
    }

    @Test("Everything but success has a failure type, and only a dead token has a hard one")
    func failures() {
        for row in AnswerTable.rows {
            #expect((row.failure == nil) == (row.outcomeClass == .accepted), "\(row)")
            let isDead = row.token == .invalid || row.token == .invalidSinceTimestamp
            #expect((row.failure?.type == .hard) == isDead, "\(row)")
            if row.token == .softError { #expect(row.failure?.type == .soft, "\(row)") }
            #expect(row.failure.map { MessageFailure(code: $0.code) == $0 } ?? true)
        }
    }

    @Test("Every row is found by its gateway's answer", arguments: AnswerTable.rows)
    func lookUp(_ row: AnswerRow) throws {
        #expect(try found(row) == row)
    }

    private func found(_ row: AnswerRow) throws -> AnswerRow {
        let answers = try #require(AnswerTable.gateways.first { $0.gateway == row.gateway })
        // A row without a reason is for unknown ones.
        let reason = row.reason.isEmpty && row.outcomeClass != .accepted ? "NeverHeardOf" : row.reason
        let isWritten = row.condition == AnswerTable.writtenCondition
        switch (row.gateway, row.source) {
        case (_, .noAnswer): return answers.noAnswer(reason: reason, isWritten: isWritten)
        case (_, .check): return answers.check(reason: reason + ": and more")
        case (_, .tokenEndpoint): return answers.tokenEndpoint(status: Int(row.status), error: row.reason)
        case (_, .goAway): return answers.goAway(reason: reason)
        case (.apnsHTTP2, _):
            return AnswerTable.apns(status: row.status, reason: reason, isSuffixed: !row.condition.isEmpty)
        case (.fcmV1, _):
            return AnswerTable.fcmV1(status: row.status, reason: reason, tokenAtFault: !row.condition.isEmpty)
        case (.apnsBinary, .response): return AnswerTable.apnsBinary(status: row.reason.isEmpty ? 77 : row.status)
        case (.fcmLegacy, .response) where row.token == .replaced: return AnswerTable.fcmLegacyReplaced
        case (.fcmLegacy, .response): return AnswerTable.fcmLegacy(status: row.status, reason: reason)
        case (_, let source):
            return answers.row(source, row.status, row.reason, row.condition) ?? answers.foreign
        }
    }

    @Test(
        "What Apple documents",
        arguments: [
            (400, "BadCollapseId", OutcomeClass.permanent, TokenRule.none, ConnectionEffect.keep),
            (400, "BadDeviceToken", .permanent, .invalid, .keep),
            (400, "BadExpirationDate", .permanent, .none, .keep),
            (400, "BadMessageId", .permanent, .none, .keep),
            (400, "BadPriority", .permanent, .none, .keep),
            (400, "BadTopic", .stopApplication, .none, .keep),
            (400, "DeviceTokenNotForTopic", .permanent, .invalid, .keep),
            (400, "DuplicateHeaders", .stopApplication, .none, .keep),
            (400, "IdleTimeout", .unprocessed, .none, .replace),
            (400, "InvalidPushType", .permanent, .none, .keep),
            (400, "MissingDeviceToken", .permanent, .none, .keep),
            (400, "MissingTopic", .stopApplication, .none, .keep),
            (400, "PayloadEmpty", .permanent, .none, .keep),
            (400, "TopicDisallowed", .stopApplication, .none, .keep),
            (403, "BadCertificate", .stopApplication, .none, .keep),
            (403, "BadCertificateEnvironment", .stopApplication, .none, .keep),
            (403, "ExpiredProviderToken", .unprocessed, .none, .replace),
            (403, "Forbidden", .stopApplication, .none, .keep),
            (403, "InvalidProviderToken", .stopApplication, .none, .keep),
            (403, "MissingProviderToken", .stopApplication, .none, .keep),
            (403, "UnrelatedKeyIdInToken", .unprocessed, .none, .replace),
            (403, "BadEnvironmentKeyIdInToken", .stopApplication, .none, .keep),
            (404, "BadPath", .permanent, .softError, .keep),
            (405, "MethodNotAllowed", .stopApplication, .none, .keep),
            (410, "ExpiredToken", .permanent, .invalidSinceTimestamp, .keep),
            (410, "Unregistered", .permanent, .invalidSinceTimestamp, .keep),
            (413, "PayloadTooLarge", .permanent, .none, .keep),
            (429, "TooManyProviderTokenUpdates", .unprocessed, .none, .replace),
            (429, "TooManyRequests", .retry, .none, .keep),
            (500, "InternalServerError", .retry, .none, .replace),
            (503, "ServiceUnavailable", .retry, .none, .keep),
            (503, "Shutdown", .retry, .none, .replace),
        ] as [(Int16, String, OutcomeClass, TokenRule, ConnectionEffect)]
    )
    func apns(
        _ status: Int16,
        _ reason: String,
        _ outcome: OutcomeClass,
        _ token: TokenRule,
        _ connection: ConnectionEffect
    ) {
        let row = AnswerTable.apns(status: status, reason: reason)
        #expect(row.reason == reason)
        #expect(row.outcomeClass == outcome)
        #expect(row.token == token)
        #expect(row.connection == connection)
    }

    @Test("An answer about a topic with a suffix affects neither the application nor the token")
    func suffixed() {
        for row in AnswerTable.apnsResponses where !row.reason.isEmpty {
            let found = AnswerTable.apns(status: row.status, reason: row.reason, isSuffixed: true)
            #expect(found.reason == row.reason && found.status == row.status)
            // Answers about the sender or the connection apply to every topic.
            if found.condition.isEmpty {
                #expect(found == row && !row.token.isInvalid)
                continue
            }
            #expect(found.token == .none && found.application == .none && found.connection == .keep, "\(row.reason)")
            #expect(found.outcomeClass == (row.application == .stop ? .stopDelivery : .permanent), "\(row.reason)")
            #expect(AnswerTable.apns(status: row.status, reason: row.reason) == row)
        }
        for reason in ["BadTopic", "TopicDisallowed"] {
            #expect(AnswerTable.apns(status: 400, reason: reason, isSuffixed: true).outcomeClass == .stopDelivery)
        }
        // Unknown reasons keep their meaning.
        let unknown = AnswerTable.apns(status: 410, reason: "SomethingNew", isSuffixed: true)
        #expect(unknown == AnswerTable.apns(status: 410, reason: "SomethingNew"))
    }

    @Test(
        "What Firebase documents",
        arguments: [
            (400, "INVALID_ARGUMENT", false, OutcomeClass.permanent, TokenRule.none, ApplicationEffect.none),
            (400, "INVALID_ARGUMENT", true, .permanent, .invalid, .none),
            (404, "UNREGISTERED", false, .permanent, .invalid, .none),
            (403, "SENDER_ID_MISMATCH", false, .permanent, .softError, .none),
            (429, "QUOTA_EXCEEDED", false, .retry, .none, .none),
            (503, "UNAVAILABLE", false, .retry, .none, .none),
            (500, "INTERNAL", false, .retry, .none, .none),
            (401, "THIRD_PARTY_AUTH_ERROR", false, .retry, .none, .none),
            (401, "UNAUTHENTICATED", false, .unprocessed, .none, .renewToken),
            (403, "PERMISSION_DENIED", false, .stopApplication, .none, .stop),
            (429, "RATE_LIMIT_EXCEEDED", false, .retry, .none, .pause),
            (502, "", false, .retry, .none, .none),
            (400, "UNSPECIFIED_ERROR", true, .retry, .none, .none),
            (401, "UNSPECIFIED_ERROR", false, .unprocessed, .none, .renewToken),
            (403, "UNSPECIFIED_ERROR", false, .stopApplication, .none, .stop),
            (503, "UNSPECIFIED_ERROR", false, .retry, .none, .none),
        ] as [(Int16, String, Bool, OutcomeClass, TokenRule, ApplicationEffect)]
    )
    func fcm(
        _ status: Int16,
        _ reason: String,
        _ tokenAtFault: Bool,
        _ outcome: OutcomeClass,
        _ token: TokenRule,
        _ application: ApplicationEffect
    ) {
        let row = AnswerTable.fcmV1(status: status, reason: reason, tokenAtFault: tokenAtFault)
        #expect(row.outcomeClass == outcome)
        #expect(row.token == token)
        #expect(row.application == application)
    }

    @Test(
        "Unknown reasons are classified by status and harm no token",
        arguments: [
            (400, OutcomeClass.retry), (401, .stopApplication), (403, .stopApplication), (404, .permanent),
            (410, .permanent), (418, .retry), (429, .retry), (500, .retry), (502, .retry), (503, .retry),
            (302, .stopApplication), (405, .stopApplication), (100, .retry), (201, .retry), (204, .retry),
        ] as [(Int16, OutcomeClass)]
    )
    func unknown(_ status: Int16, _ outcome: OutcomeClass) {
        let row = AnswerTable.apns(status: status, reason: "SomethingNew")
        #expect(row.outcomeClass == outcome)
        #expect(row.token == (status == 410 ? .softError : .none))
        let fcm = AnswerTable.fcmV1(status: status, reason: "SOMETHING_NEW", tokenAtFault: true)
        // FCM has no 410: it is one of the other 4xx.
        #expect(fcm.outcomeClass == (status == 401 ? .unprocessed : status == 410 ? .retry : outcome))
        #expect(fcm.token == .none)
    }

    @Test(
        "A refusal without the gateway's own body says nothing about the message, nor about credential or address",
        arguments: [302, 400, 401, 403, 404, 405, 407, 410, 418, 421]
    )
    func foreign(_ status: Int16) {
        for row in [AnswerTable.apns(status: status, reason: ""), AnswerTable.fcmV1(status: status, reason: "")] {
            #expect(
                row.fault == .foreign && row.fault.sparesAttempt && row.outcomeClass == .retry && row.token == .none
            )
        }
    }

    @Test(
        "A page instead of legacy FCM's line of text, or a status that it does not give, is not its answer",
        arguments: [(400, true, true), (400, false, false), (407, false, true), (421, true, true), (413, true, true)]
            as [(Int16, Bool, Bool)]
    )
    func foreignLegacy(_ status: Int16, _ isPage: Bool, _ isForeign: Bool) {
        let row = AnswerTable.fcmLegacy(status: status, reason: "", isPage: isPage)
        #expect((row.fault == .foreign) == isForeign && (row.outcomeClass == .retry) == isForeign)
        // A sender's fault stays one in any form, and a failing server may answer in its own or a proxy's form.
        #expect(
            AnswerTable.fcmLegacy(status: 401, reason: "INVALID_KEY", isPage: true).outcomeClass == .stopApplication
        )
        #expect(AnswerTable.fcmLegacy(status: 404, reason: "", isPage: true).outcomeClass == .stopApplication)
        #expect(AnswerTable.fcmLegacy(status: 502, reason: "", isPage: true).fault == .server)
    }

    @Test("Each row says what is at fault")
    func faults() {
        for row in AnswerTable.rows {
            switch row.outcomeClass {
            case .accepted: #expect(row.fault == .none)
            case .permanent: #expect(row.fault == .message)
            case .ambiguous: #expect(row.fault == .ambiguous)
            case .unprocessed: #expect(row.fault == .gateway)
            case .stopApplication, .stopDelivery: #expect(row.fault == .application)
            case .retry: #expect(row.fault.sparesAttempt || row.status == 429 || row.gateway == .fcmLegacy, "\(row)")
            }
        }
        #expect(AnswerTable.apns(status: 429, reason: "TooManyRequests").fault == .message)
        #expect(AnswerTable.apns(status: 503, reason: "ServiceUnavailable").fault == .gateway)
        #expect(AnswerTable.apns(status: 500, reason: "InternalServerError").fault == .server)
        #expect(AnswerTable.fcmV1(status: 500, reason: "INTERNAL").fault == .server)
        #expect(AnswerTable.fcmV1(status: 401, reason: "THIRD_PARTY_AUTH_ERROR").fault == .credential)
        #expect(AnswerTable.fcmLegacy(status: 200, reason: "InvalidApnsCredential").fault == .credential)
        #expect(AnswerTable.apns(status: 400, reason: "BrandNew").fault == .unknown)
    }

    @Test("GOAWAY")
    func goAway() {
        for reason in ["BadCertificate", "BadCertificateEnvironment", "TopicDisallowed", "InvalidProviderToken"] {
            let row = GatewayAnswers.apnsHTTP2.goAway(reason: reason)
            #expect(row.application == .stop)
            #expect(row.outcomeClass == .unprocessed)
        }
        for reason in ["Shutdown", "IdleTimeout", "Maximum active streams violated for this endpoint.", "New"] {
            #expect(GatewayAnswers.apnsHTTP2.goAway(reason: reason).application == .none)
        }
        for reason in ["session_timed_out", "too_many_pings", "exceeded_max_concurrent_streams", "new"] {
            #expect(GatewayAnswers.fcmV1.goAway(reason: reason).outcomeClass == .unprocessed)
        }
    }

    @Test("An answer that a mix-up would give every message is doubtful; one that only a known token can get is not")
    func doubtful() {
        let apns = AnswerTable.rows.filter { $0.gateway == .apnsHTTP2 && $0.isDoubtful }
        let plain = apns.filter(\.condition.isEmpty)
        #expect(plain.map(\.reason).sorted() == ["", "BadDeviceToken", "BadPath", "DeviceTokenNotForTopic"])
        let suffixed = apns.filter { !$0.condition.isEmpty }
        #expect(suffixed.map(\.reason).sorted() == ["BadDeviceToken", "DeviceTokenNotForTopic"])
        #expect(apns.first { $0.reason.isEmpty }?.status == 404)
        let fcm = AnswerTable.rows.filter { $0.gateway == .fcmV1 && $0.isDoubtful }
        #expect(
            fcm.map { "\($0.status) \($0.reason)" }.sorted() == [
                "400 INVALID_ARGUMENT", "403 SENDER_ID_MISMATCH", "404 ", "404 UNSPECIFIED_ERROR",
            ]
        )
        // A doubtful answer fails the message; otherwise there would be nothing to hold back.
        #expect(AnswerTable.rows.allSatisfy { !$0.isDoubtful || $0.outcomeClass == .permanent })
        for row in AnswerTable.rows where row.token == .invalid || row.token == .invalidSinceTimestamp {
            let isKnownToGateway = ["Unregistered", "ExpiredToken", "UNREGISTERED", "NotRegistered"].contains(
                row.reason
            )
            #expect(row.isDoubtful == !isKnownToGateway, "\(row)")
        }
    }
}
