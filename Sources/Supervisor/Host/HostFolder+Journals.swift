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
}
