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

extension DrillSite {
    /// Calls `body` with each push that the gateways have recorded so far, in the order of arrival, and the message it
    /// belongs to.
    func pushes(_ body: (GatewayRecordLine, MessageResolver.Message?) -> Void) async throws {
        let resolver = try await MessageResolver(deliveries, store: store())
        try GatewayRecord.read(recordFile, from: tail?.start ?? 0) { line in body(line, resolver.message(line.id)) }
    }
}
