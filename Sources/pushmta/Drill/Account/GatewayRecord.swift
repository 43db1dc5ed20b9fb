import Foundation
import PushCore

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
            throw DrillSetback("the gateway's record \(file) cannot be read")
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
