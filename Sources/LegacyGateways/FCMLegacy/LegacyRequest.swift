import Gateways
import PushCore

/// Messages of one batch that share a request because their bodies are equal, or a single message.
struct LegacyRequest {
    /// The maximum number of tokens that FCM accepts in one request.
    static let maxMessages = 1_000

    let batch: GatewayRequestBatch
    /// The messages' rows, in the order of the request; never empty.
    let rows: [Int32]

    /// The rows as ranges, neighbours together, in their order.
    var ranges: [Range<Int32>] {
        var ranges: [Range<Int32>] = []
        for row in rows {
            if let last = ranges.last, last.upperBound == row {
                ranges[ranges.count - 1] = last.lowerBound..<row + 1
            } else {
                ranges.append(row..<row + 1)
            }
        }
        return ranges
    }

    /// The requests of a batch: messages with equal bodies share one, up to a limit, in the order of their first
    /// message.
    static func requests(of batch: GatewayRequestBatch, maxMessages: Int) -> [LegacyRequest] {
        let bodies = batch.bodies
        var groups: [[Int32]] = []
        var groupOfBody: [ArraySlice<UInt8>: Int] = [:]
        for row in 0..<batch.count {
            if let group = groupOfBody[bodies[row]], groups[group].count < maxMessages {
                groups[group].append(Int32(truncatingIfNeeded: row))
            } else {
                groupOfBody[bodies[row]] = groups.count
                groups.append([Int32(truncatingIfNeeded: row)])
            }
        }
        return groups.map { LegacyRequest(batch: batch, rows: $0) }
    }
}

extension LegacyRequest {
    /// The request's JSON: the common body with the tokens put first; nil if the body is not a JSON object.
    var body: [UInt8]? {
        let common = batch.bodies[Int(rows[0])]
        guard common.first == UInt8(ascii: "{"), common.last == UInt8(ascii: "}") else { return nil }
        let rest = common.dropFirst().drop { $0 <= 0x20 }
        var output: [UInt8] = []
        output.reserveCapacity(common.count + rows.count * 200 + 32)
        output.append(contentsOf: "{".utf8)
        appendTokens(to: &output)
        if rest.first != UInt8(ascii: "}") { output.append(UInt8(ascii: ",")) }
        output.append(contentsOf: rest)
        return output
    }

    private func appendTokens(to output: inout [UInt8]) {
        let tokens = batch.tokens
        // FCM reads a value in `to` as something other than a token if it has special characters.
        if rows.count == 1, LegacyToken.isPlain(tokens[Int(rows[0])]) {
            output.append(contentsOf: "\"to\":".utf8)
            return append(tokens[Int(rows[0])], to: &output)
        }
        output.append(contentsOf: "\"registration_ids\":[".utf8)
        for (position, row) in rows.enumerated() {
            if position > 0 { output.append(UInt8(ascii: ",")) }
            append(tokens[Int(row)], to: &output)
        }
        output.append(UInt8(ascii: "]"))
    }

    /// Appends a token as a JSON string.
    private func append(_ token: ArraySlice<UInt8>, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        defer { output.append(UInt8(ascii: "\"")) }
        if LegacyToken.isPlain(token) { return output.append(contentsOf: token) }
        for scalar in String(decoding: token, as: UTF8.self).unicodeScalars {
            switch scalar {
            case "\"", "\\": output.append(contentsOf: [UInt8(ascii: "\\"), UInt8(truncatingIfNeeded: scalar.value)])
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                output.append(contentsOf: ("\\u00" + (digits.count < 2 ? "0" : "") + digits).utf8)
            default: output.append(contentsOf: String(scalar).utf8)
            }
        }
    }
}

/// The characters of registration tokens.
enum LegacyToken {
    /// Whether a token that FCM names can replace another: it must not be longer than a token that can be registered.
    static func isCanonical(_ token: String) -> Bool {
        (1...PushTokenForm.androidLength.upperBound).contains(token.utf8.count) && isPlain(token.utf8)
    }

    /// Whether a token has only characters that FCM's tokens have.
    ///
    /// With other characters, FCM could read it as something other than a device, such as `/topics/news`.
    static func isPlain(_ token: some Sequence<UInt8>) -> Bool {
        token.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"),
                UInt8(ascii: "."), UInt8(ascii: "%"):
                true
            default: false
            }
        }
    }
}
