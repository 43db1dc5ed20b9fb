import Administration
import Foundation
import LaboratoryStore
import PushCore
import Store
import Synchronization

/// Reads a gateway's record from its file, which has one JSON object per line.
enum GatewayRecord {
    /// The keys of a line. A line without a status records that an answer was written; it is not a push.
    private struct Line: Decodable {
        let id: String
        let status: Int?
        let reason: String?
        let time: Double?
    }

    /// The number of bytes read at once. The record of a long drill need not fit in memory.
    private static let chunk = 4 << 20

    /// Calls `body` with each push, in the order of arrival. An incomplete last line is skipped.
    ///
    /// - Parameter offset: The number of bytes to skip, which an earlier run has written.
    static func read(_ file: String, from offset: UInt64 = 0, _ body: (GatewayRecordLine) -> Void) throws {
        guard let handle = FileHandle(forReadingAtPath: file) else {
            throw DrillFailure("the gateway's record \(file) cannot be read")
        }
        defer { try? handle.close() }
        try handle.seek(toOffset: offset)
        var rest = Data()
        while let data = try handle.read(upToCount: chunk), !data.isEmpty {
            rest.append(data)
            rest = lines(of: rest, body)
        }
    }

    /// Calls `body` with each push of the complete lines.
    ///
    /// - Returns: The bytes after the last complete line.
    static func lines(of data: Data, _ body: (GatewayRecordLine) -> Void) -> Data {
        guard let end = data.lastIndex(of: UInt8(ascii: "\n")) else { return data }
        for line in decode(String(decoding: data[..<end], as: UTF8.self)) {
            guard let status = line.status else { continue }
            body(GatewayRecordLine(id: line.id, status: status, reason: line.reason ?? "", time: line.time ?? 0))
        }
        return Data(data[data.index(after: end)...])
    }

    /// Decodes all lines at once, as one array. If that fails, it decodes them one by one and skips those that are not
    /// JSON.
    private static func decode(_ text: String) -> [Line] {
        let array = "[" + text.replacingOccurrences(of: "\n", with: ",") + "]"
        if let lines = try? JSONBody.decode([Line].self, from: array.utf8) { return lines }
        return text.split(separator: "\n").compactMap { try? JSONBody.decode(Line.self, from: $0.utf8) }
    }
}

/// One line of a gateway's record: a push as it arrived.
struct GatewayRecordLine: Sendable, Equatable {
    /// The message's id as the gateway knows it.
    let id: String
    /// The HTTP status of the answer: 200 accepted, 0 none.
    let status: Int
    /// The gateway's reason; "" if none.
    var reason = ""
    /// Seconds since 1970.
    var time = 0.0

    /// Whether the gateway accepted the push. Legacy FCM gives a reason for rejection within a 200.
    var isAccepted: Bool { status == 200 && reason.isEmpty }
}

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

extension DrillSite {
    /// Calls `body` with each push that the gateways have recorded so far, in the order of arrival, and the message it
    /// belongs to.
    func pushes(_ body: (GatewayRecordLine, MessageResolver.Message?) -> Void) async throws {
        let resolver = try await MessageResolver(deliveries, store: store())
        try GatewayRecord.read(recordFile, from: tail?.start ?? 0) { line in body(line, resolver.message(line.id)) }
    }
}
