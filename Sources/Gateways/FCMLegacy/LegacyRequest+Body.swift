import PushCore

extension LegacyRequest {
    /// The request's JSON: the messages' common body with their tokens before the rest; nil when that body is no JSON object.
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
        // Only in `to` can a token be something else than one device's.
        if rows.count == 1, LegacyToken.isPlain(batch.tokens[Int(rows[0])]) {
            output.append(contentsOf: "\"to\":".utf8)
            return append(batch.tokens[Int(rows[0])], to: &output)
        }
        output.append(contentsOf: "\"registration_ids\":[".utf8)
        for (position, row) in rows.enumerated() {
            if position > 0 { output.append(UInt8(ascii: ",")) }
            append(batch.tokens[Int(row)], to: &output)
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
