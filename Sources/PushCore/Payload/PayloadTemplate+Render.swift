extension PayloadTemplate {
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
            }
        }
        return countedBytes == nil ? output.count - start : counted
    }

    /// Appends one message's `apns-collapse-id`; nothing when ``hasPersonalisedCollapseID`` is false.
    ///
    /// Control characters in a field's value become spaces, as a header cannot carry them. Returns whether the id is
    /// one that APNs takes: 1 to 64 bytes.
    public func renderCollapseID(row: Int, fields columns: [ByteColumn], into output: inout [UInt8]) -> Bool {
        let start = output.count
        for segment in collapseSegments {
            switch segment {
            case .literal(let range): output.append(contentsOf: text[range])
            case .field(let field): _ = append(field, row: row, columns, to: &output)
            case .messageID, .token: break
            }
        }
        for index in start..<output.count where output[index] < 0x20 || output[index] == 0x7F {
            output[index] = UInt8(ascii: " ")
        }
        return (1...ContentValidator.longestCollapseID).contains(output.count - start)
    }

    /// Appends a field's value or its default and returns its size before it was escaped.
    @inline(__always)
    private func append(_ field: FieldSegment, row: Int, _ columns: [ByteColumn], to output: inout [UInt8]) -> Int {
        if field.column < columns.count {
            let range = columns[field.column].range(row)
            if !range.isEmpty {
                Self.append(columns[field.column].bytes, range, escapes: field.escapes, to: &output)
                return range.count
            }
        }
        Self.append(text, field.fallback, escapes: field.escapes, to: &output)
        return field.fallback.count
    }

    @inline(__always)
    private static func append(_ bytes: [UInt8], _ range: Range<Int>, escapes: Int, to output: inout [UInt8]) {
        switch escapes {
        case 0:
            output.append(contentsOf: bytes[range])
        case 1:
            JSONText.appendEscaped(bytes, range, to: &output)
        default:
            let once = JSONText.escaped(Array(bytes[range]))
            JSONText.appendEscaped(once, once.indices, to: &output)
        }
    }

    @inline(__always)
    private func append(_ uuid: MessageUUID, _ sequence: Int32, to output: inout [UInt8]) {
        switch messageIDFormat {
        case .uuid: uuid.appendText(to: &output)
        case .int32: DecimalText.append(messageIDBase &+ Int64(sequence), to: &output)
        }
    }
}
