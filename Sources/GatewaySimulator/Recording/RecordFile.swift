import Foundation
import Synchronization

/// A file with one JSON line for each push, so that others can compare it with what they believe to have sent.
final class RecordFile: Sendable {
    private let handle: Mutex<FileHandle>

    /// Opens the file for appending, and makes it when it is missing.
    init(path: String) throws(SimulatorError) {
        let manager = FileManager.default
        if !manager.fileExists(atPath: path), !manager.createFile(atPath: path, contents: nil) {
            throw SimulatorError(
                .stateFolder,
                "the record file \(path) cannot be made: check that its folder exists and is writable"
            )
        }
        guard let handle = FileHandle(forWritingAtPath: path) else {
            throw SimulatorError(.stateFolder, "the record file \(path) cannot be written: check its permissions")
        }
        _ = try? handle.seekToEnd()
        self.handle = Mutex(handle)
    }

    /// Writes the pushes of one read with one system call.
    func append(_ pushes: [RecordedPush], catalog: AnswerCatalog) {
        guard !pushes.isEmpty else { return }
        let milliseconds = Int64(Date().timeIntervalSince1970 * 1000)
        let fraction = String(milliseconds % 1000 + 1000).dropFirst()
        let time = "\(milliseconds / 1000).\(fraction)"
        var lines: [UInt8] = []
        lines.reserveCapacity(pushes.count * 96)
        for push in pushes {
            // An accepted push counts as delivered even when its answer never leaves.
            let status = push.isAccepted ? 200 : catalog.status(push.answer)
            lines.append(contentsOf: "{\"id\":\"\(push.key.text)\",\"status\":\(status),\"time\":\(time)}\n".utf8)
        }
        // A full disk must not end the gateway; the record is then short and the account that uses it shows that.
        handle.withLock { try? $0.write(contentsOf: lines) }
    }

    /// Closes the file.
    func close() {
        handle.withLock { try? $0.close() }
    }
}
