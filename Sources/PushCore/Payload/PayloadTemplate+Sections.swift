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

    /// Appends the entry of a value with a certain form, or nothing if the text has another one; returns what counts of it.
    func append(_ entry: CheckedSegment, row: Int, _ columns: [ByteColumn], to output: inout [UInt8]) -> Int {
        var text: [UInt8] = []
        appendPlain(entry.segments, row: row, columns, to: &text)
        guard let value = entry.form.value(text) else { return 0 }
        if output.last != UInt8(ascii: "{") { output.append(UInt8(ascii: ",")) }
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
        for column in requiredColumns where column >= columns.count || columns[column].range(row).isEmpty {
            return column
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
