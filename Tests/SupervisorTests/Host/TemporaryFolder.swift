import SystemPackage

/// A folder of one test.
final class TemporaryFolder: Sendable {
    let path: FilePath

    init() throws {
        let name = "pushmta-supervisor-\(UUID().uuidString)"
        path = FilePath(FileManager.default.temporaryDirectory.path).appending(name)
        try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path.string)
    }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(filePath: path.appending(name).string))
    }

    func contains(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: path.appending(name).string)
    }
}

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
