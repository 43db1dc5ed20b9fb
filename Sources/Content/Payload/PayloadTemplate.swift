import Crypto
import PushCore

/// A delivery's payload for one application, compiled once and rendered for every message.
package struct PayloadTemplate: Sendable {
    /// The payload key of the message id.
    package static let messageIDKey = "_mId"
    /// The payload key of the delivery id.
    package static let deliveryIDKey = "_dId"

    /// The form of the payload.
    package let format: PayloadFormat
    /// The fields that the content uses, distinct by name, in the order of first use.
    ///
    /// All templates of a ``LocalisedTemplate`` share one list.
    package internal(set) var fields: [PersonalisationField]
    /// The values of the request's headers. FCM has them in the body, so this is not used there.
    package let attributes: MessageAttributes
    /// The size of the smallest payload: all fields empty and without defaults, counted as the gateway does.
    package let minimumPayloadSize: Int

    /// The bytes of literals and defaults, which segments refer to.
    let text: [UInt8]
    let segments: [PayloadSegment]
    /// The segments of `apns-collapse-id` if it is personalised, otherwise empty.
    let collapseSegments: [PayloadSegment]
    /// The texts with sections that segments refer to.
    let sections: [SectionSegment]
    /// The entries whose values must have a certain form, which segments refer to.
    let checked: [CheckedSegment]
    /// The values inside objects that segments refer to.
    let paths: [PathSegment]
    /// The columns of fields without which a message must not be sent, except those in sections.
    let requiredColumns: [Int]
    /// The indexes of the paths without which a message must not be sent.
    let requiredPaths: [Int]
    let missing: MissingValuePolicy
    let messageIDFormat: MessageIDFormat
    let messageNumbers: MessageNumbers?
    /// The literal bytes that count against FCM's limit; nil if the whole body counts.
    let countedBytes: Int?

    /// Whether each message has its own `apns-collapse-id`; see ``renderCollapseID(row:fields:into:)``.
    package var hasPersonalisedCollapseID: Bool { !collapseSegments.isEmpty }

    /// The gateway's limit for a payload, in bytes.
    package var payloadLimit: Int {
        PayloadLimits.limit(format: format, pushType: attributes.pushType)
    }
}

extension PayloadTemplate {
    /// The reported size of a payload that was not rendered completely because it exceeds any gateway's limit.
    static let hopelessSize = Int(Int32.max)

    /// FCM's maximum, four weeks, in seconds (FCM v1, `AndroidConfig.ttl`).
    static let maxValidity: Int64 = 2_419_200

    /// Appends the body of one message's request and returns the size that the gateway's limit is compared with.
    ///
    /// `columns` holds the values of ``fields``, in that order. The default replaces a null or blank value, and a
    /// missing column. The body is complete: for FCM v1 it is `{"message":{"token":…}}`, so it contains the push token.
    ///
    /// For APNs the size is that of the whole body. FCM's limit covers the message, not its envelope: there the size is
    /// the sum of all names and values of `data` and of `notification`, before escaping. FCM counts the decoded
    /// message, without the token and the delivery options.
    ///
    /// - Parameter validitySeconds: the remaining validity of the message, for FCM; nil if unknown.
    @discardableResult
    package func render(
        row: Int,
        fields columns: [ByteColumn],
        tokens: ByteColumn,
        messageID: MessageUUID,
        sequence: Int32,
        validitySeconds: Int64? = nil,
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
            case .path(let index):
                let size = append(paths[index], row: row, columns, to: &output)
                if paths[index].field.isCounted { counted += size }
            case .validity(let before, let after):
                guard let validitySeconds else { continue }
                if output.last != UInt8(ascii: "{") { output.append(UInt8(ascii: ",")) }
                output.append(contentsOf: text[before])
                DecimalText.append(min(max(0, validitySeconds), Self.maxValidity), to: &output)
                output.append(contentsOf: text[after])
            }
        }
        if isCutShort { return Self.hopelessSize }
        return countedBytes == nil ? output.count - start : counted
    }

    /// Appends one message's `apns-collapse-id`; nothing when ``hasPersonalisedCollapseID`` is false.
    ///
    /// Characters that a header cannot carry are removed, see ``HeaderText``. An id that exceeds APNs' limit is
    /// replaced by its SHA-256: equal ids stay equal and different ids stay different, so notifications still replace
    /// one another. Returns whether anything is left; a message without an id is sent and replaces none.
    package func renderCollapseID(row: Int, fields columns: [ByteColumn], into output: inout [UInt8]) -> Bool {
        let start = output.count
        appendPlain(collapseSegments, row: row, columns, to: &output)
        HeaderText.clean(&output, from: start)
        if output.count - start > ContentValidator.maxCollapseIDLength {
            let digest = HexDigit.text(SHA256.hash(data: output[start...]))
            output.replaceSubrange(start..., with: digest.utf8)
        }
        return output.count > start
    }

    /// Appends segments outside of JSON: text and fields without escaping.
    func appendPlain(_ segments: [PayloadSegment], row: Int, _ columns: [ByteColumn], to output: inout [UInt8]) {
        for segment in segments {
            switch segment {
            case .literal(let range): output.append(contentsOf: text[range])
            case .field(let field): _ = append(field, row: row, columns, to: &output)
            case .sections(let index): _ = append(sections[index], row: row, columns, to: &output)
            case .path(let index): _ = append(paths[index], row: row, columns, to: &output)
            case .messageID, .token, .checked, .validity: break
            }
        }
    }

    /// Appends a field's value or default, and returns its size as the gateway reads it.
    @inline(__always)
    private func append(_ field: FieldSegment, row: Int, _ columns: [ByteColumn], to output: inout [UInt8]) -> Int {
        if field.column < columns.count {
            let range = columns[field.column].range(row)
            if !BlankValue.isBlank(columns[field.column].bytes, range) {
                return Self.append(columns[field.column].bytes, range, field.escapes, to: &output)
            }
        }
        return Self.append(text, field.fallback, field.escapes, to: &output)
    }

    /// Appends bytes, escaped `escapes` times, and returns their size as the gateway reads them.
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

extension PayloadTemplate {
    /// Appends a text with sections; returns its size as the gateway reads it, and whether the text is complete.
    func append(
        _ segment: SectionSegment,
        row: Int,
        _ columns: [ByteColumn],
        to output: inout [UInt8]
    ) -> (size: Int, isWhole: Bool) {
        let run = SectionRun(segment, row: row, columns: columns, policy: missing)
        let bytes = Array(run.render().utf8)
        return (Self.append(bytes, bytes.indices, segment.escapes, to: &output), !run.isCutShort)
    }

    /// Appends a value inside an object, or its default; returns its size as the gateway reads it.
    func append(_ segment: PathSegment, row: Int, _ columns: [ByteColumn], to output: inout [UInt8]) -> Int {
        if Self.isBlank(segment.field.column, row, columns),
            let value = segment.place.value(row: row, columns)?.text, !BlankValue.isBlank(value)
        {
            let bytes = Array(value.utf8)
            return Self.append(bytes, bytes.indices, segment.field.escapes, to: &output)
        }
        return append(segment.field, row: row, columns, to: &output)
    }

    /// Whether a message has no value in a column.
    private static func isBlank(_ column: Int, _ row: Int, _ columns: [ByteColumn]) -> Bool {
        column >= columns.count || BlankValue.isBlank(columns[column].bytes, columns[column].range(row))
    }

    /// Appends an entry whose value must have a certain form, or nothing if the text does not have it; returns the size
    /// that counts against the limit.
    func append(_ entry: CheckedSegment, row: Int, _ columns: [ByteColumn], to output: inout [UInt8]) -> Int {
        var text: [UInt8] = []
        appendPlain(entry.segments, row: row, columns, to: &text)
        guard let value = entry.form.value(text) else {
            guard !entry.isEntry else { return 0 }
            output.append(contentsOf: "null".utf8)
            return entry.countedBytes.map { $0 + 4 } ?? 0
        }
        if entry.isEntry, output.last != UInt8(ascii: "{") { output.append(UInt8(ascii: ",")) }
        output.append(contentsOf: entry.prefix)
        output.append(contentsOf: value)
        output.append(contentsOf: entry.suffix)
        return entry.countedBytes.map { $0 + value.count } ?? 0
    }

    /// The index, in ``fields``, of a required field without a value in this message. It is nil unless the content
    /// excludes messages that lack a value.
    ///
    /// A field with a default is not required, nor is the condition of a section, nor a field in a section that is not
    /// shown.
    package func missingField(row: Int, fields columns: [ByteColumn]) -> Int? {
        guard missing == .exclude else { return nil }
        for column in requiredColumns where Self.isBlank(column, row, columns) { return column }
        for index in requiredPaths where Self.isBlank(paths[index].field.column, row, columns) {
            let value = paths[index].place.value(row: row, columns)?.text ?? ""
            if BlankValue.isBlank(value) { return paths[index].field.column }
        }
        for segment in sections {
            let run = SectionRun(segment, row: row, columns: columns, policy: missing)
            _ = run.render()
            if let column = run.missingColumn { return column }
        }
        return nil
    }

    /// The reason recorded for a message that is not sent because a field has no value: a word for statistics, and the
    /// field.
    package static func missingReason(field: String) -> String {
        "missing_value: \(field)"
    }
}
