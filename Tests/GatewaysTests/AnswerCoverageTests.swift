import PushCore
import Testing

@testable import Gateways

/// The table covers everything that the documents list, and agrees with them, or with the safer of two.
@Suite struct AnswerCoverageTests {
    @Test func everyReasonOfAppleHasARow() {
        for (status, reason) in DocumentedAnswers.apns {
            let row = AnswerTable.apns(status: status, reason: reason)
            #expect(row.status == status && row.reason == reason)
            #expect(row.isRetried || !row.explanation.isEmpty)
        }
        for reason in DocumentedAnswers.apnsNeverAgain {
            // A GOAWAY with it is about the messages that APNs has not processed.
            let rows = AnswerTable.rows.filter { $0.reason == reason && $0.source != .goAway }
            #expect(rows.allSatisfy { !$0.isRetried }, "\(reason)")
        }
        for reason in DocumentedAnswers.apnsGoAways {
            #expect(GatewayAnswers.apnsHTTP2.goAway(reason: reason).reason == reason)
        }
        for (_, reason) in DocumentedAnswers.apns {
            let response = AnswerTable.apnsResponses.first { $0.reason == reason }
            let goAway = GatewayAnswers.apnsHTTP2.goAway(reason: reason)
            #expect(goAway.application == response?.application && goAway.connection == .replace, "\(reason)")
            #expect(goAway.outcomeClass == .unprocessed && goAway.token == .none && !goAway.isDoubtful, "\(reason)")
        }
        // The pause between attempts of a single message; a server that shuts down requires only another connection.
        for row in AnswerTable.apnsRows where row.source == .response && row.status >= 500 {
            #expect(row.delayMilliseconds == (row.reason == "Shutdown" ? 0 : 10_000), "\(row)")
        }
        let listed = Set(DocumentedAnswers.apns.map { "\($0) \($1)" })
        let rows = AnswerTable.apnsResponses.filter { !$0.reason.isEmpty }.map { "\($0.status) \($0.reason)" }
        #expect(Set(rows) == listed, "a row for a reason that nobody documents")
    }

    @Test func everyErrorOfFirebaseHasARow() {
        for (status, reason) in DocumentedAnswers.fcmV1 {
            let row = AnswerTable.fcmV1(status: status, reason: reason)
            #expect(row.status == status && row.reason == reason)
        }
        for reason in DocumentedAnswers.fcmV1GoAways {
            #expect(GatewayAnswers.fcmV1.goAway(reason: reason).reason == reason)
        }
        for error in DocumentedAnswers.tokenEndpoint {
            #expect(GatewayAnswers.fcmV1.tokenEndpoint(status: 400, error: error).reason == error)
        }
    }

    @Test func theOlderProtocolsHaveTheirs() {
        for status in DocumentedAnswers.apnsBinary {
            #expect(AnswerTable.apnsBinary(status: status).status == status)
            #expect(!AnswerTable.apnsBinary(status: status).reason.isEmpty)
        }
        for (status, reason) in DocumentedAnswers.fcmLegacy {
            #expect(
                AnswerTable.rows.contains { $0.gateway == .fcmLegacy && $0.status == status && $0.reason == reason }
            )
        }
        for gateway in AnswerGateway.allCases {
            let sources = Set(AnswerTable.rows.filter { $0.gateway == gateway }.map(\.source))
            #expect(sources.isSuperset(of: [.response, .noAnswer, .check]), "\(gateway)")
        }
    }

    @Test(arguments: DocumentedAnswers.adobeHTTP2 + DocumentedAnswers.adobeFCMv1 + DocumentedAnswers.adobeBinary)
    func adobesTableStandsUnlessAnotherIsSafer(_ adobe: DocumentedAnswers.AdobeRow) throws {
        let answers = try #require(AnswerTable.gateways.first { $0.gateway == adobe.gateway })
        let row = try #require(answers.row(adobe.source, adobe.status, adobe.reason, adobe.condition))
        switch adobe.difference {
        case nil:
            #expect(row.failure == adobe.failure)
            #expect(row.isRetried == adobe.isRetried)
        case .tokenIsDead:
            #expect(row.failure?.type == .hard && !row.isRetried)
            #expect(row.explanation.contains("Adobe"))
        case .triedAgain:
            #expect(row.failure == adobe.failure)
            #expect(row.outcomeClass == .retry && !adobe.isRetried)
            #expect(row.explanation.contains("Adobe"))
        case .staysPending:
            #expect(row.failure == adobe.failure)
            #expect(row.outcomeClass == .stopApplication && row.application == .stop)
        }
    }

    @Test func endpointsOfAccessTokensAreClassedByErrorThenByStatus() {
        func effect(_ status: Int, _ error: String = "") -> ApplicationEffect {
            GatewayAnswers.fcmV1.tokenEndpoint(status: status, error: error).application
        }
        for status in [0, 200, 204, 408, 429, 500, 502, 503, 599, 100_000] {
            #expect(effect(status) == .none, "\(status)")
        }
        for status in [301, 400, 401, 403, 404] { #expect(effect(status) == .stop, "\(status)") }
        #expect(effect(400, "temporarily_unavailable") == .none)
        #expect(effect(503, "invalid_grant") == .stop)
        #expect(effect(400, "something_new") == .stop)
        #expect(effect(503, "something_new") == .none)
    }
}
