import Foundation
import TestSupport
import Testing

@testable import MTAChild

/// The output of a dispatch state under given schedules is unchanged: `Goldens/dispatch.txt` has a digest of each.
///
/// After an intended change of the output, run with `PUSHMTA_RECORD=FOLDER`. The test then writes the digests there as
/// `dispatch.txt`, and each schedule's text to a file named by its number. Comparing two such folders shows what
/// changed.
@Suite struct DispatchRecordTests {
    private static let schedules: ClosedRange<UInt64> = 1...400
    private static let golden = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "Goldens/dispatch.txt"
    )

    private func record(_ seed: UInt64) throws -> [String] {
        var world = try DispatchWorld.make(seed: seed)
        world.record = DispatchRecord()
        for _ in 0..<Int.random(in: 0...400, using: &world.random) { world.step() }
        world.resolve()
        #expect(world.failures == [], "schedule \(seed)")
        return try #require(world.record).lines
    }

    /// FNV-1a: a collision by chance is improbable, and no attacker chooses these texts.
    private func digest(_ lines: [String]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in lines.joined(separator: "\n").utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }

    @Test func whatLeavesIsWhatItWas() throws {
        let folder = ProcessInfo.processInfo.environment["PUSHMTA_RECORD"].map { URL(filePath: $0) }
        let text = try String(contentsOf: Self.golden, encoding: .utf8)
        let known = text.split(separator: "\n").map(String.init)
        var digests: [String] = []
        for seed in Self.schedules {
            let lines = try record(seed)
            digests.append("\(seed) \(lines.count) \(digest(lines))")
            try folder.map { folder in
                try lines.joined(separator: "\n").write(
                    to: folder.appending(path: "\(seed).txt"),
                    atomically: true,
                    encoding: .utf8
                )
            }
        }
        try folder.map { folder in
            try (digests.joined(separator: "\n") + "\n").write(
                to: folder.appending(path: "dispatch.txt"),
                atomically: true,
                encoding: .utf8
            )
        }
        #expect(known.count == digests.count)
        for (before, now) in zip(known, digests) { #expect(before == now) }
    }
}
