import Foundation

/// A file that a person names at the command line, which may as well be a pipe (`/dev/stdin`, `<(…)`).
enum SmallFile {
    /// What is larger is not what was asked for: keys, certificates, passphrases and icons have a few kilobytes.
    private static let mostBytes = 1 << 20

    /// The file's bytes; nil if it cannot be read or has more than 1 MiB. `FileManager.contents` reads regular files only.
    static func contents(_ path: String) -> Data? {
        guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? handle.close() }
        var data = Data()
        do {
            while data.count <= mostBytes {
                guard let piece = try handle.read(upToCount: mostBytes), !piece.isEmpty else { return data }
                data += piece
            }
        } catch {
            return nil
        }
        return nil
    }
}
