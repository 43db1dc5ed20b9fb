import Foundation
import PushCore
import Store
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// Keys and credentials are in the memory of every process, and must not come into a file.
@Suite struct CoreDumpTests {
    /// As much as the shell may allow: by default many allow nothing.
    static let allow = "ulimit -Sc $(ulimit -Hc)"

    /// What the kernel would write of a process when it crashes; nothing to say if it is none of its memory.
    static func problems(ofProcess id: Int32) throws -> [String] {
        var problems: [String] = []
        let limits = try String(contentsOfFile: "/proc/\(id)/limits", encoding: .utf8)
        let line = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") } ?? ""
        let sizes = line.split(separator: " ").suffix(3).prefix(2)
        if sizes != ["0", "0"] { problems.append("process \(id): \(line)") }
        // A kernel without core dumps has no such file.
        let filter = try? String(contentsOfFile: "/proc/\(id)/coredump_filter", encoding: .utf8)
        if let filter, Int(filter.trimmingCharacters(in: .whitespacesAndNewlines), radix: 16) != 0 {
            problems.append("process \(id): coredump_filter \(filter)")
        }
        return problems
    }

    @Test func supervisorAndChildrenLeaveNone() async throws {
        try await DeliverySite.with(subscribers: 10) { site in
            try await site.testSite.supervisor.stop()
            let run = "exec '\(site.testSite.programs.pushmta)' supervisor run --config '\(site.testSite.settingsFile)'"
            try await site.testSite.supervisor.start("/bin/sh", ["-c", "\(Self.allow) && \(run)"])
            let id = try await site.send(to: site.application)
            #expect(try await site.progress(id).sent == 10)
            let children = try await site.store.children().map(\.report.pid)
            #expect(!children.isEmpty)
            let supervisor = try #require(site.testSite.supervisor.running)
            for process in [supervisor.id] + children {
                #expect(try Self.problems(ofProcess: process) == [])
            }
        }
    }
}
