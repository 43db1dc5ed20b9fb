import GatewaySimulator
import GatewayTestSupport
import Gateways
import PushCore
import Testing

@Suite("Errors of legacy FCM", .timeLimit(.minutes(2)))
struct FCMLegacyErrorTests {
    struct Expected: Sendable {
        var fault: String
        var reason: String
        var status: Int16
        var outcomeClass: OutcomeClass
        var token = TokenEffect.none
        var delay: Int32?
        var failure: MessageFailure
        var isDoubtful = false
    }

    static let expected: [Expected] = [
        .init(fault: "MissingRegistration", status: 200, .permanent, .ignored, .refused),
        .init(
            fault: "InvalidRegistration",
            status: 200,
            .permanent,
            .hard,
            .userUnknown,
            token: .invalid(sinceMilliseconds: nil),
            isDoubtful: true
        ),
        .init(
            fault: "NotRegistered",
            status: 200,
            .permanent,
            .hard,
            .userUnknown,
            token: .invalid(sinceMilliseconds: nil)
        ),
        .init(fault: "InvalidPackageName", status: 200, .permanent, .ignored, .refused, isDoubtful: true),
        .init(fault: "MismatchSenderId", status: 200, .permanent, .soft, .refused, token: .softError, isDoubtful: true),
        .init(fault: "MessageTooBig", status: 200, .permanent, .soft, .refused),
        .init(fault: "InvalidDataKey", status: 200, .permanent, .soft, .undefined),
        .init(fault: "InvalidTtl", status: 200, .permanent, .ignored, .refused),
        .init(fault: "Unavailable", status: 200, .retry, .soft, .unreachable, delay: 10_000),
        .init(fault: "InternalServerError", status: 200, .retry, .ignored, .refused, delay: 10_000),
        .init(fault: "DeviceMessageRateExceeded", status: 200, .retry, .soft, .refused, delay: 60_000),
        .init(fault: "TopicsMessageRateExceeded", status: 200, .retry, .soft, .refused, delay: 60_000),
        .init(fault: "InvalidApnsCredential", status: 200, .retry, .ignored, .refused, delay: 300_000),
        .init(fault: "DeprecatedApi", status: 200, .stopApplication, .soft, .refused),
        .init(fault: "SomethingNew", status: 200, .permanent, .ignored, .refused),
        .init(fault: "InvalidParameters", status: 400, .permanent, .ignored, .refused),
        .init(fault: "JSON_PARSING_ERROR", status: 400, .permanent, .ignored, .refused),
        .init(fault: "INVALID_KEY", status: 401, .stopApplication, .soft, .refused),
        .init(fault: "UNAUTHORIZED", reason: "Unauthorized", status: 401, .stopApplication, .soft, .refused),
        .init(fault: "FORBIDDEN", reason: "Forbidden", status: 403, .stopApplication, .soft, .refused),
        .init(fault: "NOT_FOUND", reason: "", status: 404, .stopApplication, .soft, .refused),
        .init(fault: "METHOD_NOT_ALLOWED", reason: "", status: 405, .stopApplication, .soft, .refused),
        .init(fault: "REQUEST_TIMEOUT", reason: "", status: 408, .retry, .soft, .unreachable, delay: 10_000),
        .init(fault: "TOO_MANY_REQUESTS", reason: "", status: 429, .retry, .soft, .refused, delay: 60_000),
        .init(fault: "SERVER_ERROR", reason: "", status: 500, .retry, .soft, .unreachable, delay: 10_000),
        .init(
            fault: "INTERNAL_ERROR_500",
            reason: "InternalServerError",
            status: 500,
            .retry,
            .ignored,
            .refused,
            delay: 10_000
        ),
        .init(
            fault: "UNAVAILABLE_500",
            reason: "Unavailable",
            status: 500,
            .retry,
            .soft,
            .unreachable,
            delay: 10_000
        ),
        .init(
            fault: "UNAVAILABLE_503",
            reason: "Unavailable",
            status: 503,
            .retry,
            .soft,
            .unreachable,
            delay: 10_000
        ),
        .init(fault: "BAD_GATEWAY", reason: "", status: 502, .retry, .soft, .unreachable, delay: 10_000),
        .init(fault: "SERVICE_UNAVAILABLE", reason: "", status: 503, .retry, .soft, .unreachable, delay: 10_000),
        .init(fault: "REDIRECTED", reason: "", status: 302, .stopApplication, .soft, .refused),
        .init(fault: "NO_JSON", reason: "MalformedAnswer", status: 200, .ambiguous, .soft, .unreachable),
        .init(fault: "RESULT_MISSING", reason: "MalformedAnswer", status: 200, .ambiguous, .soft, .unreachable),
    ]

    @Test("The list covers every refusal of the simulated gateway")
    func isComplete() {
        #expect(Set(Self.expected.map(\.fault)) == Set(SimulatedGateway.fcmLegacy.rejectionReasons))
    }

    @Test("Every error arrives in its class, alone and for many messages at once", arguments: [1, 40])
    func everyError(_ count: Int) async throws {
        try await Fixture.run { fixture in
            let gateway = try fixture.legacyGateway(.androidV1)
            try await gateway.start()
            for (number, expected) in Self.expected.enumerated() {
                try fixture.setLegacyFaults { $0.errors = [ErrorRate(reason: expected.fault, rate: 1)] }
                let id = Int64(number) + 1
                gateway.submit(fixture.legacyBatch(id: id, count: count, isShared: true))
                await fixture.collector.waitForOutcomes(count * (number + 1))
                for outcome in fixture.collector.outcomes(id).values { check(outcome, expected) }
            }
            #expect(fixture.collector.announcements == Array(repeating: count, count: Self.expected.count))
            #expect(fixture.simulator.counters().fcmLegacy.accepted == 0)
            let stopped = Set(Self.expected.filter { $0.outcomeClass == .stopApplication }.map(\.status))
            let told = fixture.collector.events.filter { $0.kind == .applicationStopped }
            #expect(Set(told.map(\.status)) == stopped)
            await gateway.shutdown()
        }
    }

    private func check(_ outcome: Outcome, _ expected: Expected) {
        #expect(outcome.status == expected.status, "\(expected.fault)")
        #expect(outcome.reason == expected.reason, "\(expected.fault)")
        #expect(outcome.outcomeClass == expected.outcomeClass, "\(expected.fault)")
        #expect(outcome.tokenEffect == expected.token, "\(expected.fault)")
        #expect(outcome.retryAfterMilliseconds == expected.delay, "\(expected.fault)")
        #expect(outcome.failure == expected.failure, "\(expected.fault)")
        #expect(outcome.isTokenDoubtful == expected.isDoubtful, "\(expected.fault)")
        #expect(outcome.applicationWide == (expected.outcomeClass == .stopApplication), "\(expected.fault)")
        #expect(!outcome.neverLeft, "\(expected.fault)")
    }

    @Test(
        "The gateway's Retry-After takes precedence, in results and for whole requests",
        arguments: ["Unavailable", "SERVICE_UNAVAILABLE"]
    )
    func retryAfter(_ fault: String) async throws {
        try await Fixture.run { fixture in
            try fixture.setLegacyFaults { $0.errors = [ErrorRate(reason: fault, rate: 1, retryAfter: "7")] }
            let gateway = try fixture.legacyGateway()
            try await gateway.start()
            gateway.submit(fixture.legacyBatch(count: 1))
            await fixture.collector.waitForOutcomes(1)
            #expect(fixture.collector.outcomes(1)[0]?.retryAfterMilliseconds == 7_000)
            await gateway.shutdown()
        }
    }

    @Test("Half of the messages of a request fail: each result goes to its message")
    func mixed() async throws {
        try await Fixture.run { fixture in
            try fixture.setLegacyFaults { $0.errors = [ErrorRate(reason: "Unavailable", rate: 0.5)] }
            let gateway = try fixture.legacyGateway()
            try await gateway.start()
            let batch = fixture.legacyBatch(count: 1_000, isShared: true)
            gateway.submit(batch)
            await fixture.collector.waitForOutcomes(1_000)
            let outcomes = fixture.collector.outcomes(1)
            for row in 0..<1_000 {
                let isAccepted = outcomes[Int32(row)]?.outcomeClass == .accepted
                // Without `_mId`, the simulator identifies a message by its token.
                #expect(fixture.simulator.occurrences(ofID: batch.tokens.string(row)) == (isAccepted ? 1 : 0))
            }
            #expect((300...700).contains(fixture.collector.classes(1)[.retry] ?? 0))
            await gateway.shutdown()
        }
    }
}

extension FCMLegacyErrorTests.Expected {
    /// An expectation; the reason is the fault's name unless another one is given.
    fileprivate init(
        fault: String,
        reason: String? = nil,
        status: Int16,
        _ outcomeClass: OutcomeClass,
        _ type: FailureType,
        _ failureReason: FailureReason,
        token: TokenEffect = .none,
        delay: Int32? = nil,
        isDoubtful: Bool = false
    ) {
        self.init(
            fault: fault,
            reason: reason ?? fault,
            status: status,
            outcomeClass: outcomeClass,
            token: token,
            delay: delay,
            failure: MessageFailure(type, failureReason),
            isDoubtful: isDoubtful
        )
    }
}
