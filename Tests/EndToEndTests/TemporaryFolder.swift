import Foundation

@testable import Administration
@testable import Laboratory

/// A folder that is removed with its owner.
final class TemporaryFolder: Sendable {
    /// Its path.
    let path: String

    init() throws {
        path =
            FileManager.default.temporaryDirectory.appendingPathComponent("pushmta-e2e-\(UUID().uuidString.prefix(8))")
            .path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Writes a file and returns its path.
    func write(_ text: String, to name: String) throws -> String {
        let file = path + "/" + name
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        return file
    }
}
