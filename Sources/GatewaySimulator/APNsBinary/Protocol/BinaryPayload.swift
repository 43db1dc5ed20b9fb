/// What the gateway wants to know of a payload.
struct BinaryPayload {
    /// Where `_mId` stands in the bytes, if the payload has one.
    var messageID: Range<Int>?
    /// `aps` has `content-available` and nothing else.
    var isContentAvailableOnly = false

    /// Reads a payload; nil when it is no JSON object.
    init?(_ bytes: [UInt8]) {
        var scanner = JSONScanner(bytes)
        do throws(JSONScanner.Fault) {
            try scanner.expect(UInt8(ascii: "{"))
            if !scanner.take(UInt8(ascii: "}")) {
                repeat { try entry(&scanner) } while scanner.take(UInt8(ascii: ","))
                try scanner.expect(UInt8(ascii: "}"))
            }
            try scanner.expectEnd()
        } catch {
            return nil
        }
    }

    private mutating func entry(_ scanner: inout JSONScanner) throws(JSONScanner.Fault) {
        let name = try scanner.string()
        try scanner.expect(UInt8(ascii: ":"))
        if !name.hasEscapes, Bytes.equal(scanner.bytes, name.range, "_mId"), scanner.peek() == UInt8(ascii: "\"") {
            let value = try scanner.string()
            if !value.hasEscapes { messageID = value.range }
        } else if !name.hasEscapes, Bytes.equal(scanner.bytes, name.range, "aps"), scanner.peek() == UInt8(ascii: "{") {
            try aps(&scanner)
        } else {
            try scanner.skipValue(depth: 1)
        }
    }

    private mutating func aps(_ scanner: inout JSONScanner) throws(JSONScanner.Fault) {
        try scanner.expect(UInt8(ascii: "{"))
        var names = 0
        var isAvailable = false
        if !scanner.take(UInt8(ascii: "}")) {
            repeat {
                let name = try scanner.string()
                try scanner.expect(UInt8(ascii: ":"))
                try scanner.skipValue(depth: 2)
                names += 1
                if !name.hasEscapes, Bytes.equal(scanner.bytes, name.range, "content-available") { isAvailable = true }
            } while scanner.take(UInt8(ascii: ","))
            try scanner.expect(UInt8(ascii: "}"))
        }
        isContentAvailableOnly = isAvailable && names == 1
    }
}
