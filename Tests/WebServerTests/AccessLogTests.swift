import Foundation
import PushCore
import TestSupport
import Testing

@testable import WebServer

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite struct AccessLogTests {
    /// More lines than a pipe holds, without a reader.
    @Test(.timeLimit(.minutes(2))) func aPipeThatNobodyReadsKeepsNoProcessFromItsEnd() async throws {
        let pipe = NSTemporaryDirectory() + "access-\(UUID().uuidString)"
        try #require(mkfifo(pipe, 0o600) == 0)
        let reader = try #require(FileHandle(forUpdatingAtPath: pipe))
        let site = try await WebSite.start { $0.accessLog = pipe }
        for _ in 0..<1_500 { _ = try await site.get("/r/test") }
        try await site.drain()
        // The pipe holds what was written, so it was in use.
        #expect(!reader.availableData.isEmpty)
        try reader.close()
    }

    @Test func aFileThatWasMovedAwayIsMadeAnew() async throws {
        let log = NSTemporaryDirectory() + "access-\(UUID().uuidString)"
        let site = try await WebSite.start { $0.accessLog = log }
        _ = try await site.get("/r/test")
        try await eventually("the line is written") { text(of: log).contains("/r/test") }
        try FileManager.default.moveItem(atPath: log, toPath: log + ".1")
        site.server.reopenAccessLog()
        try await eventually("the file is there again") { FileManager.default.fileExists(atPath: log) }
        _ = try await site.get("/health/live")
        try await site.drain()
        #expect(text(of: log).contains("/health/live"))
        #expect(text(of: log + ".1").contains("/r/test") && !text(of: log + ".1").contains("/health/live"))
    }

    private func text(of path: String) -> String {
        (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }
}
