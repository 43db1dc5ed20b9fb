import HTTP2
import Testing

/// Our client against a server with Python's `h2` that misbehaves deliberately.
@Suite struct PythonServerTests {
    private struct Pair {
        let server: ExternalProcess
        let test: TestClient

        init(
            _ mode: String,
            connections: Int = 1,
            initialLimit: Int = 1,
            change: (inout HTTP2ClientConfiguration) -> Void = { _ in }
        ) async throws {
            let certificate = try TestCertificate.shared.get()
            let script = Fixture.path("misbehaving_server.py")
            server = try ExternalProcess("python3", [script, mode, certificate.certificateFile, certificate.keyFile])
            let port = try await server.line("port")
            test = try await TestClient(
                port: try #require(Int(port)),
                tls: true,
                connections: connections,
                initialLimit: initialLimit,
                change: change
            )
        }

        func send(_ count: Int, body: (Int) -> String = { "{\"number\":\($0)}" }) async throws -> ClientProbe.Seen {
            test.client.submit(TestBatch.make(count, body: body))
            let seen = try await test.probe.resolved(count)
            #expect(seen.counts(1, count).allSatisfy { $0 == 1 })
            return seen
        }

        func end() async {
            await test.client.shutdown()
            server.terminate()
        }
    }

    @Test func limitsThatRiseAndFall() async throws {
        let pair = try await Pair("limits")
        let seen = try await pair.send(2_500)
        #expect(seen.answered == 2_500)
        #expect(seen.limits == [1, 1_000, 10])
        #expect(pair.server.output.value.lines.contains { $0.hasPrefix("max") } == false)
        await pair.end()
    }

    @Test func noLimitAtAll() async throws {
        let pair = try await Pair("nolimit")
        let seen = try await pair.send(500)
        #expect(seen.answered == 500)
        #expect(seen.limits.first == 100)
        await pair.end()
    }

    /// The server's HPACK table shrinks, grows and disappears meanwhile.
    @Test func tablesOfAllSizes() async throws {
        let pair = try await Pair("tables")
        let seen = try await pair.send(700)
        #expect(seen.answered == 700)
        #expect(seen.responses.allSatisfy { $0.status == 200 })
        await pair.end()
    }

    @Test func aGoAwayInTheMiddle() async throws {
        let pair = try await Pair("goaway")
        let seen = try await pair.send(90)
        #expect(seen.answered == 50)
        #expect(seen.unprocessed == 40)
        #expect(seen.failures.allSatisfy { $0 == .goAway })
        #expect(seen.goAways.first?.debugData == "{\"reason\":\"Shutdown\"}")
        #expect(seen.goAways.first?.lastStreamID == 99)
        #expect(seen.goAways.first?.code == .noError)
        await pair.end()
    }

    @Test func aGoAwayWithAReasonAndTheEnd() async throws {
        let pair = try await Pair("badcertificate") { $0.connections.maxBackOffMilliseconds = 600_000 }
        let seen = try await pair.send(3)
        #expect(seen.goAways.first?.debugData == "{\"reason\":\"BadCertificateEnvironment\"}")
        #expect(seen.unprocessed == 3)
        let after = try await pair.test.probe.seen.wait(for: "a pause") { !$0.failedDials.isEmpty }
        #expect(after.ambiguous == 0)
        await pair.end()
    }

    @Test func refusedStreams() async throws {
        let pair = try await Pair("refuse")
        let seen = try await pair.send(900)
        #expect(seen.unprocessed == 300)
        #expect(seen.answered == 600)
        await pair.end()
    }

    @Test func resetStreams() async throws {
        let pair = try await Pair("fail")
        let seen = try await pair.send(900)
        #expect(seen.ambiguous == 300)
        #expect(seen.failures.allSatisfy { $0 == .reset(.internalError) })
        await pair.end()
    }

    @Test func stalledStreams() async throws {
        let pair = try await Pair("stall", initialLimit: 100) {
            $0.connections.requestTimeoutMilliseconds = 1_000
            $0.timeoutsBeforeRetirement = .max
        }
        let seen = try await pair.send(500)
        #expect(seen.ambiguous >= 100)
        #expect(seen.failures.allSatisfy { $0 == .timeout })
        try await pair.server.output.wait(for: "100 streams reset with CANCEL") { output in
            output.isComplete || output.lines.contains("cancelled 100")
        }
        #expect(await pair.test.client.status()?.streamsInFlight == 0)
        await pair.end()
    }

    @Test func neverASettingsFrame() async throws {
        let pair = try await Pair("silent") { $0.connections.connectTimeoutMilliseconds = 1_500 }
        pair.test.client.submit(TestBatch.make(3))
        let seen = try await pair.test.probe.seen.wait(for: "a failed attempt") { !$0.failedDials.isEmpty }
        #expect(seen.openings == 0)
        await pair.test.client.shutdown()
        #expect(pair.test.seen.unprocessed == 3)
        pair.server.terminate()
    }

    @Test func aResetOfTheConnectionAgainAndAgain() async throws {
        let pair = try await Pair("hangup", connections: 2, initialLimit: 10)
        let seen = try await pair.send(400)
        #expect(seen.answered + seen.ambiguous == 400)
        #expect(seen.ambiguous > 0)
        #expect(seen.openings >= 2)
        await pair.end()
    }

    @Test func nonsenseInTheMiddle() async throws {
        let pair = try await Pair("garbage", initialLimit: 5)
        // All of them leave at once: requests that the server never received would return as unprocessed.
        let seen = try await pair.send(90)
        #expect(seen.answered + seen.ambiguous == 90)
        let after = try await pair.test.probe.seen.wait(for: "the end of the connection") { !$0.endings.isEmpty }
        #expect(after.endings.first??.contains("PROTOCOL_ERROR") == true)
        await pair.end()
    }

    @Test(arguments: [
        ("plain", 200, 0), ("padding", 400, 1_900), ("continuation", 400, 9), ("slow", 400, 17), ("bighead", 429, 9),
        ("informational", 200, 0), ("trailers", 400, 4), ("huge", 500, 65_536), ("smallwindow", 200, 0),
    ])
    func oddButLegal(_ mode: String, _ status: Int16, _ bytes: Int) async throws {
        let pair = try await Pair(mode, connections: 2)
        let body = String(repeating: "0123456789", count: 30)
        let seen = try await pair.send(mode == "huge" ? 20 : 150) { _ in body }
        #expect(seen.responses.count == seen.resolved.count)
        #expect(seen.responses.allSatisfy { $0.status == status && $0.body.count == bytes })
        if mode == "continuation" { #expect(seen.responses.allSatisfy { $0.retryAfter == "3" }) }
        if mode == "bighead" { #expect(seen.responses.allSatisfy { $0.retryAfter == "7" }) }
        #expect(seen.failedDials.isEmpty)
        await pair.end()
    }
}
