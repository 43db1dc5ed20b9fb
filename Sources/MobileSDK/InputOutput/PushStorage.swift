import Foundation

/// Stores state that must outlive the process.
public protocol PushStorage: Sendable {
    /// Reads the data stored under a name; nil if there is none.
    func read(_ name: String) throws -> Data?
    /// Writes data atomically.
    func write(_ data: Data, _ name: String) throws
}

/// Stores data in files of one folder.
///
/// Only one process at a time may use a folder, so an app and each of its extensions have their own.
public struct FileStorage: PushStorage {
    private let folder: URL

    /// Stores files in a folder, which is created if needed. The default is `PushMTA` in the app's support folder.
    public init(folder: URL? = nil) {
        let support = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
        self.folder =
            folder ?? (support ?? FileManager.default.temporaryDirectory).appendingPathComponent("PushMTA")
    }

    /// Reads a file; nil if it does not exist.
    public func read(_ name: String) throws -> Data? {
        let file = folder.appendingPathComponent(name)
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return try Data(contentsOf: file)
    }

    /// Writes a new file and replaces the old one with it.
    public func write(_ data: Data, _ name: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try data.write(to: folder.appendingPathComponent(name), options: .atomic)
    }
}
