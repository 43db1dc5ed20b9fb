import Foundation
import PushCore
import Store
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// Every process has keys and credentials in memory; they must not get into a file.
@Suite struct CoreDumpTests {
    /// Raises the limit to the maximum that the shell may set; the default is often 0.
    static let allow = "ulimit -Sc $(ulimit -Hc)"

    /// The process memory that the kernel would write on a crash; empty if there is none.
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
