import Foundation
import PushCore
import TestSupport
import Testing

@testable import WebServer

@Suite struct DrainTests {
    /// Requests under way are answered and stored; new connections are not taken.
    @Test func requestsUnderWayAreAnswered() async throws {
        let site = try await WebSite.start { $0.registration.batchDelayMs = 1_000 }
        async let answer = site.registerIOS("registrationToken=70757368546f6b656e&mobileAppUuid=integrationKey")
        try await eventually("the registration waits for its transaction") { site.server.waitingRegistrations > 0 }
        try await site.drain()
        #expect(try await answer.status == 200)
        #expect(try await site.value("SELECT count(*) FROM pushmta_engine.subscription") == "1")
        await #expect(throws: (any Error).self) { try await site.get("/health/live") }
    }

    @Test func aDrainBeforeTheStartEndsItToo() async throws {
        let site = try await WebSite.start()
        site.server.drain()
        site.server.drain()
        try await site.drain()
    }
}
