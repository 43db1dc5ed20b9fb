import Administration
import Foundation
import LaboratoryStore
import PushCore
import Store
import Synchronization

/// The record of a gateway, read from its file: a JSON object a line.
enum GatewayRecord {
    /// What a line may hold. One without a status says that an answer was written; it is no push.
    private struct Line: Decodable {
        let id: String
        let status: Int?
        let reason: String?
        let time: Double?
    }

    /// The bytes that are read at once: a record of a long drill need not fit in memory.
    private static let chunk = 4 << 20

    /// Calls `body` with each push, in the order in which they arrived. A last line that is not whole yet is left out.
    ///
    /// - Parameter offset: The bytes that an earlier run had written, left out.
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

    /// Calls `body` with each push of the whole lines.
    ///
    /// - Returns: What follows the last whole line.
    static func lines(of data: Data, _ body: (GatewayRecordLine) -> Void) -> Data {
        guard let end = data.lastIndex(of: UInt8(ascii: "\n")) else { return data }
        for line in decode(String(decoding: data[..<end], as: UTF8.self)) {
            guard let status = line.status else { continue }
            body(GatewayRecordLine(id: line.id, status: status, reason: line.reason ?? "", time: line.time ?? 0))
        }
        return Data(data[data.index(after: end)...])
    }

    /// All lines at once, as one array; one by one, without those that are no JSON, if that fails.
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
    /// The gateway's words, "" if none.
    let reason: String
    /// Seconds since 1970.
    let time: Double

    /// Whether the gateway took it; legacy FCM says within a 200 why it did not.
    var isAccepted: Bool { status == 200 && reason.isEmpty }

    init(id: String, status: Int, reason: String = "", time: Double = 0) {
        self.id = id
        self.status = status
        self.reason = reason
        self.time = time
    }
}

/// Counts the acceptances in a record that grows.
final class RecordTail: Sendable {
    private struct State: Sendable {
        var offset: UInt64
        var rest = Data()
        var accepted: Int64 = 0
    }

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

/// Tells which message an id at the gateway belongs to.
struct MessageResolver: Sendable {
    /// A message of a delivery.
    struct Message: Sendable, Hashable {
        let delivery: Int64
        let sequence: Int32
    }

    /// The codecs of the deliveries, in the order of their start.
    let codecs: [MessageIDCodec]
    private let deliveries: Set<Int64>
    /// One codec for each key: all deliveries of a day share one, and an id says its delivery by itself.
    private let keys: [MessageIDCodec]

    /// Reads the keys of these deliveries.
    init(_ deliveries: [DrillDelivery], store: Store) async throws {
        var codecs: [MessageIDCodec] = []
        var keys: [[UInt8]: MessageIDCodec] = [:]
        for delivery in deliveries {
            let key = try await store.trackingKey(delivery: delivery.id)
            let codec = try MessageIDCodec(deliveryID: delivery.id, trackingKey: key)
            codecs.append(codec)
            keys[key] = codec
        }
        self.codecs = codecs
        self.keys = Array(keys.values)
        self.deliveries = Set(deliveries.map(\.id))
    }

    /// The message with this id; `nil` if none of the deliveries made it.
    func message(_ id: String) -> Message? {
        guard let uuid = MessageUUID(id) else { return nil }
        for key in keys {
            guard let message = key.message(of: uuid), deliveries.contains(message.deliveryID) else { continue }
            return Message(delivery: message.deliveryID, sequence: message.sequence)
        }
        return nil
    }
}

extension DrillSite {
    /// Calls `body` with each push that the gateways have recorded so far, in the order of their arrival, and the message that
    /// it was.
    func pushes(_ body: (GatewayRecordLine, MessageResolver.Message?) -> Void) async throws {
        let resolver = try await MessageResolver(deliveries, store: store())
        try GatewayRecord.read(recordFile, from: tail?.start ?? 0) { line in body(line, resolver.message(line.id)) }
    }
}
