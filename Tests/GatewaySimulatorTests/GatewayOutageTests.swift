import Foundation
import HTTP2
import Testing

@testable import GatewaySimulator

/// A gateway that is out, set and cleared over the control port, as clients meet it.
@Suite(.timeLimit(.minutes(2))) struct GatewayOutageTests {
    private static let message =
        #"{"message":{"token":"t","data":{"_mId":"a1b2c3d4-0000-4000-8000-0123456789ac","_dId":"1"}}}"#

    private func set(_ fixture: Fixture, _ gateway: String, _ outage: String) throws {
        let answer = try fixture.control("POST", "/faults", "{\"gateway\":\"\(gateway)\",\"outage\":\(outage)}")
        #expect(answer.status == 200, "\(answer.body)")
    }

    private func clear(_ fixture: Fixture, _ gateway: String) throws {
        #expect(try fixture.control("POST", "/faults", "{\"gateway\":\"\(gateway)\"}").status == 200)
    }

    /// Tries until it works: ports are closed and opened soon, not at once.
    private func untilServed(_ push: () throws -> Curl.Answer) throws {
        while true {
            if let answer = try? push(), answer.status == 200 { return }
        }
    }

    /// Tries until it fails with those words, and returns them.
    private func untilFailed(_ words: String, _ push: () throws -> Curl.Answer) throws {
        while true {
            do {
                _ = try push()
            } catch let failure as Curl.Failure where failure.message.contains(words) {
                return
            }
        }
    }

    @Test func everyRequestGetsTheAnswerOfTheGateway() async throws {
        try await Fixture.run { (fixture) async throws in
            try set(fixture, "apns", #"{"answer":{"reason":"ServiceUnavailable","retry_after":"2"}}"#)
            let refused = try fixture.push()
            #expect(refused.status == 503)
            #expect(refused.headers["retry-after"] == "2")
            #expect(refused.body == #"{"reason":"ServiceUnavailable"}"#)
            // A device that is wrong gets it as well: nobody looks at it.
            fixture.simulator.setDevice(Fixture.token, to: .badDeviceToken)
            #expect(try fixture.push().status == 503)
            #expect(try fixture.push(path: "/3/device/zz").status == 503)
            fixture.simulator.setDevice(Fixture.token, to: nil)
            let bearer = try await fixture.accessToken()
            try set(fixture, "fcm", #"{"answer":{"reason":"QUOTA_EXCEEDED"}}"#)
            let quota = try fixture.send(Self.message, bearer: bearer)
            #expect(quota.status == 429)
            #expect(quota.body.contains("QUOTA_EXCEEDED"))
            try clear(fixture, "apns")
            try clear(fixture, "fcm")
            #expect(try fixture.push().status == 200)
            #expect(try fixture.send(Self.message, bearer: bearer).status == 200)
            #expect(fixture.simulator.counters().apns.rejected == ["ServiceUnavailable": 3])
            #expect(fixture.simulator.counters().apns.outage?.requests.reduce(0, +) == 3)
            #expect(fixture.simulator.counters().apns.outage?.dials.reduce(0, +) == 3)
        }
    }

    @Test(arguments: ["apns", "fcm"]) func anAnswerMayBeAProxys(gateway: String) async throws {
        try await Fixture.run { (fixture) async throws in
            let bearer = try await fixture.accessToken()
            func request() throws -> Curl.Answer {
                gateway == "apns" ? try fixture.push() : try fixture.send(Self.message, bearer: bearer)
            }
            let html = "<html><h1>Bad Gateway</h1></html>"
            let answer =
                "{\"status\":502,\"headers\":{\"Content-Type\":\"text/html\",\"Retry-After\":\"9\"},\"body\":\"\(html)\"}"
            try set(fixture, gateway, "{\"answer\":\(answer)}")
            let refused = try request()
            #expect(refused.status == 502)
            #expect(refused.headers["content-type"] == "text/html")
            #expect(refused.headers["retry-after"] == "9")
            #expect(refused.body == html)
            try set(fixture, gateway, #"{"answer":{"status":421}}"#)
            #expect(try request().status == 421)
            try clear(fixture, gateway)
            #expect(try request().status == 200)
        }
    }

    @Test func aShareMayBeServed() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await Probe.open(fixture, port: fixture.simulator.apnsPort)
            probe.submit(Batches.apns(fixture, ids: Batches.ids(1)))
            try await probe.resolved(1)
            try await probe.limit(1000)
            var plan = FaultPlan()
            plan.seed = 3
            plan.outage = OutageFault(.init(.reason("InternalServerError")), share: 0.5)
            try fixture.simulator.setFaults(plan, for: .apns)
            probe.submit(Batches.apns(fixture, ids: Batches.ids(400)))
            try await probe.resolved(401)
            let refused = probe.statuses[500] ?? 0
            #expect((150...250).contains(refused), "\(refused)")
            #expect(probe.statuses[200] == 401 - refused)
            #expect(fixture.simulator.counters().apns.outage?.requests.reduce(0, +) == 400)
            await probe.close()
        }
    }

    @Test func silenceLeavesRequestsOpenAndCountsThem() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await Probe.open(fixture, port: fixture.simulator.apnsPort, timeoutMilliseconds: 300)
            try set(fixture, "apns", #"{"answer":{"silence":true}}"#)
            probe.submit(Batches.apns(fixture, ids: Batches.ids(1)))
            try await probe.resolved(1)
            #expect(probe.ambiguous == 1)
            #expect(fixture.simulator.counters().apns.unanswered == 1)
            await probe.close()
        }
    }

    @Test(arguments: ["apns", "fcm"]) func aPortMayBeClosedAndOpenedAgain(gateway: String) async throws {
        try await Fixture.run { (fixture) async throws in
            let bearer = try await fixture.accessToken()
            func request() throws -> Curl.Answer {
                gateway == "apns" ? try fixture.push() : try fixture.send(Self.message, bearer: bearer)
            }
            for _ in 0..<3 {
                try set(fixture, gateway, #"{"connections":"refused"}"#)
                // curl 7: "Failed to connect … Couldn't connect to server".
                try untilFailed("connect", request)
                try clear(fixture, gateway)
                try untilServed(request)
            }
            // As soon as it is opened while it still closes.
            try set(fixture, gateway, #"{"connections":"refused"}"#)
            try clear(fixture, gateway)
            try untilServed(request)
        }
    }

    @Test func aHandshakeMayEndWithAnAlertOrWithoutAWord() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await Probe.open(fixture, port: fixture.simulator.apnsPort)
            // It is surely there once something was answered on it.
            probe.submit(Batches.apns(fixture, ids: Batches.ids(1)))
            try await probe.resolved(1)
            try set(fixture, "apns", #"{"connections":"tls_alert"}"#)
            // Who was connected is so no longer.
            try await probe.event("the end of the connection") { if case .closed = $0 { true } else { false } }
            try untilFailed("handshake failure") { try fixture.push() }
            let alerts = fixture.simulator.counters().apns.outage?.dials.reduce(0, +) ?? 0
            #expect(alerts >= 1)
            try set(fixture, "apns", #"{"connections":"closed"}"#)
            // curl 35: the end of the connection, or its reset, in the handshake.
            try untilFailed("(35)") { try fixture.push() }
            #expect((fixture.simulator.counters().apns.outage?.dials.reduce(0, +) ?? 0) > alerts)
            #expect(fixture.simulator.counters().apns.outage?.requests == [])
            try clear(fixture, "apns")
            #expect(try fixture.push().status == 200)
            await probe.close()
        }
    }

    @Test(arguments: ["apns", "fcm"]) func aServerMayBreakTheProtocolAndLeaveTheSocketOpen(gateway: String) async throws
    {
        try await Fixture.run { (fixture) async throws in
            let bearer = try await fixture.accessToken()
            func request() throws -> Curl.Answer {
                gateway == "apns" ? try fixture.push() : try fixture.send(Self.message, bearer: bearer)
            }
            try set(fixture, gateway, #"{"connections":"broken"}"#)
            #expect(throws: Curl.Failure.self) { try request() }
            let counters = fixture.simulator.counters()
            let outage = gateway == "apns" ? counters.apns.outage : counters.fcm.outage
            #expect((outage?.dials.reduce(0, +) ?? 0) >= 1)
            #expect(outage?.requests == [])
            try clear(fixture, gateway)
            #expect(try request().status == 200)
        }
    }

    @Test func theTokenEndpointMayFailOrBeClosed() async throws {
        try await Fixture.run { (fixture) async throws in
            let url = fixture.simulator.credentials.tokenURI
            func ask() throws -> Curl.Answer { try fixture.curl.run(["-X", "POST", url, "-d", "a=b"]) }
            let failing = #"{"answer":{"status":500,"body":"{}"}}"#
            #expect(try fixture.control("POST", "/oauth", failing).status == 200)
            #expect(try ask().status == 500)
            #expect(try fixture.control("POST", "/oauth", #"{"closed":true}"#).status == 200)
            try untilFailed("connect", ask)
            #expect(fixture.simulator.counters().fcm.outage?.tokenRequests.reduce(0, +) ?? 0 >= 1)
            #expect(try fixture.control("POST", "/oauth", "{}").status == 200)
            while true { if (try? ask())?.status == 400 { break } }
            #expect(!(try await fixture.accessToken()).isEmpty)
        }
    }

    @Test func outagesThatMakeNoSenseAreRefused() async throws {
        try await Fixture.run { (fixture) async throws in
            let cases = [
                (#"{"gateway":"apns","outage":{}}"#, "either"),
                (#"{"gateway":"apns","outage":{"answer":{"reason":"UNAVAILABLE"}}}"#, "never answers"),
                (#"{"gateway":"apns","outage":{"answer":{"status":503},"share":2}}"#, "not a share"),
                (#"{"gateway":"fcm-legacy","outage":{"answer":{"status":503}}}"#, "apns or fcm"),
                (#"{"gateway":"apns","outage":{"answer":{"status":503,"times":2}}}"#, "times"),
                (#"{"gateway":"apns","outage":{"connections":"cut"}}"#, "cut"),
            ]
            for (body, words) in cases {
                let answer = try fixture.control("POST", "/faults", body)
                #expect(answer.status == 400)
                #expect(answer.body.contains(words), "\(answer.body)")
            }
            #expect(try fixture.push().status == 200)
        }
    }

    @Test func anOutageIsReadAsItIsWritten() throws {
        for outage in [
            OutageFault(.init(.response(status: 407, headers: ["a": "b"], body: "x"), retryAfter: "3"), share: 0.25),
            OutageFault(.init(.silence)), OutageFault(.init(.drop)), OutageFault(.init(.reset(2))),
            OutageFault(.init(.reason("Shutdown"))), OutageFault(connections: .tlsAlert),
            OutageFault(connections: .broken),
        ] {
            var plan = FaultPlan()
            plan.outage = outage
            #expect(try FaultPlan(json: JSONEncoder().encode(plan)) == plan)
        }
    }

    @Test func simulatorsMayShareARecord() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("record-\(UUID()).jsonl").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await Fixture.run(.with { $0.recordFile = file }) { (first) async throws in
            try await Fixture.run(.with { $0.recordFile = file }) { (second) async throws in
                for fixture in [first, second, first, second] { #expect(try fixture.push().status == 200) }
            }
        }
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 4)
        for line in lines { #expect((try? JSONSerialization.jsonObject(with: Data(line.utf8))) != nil, "\(line)") }
    }
}
