import Foundation

/// A line of the record file; the lines of delayed answers have no status.
struct RecordLine: Decodable {
    var id: String
    var gateway: String?
    var status: Int?
    var reason: String?
    var time: Double
    var answered: Bool

    /// All lines of a file.
    static func read(_ path: String) throws -> [RecordLine] {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return try text.split(separator: "\n").map { try JSONDecoder().decode(RecordLine.self, from: Data($0.utf8)) }
    }
}
