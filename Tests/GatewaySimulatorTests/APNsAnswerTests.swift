import Foundation
import Testing

@testable import GatewaySimulator

/// Every answer of APNs, over the wire with curl.
struct APNsAnswerTests {
    @Test func acceptedPushEchoesItsIDInTheSendersCase() async throws {
        try await Fixture.run { (fixture) async throws in
            for id in ["A1B2C3D4-0000-4000-8000-0123456789AB", "a1b2c3d4-0000-4000-8000-0123456789ac"] {
                let answer = try fixture.push(["apns-id": id])
                #expect(answer.status == 200)
                #expect(answer.body.isEmpty)
                #expect(answer.headers["apns-id"] == id)
                #expect(answer.headers["apns-unique-id"] == nil)
                #expect(fixture.simulator.occurrences(ofID: id) == 1)
            }
        }
    }

    @Test func serverMadeIDsAreUpperCase() async throws {
        try await Fixture.run { (fixture) async throws in
            let id = try #require(try fixture.push().headers["apns-id"])
            #expect(id == id.uppercased())
            #expect(UUID(uuidString: id) != nil)
            #expect(fixture.simulator.occurrences(ofID: id) == 1)
        }
    }

    @Test func onlyTheSandboxNamesPushesTwice() async throws {
        try await Fixture.run(.with { $0.isSandbox = true }) { (fixture) async throws in
            let answer = try fixture.push(["apns-id": "a1b2c3d4-0000-4000-8000-0123456789ac"])
            #expect(answer.headers["apns-id"] == "a1b2c3d4-0000-4000-8000-0123456789ac")
            #expect(UUID(uuidString: answer.headers["apns-unique-id"] ?? "") != nil)
        }
    }

    @Test func missingPushTypeAndPriorityAreAccepted() async throws {
        try await Fixture.run { (fixture) async throws in
            #expect(try fixture.push(["apns-push-type": nil, "apns-priority": nil]).status == 200)
            #expect(
                try fixture.push(["apns-expiration": "0", "apns-collapse-id": String(repeating: "x", count: 64)]).status
                    == 200
            )
            #expect(try fixture.push(["apns-priority": "5", "apns-push-type": "background"]).status == 200)
        }
    }

    /// One wrong thing in a push and the answer to it.
    struct Fault: Sendable, CustomTestStringConvertible {
        var reason: APNsReason
        var headers: [String: String?] = [:]
        var path = "/3/device/\(Fixture.token)"
        var method = "POST"
        var body = #"{"aps":{"alert":"hello"}}"#
        var extra: [String] = []

        var testDescription: String { reason.rawValue }
    }

    static let faults = [
        Fault(reason: .badMessageId, headers: ["apns-id": "not-a-uuid"]),
        Fault(reason: .badMessageId, headers: ["apns-id": "a1b2c3d4-0000-4000-8000-0123456789ag"]),
        Fault(reason: .methodNotAllowed, method: "PUT"),
        Fault(reason: .missingTopic, headers: ["apns-topic": nil]),
        Fault(reason: .badCollapseId, headers: ["apns-collapse-id": String(repeating: "x", count: 65)]),
        Fault(reason: .badExpirationDate, headers: ["apns-expiration": "tomorrow"]),
        Fault(reason: .badPriority, headers: ["apns-priority": "7"]),
        Fault(reason: .badPriority, headers: ["apns-priority": "10", "apns-push-type": "background"]),
        Fault(reason: .invalidPushType, headers: ["apns-push-type": "shout"]),
        Fault(reason: .badPath, path: "/4/device/\(Fixture.token)"),
        Fault(reason: .missingDeviceToken, path: "/3/device/"),
        Fault(reason: .badDeviceToken, path: "/3/device/zz"),
        Fault(reason: .badDeviceToken, path: "/3/device/abc"),
        Fault(reason: .missingProviderToken, headers: ["authorization": nil]),
        Fault(reason: .invalidProviderToken, headers: ["authorization": "bearer x.y.z"]),
        Fault(reason: .invalidProviderToken, headers: ["authorization": "basic abc"]),
        Fault(reason: .topicDisallowed, headers: ["apns-topic": "com.example.other"]),
        Fault(reason: .badTopic, headers: ["apns-topic": "com example"]),
        Fault(reason: .badTopic, headers: ["apns-push-type": "voip"]),
        Fault(reason: .duplicateHeaders, extra: ["-H", "apns-collapse-id: a", "-H", "apns-collapse-id: b"]),
        Fault(reason: .payloadEmpty, body: ""),
        Fault(reason: .payloadEmpty, body: "no JSON"),
        Fault(reason: .payloadTooLarge, body: "{\"a\":\"\(String(repeating: "x", count: 4089))\"}"),
    ]

    @Test func wrongRequestsGetTheirReason() async throws {
        try await Fixture.run { (fixture) async throws in
            for fault in Self.faults {
                let answer = try fixture.push(
                    fault.headers,
                    path: fault.path,
                    method: fault.method,
                    body: fault.body,
                    extra: fault.extra
                )
                #expect(answer.body == "{\"reason\":\"\(fault.reason.rawValue)\"}")
                #expect(answer.status == fault.reason.status)
                #expect(answer.headers["content-type"] == "application/json")
                #expect(answer.headers["apns-id"] != nil)
            }
            #expect(fixture.simulator.counters().apns.accepted == 0)
            #expect(fixture.simulator.counters().apns.rejectedTotal == Self.faults.count)
        }
    }

    @Test func checksComeInOrder() async throws {
        try await Fixture.run { (fixture) async throws in
            // Everything is wrong; each repair shows the next reason.
            var headers: [String: String?] = [
                "apns-id": "x", "apns-topic": nil, "apns-collapse-id": String(repeating: "x", count: 65),
                "apns-priority": "7", "apns-push-type": "shout", "authorization": nil,
            ]
            var path = "/4/device/x"
            var method = "PUT"
            func reason() throws -> String { try fixture.push(headers, path: path, method: method, body: "").body }
            #expect(try reason() == #"{"reason":"BadMessageId"}"#)
            headers["apns-id"] = .some(nil)
            #expect(try reason() == #"{"reason":"MethodNotAllowed"}"#)
            method = "POST"
            #expect(try reason() == #"{"reason":"MissingTopic"}"#)
            headers["apns-topic"] = Fixture.topic
            #expect(try reason() == #"{"reason":"BadCollapseId"}"#)
            headers["apns-collapse-id"] = .some(nil)
            #expect(try reason() == #"{"reason":"BadPriority"}"#)
            headers["apns-priority"] = "10"
            #expect(try reason() == #"{"reason":"InvalidPushType"}"#)
            headers["apns-push-type"] = "alert"
            #expect(try reason() == #"{"reason":"BadPath"}"#)
            path = "/3/device/\(Fixture.token)"
            #expect(try reason() == #"{"reason":"MissingProviderToken"}"#)
            headers["authorization"] = "bearer \(fixture.jwt)"
            #expect(try reason() == #"{"reason":"PayloadEmpty"}"#)
        }
    }

    @Test func payloadLimitsAreExact() async throws {
        func body(_ size: Int) -> String { "{\"a\":\"\(String(repeating: "x", count: size - 8))\"}" }
        try await Fixture.run { (fixture) async throws in
            #expect(try fixture.push(body: body(4096)).status == 200)
            #expect(try fixture.push(body: body(4097)).status == 413)
            let voip: [String: String?] = ["apns-push-type": "voip", "apns-topic": "\(Fixture.topic).voip"]
            #expect(try fixture.push(voip, body: body(5120)).status == 200)
            #expect(try fixture.push(voip, body: body(5121)).status == 413)
            // Larger than the connection's first flow control window and than what is kept of a body.
            #expect(try fixture.push(body: body(200_000)).status == 413)
        }
    }

    /// An answer that waits says all that one at once does.
    @Test(arguments: [nil, LatencyDistribution.fixed(milliseconds: 1)])
    func devicesHaveStates(latency: LatencyDistribution?) async throws {
        try await Fixture.run { (fixture) async throws in
            var plan = FaultPlan()
            plan.latency = latency
            try fixture.simulator.setFaults(plan, for: .apns)
            let simulator = fixture.simulator
            let expectations: [(DeviceState, Int, String)] = [
                (
                    .unregistered(sinceMilliseconds: 1_700_000_000_123), 410,
                    #"{"reason":"Unregistered","timestamp":1700000000123}"#
                ),
                (
                    .expired(sinceMilliseconds: 1_700_000_000_124), 410,
                    #"{"reason":"ExpiredToken","timestamp":1700000000124}"#
                ),
                (.badDeviceToken, 400, #"{"reason":"BadDeviceToken"}"#),
                (.deviceTokenNotForTopic, 400, #"{"reason":"DeviceTokenNotForTopic"}"#),
            ]
            for (state, status, body) in expectations {
                // The case of the digits does not matter.
                simulator.setDevice(Fixture.token.uppercased(), to: state)
                let answer = try fixture.push()
                #expect(answer.status == status)
                #expect(answer.body == body)
            }
            simulator.setDevice(Fixture.token, to: nil)
            #expect(try fixture.push().status == 200)
        }
    }

    @Test func aTokenOfOnePushTypeIsNoneForTheTopicOfAnother() async throws {
        try await Fixture.run { (fixture) async throws in
            let types = APNsPushType.allCases.filter { $0 != .mdm }
            for kind in types {
                fixture.simulator.setDevice(Fixture.token, to: .pushType(kind.rawValue))
                for type in types {
                    let answer = try fixture.push([
                        "apns-push-type": type.rawValue, "apns-topic": Fixture.topic + type.topicSuffix,
                        "apns-priority": "5",
                    ])
                    if kind.topicSuffix == type.topicSuffix {
                        #expect(answer.status == 200, "\(kind) \(type)")
                    } else {
                        #expect(answer.body == #"{"reason":"DeviceTokenNotForTopic"}"#, "\(kind) \(type)")
                    }
                }
            }
            #expect(DeviceState(name: "PushType", sinceMilliseconds: 0, by: "voip") == .pushType("voip"))
            #expect(DeviceState(name: "PushType", sinceMilliseconds: 0, by: "smoke") == nil)
            #expect(DeviceState(name: "PushType", sinceMilliseconds: 0) == nil)
        }
    }

    @Test(arguments: [nil, LatencyDistribution.fixed(milliseconds: 1)])
    func everyReasonCanBeMixedIn(latency: LatencyDistribution?) async throws {
        try await Fixture.run { (fixture) async throws in
            for reason in APNsReason.allCases {
                var plan = FaultPlan()
                plan.latency = latency
                plan.errors = [
                    ErrorRate(reason: reason.rawValue, rate: 1, retryAfter: reason.status >= 429 ? "7" : nil)
                ]
                try fixture.simulator.setFaults(plan, for: .apns)
                let id = UUID().uuidString.lowercased()
                let answer = try fixture.push(["apns-id": id])
                #expect(answer.status == reason.status)
                #expect(answer.headers["apns-id"] == id)
                #expect(answer.body.hasPrefix("{\"reason\":\"\(reason.rawValue)\""))
                #expect(answer.body.contains("\"timestamp\":") == (reason.status == 410))
                #expect(answer.headers["retry-after"] == (reason.status >= 429 ? "7" : nil))
            }
            let rejected = fixture.simulator.counters().apns.rejected
            #expect(rejected == Dictionary(uniqueKeysWithValues: APNsReason.allCases.map { ($0.rawValue, 1) }))
        }
    }
}
