import Foundation
import OperatingSystem
import TestSupport
import Testing

@Suite struct ServiceManagerTests {
    private func environment(_ more: [String: String] = [:]) throws -> ([String: String], NotifySocket) {
        let path = FileManager.default.temporaryDirectory.appending(
            path: "pushmta-notify-\(UUID().uuidString.prefix(8))"
        ).path
        return (["NOTIFY_SOCKET": path].merging(more) { $1 }, try NotifySocket(path: path))
    }

    @Test func whoWasNotStartedByOneHasNone() {
        #expect(ServiceManager(environment: [:]) == nil)
        #expect(ServiceManager(environment: ["NOTIFY_SOCKET": "relative"]) == nil)
        #expect(ServiceManager(environment: ["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 200)]) == nil)
    }

    @Test func itHearsOfStartReloadAndEnd() async throws {
        let (environment, socket) = try environment()
        let service = try #require(ServiceManager(environment: environment))
        #expect(service.watchdogInterval == nil)
        service.ready("Serving\nall")
        #expect(await socket.notice(containing: "READY") == "READY=1\nSTATUS=Serving all\n")
        service.reloading()
        #expect(await socket.notice(containing: "RELOADING=1")?.contains("MONOTONIC_USEC=") == true)
        service.status(String(repeating: "y", count: 1_000))
        #expect(await socket.notice(containing: "STATUS")?.utf8.count == 208)
        service.stopping("Draining")
        #expect(await socket.notice(containing: "STOPPING") == "STOPPING=1\nSTATUS=Draining\n")
        service.progress()
        #expect(await socket.notice(containing: "WATCHDOG", within: .milliseconds(200)) == nil, "nobody watches")
        // The socket is gone: nobody hears it, and nothing happens.
        try FileManager.default.removeItem(atPath: socket.path)
        service.ready("Serving")
    }

    @Test func progressIsToldNowAndThen() async throws {
        let (environment, socket) = try environment(["WATCHDOG_USEC": "3600000000", "WATCHDOG_PID": "\(getpid())"])
        let service = try #require(ServiceManager(environment: environment))
        #expect(service.watchdogInterval == .seconds(3_600))
        for _ in 0..<10 { service.progress() }
        #expect(await socket.notice(containing: "WATCHDOG=1") != nil)
        #expect(
            await socket.notice(containing: "WATCHDOG=1", within: .milliseconds(200)) == nil,
            "once in a quarter of the time"
        )
        let others = try #require(ServiceManager(environment: environment.merging(["WATCHDOG_PID": "1"]) { $1 }))
        #expect(others.watchdogInterval == nil, "it is another process that is watched")
    }

    @Test func aWatchGoesOnUntilItsTaskEnds() async throws {
        let (environment, socket) = try environment(["WATCHDOG_USEC": "40000"])
        let service = try #require(ServiceManager(environment: environment))
        let watch = Task { await service.keepWatch {} }
        for _ in 0..<3 { #expect(await socket.notice(containing: "WATCHDOG=1") != nil) }
        watch.cancel()
        await watch.value
    }
}
