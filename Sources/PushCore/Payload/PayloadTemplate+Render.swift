import Crypto

extension PayloadTemplate {
    /// The size of a payload of which a part was not even rendered, because it was longer than any gateway's limit.
    static let hopelessSize = Int(Int32.max)

    /// Appends the body of one message's request and returns the size that the gateway's limit is compared with.
    ///
    /// `columns` holds the values of ``fields`` in their order; a null or empty value, and a missing column, give way
    /// to the default. The body is complete: for FCM v1 it is `{"message":{"token":…}}` and so contains the push token.
    ///
    /// The size is that of the whole body for APNs. FCM's limit covers the message and not its envelope, so there it is
    /// the sum of all names and values of `data` and of `notification`, before they are escaped: FCM counts the decoded
    /// message, and token and delivery options are not part of it.
    @discardableResult
    public func render(
        row: Int,
        fields columns: [ByteColumn],
        tokens: ByteColumn,
        messageID: MessageUUID,
        sequence: Int32,
        into output: inout [UInt8]
    ) -> Int {
        let start = output.count
        var counted = countedBytes ?? 0
        var isCutShort = false
        for segment in segments {
            switch segment {
            case .literal(let range):
                output.append(contentsOf: text[range])
            case .field(let field):
                let size = append(field, row: row, columns, to: &output)
                if field.isCounted { counted += size }
            case .messageID:
                let before = output.count
                append(messageID, sequence, to: &output)
                counted += output.count - before
            case .token:
                JSONText.appendEscaped(tokens.bytes, tokens.range(row), to: &output)
            case .sections(let index):
                let (size, isWhole) = append(sections[index], row: row, columns, to: &output)
                if sections[index].isCounted { counted += size }
                if !isWhole { isCutShort = true }
            case .checked(let index):
                counted += append(checked[index], row: row, columns, to: &output)
            }
        }
        if isCutShort { return Self.hopelessSize }
        return countedBytes == nil ? output.count - start : counted
    }

    /// Appends one message's `apns-collapse-id`; nothing when ``hasPersonalisedCollapseID`` is false.
    ///
    /// What a header cannot carry is taken out, see ``HeaderText``. An id that is longer than APNs takes gives way to its
    /// SHA-256: equal ids stay equal and different ones different, and so the notifications still replace one another.
    /// Returns whether anything is left; a message without an id goes out as one that replaces none.
    public func renderCollapseID(row: Int, fields columns: [ByteColumn], into output: inout [UInt8]) -> Bool {
        let start = output.count
        appendPlain(collapseSegments, row: row, columns, to: &output)
        HeaderText.clean(&output, from: start)
        if output.count - start > ContentValidator.longestCollapseID {
            let digest = HexDigit.text(SHA256.hash(data: output[start...]))
            output.replaceSubrange(start..., with: digest.utf8)
        }
        return output.count > start
    }

    /// Appends segments that stand in no JSON: text and fields as they are.
    func appendPlain(_ segments: [PayloadSegment], row: Int, _ columns: [ByteColumn], to output: inout [UInt8]) {
        for segment in segments {
            switch segment {
            case .literal(let range): output.append(contentsOf: text[range])
            case .field(let field): _ = append(field, row: row, columns, to: &output)
            case .sections(let index): _ = append(sections[index], row: row, columns, to: &output)
            case .messageID, .token, .checked: break
            }
        }
    }

    /// Appends a field's value or its default and returns the size of what the gateway reads there.
    @inline(__always)
    private func append(_ field: FieldSegment, row: Int, _ columns: [ByteColumn], to output: inout [UInt8]) -> Int {
        if field.column < columns.count {
            let range = columns[field.column].range(row)
            if !range.isEmpty { return Self.append(columns[field.column].bytes, range, field.escapes, to: &output) }
        }
        return Self.append(text, field.fallback, field.escapes, to: &output)
    }

    /// Appends bytes, escaped that often, and returns the size of what the gateway reads there.
    @inline(__always)
    static func append(_ bytes: [UInt8], _ range: Range<Int>, _ escapes: Int, to output: inout [UInt8]) -> Int {
        switch escapes {
        case 0:
            output.append(contentsOf: bytes[range])
            return range.count
        case 1:
            return JSONText.appendEscaped(bytes, range, to: &output)
        default:
            var text = Array(bytes[range])
            for _ in 1..<escapes { text = JSONText.escaped(text) }
            JSONText.appendEscaped(text, text.indices, to: &output)
            return text.count
        }
    }

    @inline(__always)
    private func append(_ uuid: MessageUUID, _ sequence: Int32, to output: inout [UInt8]) {
        switch messageIDFormat {
        case .uuid: uuid.appendText(to: &output)
        case .int32: DecimalText.append(messageNumbers?.id(sequence: sequence) ?? Int64(sequence), to: &output)
        }
    }
}
