import Foundation

/// Keeps what has to outlive the process.
public protocol PushStorage: Sendable {
    /// Reads what was written under the name; nil when nothing was.
    func read(_ name: String) throws -> Data?
    /// Writes all of it or nothing.
    func write(_ data: Data, _ name: String) throws
}

/// Keeps things in files of one folder.
///
/// One process at a time may use a folder: an app and its extensions have their own each.
public struct FileStorage: PushStorage {
    private let folder: URL

    /// Keeps files in a folder, which is made when it is needed. The default is `PushMTA` in the app's support folder.
    public init(folder: URL? = nil) {
        let support = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
        self.folder =
            folder ?? (support ?? FileManager.default.temporaryDirectory).appendingPathComponent("PushMTA")
    }

    /// Reads a file; nil when there is none.
    public func read(_ name: String) throws -> Data? {
        let file = folder.appendingPathComponent(name)
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return try Data(contentsOf: file)
    }

    /// Writes a file beside the old one and puts it in its place.
    public func write(_ data: Data, _ name: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try data.write(to: folder.appendingPathComponent(name), options: .atomic)
    }
}
