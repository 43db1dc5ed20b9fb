import Foundation
import Testing

@testable import GatewaySimulator

/// The control port, with curl.
struct ControlTests {
    @Test func countersAndMessagesCanBeRead() async throws {
        try await Fixture.run { (fixture) async throws in
            let id = "a1b2c3d4-0000-4000-8000-0123456789ac"
            _ = try fixture.push(["apns-id": id])
            _ = try fixture.push(["apns-id": id])
            _ = try fixture.push()
            _ = try fixture.push(["apns-priority": "3"])
            let counters = try JSONDecoder().decode(
                SimulatorCounters.self,
                from: Data(try fixture.control("GET", "/counters").body.utf8)
            )
            #expect(counters == fixture.simulator.counters())
            #expect(counters.apns.accepted == 3)
            #expect(counters.apns.duplicates == 1)
            #expect(counters.apns.rejected == ["BadPriority": 1])
            let duplicates = try messages(fixture, "/messages?duplicates=1")
            #expect(duplicates.map(\.id) == [id])
            #expect(duplicates.first?.accepted == 2)
            #expect(duplicates.first?.answer == "Accepted")
            #expect(try messages(fixture, "/messages?gateway=apns").count == 3)
            #expect(try messages(fixture, "/messages?gateway=fcm").isEmpty)
            #expect(try messages(fixture, "/messages?limit=2").count == 2)
            #expect(try messages(fixture, "/messages/\(id.uppercased())") == duplicates)
            #expect(try fixture.control("GET", "/messages/\(UUID())").status == 404)
            #expect(try fixture.control("POST", "/reset").status == 200)
            #expect(fixture.simulator.counters().apns.accepted == 0)
        }
    }

    @Test func faultsAndDevicesCanBeSet() async throws {
        try await Fixture.run { (fixture) async throws in
            let plan = #"{"gateway":"apns","errors":[{"reason":"TooManyRequests","rate":1,"retry_after":"5"}]}"#
            #expect(try fixture.control("POST", "/faults", plan).status == 200)
            #expect(try fixture.push().status == 429)
            #expect(try fixture.control("GET", "/faults").body.contains("TooManyRequests"))
            #expect(try fixture.control("POST", "/faults", "{}").status == 200)
            #expect(try fixture.push().status == 200)
            let gone = "{\"tokens\":[\"\(Fixture.token)\"],\"state\":\"Unregistered\",\"since\":5}"
            #expect(try fixture.control("POST", "/devices", gone).status == 200)
            #expect(try fixture.push().body == #"{"reason":"Unregistered","timestamp":5}"#)
            #expect(try fixture.control("POST", "/devices", "{\"tokens\":[\"\(Fixture.token)\"]}").status == 200)
            #expect(try fixture.push().status == 200)
            #expect(try fixture.control("POST", "/credentials", #"{"gateway":"apns","revoked":true}"#).status == 200)
            #expect(try fixture.push().status == 403)
        }
    }

    @Test func badRequestsAreExplained() async throws {
        try await Fixture.run { (fixture) async throws in
            let cases: [(String, String, String)] = [
                ("/faults", #"{"latncy":{"fixed":1}}"#, "unknown key \\\"latncy\\\""),
                ("/faults", #"{"gateway":"apns","errors":[{"reason":"UNAVAILABLE","rate":1}]}"#, "never answers"),
                ("/faults", #"{"refused_rate":2}"#, "not a share"),
                ("/faults", #"{"latency":{"uniform":[3]}}"#, "a latency is"),
                ("/faults", "no JSON", "error"),
                ("/devices", #"{"tokens":["x"],"state":"Sleeping"}"#, "not a device state"),
                ("/devices", "{}", "\\\"tokens\\\" is missing"),
            ]
            for (path, body, message) in cases {
                let answer = try fixture.control("POST", path, body)
                #expect(answer.status == 400)
                #expect(answer.body.contains(message), "\(answer.body)")
            }
            #expect(try fixture.control("GET", "/nothing").status == 404)
            #expect(try fixture.control("GET", "/messages?gateway=wns").status == 400)
        }
    }

    private func messages(_ fixture: Fixture, _ path: String) throws -> [MessageRecord] {
        try JSONDecoder().decode([MessageRecord].self, from: Data(try fixture.control("GET", path).body.utf8))
    }
}
