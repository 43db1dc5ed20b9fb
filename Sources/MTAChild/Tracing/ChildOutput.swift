import Foundation
import Synchronization

/// The child's standard output; each write is a whole line, from any thread.
final class ChildOutput: Sendable {
    private let file: Mutex<FileHandle>

    init(_ file: sending FileHandle = .standardOutput) {
        self.file = Mutex(file)
    }

    /// Writes a line with its newline.
    func write(_ line: [UInt8]) {
        // An error means that the supervisor is gone, which the child learns from the end of standard input.
        file.withLock { try? $0.write(contentsOf: Data(line)) }
    }
}
