import Foundation
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// The library that shows a process another wall clock. It is built together with the tests.
@Suite struct ShiftedClockTests {
    private let folder: TemporaryFolder
    private let programs: Executables

    init() throws {
        folder = try TemporaryFolder()
        let program = URL(fileURLWithPath: try Program.pushmta().path)
        programs = Executables(folder: program.deletingLastPathComponent().path)
    }

    private func seconds(_ clock: ShiftedClock) async throws -> Int64 {
        let text = try await ToolRun.run("/bin/date", ["+%s"], environment: clock.environment)
        return try #require(Int64(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    @Test(arguments: [600, -600, 0, 1_000_000] as [Int64])
    func aProcessSeesTheShift(_ shift: Int64) async throws {
        let clock = try ShiftedClock(folder: folder.path, programs: programs)
        try clock.set(.seconds(shift))
        let before = Int64(Date.now.timeIntervalSince1970)
        let seen = try await seconds(clock) - shift
        let after = Int64(Date.now.timeIntervalSince1970)
        #expect((before...after).contains(seen))
    }

    /// A step does not delay a process that waits on the monotonic clock, and a running process sees the step.
    @Test func aStepIsSeenAndDelaysNothing() async throws {
        let clock = try ShiftedClock(folder: folder.path, programs: programs)
        let script = "date +%s; read line < '\(folder.path)/go'; sleep 0.01; date +%s"
        try await ToolRun.run("/usr/bin/mkfifo", [folder.path + "/go"])
        async let output = ToolRun.run("/bin/sh", ["-c", script], environment: clock.environment)
        try clock.set(.seconds(-600))
        try await ToolRun.run("/bin/sh", ["-c", "echo > '\(folder.path)/go'"])
        let times = try await output.split(separator: "\n").compactMap { Int64($0) }
        #expect(times.count == 2)
        #expect(try #require(times.last) < Int64(Date.now.timeIntervalSince1970) - 300)
    }

    @Test func aProcessThatUsesTheClockIsTold() async throws {
        let clock = try ShiftedClock(folder: folder.path, programs: programs)
        let fifo = folder.path + "/go"
        try await ToolRun.run("/usr/bin/mkfifo", [fifo])
        // A process that prints its id and lives until its output is read.
        let script = "echo $$ > '\(folder.path)/id'; echo > '\(fifo)'"
        async let shifted = ToolRun.run("/bin/sh", ["-c", script], environment: clock.environment)
        var id: Int32?
        while id == nil {
            let text = try? String(contentsOfFile: folder.path + "/id", encoding: .utf8)
            id = text.flatMap { $0.hasSuffix("\n") ? Int32($0.dropLast()) : nil }
            await Task.yield()
        }
        #expect(clock.isUsed(by: try #require(id)))
        #expect(!clock.isUsed(by: ProcessInfo.processInfo.processIdentifier))
        try await ToolRun.run("/bin/sh", ["-c", "read line < '\(fifo)'"])
        _ = try await shifted
    }

    @Test func aMissingLibraryIsNamed() throws {
        #expect(throws: CommandFailure.self) {
            try ShiftedClock(folder: folder.path, programs: Executables(folder: "/nowhere"))
        }
    }
}
