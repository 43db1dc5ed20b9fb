import Foundation
import Synchronization

/// Counts the accepted pushes in a growing record.
final class RecordTail: Sendable {
    private struct State: Sendable {
        var offset: UInt64
        var rest = Data()
        var accepted: Int64 = 0
    }

    let file: String
    /// The record's size when the drill began; what it held then is not the drill's.
    let start: UInt64
    private let state: Mutex<State>

    /// Starts at the current end of the file.
    init(file: String) {
        self.file = file
        let size = (try? FileManager.default.attributesOfItem(atPath: file)[.size] as? NSNumber)?.uint64Value ?? 0
        start = size
        state = Mutex(State(offset: size))
    }

    /// Pushes accepted since the drill began; a message accepted twice counts twice.
    func accepted() throws -> Int64 {
        try state.withLock { state in
            guard let handle = FileHandle(forReadingAtPath: file) else { return state.accepted }
            defer { try? handle.close() }
            try handle.seek(toOffset: state.offset)
            let data = try handle.readToEnd() ?? Data()
            state.offset += UInt64(data.count)
            var accepted = state.accepted
            state.rest = GatewayRecord.lines(of: state.rest + data) { if $0.isAccepted { accepted += 1 } }
            state.accepted = accepted
            return accepted
        }
    }
}
