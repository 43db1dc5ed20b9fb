import Foundation
import GatewaySimulator
import Testing

@Suite("Faults of the legacy FCM gateway", .timeLimit(.minutes(2)))
struct FCMLegacyFaultTests {
    private static let body = #"{"to":"x","data":{"_mId":"11"}}"#

    @Test(
        "Every reason can be made to come, with its status and Retry-After",
        arguments: SimulatedGateway.fcmLegacy.rejectionReasons
    )
    func reasons(_ reason: String) async throws {
        try await Fixture.run { (fixture) async throws in
            let plan = #"{"gateway":"fcm-legacy","errors":[{"reason":"\#(reason)","rate":1,"retry_after":"3"}]}"#
            #expect(try fixture.control("POST", "/faults", plan).status == 200)
            let answer = try fixture.legacy(Self.body)
            #expect(answer.headers["retry-after"] == "3")
            let counters = fixture.simulator.counters().fcmLegacy
            #expect(counters.rejected == [reason: 1])
            #expect(counters.accepted == 0)
            #expect(fixture.simulator.record(ofID: "11")?.answer == reason)
        }
    }

    @Test("A connection that is dropped after a request: taken or not, as the plan says", arguments: [0.0, 1.0])
    func dropped(_ share: Double) async throws {
        try await Fixture.run { (fixture) async throws in
            var plan = FaultPlan()
            plan.resetAfterStreams = 1
            plan.unansweredAcceptedShare = share
            try fixture.simulator.setFaults(plan, for: .fcmLegacy)
            #expect(throws: Curl.Failure.self) { try fixture.legacy(Self.body) }
            let record = try #require(fixture.simulator.record(ofID: "11"))
            #expect(record.seen == 1)
            #expect(record.accepted == Int(share))
            #expect(record.answer == "Unanswered")
            #expect(fixture.simulator.counters().fcmLegacy.resets == 1)
            #expect(fixture.simulator.counters().fcmLegacy.cutOff == 1)
        }
    }

    @Test("A request that is never answered")
    func neverAnswered() async throws {
        try await Fixture.run { (fixture) async throws in
            var plan = FaultPlan()
            plan.neverAnsweredRate = 1
            try fixture.simulator.setFaults(plan, for: .fcmLegacy)
            #expect(throws: Curl.Failure.self) { try fixture.legacy(Self.body, extra: ["--max-time", "1"]) }
            #expect(fixture.simulator.counters().fcmLegacy.unanswered == 1)
        }
    }

    @Test("Latency and a stall hold answers back, and a record tells when they left")
    func delays() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("record-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await Fixture.run(.with { $0.recordFile = folder }) { (fixture) async throws in
            #expect(
                try fixture.control("POST", "/faults", #"{"gateway":"fcm-legacy","latency":{"fixed":20}}"#).status
                    == 200
            )
            #expect(try fixture.legacy(Self.body).status == 200)
            #expect(
                try fixture.control("POST", "/faults", #"{"gateway":"fcm-legacy","stall_seconds":0.2}"#).status == 200
            )
            #expect(try fixture.legacy(Self.body).status == 200)
            #expect(fixture.simulator.counters().fcmLegacy.waiting == 0)
        }
        let lines = try String(contentsOfFile: folder, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines.count { $0.contains(#""status":200,"reason":"""#) && $0.contains(#""answered":false"#) } == 2)
        #expect(lines.count { !$0.contains("status") && $0.contains(#""answered":true"#) } == 2)
    }

    @Test("A rejection within a 200 has its reason in the record")
    func recorded() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("record-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await Fixture.run(.with { $0.recordFile = file }) { (fixture) async throws in
            let devices = #"{"tokens":["x"],"state":"Replaced","by":"y"}"#
            #expect(try fixture.control("POST", "/devices", devices).status == 200)
            #expect(try fixture.legacy(Self.body).body.contains(#""registration_id":"y""#))
            #expect(try fixture.control("POST", "/devices", #"{"tokens":["x"],"state":"NotRegistered"}"#).status == 200)
            #expect(try fixture.legacy(Self.body).body.contains("NotRegistered"))
            let incomplete = try fixture.control("POST", "/devices", #"{"tokens":["x"],"state":"Replaced"}"#)
            #expect(incomplete.status == 400)
        }
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.map { $0.contains(#""gateway":"fcm-legacy""#) } == [true, true])
        #expect(lines.first?.contains(#""status":200,"reason":"""#) == true)
        #expect(lines.last?.contains(#""status":200,"reason":"NotRegistered""#) == true)
    }

    @Test("A connection serves many requests")
    func keepAlive() async throws {
        try await Fixture.run { (fixture) async throws in
            let url = "https://localhost:\(fixture.simulator.fcmLegacyPort)/fcm/send"
            let key = fixture.simulator.credentials.fcmProjectKey
            let request = ["-X", "POST", "-H", "authorization: key=\(key)", "-H", "content-type: application/json"]
            _ = try fixture.curl.run(
                request + ["-d", #"{"to":"a"}"#, url, "--next", "-sS", "-i", "--cacert", fixture.curl.caFile]
                    + request + ["-d", #"{"to":"b"}"#, url]
            )
            let counters = fixture.simulator.counters().fcmLegacy
            #expect(counters.accepted == 2)
            #expect(counters.connectionsOpened == 1)
        }
    }

    @Test("The key stays the same in the same folder")
    func sameKey() async throws {
        let options = GatewaySimulatorOptions.with { _ in }
        defer { try? FileManager.default.removeItem(atPath: options.stateFolder) }
        let first = try await GatewaySimulator.start(options)
        await first.stop()
        let second = try await GatewaySimulator.start(options)
        #expect(second.credentials.fcmProjectKey == first.credentials.fcmProjectKey)
        #expect(first.credentials.fcmProjectKey.utf8.count == 152)
        let written = try String(contentsOfFile: second.credentials.fcmProjectKeyFile, encoding: .utf8)
        #expect(written == second.credentials.fcmProjectKey + "\n")
        await second.stop()
    }
}
