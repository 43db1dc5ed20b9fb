import Foundation
import Synchronization

/// Counts the acceptances in a record that grows.
final class RecordTail: Sendable {
    private struct State: Sendable {
        var offset: UInt64
        var rest = Data()
        var accepted: Int64 = 0
    }

    /// The file.
    let file: String
    /// What it held when the drill began; that belongs to others.
    let start: UInt64
    private let state: Mutex<State>

    /// Begins at the present end of the file.
    init(file: String) {
        self.file = file
        let size = (try? FileManager.default.attributesOfItem(atPath: file)[.size] as? NSNumber)?.uint64Value ?? 0
        start = size
        state = Mutex(State(offset: size))
    }

    /// Pushes that were accepted since the drill began, each time.
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
