import Foundation
import NIOCore
import NIOPosix
import PushCore
import Store
import TestSupport
import Testing

@testable import WebServer

/// What strangers can use up: connections, and the database's time for checking keys.
@Suite struct StrangerTests {
    private static let noProxy: @Sendable (inout WebSettings) -> Void = { $0.limits.trustedProxies = "192.0.2.1" }
    private static let ask = "GET /r/test HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test func aThousandPhonesBehindOneAddressAreServed() async throws {
        DescriptorLimit.raise()
        let site = try await WebSite.start(Self.noProxy)
        var phones: [RawConnection] = []
        // Each stays connected for a few seconds, like an SDK's connection.
        for _ in 0..<1_000 {
            let phone = try await RawConnection.open(port: site.port)
            phone.send(Self.ask)
            phones.append(phone)
        }
        let all = phones
        try await eventually("every phone has its answer") { all.allSatisfy { $0.answers.first?.status == 200 } }
        #expect(all.allSatisfy { !$0.isClosed })
        for phone in all { await phone.close() }
        try await site.drain()
    }

    @Test func aClientHasItsShareOfConnectionsAndNoMore() async throws {
        let site = try await WebSite.start {
            Self.noProxy(&$0)
            $0.limits.maxConnections = 40
            $0.limits.maxConnectionsPerClient = 5
        }
        var mine: [RawConnection] = []
        for _ in 0..<5 {
            let connection = try await RawConnection.open(port: site.port)
            connection.send(Self.ask)
            mine.append(connection)
            try await eventually("it is served") { connection.answers.first?.status == 200 }
        }
        let sixth = try await RawConnection.open(port: site.port)
        sixth.send(Self.ask)
        try await eventually("one too many is closed") { sixth.isClosed }
        #expect(sixth.answers.isEmpty)
        // A released connection can be used again.
        await mine.removeLast().close()
        try await eventually("there is room again") {
            let next = try await RawConnection.open(port: site.port)
            next.send(Self.ask)
            try await eventually("it ends or is served") { next.isClosed || !next.answers.isEmpty }
            let isServed = next.answers.first?.status == 200
            await next.close()
            return isServed
        }
        for connection in mine { await connection.close() }
        try await site.drain()
    }

    @Test func theLastConnectionsAreForTheAPI() async throws {
        // Two of eight are reserved. The test connects from a trusted proxy's address, so the share of a client does
        // not apply.
        let crowded = try await APISite.start {
            $0.limits.maxConnections = 8
            $0.limits.apiConnections = 2
        }
        let key = try await crowded.key()
        var devices: [RawConnection] = []
        for _ in 0..<6 {
            let device = try await RawConnection.open(port: crowded.web.port)
            device.send(Self.ask)
            devices.append(device)
        }
        let all = devices
        try await eventually("devices have all that is theirs") { all.allSatisfy { $0.answers.first?.status == 200 } }
        let seventh = try await RawConnection.open(port: crowded.web.port)
        seventh.send(Self.ask)
        try await eventually("a device is sent away") { seventh.isClosed }
        #expect(seventh.answers.first?.status == 503 && seventh.answers.first?.headers["retry-after"] == "5")
        // A client with a key is served and keeps its connection; one without a key is answered and disconnected.
        let path = "GET /api/v1/applications HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
        let stranger = try await RawConnection.open(port: crowded.web.port)
        stranger.send(path + "pushmta_x\r\n\r\n")
        try await eventually("a stranger is sent away") { stranger.isClosed }
        #expect(stranger.answers.first?.status == 401)
        let system = try await RawConnection.open(port: crowded.web.port)
        for count in 1...2 {
            system.send(path + key + "\r\n\r\n")
            try await eventually("answer \(count)") { system.answers.count == count || system.isClosed }
        }
        #expect(system.answers.map(\.status) == [200, 200] && !system.isClosed)
        // Devices are served again, on the reserved connections.
        await devices.removeLast().close()
        await system.close()
        try await eventually("a device is served") { try await crowded.web.get("/r/test").status == 200 }
        for device in devices { await device.close() }
        try await crowded.finish()
    }

    @Test func keysThatAreNoneCostTheDatabaseNothing() async throws {
        let site = try await APISite.start(Self.noProxy)
        let key = try await site.key()
        #expect(try await site.call("GET", "/applications", key: key).status == 200)
        let before = site.web.api.keyQuestions
        var random = SystemRandomNumberGenerator()
        var statuses: [Int: Int] = [:]
        for _ in 0..<60 {
            let bogus = APIKey(using: &random).secretText
            statuses[try await site.call("GET", "/applications", key: bogus).status, default: 0] += 1
            // Never waits, and never pays for them.
            #expect(try await site.call("GET", "/applications", key: key).status == 200)
        }
        #expect((statuses[401] ?? 0) >= 20 && (statuses[429] ?? 0) > 0 && statuses.count == 2, "\(statuses)")
        // Only the real key is checked again every five seconds. The others never are, because their public ids do not
        // exist.
        #expect(site.web.api.keyQuestions - before < 20, "\(site.web.api.keyQuestions - before) questions")
        let other = try await site.call("GET", "/applications", key: APIKey(using: &random).secretText)
        #expect(other.status == 429 ? other["code"] == "too_many_requests" : other.status == 401)
        #expect(try await site.call("GET", "/applications", key: key).status == 200)
        try await site.finish()
    }

    @Test func aNewKeyIsTakenWhereBogusOnesComeFrom() async throws {
        let site = try await APISite.start(Self.noProxy)
        var random = SystemRandomNumberGenerator()
        var last = 0
        for _ in 0..<60 where last != 429 {
            last = try await site.call("GET", "/applications", key: APIKey(using: &random).secretText).status
        }
        #expect(last == 429, "the address is told to wait")
        // A new key, which the process has not seen before.
        for _ in 0..<3 {
            let key = try await site.key()
            #expect(try await site.call("GET", "/applications", key: APIKey(using: &random).secretText).status == 429)
            #expect(try await site.call("GET", "/applications", key: key).status == 200)
            let wrong = String(key.dropLast()) + (key.hasSuffix("0") ? "1" : "0")
            #expect(try await site.call("GET", "/applications", key: wrong).status == 429)
        }
        try await site.finish()
    }

    @Test func aTrustedProxyIsNeverToldToWait() async throws {
        // The test connects from a trusted proxy's address, and names no client behind it.
        let site = try await APISite.start()
        var random = SystemRandomNumberGenerator()
        for _ in 0..<60 {
            let answer = try await site.call("GET", "/applications", key: APIKey(using: &random).secretText)
            #expect(answer.status == 401)
        }
        try await site.finish()
    }

    @Test func aWrongSecretIsAskedAboutOnce() async throws {
        let site = try await APISite.start(Self.noProxy)
        let key = try await site.key()
        let wrong = String(key.dropLast()) + (key.hasSuffix("0") ? "1" : "0")
        #expect(try await site.call("GET", "/applications", key: wrong).status == 401)
        let before = site.web.api.keyQuestions
        for _ in 0..<5 { #expect(try await site.call("GET", "/applications", key: wrong).status == 401) }
        #expect(site.web.api.keyQuestions - before <= 1)
        #expect(try await site.call("GET", "/applications", key: key).status == 200)
        try await site.finish()
    }

    @Test func sharesFollowWhatThePortTakes() throws {
        let roomy = try ConnectionShare(setting: 10_000, limit: 1 << 20, ports: 1, threads: 2)
        #expect(roomy.maxOfClient(2_000) == 2_000 && roomy.kept(100) == 100)
        let narrow = try ConnectionShare(setting: 10_000, limit: 1_024, ports: 1, threads: 2)
        #expect(narrow.maxOfClient(2_000) == narrow.connections / 2 && narrow.kept(10_000) == narrow.connections / 4)
        let one = try ConnectionShare(setting: 1, limit: 1_024, ports: 1, threads: 1)
        #expect(one.maxOfClient(2_000) == 1 && one.kept(100) == 0)
    }
}
