import Foundation
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

@Suite struct BackgroundProcessTests {
    private let folder: TemporaryFolder
    private let process: BackgroundProcess

    init() throws {
        folder = try TemporaryFolder()
        process = BackgroundProcess(name: "shell", recordFile: folder.path + "/pid", logFile: folder.path + "/log")
    }

    private func start(_ script: String) async throws {
        let script = script + "; touch '\(folder.path)/ready'; while :; do sleep 0.01; done"
        try await process.start("/bin/sh", ["-c", script])
        try await eventually("the shell", within: DeliverySite.limit) {
            FileManager.default.fileExists(atPath: folder.path + "/ready")
        }
    }

    @Test func anOrderlyEndIsTold() async throws {
        try await start("trap 'exit 0' TERM")
        #expect(try await process.stop() == .orderly)
        #expect(try await process.stop() == .wasGone)
    }

    @Test func anotherExitStatusIsTold() async throws {
        try await start("trap 'exit 7' TERM")
        guard case .failed(let words) = try await process.stop() else {
            Issue.record("the exit status was not seen")
            return
        }
        #expect(words.contains("7"))
    }

    @Test func aSignalIsNoOrderlyEnd() async throws {
        try await start(":")
        guard case .failed = try await process.stop() else {
            Issue.record("the signal was not seen")
            return
        }
    }
}
