import Foundation
import Synchronization

/// The record file, with one JSON line per push, so that others can compare it with what they believe they sent. An
/// answer that is not sent in the read of its push adds a short line.
final class RecordFile: Sendable {
    private let handle: Mutex<FileHandle>

    /// Opens the file for appending; a missing one is created. Several simulators may share a file: with `O_APPEND`
    /// (POSIX) their writes do not interleave.
    init(path: String) throws(SimulatorError) {
        let manager = FileManager.default
        if !manager.fileExists(atPath: path), !manager.createFile(atPath: path, contents: nil) {
            throw SimulatorError(
                .stateFolder,
                "cannot create the record file \(path): check that its folder exists and is writable"
            )
        }
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw SimulatorError(.stateFolder, "cannot write the record file \(path): check its permissions")
        }
        handle = Mutex(FileHandle(fileDescriptor: descriptor, closeOnDealloc: true))
    }

    /// Writes the pushes of one read with one system call.
    func append(_ pushes: [RecordedPush], gateway: SimulatedGateway) {
        guard !pushes.isEmpty else { return }
        let catalog = AnswerCatalog.of(gateway)
        let time = Self.time()
        var lines: [UInt8] = []
        lines.reserveCapacity(pushes.count * 144)
        for push in pushes {
            // An accepted push counts as delivered even if its answer is never sent.
            let status = push.isAccepted ? 200 : catalog.status(push.answer)
            let reason = push.isAccepted ? "" : catalog.name(push.answer)
            let line = """
                {"id":"\(push.key.text)","gateway":"\(gateway.rawValue)","status":\(status),"reason":"\(reason)",\
                "time":\(time),"answered":\(push.isAnswered)}

                """
            lines.append(contentsOf: line.utf8)
        }
        write(lines)
    }

    /// Writes the messages whose delayed answers are sent now.
    func append(answered keys: [MessageKey]) {
        let time = Self.time()
        var lines: [UInt8] = []
        lines.reserveCapacity(keys.count * 88)
        for key in keys {
            lines.append(contentsOf: "{\"id\":\"\(key.text)\",\"answered\":true,\"time\":\(time)}\n".utf8)
        }
        write(lines)
    }

    /// The current time in seconds since 1970, with three decimals.
    private static func time() -> String {
        let milliseconds = Int64(Date().timeIntervalSince1970 * 1000)
        return "\(milliseconds / 1000).\(String(milliseconds % 1000 + 1000).dropFirst())"
    }

    private func write(_ lines: [UInt8]) {
        // A full disk must not end the gateway. The record then lacks lines, which a reconciliation with it shows.
        handle.withLock { try? $0.write(contentsOf: lines) }
    }

    func close() {
        handle.withLock { try? $0.close() }
    }
}
