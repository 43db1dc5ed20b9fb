import Crypto
import PushCore

/// A delivery's payload for one application, compiled once and rendered for every message.
public struct PayloadTemplate: Sendable {
    /// The payload key of the message id.
    public static let messageIDKey = "_mId"
    /// The payload key of the delivery id.
    public static let deliveryIDKey = "_dId"

    /// The form of the payload.
    public let format: PayloadFormat
    /// The fields that the content uses, distinct by name, in the order of their first use.
    ///
    /// The templates of a ``LocalisedTemplate`` have one list in common.
    public internal(set) var fields: [PersonalisationField]
    /// What the request's headers say; for FCM they are in the body, and this has no meaning.
    public let attributes: MessageAttributes
    /// The size of the smallest payload: all fields empty and without defaults, counted as the gateway does.
    public let minimumPayloadSize: Int

    /// The segments' own bytes: literals and defaults.
    let text: [UInt8]
    let segments: [PayloadSegment]
    /// The segments of `apns-collapse-id` when it is personalised, else empty.
    let collapseSegments: [PayloadSegment]
    /// The texts with sections that segments refer to.
    let sections: [SectionSegment]
    /// The entries with values of a certain form that segments refer to.
    let checked: [CheckedSegment]
    /// The places of names that reach into objects.
    let paths: [PathSegment]
    /// The columns of fields without which a message must not go out, those in sections not included.
    let requiredColumns: [Int]
    /// The paths without which a message must not go out, by their index.
    let requiredPaths: [Int]
    let missing: MissingValuePolicy
    let messageIDFormat: MessageIDFormat
    let messageNumbers: MessageNumbers?
    /// For FCM the literal bytes that count against its limit; nil where the whole body counts.
    let countedBytes: Int?

    /// Whether each message has its own `apns-collapse-id`; see ``renderCollapseID(row:fields:into:)``.
    public var hasPersonalisedCollapseID: Bool { !collapseSegments.isEmpty }

    /// Whether every message has the same body, so that many of them can share a request.
    public var hasEqualBodies: Bool {
        segments.allSatisfy { segment in
            switch segment {
            case .literal, .validity: true
            case .field, .messageID, .token, .sections, .checked, .path: false
            }
        }
    }

    /// The gateway's limit for a payload, in bytes.
    public var payloadLimit: Int {
        PayloadLimits.limit(format: format, pushType: attributes.pushType)
    }
}

extension PayloadTemplate {
    /// The size of a payload of which a part was not even rendered, because it was longer than any gateway's limit.
    static let hopelessSize = Int(Int32.max)

    /// FCM keeps nothing for longer: four weeks (FCM v1, `AndroidConfig.ttl`), in seconds.
    static let longestValidity: Int64 = 2_419_200

    /// Appends the body of one message's request and returns the size that the gateway's limit is compared with.
    ///
    /// `columns` holds the values of ``fields`` in their order; a null or empty value, and a missing column, give way
    /// to the default. The body is complete: for FCM v1 it is `{"message":{"token":…}}` and so contains the push token.
    ///
    /// The size is that of the whole body for APNs. FCM's limit covers the message and not its envelope, so there it is
    /// the sum of all names and values of `data` and of `notification`, before they are escaped: FCM counts the decoded
    /// message, and token and delivery options are not part of it.
    ///
    /// - Parameter validitySeconds: how much is left of the message's validity, for FCM; nil if that is not known.
    @discardableResult
    public func render(
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
                DecimalText.append(min(max(0, validitySeconds), Self.longestValidity), to: &output)
                output.append(contentsOf: text[after])
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
            case .path(let index): _ = append(paths[index], row: row, columns, to: &output)
            case .messageID, .token, .checked, .validity: break
            }
        }
    }

    /// Appends a field's value or its default and returns the size of what the gateway reads there.
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

extension PayloadTemplate {
    /// Appends a text with sections; returns the size of what the gateway reads there, and whether it is the whole text.
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

    /// Appends the value that a name reaches in an object, or its default; returns the size of what the gateway reads there.
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

    /// Appends the entry of a value with a certain form, or nothing if the text has another one; returns what counts of it.
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

    /// The index, in ``fields``, of a field that this message needs and that has no value; nil unless the content
    /// says that messages without all values are not to be sent.
    ///
    /// A use with a default needs no value, and neither does the condition of a section, nor anything in a section
    /// that is left out.
    public func missingField(row: Int, fields columns: [ByteColumn]) -> Int? {
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

    /// The reason to record for a message that is not sent because a field has no value: a word to count by, and the field.
    public static func missingReason(field: String) -> String {
        "missing_value: \(field)"
    }
}

/// A piece of a payload template.
enum PayloadSegment: Sendable, Hashable {
    /// Bytes of the template's own text, by their place.
    case literal(Range<Int>)
    case field(FieldSegment)
    /// The message's `_mId`.
    case messageID
    /// The push token.
    case token
    /// A text with sections, by its index.
    case sections(Int)
    /// An entry whose value has a certain form, by its index.
    case checked(Int)
    /// A value that a name reaches in an object, by its index.
    case path(Int)
    /// An entry with what is left of the message's validity: what stands before the digits, and behind them.
    case validity(Range<Int>, Range<Int>)
}

/// A place in a payload where a field's value stands.
struct FieldSegment: Sendable, Hashable {
    /// The index of the field's column.
    let column: Int
    /// Where the default stands in the template's own text; used when the value is null or empty. It is not escaped.
    let fallback: Range<Int>
    /// How often the value is escaped: once in a JSON string, twice in a JSON text inside of a JSON string, never in a
    /// header.
    let escapes: Int
    /// Whether the value counts against the gateway's limit, when not the whole body does.
    let isCounted: Bool
}

/// A place in a payload where a text with sections stands.
struct SectionSegment: Sendable, Hashable {
    let text: SectionText
    /// The column of each of the text's names.
    let columns: [Int]
    /// Where each of them reaches into an object, if it does.
    let places: [FieldPlace?]
    let escapes: Int
    let isCounted: Bool
}

/// A place in a payload where a value from within an object stands.
struct PathSegment: Sendable, Hashable {
    /// The field of the whole name, which goes before, with the default.
    let field: FieldSegment
    let place: FieldPlace
}

/// A place in a payload where an entry stands if its value comes out in the form that the gateway takes.
struct CheckedSegment: Sendable, Hashable {
    /// The pieces that make the value.
    let segments: [PayloadSegment]
    let form: CheckedTemplate.Form
    /// The entry's name, its colon and what stands before the value.
    let prefix: [UInt8]
    let suffix: [UInt8]
    /// Whether it is an object's entry, which is left out, and no element of a list, which is null then.
    let isEntry: Bool
    /// The bytes of the name where they count against the gateway's limit; nil where the entry does not count.
    let countedBytes: Int?
}
