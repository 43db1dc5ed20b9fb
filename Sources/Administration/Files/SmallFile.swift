import Foundation

/// A file named on the command line. It may be a pipe (`/dev/stdin`, `<(…)`) or, as `-`, standard input.
package enum SmallFile {
    /// A larger file is not what was asked for: keys, certificates, passphrases and icons have a few kilobytes.
    private static let maxBytes = 1 << 20
    /// The maximum size of a content: with many locales it exceeds `maxBytes`, but never this.
    package static let maxContentBytes = 16 << 20

    /// Opens a file for reading; nil if that fails.
    package static func open(_ path: String) -> FileHandle? {
        path == "-" ? .standardInput : FileHandle(forReadingAtPath: path)
    }

    /// The next bytes of a larger file; empty at its end. A directory can be opened like a file, but not read.
    package static func piece(of handle: FileHandle, _ path: String, _ limit: Int) throws -> Data {
        do {
            return try handle.read(upToCount: limit) ?? Data()
        } catch {
            throw CommandFailure(
                .data,
                "The file \(path) cannot be read: check that it is a file, not a directory, and that its disk works."
            )
        }
    }

    /// Returns the file's bytes, at least one. `FileManager.contents` reads regular files only.
    ///
    /// - Parameters:
    ///   - thing: what the file is, for people.
    ///   - remedy: what to give instead.
    package static func contents(_ path: String, _ thing: String, _ remedy: String, limit: Int = maxBytes) throws
        -> Data
    {
        guard let data = read(path, limit) else {
            throw CommandFailure(.data, "The \(thing) \(path) cannot be read: \(remedy), and check your permissions.")
        }
        guard data.count <= limit else {
            throw CommandFailure(.data, "The \(thing) \(path) has more than \(limit >> 20) MiB: \(remedy).")
        }
        guard !data.isEmpty else { throw CommandFailure(.data, "The \(thing) \(path) is empty: \(remedy).") }
        return data
    }

    /// Returns the text of a passphrase file, which may be empty.
    package static func passphrase(_ path: String) throws -> String {
        guard let data = read(path, maxBytes), data.count <= maxBytes else {
            throw CommandFailure(
                .data,
                "The passphrase file \(path) cannot be read or has more than 1 MiB: check its path and your permissions."
            )
        }
        return String(decoding: data, as: UTF8.self)
    }

    /// Reads at most one byte more than `limit`; nil if it cannot be read.
    private static func read(_ path: String, _ limit: Int) -> Data? {
        guard let handle = open(path) else { return nil }
        defer { try? handle.close() }
        var data = Data()
        do {
            while data.count <= limit {
                guard let piece = try handle.read(upToCount: limit + 1 - data.count), !piece.isEmpty else {
                    return data
                }
                data += piece
            }
        } catch {
            return nil
        }
        return data
    }
}
