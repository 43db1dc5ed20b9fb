import SystemPackage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension HostFolder {
    private static let journalPrefix = "child-"
    private static let journalSuffix = ".journal"

    /// The journal of a child, named after the id of its row in `mta_child`, which is never used again.
    func journal(ofChild id: Int64) -> FilePath {
        path.appending("\(Self.journalPrefix)\(id)\(Self.journalSuffix)")
    }

    /// The ids of the children whose journals are in the folder, in ascending order.
    func childrenWithJournals() throws -> [Int64] {
        try FileManager.default.contentsOfDirectory(atPath: path.string).compactMap { name in
            guard name.hasPrefix(Self.journalPrefix), name.hasSuffix(Self.journalSuffix) else { return nil }
            return Int64(name.dropFirst(Self.journalPrefix.count).dropLast(Self.journalSuffix.count))
        }.sorted()
    }

    /// The names of journals that were put aside, until somebody has looked at them and removed them.
    func journalsPutAside() throws -> [String] {
        let marks = JournalFile.Reason.allCases.map { "\(Self.journalSuffix).\($0.rawValue)" }
        return try FileManager.default.contentsOfDirectory(atPath: path.string)
            .filter { name in name.hasPrefix(Self.journalPrefix) && marks.contains { name.contains($0) } }
            .sorted()
    }
}
