import Foundation

/// Lines at the end of a file.
enum AppendedFile {
    /// Appends text; what cannot be written is left out.
    static func append(_ text: String, to path: String) {
        let manager = FileManager.default
        if !manager.fileExists(atPath: path) { _ = manager.createFile(atPath: path, contents: nil) }
        guard let handle = FileHandle(forWritingAtPath: path) else { return }
        defer { try? handle.close() }
        _ = try? handle.seekToEnd()
        try? handle.write(contentsOf: Data(text.utf8))
    }
}
